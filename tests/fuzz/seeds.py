"""What a fuzzer starts from: small good files of every format."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mlstream.cards.about import about_template
from mlstream.formats.io import files_of, save
from mlstream.streams.tables.mulan import format_labels
from tests.fuzz.mutators.archives import Member, zip_up
from tests.mlstream.challenge.sample_files import WRITERS, make_layout, make_prob
from tests.mlstream.formats.arff.test_reader import DIALECTS
from tests.mlstream.records import run_records
from tests.mlstream.records.run_records import make_failed
from tests.mlstream.small_streams import Shape, make_stream

RECORDS_OF_0_1 = Path(run_records.__file__).with_name("stored")


def seeds(name: str) -> list[bytes]:
    """Make the seeds of a target."""
    return SEEDS[name]()


def _npz() -> list[bytes]:
    return [
        _save(".npz", shape)[0][1] for shape in (Shape(), Shape(sparse=True), Shape(by_row=True), Shape(unknown=0.3))
    ]


def _parquet() -> list[bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    words = pa.array(["red", None, "blue"]).dictionary_encode()
    contents = []
    for columns in (
        {"a": np.arange(3.0), "y": [0, 1, 0]},
        {"a": [True, False, None], "c": words, "y": [0, None, 1]},
        {"__index_level_0__": [0, 1, 2], "a": ["1.5", "", "2"], "y": ["true", "false", "true"]},
    ):
        sink = BytesIO()
        parquet.write_table(pa.table(columns), sink)
        contents.append(sink.getvalue())
    return contents


def _save(suffix: str, shape: Shape) -> list[Member]:
    """Return names and contents of the files of a stream."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        save(make_stream(shape), path)
        return [(file.name, file.read_bytes()) for file in files_of(path, with_keys=False)]


def _submissions() -> list[bytes]:
    layout = make_layout()
    return [write(layout, make_prob(layout)) for write in WRITERS.values()]


def _challenge() -> tuple[bytes, bytes]:
    """Return the manifest and the rules of a challenge."""
    # Slow to load, and needed for nothing else.
    from tests.mlstream.challenge.challenges import make_folder

    with TemporaryDirectory() as folder:
        made = make_folder(Path(folder) / "challenge")
        return made.manifest.read_bytes(), made.config.read_bytes()


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "arff": lambda: [text.encode() for text, _ in DIALECTS.values()],
    "csv": lambda: [
        b"a,y\n1,0\n2.5e3,1\n",
        b'"a,b","c""d"\r\n1,0\r\n',
        b"a,y\n1,\n2,0\n",
        b";a;c\r\n0;1,5;red\r\n",
        b"a\tc\n1.5\tTrue\nNA\tfalse\n",
        b",c,b\n0,red,yes\n1,blue,no\n",
    ],
    "keel": lambda: [
        b"@relation r\n@attribute a real [0, 1]\n@attribute c{u, v}\n@inputs a\n@outputs c\n@data\n1, u\n?, <null>\n",
        b"@relation r\n@attribute a integer [0, 9]\n@attribute y {0,1}\n@attribute z {0,1}\n@output y, z\n@data\n1,0,1",
    ],
    "libsvm": lambda: [b"1,3 1:0.5 4:-2e3\n 2:1\n"],
    "parquet": _parquet,
    "xml": lambda: [format_labels("abc", {"c": "a"}).encode()],
    "npz": _npz,
    "packed": lambda: [pack(b"some text " * 9) for pack in (gzip.compress, bz2.compress, lzma.compress)],
    "card": lambda: [make_stream().card.model_dump_json().encode()],
    "parquet-stream": lambda: [
        zip_up(_save(".train.parquet", shape), packed=True)
        for shape in (Shape(), Shape(sparse=True), Shape(by_row=True), Shape(sparse=True, unknown=0.3))
    ],
    "table-stream": lambda: [
        zip_up(_save(suffix, shape), packed=True)
        for suffix, shape in (
            (".arff", Shape(sparse=True)),
            (".arff", Shape(by_row=True)),
            (".train.csv", Shape(unknown=0.3)),
        )
    ],
    "events": lambda: [
        b"ts,host,threat,n\n2026-01-01T10:00:00Z,web,,1\n2026-01-01T10:00:05Z,db,scan,2.5\n",
        b"ts,host,threat\r\n1767261600,web,\r\n1767261601.5,'=db,scan\r\n",
        b'{"ts": "2026-01-01T10:00:00", "host": "web", "threat": "", "a": {"b": 1}}\n'
        b'{"ts": "2026-01-01T10:00:05", "host": "db", "threat": "scan", "a": {"b": null}}\n',
    ],
    "submission": _submissions,
    "record": lambda: [
        make_failed().model_dump_json().encode(),
        *(path.read_bytes() for path in sorted(RECORDS_OF_0_1.glob("*.json"))),
    ],
    "manifest": lambda: [_challenge()[0]],
    "challenge": lambda: [
        _challenge()[1],
        b"name = 'x'\nopens = 2026-01-01T00:00:00\ntimezone = 'Europe/Paris'\nfinal_ends = 2026-02-01T00:00:00Z\n"
        b"k = 2\nladder_step = 0.1\ncategorical = ['a']\nin_distribution_score = true\n",
    ],
    "campaign": lambda: [
        b"streams = ['a.npz']\nstrategies = ['NN', 'mean']\nseeds = [0, 1]\nn_jobs = 2\nmetrics = ['lrap']\n",
        b"streams = ['a']\nn_configurations = 2\ntime_cap_s = inf\n[strategies.NN]\n[strategies.fast]\n"
        b"strategy = 'NN'\nparameters = { learning_rate = 0.1 }\ngrid = { k = [1, 2] }\n",
        b"kind = 'detect'\nstreams = ['a']\ndetectors = ['ADWIN']\nlearners = ['NN']\nmax_delay = 50\n",
    ],
    "about": lambda: [
        about_template().encode(),
        b"data_biases = 'x'\nhas_synthetic_data = true\n[[creators]]\nname = 'A'\norcid = '0000-0002-1825-0097'\n",
    ],
}
