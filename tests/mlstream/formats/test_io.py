"""Write then read is the identity, whatever the stream; and what a name may end in."""

import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from scipy import sparse

from mlstream._support.files import _PlainFile
from mlstream.cards.description import hash_data
from mlstream.data.datasets import load_dataset
from mlstream.formats import load, save
from mlstream.generators import task_stream
from mlstream.streams.stream import Stream
from tests.mlstream.small_streams import Shape, assert_same_stream, make_stream, streams

SUFFIXES = [".npz", ".arff", ".arff.gz"]
CSV_SUFFIXES = [".train.csv", ".train.csv.gz"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [*SUFFIXES, ".train.parquet"])
@given(stream=streams())
def test_a_stream_read_is_the_stream_written(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, stream: Stream
) -> None:
    path = tmp_path_factory.mktemp("round") / f"x{suffix}"
    save(stream, path)
    assert_same_stream(load(path), stream)


def one_line(names: list[str]) -> bool:
    return not any(sign in name for name in names for sign in "\n\r\0")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", CSV_SUFFIXES)
@given(stream=streams().filter(lambda stream: not sparse.issparse(stream.experiences[0].X)))
def test_a_dense_stream_read_is_the_stream_written(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, stream: Stream
) -> None:
    assume(one_line([*stream.card.feature_names, *stream.card.label_names]))
    path = tmp_path_factory.mktemp("round") / f"x{suffix}"
    save(stream, path)
    assert_same_stream(load(path), stream)


@pytest.mark.parametrize("suffix", CSV_SUFFIXES)
def test_sparse_streams_need_a_format_that_holds_them(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match=r"X must be dense to be written as csv; .npz and .arff hold sparse"):
        save(make_stream(Shape(sparse=True)), tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", CSV_SUFFIXES)
def test_pandas_reads_the_same_table(tmp_path: Path, suffix: str) -> None:
    pandas, stream = pytest.importorskip("pandas", reason="needs pandas"), make_stream()
    save(stream, tmp_path / f"x{suffix}")
    table = pandas.read_csv(tmp_path / f"x{suffix}")
    assert list(table.columns) == [*"klm", *"abcd"]
    np.testing.assert_allclose(table[list("abcd")], np.vstack([part.X for part in stream]), rtol=1e-15)
    np.testing.assert_array_equal(table[list("klm")], np.vstack([part.Y for part in stream]))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_yeast_comes_back_bit_by_bit(tmp_path: Path, suffix: str) -> None:
    stream = task_stream(load_dataset("yeast"), n_init=1)
    save(stream, tmp_path / f"x{suffix}")
    read = load(tmp_path / f"x{suffix}")
    assert_same_stream(read, stream)
    assert hash_data(read) == stream.card.data_sha256


@pytest.mark.parametrize("name", ["x.t", "x.txt", "x.npz.gz", "x.arff.bz2", ".npz.bak"])
def test_other_endings_are_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    message = f"must end in .npz, .arff, .arff.gz, .train.csv, .train.csv.gz or .train.parquet. Got '{name}'"
    with pytest.raises(ValueError, match=message):
        save(make_stream(), tmp_path / name)
    with pytest.raises(ValueError, match=message):
        load(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_a_table_is_not_called_a_stream(tmp_path: Path, ending: str) -> None:
    # `datasets` took x.evaluation.csv, the only name with a word for a split, for all rows that there are.
    message = rf"must end in .train{ending}, .* Got 'x{ending}'; call a new file x.train{ending}. `mlstream generate "
    with pytest.raises(ValueError, match=message):
        save(make_stream(), tmp_path / f"x{ending}")
    with pytest.raises(ValueError, match=message):
        load(tmp_path / f"x{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_or_folder_is_one_error(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(FileNotFoundError, match="must be a file that exists"):
        load(tmp_path / f"x{suffix}")
    with pytest.raises(NotADirectoryError, match="absent must be a folder that exists, to write x"):
        save(make_stream(), tmp_path / "absent" / f"x{suffix}")


@pytest.mark.parametrize("suffix", [".npz", ".arff", ".arff.gz", ".train.csv", ".train.csv.gz"])
def test_a_disk_that_fails_is_not_taken_for_a_broken_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"x{suffix}"
    save(make_stream(), path)

    def fail(self: _PlainFile, buffer: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO), self._path)

    monkeypatch.setattr(_PlainFile, "readinto", fail)
    with pytest.raises(OSError, match=re.escape(f"Input/output error: '{tmp_path}")) as error:
        load(path)
    assert error.value.errno == errno.EIO


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_stream_that_a_format_cannot_hold_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    stream = make_stream()
    stream.evaluation_sets[1].X[-1, -1] = np.nan
    if suffix == ".npz":
        save(stream, tmp_path / "x.npz")
        assert np.isnan(load(tmp_path / "x.npz").evaluation_sets[1].X[-1, -1])
    else:
        with pytest.raises(ValueError, match=r"X must be finite to be written as text. Got nan"):
            save(stream, tmp_path / f"x{suffix}")
        assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_text("old", encoding="utf-8")
    save(make_stream(), tmp_path / "x.npz")
    assert_same_stream(load(tmp_path / "x.npz"), make_stream())


def test_only_npz_can_be_mapped(tmp_path: Path) -> None:
    save(make_stream(), tmp_path / "x.arff")
    with pytest.raises(ValueError, match=r"x.arff must be an NPZ file to be mapped into memory"):
        load(tmp_path / "x.arff", mmap=True)


@pytest.mark.parametrize(
    "suffixes",
    [[".npz"], [".train.parquet"], [".arff"], [".train.csv.gz"], [".arff", ".npz"], [".train.csv", ".arff"]],
)
def test_a_folder_stands_for_the_stream_in_it(tmp_path: Path, suffixes: list[str]) -> None:
    for suffix in suffixes:
        save(make_stream(), tmp_path / f"x{suffix}")
    (tmp_path / "table.train.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "gone.npz").symlink_to("nowhere")
    np.savez(tmp_path / "arrays.npz", x=[1])
    assert_same_stream(load(tmp_path), make_stream())
    if ".npz" in suffixes:
        assert_same_stream(load(str(tmp_path), mmap=True), make_stream())


def test_a_folder_holds_one_stream(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"must hold a stream, such as .* Got a folder without one"):
        load(tmp_path)
    for name in ("one.npz", "two.arff"):
        save(make_stream(), tmp_path / name)
    with pytest.raises(ValueError, match=r"must hold one stream, or the path must name one. Got several: one.npz, two"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match="absent must be the file of a stream, or a folder that holds one"):
        load(tmp_path / "absent")
