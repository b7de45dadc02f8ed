"""Files that are complete or absent, with the right permissions and nothing left over, and reading that cannot hang."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlstream._files import atomic_folder, atomic_path, open_plain, read_bounded, sha256_of, write_text_atomically


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o644, 0o444, 0o664])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, umask: int, kept: int) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(kept)
    write_text_atomically(path, "new")
    assert (path.read_text(), mode(path)) == ("new", kept)


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


HOLD = (
    "import sys; from mlstream._files import atomic_folder, atomic_path\n"
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


@pytest.mark.parametrize(("kind", "got"), [("pipe", "a named pipe"), ("device", "a device"), ("folder", "a folder")])
def test_only_plain_files_are_opened(tmp_path: Path, kind: str, got: str) -> None:
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    for read in (open_plain, sha256_of, lambda path: read_bounded(path, 9)):
        with pytest.raises(OSError, match=re.escape(f"{path} must be a plain file. Got {got}.")):
            read(path)


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"123456789")
    assert read_bounded(path, 9) == b"123456789"
    with pytest.raises(ValueError, match=r"x must be of 8 bytes at most. Got more"):
        read_bounded(path, 8)
