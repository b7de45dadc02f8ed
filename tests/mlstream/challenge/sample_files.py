"""Files of submissions, written slowly and by the libraries that contestants use."""

import gzip
import io

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from mlstream.challenge.submissions.rows import SubmissionLayout
from mlstream.challenge.truth import format_keys


def make_layout(n_rows=7, n_labels=2, max_bytes=1_000_000, seed=0):
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.integers(0, 2**64, n_rows, dtype=np.uint64))
    return SubmissionLayout(keys, tuple(f"label {place}" for place in range(n_labels)), max_bytes)


def make_prob(layout, seed=1):
    return np.random.default_rng(seed).random((len(layout.keys), len(layout.label_names)))


def as_csv(layout, prob, order=None):
    ids = format_keys(layout.keys)
    rows = [",".join([ids[row], *(repr(float(cell)) for cell in prob[row])]) for row in order_of(layout, order)]
    return "\n".join([",".join(["row_id", *layout.label_names]), *rows, ""]).encode()


def as_gzip(layout, prob, order=None):
    return gzip.compress(as_csv(layout, prob, order))


def as_npz(layout, prob, order=None, save=np.savez, ids=None):
    order = order_of(layout, order)
    file = io.BytesIO()
    ids = np.array(format_keys(layout.keys)) if ids is None else ids
    save(file, row_id=ids[order], prob=prob[order])
    return file.getvalue()


def as_packed_npz(layout, prob, order=None):
    return as_npz(layout, prob, order, np.savez_compressed, layout.keys)


def as_parquet(layout, prob, order=None):
    order = order_of(layout, order)
    ids = format_keys(layout.keys)
    columns = {"row_id": [ids[row] for row in order]}
    columns |= {name: prob[order, place] for place, name in enumerate(layout.label_names)}
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def order_of(layout, order):
    return list(range(len(layout.keys))) if order is None else list(order)


WRITERS = {"csv": as_csv, "csv.gz": as_gzip, "npz": as_npz, "packed npz": as_packed_npz, "parquet": as_parquet}
