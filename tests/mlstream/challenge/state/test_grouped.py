"""Writes of several threads in one transaction: what fails alone, what fails together, and what an interrupt leaves."""

import threading
import time
from contextlib import contextmanager

import pytest

from mlstream.challenge.errors import UnknownToken
from mlstream.challenge.state.grouped import GroupedWrites


class Disk:
    """A disk on which a transaction is kept as a whole or not at all."""

    def __init__(self, folder):
        self.kept, self.interrupted = [], None
        self.writes = GroupedWrites(self.begin, folder)

    @contextmanager
    def begin(self):
        added = []
        yield added
        if self.interrupted == threading.current_thread().name:
            raise KeyboardInterrupt
        self.kept.append(added)

    def run_together(self, acts):
        """Run each act in a thread of its own, in one transaction; return what each one returned or raised."""
        found = {}

        def run(name, act):
            try:
                found[name] = self.writes.run(act)
            except BaseException as error:
                found[name] = error

        threads = [threading.Thread(target=run, args=one, name=one[0]) for one in acts.items()]
        with self.writes._turn:
            for n, thread in enumerate(threads, start=1):
                thread.start()
                while len(self.writes._waiting) < n:
                    time.sleep(0.001)
        for thread in threads:
            thread.join()
        return found


@pytest.fixture
def disk(tmp_path):
    return Disk(tmp_path)


def adding(value):
    def act(state):
        state.append(value)
        return value

    return act


def failing(error):
    def act(state):
        raise error

    return act


def test_writes_that_wait_share_a_transaction_and_one_that_is_refused_fails_alone(disk):
    refused = UnknownToken("no team")
    found = disk.run_together({"a": adding(1), "b": failing(refused), "c": adding(3)})
    assert found == {"a": 1, "b": refused, "c": 3}
    assert disk.kept == [[1, 3]]


def test_any_other_failure_is_that_of_all_writes_and_the_next_ones_are_made(disk):
    error = OSError("the disk is full")
    assert disk.run_together({"a": adding(1), "b": failing(error)}) == {"a": error, "b": error}
    assert disk.kept == []
    assert disk.writes.run(adding(2)) == 2


@pytest.mark.parametrize("interrupted", "abcd")
def test_an_interrupt_ends_its_own_write_only(disk, interrupted):
    disk.interrupted = interrupted
    found = disk.run_together({name: adding(name) for name in "abcd"})
    others = {name: name for name in "abcd" if name != interrupted}
    # Another thread may have made its write before.
    assert isinstance(found.pop(interrupted), (KeyboardInterrupt, str))
    assert found == others
    assert set(others) <= {name for added in disk.kept for name in added}
    assert not disk.writes._waiting


def test_a_write_that_was_interrupted_while_it_waited_is_not_made(disk, monkeypatch):
    class Interrupted:
        def __enter__(self):
            raise KeyboardInterrupt

        def __exit__(self, *_):
            pass

    with monkeypatch.context() as patch:
        patch.setattr(disk.writes, "_turn", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            disk.writes.run(adding("gone"))
    disk.writes.run(adding("next"))
    assert disk.kept == [["next"]]
