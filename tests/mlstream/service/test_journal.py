"""A journal gives back what was written, whatever cut its file short, and refuses what is damaged."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.service import Journal
from mlstream.service import journal as home

RECORDS = st.lists(st.binary(max_size=30), max_size=6)


def written(folder, records):
    with Journal(folder) as journal:
        for record in records:
            journal.write(record)
    return Path(folder) / "00000001.journal"


def read(folder, since=0):
    with Journal(folder) as journal:
        return list(journal.records(since))


def ends(records):
    """Return where each record ends, by the layout that the page states: twelve bytes, then the content."""
    places = [len(b"mlstream journal 1\n")]
    for record in records:
        places.append(places[-1] + 12 + len(record))
    return places


@given(RECORDS, RECORDS, st.data())
def test_a_file_that_is_cut_anywhere_holds_the_records_before_the_cut_and_goes_on(records, more, data):
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, records)
        cut = data.draw(st.integers(0, path.stat().st_size))
        os.truncate(path, cut)
        kept = [record for record, end in zip(records, ends(records)[1:], strict=True) if end <= cut]
        written(folder, more)
        assert read(folder) == kept + more


@given(RECORDS, st.data())
def test_a_byte_that_is_changed_is_never_taken_for_a_record(records, data):
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, records)
        content = bytearray(path.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"must (begin with|match its checksum)"):
            read(folder)


def test_the_advice_for_damage_works(tmp_path):
    path = written(tmp_path, [b"one", b"two", b"three"])
    content = bytearray(path.read_bytes())
    content[ends([b"one", b"two"])[1] + 12] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="truncate") as refused:
        read(tmp_path)
    place = int(str(refused.value).split("truncate -s ")[1].split()[0])
    os.truncate(path, place)
    assert read(tmp_path) == [b"one"]


def test_room_that_was_never_written_to_is_cut_off(tmp_path):
    path = written(tmp_path, [b"one"])
    os.truncate(path, path.stat().st_size + 5000)
    assert read(tmp_path) == [b"one"]


def test_old_files_are_dropped_oldest_first_and_missed_where_they_are_needed(tmp_path):
    with Journal(tmp_path) as journal:
        for number in range(1, 5):
            journal.write(bytes([number]) * 100)
            assert journal.rotate() == number + 1
        total = journal.total_bytes
        journal.drop_before(4, keep_bytes=131)
        assert [record[0] for record in journal.records()] == [3, 4]
        assert (journal.first, journal.total_bytes) == (3, total - 2 * 131)
        assert total - 2 * 131 == sum(path.stat().st_size for path in tmp_path.glob("*.journal"))
    for since in (2, 9):
        with pytest.raises(ValueError, match=f"number {since}"):
            read(tmp_path, since)


def test_a_folder_is_open_once(tmp_path):
    with Journal(tmp_path), pytest.raises(BlockingIOError, match="one journal at a time"):
        Journal(tmp_path)
    with pytest.raises(NotADirectoryError, match="folder must be"):
        Journal(tmp_path / "none")
    assert read(tmp_path) == []


def test_records_that_wait_at_once_share_a_flush(tmp_path, monkeypatch):
    flushed = []
    fsync = os.fsync

    with Journal(tmp_path) as journal, ThreadPoolExecutor(8) as pool:
        target = journal._path(1).stat().st_ino

        def count(handle):
            size = os.fstat(handle).st_size
            fsync(handle)
            if os.fstat(handle).st_ino == target:
                flushed.append(size)

        def append(i):
            position = journal.write(b"%d" % i)
            journal.sync(position)
            # what was written before the flush began is on the disk
            assert max(flushed) - len(home.MAGIC) >= position

        monkeypatch.setattr(os, "fsync", count)
        list(pool.map(append, range(200)))
    monkeypatch.undo()
    assert sorted(read(tmp_path), key=int) == [b"%d" % i for i in range(200)]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_disk_that_fails_closes_the_journal(tmp_path, monkeypatch, call):
    def fail(*_):
        raise OSError(28, "No space left on device")

    with Journal(tmp_path) as journal:
        journal.sync(journal.write(b"one"))
        monkeypatch.setattr(os, call, fail)
        with pytest.raises(OSError, match="No space left"):
            journal.sync(journal.write(b"two"))
        monkeypatch.undo()
        with pytest.raises(OSError, match="open it again"):
            journal.write(b"three")
    assert read(tmp_path)[:1] == [b"one"]
    with pytest.raises(OSError, match="is closed"):
        journal.write(b"four")
