"""Options and files that need more memory than there is are refused before memory is taken."""

from pathlib import Path

import numpy as np
import pytest

from mlstream._support import memory as _memory
from mlstream._support.content import FormatError
from mlstream.cli.arguments import parse_visits
from mlstream.data.datasets import load_dataset
from mlstream.generators import (
    drifting_stream,
    environment_stream,
    hat_and_shirt_stream,
    multiplier_rows,
    multiplier_stream,
)
from tests.loops import check_all

HUGE = 10**13


def test_a_generator_says_how_much_memory_its_options_need():
    def check(make):
        with pytest.raises(ValueError, match=r"must fit into the memory of this machine, .* Got [\d,.]+ GiB instead"):
            make()

    check_all(
        [
            lambda: drifting_stream(n_rows=HUGE),
            lambda: drifting_stream(n_features=HUGE),
            lambda: drifting_stream(n_labels=HUGE),
            lambda: drifting_stream(n_concepts=HUGE),
            lambda: multiplier_stream("bilab", n_rows=HUGE),
            lambda: next(multiplier_rows([1, 0], seed=0, chunk_size=HUGE)),
            lambda: environment_stream(n_rows=HUGE),
            lambda: environment_stream(n_labels=HUGE),
            lambda: environment_stream(invariant=(2, HUGE)),
            lambda: environment_stream(spurious=(HUGE,), encoding="one-hot"),
            lambda: hat_and_shirt_stream(n_copies=HUGE),
        ],
        check,
        name=lambda make: f"line {make.__code__.co_firstlineno}",
    )


def test_the_size_in_the_error_is_that_of_the_table(monkeypatch):
    monkeypatch.setattr(_memory, "memory_bytes", lambda: 2**30)
    # Four tasks, four labels of one byte and what places a row; features go to a file.
    n_bytes = 4 * 10**9 * (4 + _memory.INDEX_BYTES)
    with pytest.raises(ValueError, match=f"Got {n_bytes / 2**30:,.1f} GiB"):
        multiplier_stream("bilab", n_rows=10**9)


def test_features_that_do_not_fit_on_the_disk_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(_memory, "memory_bytes", lambda: 10**18)
    with pytest.raises(
        ValueError, match=r"n_rows rows of each task must fit into the folder of temporary files.*TMPDIR"
    ):
        multiplier_stream("bilab", n_rows=10**13)


def test_the_labels_of_a_sparse_file_are_bounded(monkeypatch, tmp_path: Path):
    n_labels, n_rows = 300, 400
    header = "".join(f"@attribute y{label} {{0,1}}\n" for label in range(n_labels))
    path = tmp_path / "sparse.arff"
    path.write_text(f"@relation 'x: -C {n_labels}'\n{header}@attribute x numeric\n@data\n" + "{300 1}\n" * n_rows)
    assert load_dataset(path).Y.shape == (n_rows, n_labels)
    monkeypatch.setattr(_memory, "memory_bytes", lambda: n_labels * n_rows - 1)
    with pytest.raises(FormatError, match=r"the labels of .*sparse.arff must fit into the memory"):
        load_dataset(path)


def test_a_number_of_visits_is_bounded():
    assert np.allclose(parse_visits("7", 0.3), [0.1] * 7)
    with pytest.raises(ValueError, match=r"--visits must be at most 1,000,000. Got '10000000000000' instead"):
        parse_visits(str(HUGE), 0.3)
