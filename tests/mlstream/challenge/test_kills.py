"""Processes that are killed at random moments: no accepted file is lost, none counts twice, the log stays whole."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mlstream.challenge.engine import Challenge
from tests.mlstream.challenge.challenges import Clock, SameProcess, draw, make_challenge

ROOT = Path(__file__).parents[3]
N_KILLS = 30
PROGRAM = """
import sys
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import InvalidSubmission
from tests.mlstream.challenge.challenges import Clock, SameProcess, draw

challenge = Challenge.open(sys.argv[1], clock=Clock())
challenge._pool = SameProcess(challenge.folder)
token, seed = sys.argv[2], int(sys.argv[3])
good = draw(challenge, seed)
print("ready", flush=True)
challenge.complete_pending()
for place in range(10_000):
    # One in two is no submission; all differ.
    content = good + b"\\n" * place if place % 2 else b"no %d %d" % (seed, place)
    reservation = challenge.reserve(content, token)
    print(reservation.submission, flush=True)
    try:
        challenge.complete(reservation)
    except InvalidSubmission:
        pass
"""


def kill_one(folder, token, seed, wait):
    """Start a process that submits, kill it, and return the numbers that it was told."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), token, str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(wait)
    process.kill()
    # The last line may be torn.
    numbers = process.communicate()[0].split("\n")[:-1]
    return [int(number) for number in numbers]


@pytest.mark.soak
def test_processes_that_are_killed_at_random_moments_lose_and_double_nothing(tmp_path):
    rng = np.random.default_rng(0)
    rules = "queries_per_day = 10000\ninvalid_per_day = 100000"
    with make_challenge(tmp_path / "org", rules=rules) as challenge:
        token = challenge.join("Ada")
        expected = {}
        for seed in range(3):
            content = draw(challenge, seed)
            expected[seed] = challenge.submit(content, challenge.join(f"twin {seed}")).score
    accepted = [
        number
        for kill in range(N_KILLS)
        for number in kill_one(tmp_path / "org", token, kill % 3, float(rng.uniform(0, 0.15)))
    ]
    assert len(set(accepted)) > N_KILLS
    with Challenge.open(tmp_path / "org", clock=Clock()) as again:
        again._pool = SameProcess(again.folder)
        again.complete_pending()
        status = again.status(token)
        found = {row.submission: row for row in status.submissions}
        assert set(accepted) <= set(found)
        # Each was scored as ever, or rejected.
        assert all((row.problem is None) != (row.score is None) for row in found.values())
        assert {row.score for row in found.values()} - {None} <= set(expected.values())
        with again._store.read() as state:
            rows = state.rows(
                "SELECT s.sha256, r.submission FROM submissions s LEFT JOIN rejections r ON r.submission = s.id"
            )
        scored = [digest for digest, rejected in rows if rejected is None]
        own = scored[3:]
        assert len(own) == len(set(own)) == status.queries_used
        for digest in scored:
            assert hashlib.sha256((again.folder.submissions / digest).read_bytes()).hexdigest() == digest
        report = again.audit()
        assert report.is_whole, report.problems
