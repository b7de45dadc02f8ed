"""Tables in files are read some rows at a time: the memory that maps them is given back, and no change is lost."""

import mmap
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mlstream import load
from mlstream._support import mapped as _mapped
from mlstream._support.content import FormatError
from mlstream._support.mapped import empty_table, pieces, plain, release, slices, take_rows
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
from tests.mlstream.small_streams import assert_same_stream

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
HUGE = 10**13


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(2**23, dtype=np.float64).reshape(-1, 8))
    return np.load(tmp_path / "x.npy", mmap_mode="r")


def file_bytes():
    """Read how much of files this process has in memory."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssFile:")[1].split()[0])


def test_a_file_that_cannot_be_mapped_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "s.train.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match=r"must be an NPZ file .* in \.train\.csv instead; `mlstream convert` makes"):
        load(tmp_path / "s.train.csv", mmap=True)


@given(st.integers(0, 40), st.integers(1, 50))
def test_slices_cover_every_row_once(n_rows, step):
    rows = [row for part in slices(n_rows, step) for row in range(n_rows)[part]]
    assert rows == list(range(n_rows))


@linux
def test_pages_that_were_read_are_given_back_and_read_again_as_they_were(mapped):
    before = file_bytes()
    total = mapped.sum()
    assert file_bytes() - before > 0.9 * mapped.nbytes
    release(mapped)
    assert file_bytes() - before < 0.1 * mapped.nbytes
    assert mapped.sum() == total


@linux
def test_a_table_of_any_size_takes_the_memory_of_a_piece(mapped):
    before, most, total = file_bytes(), 0, 0.0
    for piece in pieces(mapped):
        total += piece.sum()
        most = max(most, file_bytes() - before)
    assert total == mapped.sum()
    assert most < mapped.nbytes / 3


@pytest.mark.slow
def test_matrices_in_files_are_given_back_too(mapped):
    X = sparse.csr_array((2, 2**23))
    X.data, X.indices = mapped.reshape(-1), np.arange(2**23)
    X.indptr = np.array([0, 5, 2**23])
    release(X)
    assert X[[1]].sum() == mapped.sum() - sum(range(5))


def test_changes_in_memory_are_never_given_back(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(2 * mmap.PAGESIZE))
    copied = np.load(tmp_path / "x.npy", mmap_mode="c")
    copied[:] = 1
    here = np.ones(2 * mmap.PAGESIZE)
    release(copied, here)
    assert copied.all()
    assert here.all()


def test_only_what_cannot_be_written_to_is_copied(mapped):
    here = np.ones((2, 2))
    assert plain(here) is here
    rows = plain(mapped[3:5])
    assert type(rows) is np.ndarray
    assert rows.flags.writeable
    np.testing.assert_array_equal(rows, mapped[3:5])
    X = sparse.csr_array(here)
    assert plain(X) is X


@pytest.fixture
def in_files(monkeypatch, tmp_path):
    """Make every table in a file."""
    monkeypatch.setattr(_mapped, "_IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(_mapped.tempfile, "gettempdir", lambda: str(tmp_path))


@linux
def test_a_large_table_lies_in_a_file_that_nobody_else_sees(in_files, tmp_path):
    table = empty_table((2**20, 8), np.float64, "X")
    table[:] = 3.0
    assert list(tmp_path.iterdir()) == []
    before = file_bytes()
    release(table)
    assert before - file_bytes() > 0.9 * table.nbytes
    assert table.sum() == 3 * table.size


def test_rows_are_taken_in_any_order(in_files, monkeypatch):
    monkeypatch.setattr(_mapped, "_PIECE_CELLS", 10)
    table, rows = np.arange(60.0).reshape(20, 3), np.array([4, 4, 19, 0, *range(17)])
    np.testing.assert_array_equal(take_rows(table, rows), table[rows])


STREAMS = {
    "multipliers": lambda: multiplier_stream("rand", n_rows=300, noise=0.1),
    "blended": lambda: multiplier_stream("rand", n_rows=300, window=30),
    "stratified": lambda: multiplier_stream("rand", n_rows=300, stratified=True),
    "drifting": lambda: drifting_stream("tree", n_rows=300),
    "incremental": lambda: drifting_stream("rbf", n_rows=300, pattern="incremental", window=40),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_that_is_made_in_a_file_is_the_one_made_in_memory(kind, request):
    expected = STREAMS[kind]()
    request.getfixturevalue("in_files")
    stream = STREAMS[kind]()
    assert any(_mapped._map_behind(part.X) is not None for part in stream)
    assert_same_stream(stream, expected)


PROGRAM = """
import resource, sys, warnings
import numpy as np
from mlstream import publish, verify
from mlstream.formats import save
from mlstream.generators import multiplier_stream
from mlstream.publishing.named_streams import open_named

warnings.simplefilter("ignore")
_mapped._IN_MEMORY_BYTES = 2**20
# One weight for each label: products of matrices would take memory for each thread.
weights, folder = np.random.default_rng(0).normal(size=(2, 50)), sys.argv[1]

def make(n_rows, name):
    stream = multiplier_stream(weights, n_rows=n_rows, threshold=0.0)
    save(stream, f"{folder}/{name}.npz")
    publish(open_named(f"{folder}/{name}.npz"), f"{folder}/{name}", arff=False)

make(100, "few")
used = [line for line in open("/proc/self/status") if line.startswith("VmData")][0].split()[1]
resource.setrlimit(resource.RLIMIT_DATA, (1024 * int(used) + 75 * 2**20,) * 2)
make(100_000, "many")
"""


@pytest.mark.slow
@linux
def test_a_stream_is_made_written_and_published_in_less_memory_than_it_has(tmp_path):
    run = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "many" / "stream.npz").stat().st_size > 90 * 2**20


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
    monkeypatch.setattr(_mapped, "memory_bytes", lambda: 2**30)
    # Four tasks, four labels of one byte and what places a row; features go to a file.
    n_bytes = 4 * 10**9 * (4 + _mapped.INDEX_BYTES)
    with pytest.raises(ValueError, match=f"Got {n_bytes / 2**30:,.1f} GiB"):
        multiplier_stream("bilab", n_rows=10**9)


def test_features_that_do_not_fit_on_the_disk_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(_mapped, "memory_bytes", lambda: 10**18)
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
    monkeypatch.setattr(_mapped, "memory_bytes", lambda: n_labels * n_rows - 1)
    with pytest.raises(FormatError, match=r"the labels of .*sparse.arff must fit into the memory"):
        load_dataset(path)


def test_a_number_of_visits_is_bounded():
    assert np.allclose(parse_visits("7", 0.3), [0.1] * 7)
    with pytest.raises(ValueError, match=r"--visits must be at most 1,000,000. Got '10000000000000' instead"):
        parse_visits(str(HUGE), 0.3)
