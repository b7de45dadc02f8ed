"""NPZ: documented keys that NumPy alone reads, the same bytes each time, arrays in place, and nothing hidden."""

import io
import json
import os
import pickle
import tracemalloc
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.formats.npz import load_npz, save_npz
from mlstream.streams.stream import Stream, StreamParts
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, assert_same_stream, make_stream

KINDS = {
    "dense": Shape(),
    "sparse": Shape(sparse=True),
    "float32": Shape(dtype=np.float32),
    "masks by row": Shape(by_row=True),
}


@pytest.fixture(params=KINDS)
def stream(request: pytest.FixtureRequest) -> Stream:
    return make_stream(KINDS[request.param])


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_npz(make_stream(), tmp_path / "x.npz")
    return tmp_path / "x.npz"


@pytest.mark.parametrize("mmap", [False, True])
def test_it_reads_what_it_wrote(stream: Stream, tmp_path: Path, mmap: bool) -> None:
    save_npz(stream, tmp_path / "x.npz")
    assert_same_stream(load_npz(tmp_path / "x.npz", mmap=mmap), stream)


def test_the_same_stream_gives_the_same_bytes(stream: Stream, tmp_path: Path) -> None:
    save_npz(stream, tmp_path / "x.npz")
    first = (tmp_path / "x.npz").read_bytes()
    os.utime(tmp_path / "x.npz", (0, 0))
    save_npz(load_npz(tmp_path / "x.npz"), tmp_path / "x.npz")
    assert (tmp_path / "x.npz").read_bytes() == first


@pytest.mark.parametrize("is_sparse", [False, True])
def test_numpy_alone_reads_the_documented_keys(tmp_path: Path, is_sparse: bool) -> None:
    stream = make_stream(Shape(sparse=is_sparse))
    save_npz(stream, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert arrays["format_version"].tolist() == [1]
        assert json.loads(arrays["card"].tobytes())["name"] == stream.card.name
        second = slice(*arrays["learning_offsets"][2:4])
        np.testing.assert_array_equal(arrays["learning_Y"][second], stream.experiences[2].Y)
        mask = arrays["masks"][arrays["learning_part_mask_ids"][2]]
        np.testing.assert_array_equal(mask, stream.experiences[2].label_mask)
        parts = {"X_data", "X_indices", "X_indptr"} if is_sparse else {"X"}
        rows = parts | {"Y", "task_ids", "row_ids", "mask_ids", "part_mask_ids", "offsets"}
        expected = {f"{half}_{key}" for half in ("learning", "evaluation") for key in rows}
        assert set(arrays) == expected | {"format_version", "card", "signatures", "masks"}


def test_mapped_arrays_lie_in_the_file_read_only_and_aligned(saved: Path) -> None:
    stream = load_npz(saved, mmap=True)
    for array in (stream.experiences[0].X, stream.experiences[0].Y):
        assert not array.flags.writeable
        assert array.flags.aligned
    assert stream.experiences[0].X.ctypes.data % 64 == 0
    assert load_npz(saved).experiences[0].X.flags.writeable


def test_a_sparse_stream_is_mapped_without_copies(tmp_path: Path) -> None:
    save_npz(make_stream(Shape(sparse=True, sizes=(50, 50))), tmp_path / "x.npz")
    X = load_npz(tmp_path / "x.npz", mmap=True).experiences[1].X
    assert not X.data.flags.writeable
    assert not X.indices.flags.writeable


def rewrite(path: Path, changes: dict[str, Any], compression: int = zipfile.ZIP_STORED) -> Path:
    """Write the members again, some changed, as any program may."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for key, array in changes.items():
        if array is None:
            del members[f"{key}.npy"]
            continue
        buffer = io.BytesIO()
        np.save(buffer, array)
        members[f"{key}.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_archives_of_other_programs_are_read_too(saved: Path) -> None:
    expected = load_npz(saved)
    assert_same_stream(load_npz(rewrite(saved, {})), expected)
    assert_same_stream(load_npz(saved, mmap=True), expected)


def test_arrays_that_do_not_fit_are_one_error(saved: Path) -> None:
    whole = saved.read_bytes()

    def check(case: tuple[dict[str, Any], str]) -> None:
        changes, message = case
        saved.write_bytes(whole)
        with pytest.raises(FormatError, match=f"x.npz.*{message}"):
            load_npz(rewrite(saved, changes))

    check_all(
        [
            ({"learning_Y": None}, "must hold the arrays of a stream. Got no learning_Y"),
            ({"other": np.zeros(1)}, "must hold the arrays of a stream. Got an unknown 'other'"),
            ({"format_version": np.array([2])}, r"must hold a stream in format version 1. Got \[2\]"),
            ({"format_version": None}, "in format version 1. Got no format_version"),
            (
                {"learning_Y": np.zeros((3, 3), np.int64)},
                "learning_Y must have 2 dimensions of kind 'uf'. Got 2 dimensions of int64",
            ),
            ({"learning_Y": np.zeros((3, 3), np.uint8)}, r"Y must have the shape \(14, 3\). Got \(3, 3\)"),
            (
                {"learning_Y": np.full((14, 3), 2, np.uint8)},
                r"Y must hold 0, 1 and NaN \(unknown\) only. Got 2 in row 0",
            ),
            ({"learning_task_ids": np.full(14, 9)}, "task_ids must be between 0 and 1. Got 9 to 9"),
            ({"learning_mask_ids": np.full(14, -1)}, "mask_ids must be between 0 and"),
            ({"learning_part_mask_ids": np.full(4, -2)}, "part_mask_ids must be between -1 and"),
            ({"learning_offsets": np.array([0, 9, 6, 9, 14])}, "offsets must rise from 0 to the number of rows, 14"),
            ({"learning_offsets": np.array([0, 14])}, r"offsets must have the shape \(5,\)"),
            ({"learning_X": np.zeros((14, 9))}, "there must be 4 features, as the card says. Got 9"),
            ({"signatures": np.zeros((1, 3), bool)}, "there must be 2 tasks, as the card says. Got 1"),
            (
                {"card": np.zeros(3, np.uint8)},
                "card must hold a StreamCard of this version: its content must be JSON. Got",
            ),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_X_indices": np.array([0, 99])}, "learning_X_indices must be between 0 and 3"),
        ({"learning_X_indices": np.array([0, -1])}, "learning_X_indices must be between 0 and 3"),
        ({"learning_X_indptr": np.array([0, 5])}, "learning_X_indptr must rise from 0 to the number of stored values"),
        ({"learning_X_indptr": np.array([0, 0])}, "learning_X_indptr must rise from 0 to the number of stored values"),
    ],
)
def test_indices_outside_a_sparse_matrix_are_an_error(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    save_npz(make_stream(Shape(sparse=True)), tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as arrays:
        changes = {key: np.resize(array, arrays[key].shape) for key, array in changes.items()}
    with pytest.raises(FormatError, match=message):
        load_npz(rewrite(tmp_path / "x.npz", changes))


@pytest.mark.parametrize("mmap", [False, True])
def test_a_cut_file_is_one_error(saved: Path, mmap: bool) -> None:
    content = saved.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:length])
        with pytest.raises(FormatError, match=r"x.npz must be an NPZ file"):
            load_npz(saved, mmap=mmap)


def test_a_changed_bit_is_one_error(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    position = content.index(load_npz(saved).experiences[0].X.tobytes())
    content[position] ^= 1
    saved.write_bytes(content)
    with pytest.raises(FormatError, match=r"x.npz must be unchanged.*wrong checksum of 'learning_X.npy'"):
        load_npz(saved)


@given(st.binary(max_size=8), st.floats(0, 1), st.integers(0, 8))
def test_a_damaged_file_is_a_stream_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, splice: bytes, place: float, n_cut: int
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "x.npz"
    save_npz(make_stream(), path)
    content = path.read_bytes()
    position = int(place * len(content))
    path.write_bytes(content[:position] + splice + content[position + n_cut :])
    for mmap in (False, True):
        with suppress(FormatError):
            assert len(load_npz(path, mmap=mmap)) == 4


class Hidden:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "executed")


@pytest.mark.parametrize("mmap", [False, True])
def test_pickles_are_not_executed(saved: Path, mmap: bool) -> None:
    trace = saved.with_name("trace")
    hidden = np.empty(1, dtype=object)
    hidden[0] = Hidden(trace)
    rewrite(saved, {"card": hidden})
    with pytest.raises(FormatError, match=r"'card.npy' must be a plain array"):
        load_npz(saved, mmap=mmap)
    assert not trace.exists()
    pickle.loads(pickle.dumps(Hidden(trace)))  # noqa: S301 - the trap works
    assert trace.exists()


def test_compressed_members_are_refused_before_they_are_unpacked(saved: Path) -> None:
    with pytest.raises(FormatError, match=r"must hold arrays uncompressed. Got 'format_version.npy' compressed"):
        load_npz(rewrite(saved, {}, zipfile.ZIP_DEFLATED))


def test_a_header_that_claims_more_than_there_is_takes_no_memory(saved: Path) -> None:
    content = saved.read_bytes()
    assert content.count(b"(14, 4), }         ") == 1
    # The same length, so that nothing else moves.
    saved.write_bytes(content.replace(b"(14, 4), }         ", b"(9999999999, 4), } "))
    with pytest.raises(
        FormatError, match=r"'learning_X.npy' must hold 319999999968 bytes, as its header says. Got 448"
    ):
        load_npz(saved)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_mapped_stream_is_opened_without_being_read(tmp_path: Path, is_sparse: bool) -> None:
    sizes = [1000, 100_000]
    read = []
    for size in sizes:
        path = tmp_path / f"{size}.npz"
        save_npz(make_stream(Shape(sparse=is_sparse, sizes=(size, size))), path)
        tracemalloc.start()
        experience = load_npz(path, mmap=True).experiences[1]
        first_rows = experience.X[:3]
        read.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert first_rows.shape == (3, 4)
    # What the parts of a CSR matrix need of their own is where rows begin: a number for each row of both.
    assert read[1] - read[0] < (8 * 2 * sizes[1] if is_sparse else 0) + 100_000


def test_a_dense_stream_is_written_without_a_copy_of_it(tmp_path: Path) -> None:
    names = tuple(f"a{number}" for number in range(100))
    stream = make_stream(Shape(sizes=(20_000, 20_000), feature_names=names))
    tracemalloc.start()
    save_npz(stream, tmp_path / "x.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Ids of rows, tasks and masks are joined; features and labels are not.
    assert peak < sum(part.X.nbytes for part in stream) / 2
    assert load_npz(tmp_path / "x.npz").experiences[1].X.tobytes() == stream.experiences[1].X.tobytes()


def test_columns_that_lie_one_after_the_other_are_written_row_by_row(tmp_path: Path) -> None:
    stream = make_stream()
    parts = [replace(part, X=np.asfortranarray(part.X), Y=np.asfortranarray(part.Y)) for part in stream]
    turned = Stream(StreamParts(stream.tasks, tuple(parts), stream.evaluation_sets), stream.card)
    for number, each in enumerate((stream, turned)):
        save_npz(each, tmp_path / f"{number}.npz")
    assert (tmp_path / "0.npz").read_bytes() == (tmp_path / "1.npz").read_bytes()
