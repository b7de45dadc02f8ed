"""Files that are complete or absent, with the right permissions and nothing left over, and reading that cannot hang."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import mlstream._support.files
from mlstream._support.files import (
    atomic_folder,
    atomic_folders,
    atomic_path,
    atomic_paths,
    open_plain,
    read_bounded,
    require_plain,
    sha256_of,
    write_text_atomically,
)
from tests.loops import check_all


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, umask: int) -> None:
    def check(case: tuple[int, int]) -> None:
        number, kept = case
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "x"
        path.write_text("old")
        path.chmod(kept)
        write_text_atomically(path, "new")
        assert (path.read_text(), mode(path)) == ("new", kept)

    check_all(enumerate([0o600, 0o640, 0o644, 0o444, 0o664]), check)


def test_new_files_and_folders_obey_the_umask(tmp_path: Path, umask: int) -> None:
    write_text_atomically(tmp_path / "x", "new")
    with atomic_folder(tmp_path / "y") as folder:
        write_text_atomically(folder / "z", "new")
    assert mode(tmp_path / "x") == mode(tmp_path / "y" / "z") == 0o666 & ~umask
    assert mode(tmp_path / "y") == 0o777 & ~umask


def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch(0o600)
    with atomic_path(path) as temporary:
        assert mode(temporary) == 0o600
    with atomic_path(tmp_path / "y") as temporary:
        temporary.write_text("new")


def fail_at(monkeypatch: pytest.MonkeyPatch, place: object, name: str, number: int) -> None:
    """Let a function of the system fail at one of its calls, from 0."""
    real, calls = getattr(place, name), iter(range(1000))

    def maybe_fail(*arguments: object) -> object:
        if next(calls) == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*arguments)

    monkeypatch.setattr(place, name, maybe_fail)


def write_all(paths: list[Path], text: str) -> None:
    with atomic_paths(*paths) as temporaries:
        for temporary in temporaries:
            temporary.write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_of_several_files_all_are_new_or_all_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(case: tuple[int, tuple[int, tuple[str, ...]]]) -> None:
        number, (n_put, there) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        paths = [folder / name for name in "abc"]
        for name in there:
            (folder / name).write_text("old")
        with monkeypatch.context() as patch:
            fail_at(patch, mlstream._support.files, "_put", n_put)
            with pytest.raises(OSError, match=os.strerror(errno.EIO)):
                write_all(paths, "new")
        assert contents(folder) == dict.fromkeys(there, "old")
        write_all(paths, "new")
        assert contents(folder) == dict.fromkeys("abc", "new")

    check_all(enumerate(product([0, 1, 2], [(), ("a", "b", "c"), ("b",)])), check)


@pytest.mark.parametrize("number", [0, 1])
def test_of_several_folders_all_are_there_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    fail_at(monkeypatch, mlstream._support.files, "_put", number)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)), atomic_folders(tmp_path / "a", tmp_path / "b") as made:
        (made[0] / "file").write_text("new")
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_change_places_are_replaced_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(one: Path, other: Path) -> None:
        raise OSError(errno.EINVAL, "cannot")

    monkeypatch.setattr(mlstream._support.files, "_exchange", refuse)
    paths = [tmp_path / name for name in "ab"]
    for text in ("old", "new"):
        write_all(paths, text)
        assert contents(tmp_path) == dict.fromkeys("ab", text)


def test_a_folder_is_renamed_after_all_its_files_have_reached_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, flushed = os.fsync, set()

    def note(handle: int) -> None:
        flushed.add(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", note)
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("x")
        (folder / "deep").mkdir()
        (folder / "deep" / "b").write_text("y")
    assert {path.stat().st_ino for path in (tmp_path / "out").rglob("*")} <= flushed


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_whose_rename_cannot_be_flushed_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a").write_text("old")
    before = contents(tmp_path)
    # The file, the folder, then the folder that holds it.
    fail_at(monkeypatch, os, "fsync", 2)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)), atomic_folder(tmp_path / "out", replace=True) as folder:
        (folder / "a").write_text("new")
    assert contents(tmp_path) == before
    assert (tmp_path / "out").exists() == there


def test_a_file_that_is_there_is_no_error_because_its_lock_cannot_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with atomic_path(tmp_path / "x") as temporary:
        temporary.write_text("new")
        real = os.close

        def fail(handle: int) -> None:
            real(handle)
            # The handle of the flush is closed before the rename, that of the lock after it.
            if (tmp_path / "x").exists():
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "close", fail)
    assert (tmp_path / "x").read_text() == "new"


def test_errors_name_the_file_of_the_user_whatever_the_library_calls_it(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for error, named in (
        (OSError(errno.ENOSPC, "Error writing bytes. Detail: [errno 28] No space left on device"), first),
        (OSError(errno.ENOSPC, f"Failed to open '.{second.name}.0.part'. Detail: [errno 28] No space"), second),
    ):
        with pytest.raises(OSError, match="No space left") as caught, atomic_paths(first, second):
            raise error
        assert (caught.value.filename, caught.value.strerror) == (str(named), os.strerror(errno.ENOSPC))


HOLD = (
    "import sys; from mlstream._support.files import atomic_folder, atomic_path\n"
    "with {} as temporary:\n"
    "    print(temporary, flush=True)\n"
    "    sys.stdin.read()\n"
)


@pytest.mark.parametrize("kind", ["atomic_path", "atomic_folder"])
def test_leftovers_of_dead_processes_are_swept_and_those_of_live_ones_are_not(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x [1]"
    script = HOLD.format(f"{kind}(sys.argv[1])")
    with subprocess.Popen(
        [sys.executable, "-B", "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().removesuffix("\n"))
        write_text_atomically(path, "while the other lives")
        assert left.exists()
        process.send_signal(signal.SIGKILL)
    assert left.exists()
    write_text_atomically(tmp_path / "other", "no business of this file")
    assert left.exists()
    write_text_atomically(path, "after its death")
    assert not left.exists()


def test_nothing_else_is_swept(tmp_path: Path) -> None:
    names = [".x.part", ".x.abcdefgh.part.txt", "x.abcdefgh.part", ".x.y.abcdefgh.part", ".x.ABCDEFGH.part"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".x.abcdefgh.part").symlink_to(tmp_path / "elsewhere")
    write_text_atomically(tmp_path / "x", "new")
    assert {path.name for path in tmp_path.iterdir()} == {*names, ".x.abcdefgh.part", "elsewhere", "x"}


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    texts = [f"{number}" * 5000 for number in range(8)]
    threads = [
        threading.Thread(target=lambda text=text: [write_text_atomically(tmp_path / "x", text) for _ in range(20)])
        for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "x").read_text() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_file_that_may_be_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real, swept = fcntl.flock, []

    def sweep_first(handle: int, operation: int) -> None:
        if not swept:
            swept.extend(tmp_path.glob(".x.*"))
            swept[0].unlink()
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", sweep_first)
    write_text_atomically(tmp_path / "x", "new")
    assert ((tmp_path / "x").read_text(), len(swept)) == ("new", 1)


def test_without_locks_files_are_written_and_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".x.abcdefgh.part").touch()
    write_text_atomically(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "new"
    assert (tmp_path / ".x.abcdefgh.part").exists()


@pytest.mark.parametrize(
    ("kind", "got"),
    [("pipe", "a named pipe"), ("device", "a device"), ("folder", "a folder"), ("socket", "a socket")],
)
def test_only_plain_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, got: str) -> None:
    # Names of sockets are short.
    monkeypatch.chdir(tmp_path)
    path = Path(kind)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(kind)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    for read in (open_plain, sha256_of, lambda path: read_bounded(path, 9), require_plain):
        with pytest.raises(OSError, match=re.escape(f"{path} must be a plain file. Got {got}.")):
            read(path)


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"123456789")
    assert read_bounded(path, 9) == b"123456789"
    with pytest.raises(ValueError, match=r"x must be of 8 bytes at most. Got more"):
        read_bounded(path, 8)


def test_an_error_of_the_system_without_a_number_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"error closing file: '.*x\.parquet'"), atomic_path(tmp_path / "x.parquet"):
        raise OSError("error closing file")


@pytest.mark.parametrize("n_bytes", [9, 10**6, -1])
def test_an_error_of_reading_names_the_file(n_bytes: int) -> None:
    # A plain file that cannot be read at its beginning, where no memory is.
    with open_plain("/proc/self/mem") as file, pytest.raises(OSError, match="'/proc/self/mem'") as error:
        file.read(n_bytes)
    assert error.value.errno == errno.EIO
