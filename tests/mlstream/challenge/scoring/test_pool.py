"""Processes that score: a file is scored once by however many ask, and again where its process dies."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlstream.challenge.errors import BudgetSpent, ScoringFailed
from mlstream.challenge.scoring.pool import ScoringPool
from mlstream.challenge.server.host import Host
from tests.mlstream.challenge.challenges import SameProcess, draw, make_challenge


class Counting(SameProcess):
    """A pool that counts what it scores; the first `n_failures` requests fail."""

    def __init__(self, folder, n_failures=0):
        super().__init__(folder)
        self.scored, self._n_failures = [], n_failures
        self._lock = threading.Lock()

    def score_public(self, sha256, name):
        with self._lock:
            self.scored.append(sha256)
            if len(self.scored) <= self._n_failures:
                raise ScoringFailed("died")
            return super().score_public(sha256, name)

    def score_final(self, sha256, name):
        with self._lock:
            self.scored.append(sha256)
            return super().score_final(sha256, name)


def test_of_30_files_at_a_limit_of_5_sent_at_once_5_are_scored_once(tmp_path):
    with make_challenge(tmp_path / "org", rules="queries_per_day = 5") as challenge:
        challenge._pool = Counting(challenge.folder)
        token = challenge.join("Ada")
        files = [draw(challenge, seed) for seed in range(30)]

        def submit(content):
            try:
                return challenge.submit(content, token).submission
            except BudgetSpent:
                return None

        with ThreadPoolExecutor(30) as threads:
            replies = list(threads.map(submit, files))
        assert sum(reply is not None for reply in replies) == 5
        assert len(challenge._pool.scored) == 5


def test_a_challenge_that_is_closed_twice_at_once_scores_each_selection_once(tmp_path):
    with make_challenge(tmp_path / "org") as challenge:
        for seed in range(6):
            challenge.submit(draw(challenge, seed), challenge.join(f"team {seed}"))
        challenge._pool = Counting(challenge.folder)
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.map(lambda _: challenge.close(), range(2))
        assert first == second
        assert len(challenge._pool.scored) == 6


def test_a_file_whose_process_dies_is_scored_by_another(tmp_path, monkeypatch):
    with make_challenge(tmp_path / "org", processes=True) as challenge:
        token, started = challenge.join("Ada"), []
        start = ScoringPool._start

        def start_and_kill_the_first(pool):
            process = start(pool)
            started.append(process)
            if len(started) == 1:
                process.kill()
            return process

        monkeypatch.setattr(ScoringPool, "_start", start_and_kill_the_first)
        assert challenge.submit(draw(challenge), token).query == 1
        assert len(started) == 2


def test_a_file_whose_processes_all_die_fails_after_the_second(tmp_path, monkeypatch):
    with make_challenge(tmp_path / "org", processes=True) as challenge:
        token, start = challenge.join("Ada"), ScoringPool._start

        def start_and_kill(pool):
            process = start(pool)
            process.kill()
            return process

        monkeypatch.setattr(ScoringPool, "_start", start_and_kill)
        with pytest.raises(ScoringFailed):
            challenge.submit(draw(challenge), token)


def test_a_server_scores_again_what_failed(tmp_path, monkeypatch):
    monkeypatch.setattr("mlstream.challenge.server.host._AGAIN_S", 0.01)
    with make_challenge(tmp_path / "org") as challenge:
        challenge._pool = Counting(challenge.folder, n_failures=3)
        token, is_scored = challenge.join("Ada"), threading.Event()
        complete = challenge.complete

        def complete_and_tell(reservation):
            complete(reservation)
            is_scored.set()

        challenge.complete = complete_and_tell
        challenge.reserve(draw(challenge), token)
        with Host(challenge).running():
            assert is_scored.wait(60)
        assert not challenge.waiting()
