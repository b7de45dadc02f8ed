"""A challenge under load, on this machine only.

Asked for, on two cores: the board of 100,000 recorded submissions in 200 ms; of 200 teams that send 2 MB at once, each
file stored and counted (a query reserved) within 2 s for 95 of 100, and each scored within 30 s; none lost, and none
counted twice.
"""

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import requests
from harness import demand, sized

from mlstream.challenge.engine import Challenge
from mlstream.challenge.manifest import Feedback
from mlstream.challenge.scoring.scorer import PublicScores
from mlstream.challenge.state.submitting import add_submission, record_scores
from mlstream.generators import environment_stream

N_TEAMS = sized(200, 4)
N_RECORDED = sized(100_000, 200)
# Nine hidden environments of so many rows: a CSV file of 2 MB.
N_ROWS = sized(6_000, 50)
BOARD_S, ACCEPTED_S, SCORED_S = 0.2, 2.0, 30.0
REPEATS = sized(7, 1)
TIMEOUT_S = 300


def main() -> None:
    """Measure and print."""
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for name, seconds, asked in (
            *measure_board(Path(folder) / "board"),
            *measure_load("engine", through_engine, Path(folder) / "engine"),
            *measure_load("HTTP", through_http, Path(folder) / "http"),
        ):
            print(f"{name:60} {seconds:8.3f} s, asked for {asked:g} s", flush=True)
            if seconds >= asked:
                missed.append(f"{name} in less than {asked} s")
    demand(not missed, ", ".join(missed))


def make(folder: Path, n_rows: int) -> Challenge:
    """Make a challenge in a new folder."""
    folder.mkdir()
    (folder / "challenge.toml").write_text('name = "load"\nmin_rows = 10\n')
    stream = environment_stream(n_rows=n_rows, seed=2**61)
    return Challenge.create(stream, folder / "challenge.toml", folder / "org", folder / "pub")


def measure_board(folder: Path) -> list[tuple[str, float, float]]:
    """Record submissions with scores, which takes a minute or two, and time the board."""
    with make(folder, 50) as challenge:
        teams = [challenge.join(f"team {number}") for number in range(N_TEAMS)]
        ids = [challenge.authenticate(token) for token in teams]
        scores = np.random.default_rng(0).normal(size=N_RECORDED).tolist()
        with challenge._store.write(challenge._clock()) as state:
            for number, score in enumerate(scores):
                one = add_submission(state, ids[number % N_TEAMS], f"{number:064x}", 1, "recorded.csv")
                found: PublicScores = {"validation": score, "in_distribution": None, "flag": None}
                record_scores(state, challenge.config, Feedback(decimals=3, step=0.0), one, found)
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            rows = challenge.leaderboard()
            times.append(time.perf_counter() - start)
    assert sum(row.n_submissions for row in rows) == N_RECORDED
    return [(f"board of {N_RECORDED:,} submissions, median of {REPEATS}", float(np.median(times)), BOARD_S)]


def measure_load(
    name: str, send: Callable[[Path, list[str], list[bytes]], tuple[list[float], list[float]]], folder: Path
) -> list[tuple[str, float, float]]:
    """Let all teams submit at once; return the 95th percentile of acceptance, and the longest time to a score."""
    with make(folder, N_ROWS) as challenge:
        tokens = [challenge.join(f"team {number}") for number in range(N_TEAMS)]
    sample = (folder / "pub" / "sample_submission.csv").read_text()
    # As long as the probabilities of a learner; a different file for each team.
    files = [sample.replace(",0.5", f",0.5{number:015d}").encode() for number in range(N_TEAMS)]
    accepted, scored = send(folder, tokens, files)
    with Challenge.open(folder / "org") as challenge:
        counts = [len(challenge.status(token).submissions) for token in tokens]
        used = [challenge.status(token).queries_used for token in tokens]
        rows = challenge.leaderboard()
    assert counts == used == [1] * N_TEAMS, "a submission was lost, or counted twice"
    assert len(rows) == N_TEAMS, "a submission was not scored"
    size = f"{N_TEAMS} teams, {len(files[0]) / 1e6:.1f} MB each"
    return [
        (f"{name}, {size}: accepted, 95th percentile", float(np.percentile(accepted, 95)), ACCEPTED_S),
        (f"{name}, {size}: last score", max(scored), SCORED_S),
    ]


def through_engine(folder: Path, tokens: list[str], files: list[bytes]) -> tuple[list[float], list[float]]:
    """Reserve from a thread for each team, then score on two processes."""
    with Challenge.open(folder / "org", n_processes=2) as challenge:

        def reserve(token: str, content: bytes) -> tuple[float, Any]:
            start = time.perf_counter()
            reservation = challenge.reserve(content, token)
            return time.perf_counter() - start, reservation

        begin = time.perf_counter()
        accepted = at_once(reserve, tokens, files)
        with ThreadPoolExecutor(2) as pool:
            ends = pool.map(lambda one: (challenge.complete(one[1]), time.perf_counter() - begin)[1], accepted)
            return [seconds for seconds, _ in accepted], list(ends)


def through_http(folder: Path, tokens: list[str], files: list[bytes]) -> tuple[list[float], list[float]]:
    """Send to a server in a process of its own, on the loopback; ask for the score until it is there."""
    command = [sys.executable, "-m", "mlstream", "challenge", "serve", folder / "org", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = find_address(server)

        def submit(token: str, content: bytes) -> tuple[float, float]:
            header, start = {"authorization": f"Bearer {token}"}, time.perf_counter()
            reply = requests.post(f"{url}/api/submissions", data=content, headers=header, timeout=TIMEOUT_S)
            assert reply.status_code == 202, reply.text
            accepted, number = time.perf_counter() - start, reply.json()["submission"]
            while time.perf_counter() - start < TIMEOUT_S:
                found = requests.get(f"{url}/api/submissions/{number}", headers=header, timeout=TIMEOUT_S)
                if json.loads(found.text)["state"] == "scored":
                    break
                time.sleep(1)
            return accepted, time.perf_counter() - start

        accepted, scored = zip(*at_once(submit, tokens, files), strict=True)
        return list(accepted), list(scored)
    finally:
        server.terminate()
        server.wait()


def find_address(server: subprocess.Popen[str]) -> str:
    """Return the address that a server prints when it listens."""
    for line in server.stdout or ():
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found.group()
    raise RuntimeError("The server has ended.")


def at_once(call: Callable[[str, bytes], Any], tokens: list[str], files: list[bytes]) -> list[Any]:
    """Call from a thread for each team, all of which begin together."""
    ready = threading.Barrier(len(tokens))

    def begin(token: str, content: bytes) -> Any:
        ready.wait()
        return call(token, content)

    with ThreadPoolExecutor(len(tokens)) as pool:
        return list(pool.map(begin, tokens, files))


if __name__ == "__main__":
    main()
