"""The budget holds with many processes at once, some of which are killed between reservation and score."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import BudgetSpent
from tests.mlstream.challenge.challenges import Clock, SameProcess, draw, make_challenge

ROOT = Path(__file__).parents[3]
N_PROCESSES = 8
# Of each process: how many files it sends, all different, before it stops or is killed.
N_EACH = 7

PROGRAM = """
import os, signal, sys
from pathlib import Path
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import BudgetSpent
from tests.mlstream.challenge.challenges import Clock, SameProcess

folder, token, files = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
challenge = Challenge.open(folder, clock=Clock())
challenge._pool = SameProcess(challenge.folder)
sys.stdin.readline()
is_killed = any(file.endswith("killed.csv") for file in files)
for place, file in enumerate(files):
    # However fast this one is, enough of the budget is left for those that are to die.
    if place == 3 and not is_killed:
        sys.stdin.readline()
    try:
        reservation = challenge.reserve(Path(file), token)
        if file.endswith("killed.csv"):
            os.kill(os.getpid(), signal.SIGKILL)
        challenge.complete(reservation)
        print("scored", flush=True)
    except BudgetSpent:
        print("refused", flush=True)
"""


def start(folder, token, files):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), token, *map(str, files)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@pytest.mark.slow
def test_of_many_queries_from_8_processes_of_which_some_are_killed_exactly_30_are_scored(tmp_path):
    with make_challenge(tmp_path / "org") as challenge:
        token = challenge.join("Ada")
        files = []
        for seed in range(N_PROCESSES * N_EACH):
            process, place = divmod(seed, N_EACH)
            # Three processes die at their second file, long before the budget is spent.
            name = f"{seed}-killed.csv" if place == 1 and process < 3 else f"{seed}.csv"
            (tmp_path / name).write_bytes(draw(challenge, seed))
            files.append(tmp_path / name)
        shares = [files[place : place + N_EACH] for place in range(0, len(files), N_EACH)]
        running = [start(tmp_path / "org", token, share) for share in shares]
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in running[:3]:
            process.wait(120)
        for process in running[3:]:
            process.stdin.write("go on\n")
            process.stdin.flush()
        outputs = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [-signal.SIGKILL] * 3 + [0] * 5
    with Challenge.open(tmp_path / "org", clock=Clock()) as again:
        again._pool = SameProcess(again.folder)
        n_scored = sum(output.count("scored") for output in outputs)
        n_waiting = sum(one.score is None for one in again.status(token).submissions)
        # A process that is refused first scores what waits, those of the dead included.
        assert again.complete_pending() == n_waiting
        status = again.status(token)
        assert (status.queries_used, status.remaining) == (30, 0)
        assert len(status.submissions) == 30
        assert all(one.score is not None for one in status.submissions)
        assert n_scored == 27
        assert sum(output.count("refused") for output in outputs) == 3 + 5 * N_EACH - 27
        with pytest.raises(BudgetSpent):
            again.submit(draw(again, 999), token)
        assert again.audit().is_whole
        clock = Clock()
        clock.advance(days=1)
        again._clock = clock
        assert again.submit(draw(again, 999), token).remaining == 29
