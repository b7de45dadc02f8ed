"""A synthetic challenge from its creation to its rankings, in less than a minute."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from mlstream._support.files import atomic_folder, write_text_atomically
from mlstream.challenge.engine import Challenge
from mlstream.challenge.making.bundle import BASELINE
from mlstream.challenge.making.plan import make_plan
from mlstream.challenge.making.public_card import CARD
from mlstream.challenge.page import render_page
from mlstream.challenge.scoring.ranking import FinalRanking
from mlstream.challenge.truth import read_arrays
from mlstream.cli import console
from mlstream.generators import environment_stream
from mlstream.streams.stream import Stream

# Teams are called after the method of baseline.py that they use.
TEAMS = ("base-rate", "logistic", "per-environment", "stream-ridge", "vrex")
REFERENCE = "organiser: invariant features only"

_RULES = 'name = "Twelve synthetic environments"\npublish_environment_scores = true\n'
# No environment of a seed like this can be found by trying.
_SEED_BITS = 62
# The correlations of training environments differ, so that they can be recognised as unstable.
_CORRELATION = (0.0, 0.8)
_MAX_S = 300


def run_challenge_demo(output: Path, *, seed: int | None = None) -> tuple[FinalRanking, Path]:
    """Make a challenge, let five teams submit, close it, and write rankings and a page, whose path is returned.

    The teams use `baseline.py` on the bundle, as contestants do. One more row shows the organiser's reference: the same
    logistic regression on the invariant features, which only the organiser can tell from the others. By default a large
    seed is drawn for the environments. A FileExistsError is raised if the folder exists, a RuntimeError if a baseline
    fails.
    """
    if output.exists():
        raise FileExistsError(f"{output} must not exist yet: name another folder with --output.")
    output.parent.mkdir(parents=True, exist_ok=True)
    stream = environment_stream(
        seed=secrets.randbits(_SEED_BITS) if seed is None else seed, correlation=_CORRELATION, name="challenge-demo"
    )
    # The baselines run in another working directory.
    with atomic_folder(output.absolute()) as folder:
        ranking = _play(folder, stream)
    return ranking, output / "leaderboard.html"


def _play(folder: Path, stream: Stream) -> FinalRanking:
    console.print_line(f"1. Make the challenge: {len(stream.tasks)} environments, {stream.n_features} features")
    rules, bundle = folder / "challenge.toml", folder / "bundle"
    rules.write_text(_RULES, encoding="utf-8")
    with Challenge.create(stream, rules, folder / "organiser", bundle) as challenge:
        console.print_line(f"2. Train {len(TEAMS)} baselines on the bundle, and the organiser's reference")
        files = _predict(folder / "submissions", _bundles(stream, challenge, bundle, folder / "scratch"))
        console.print_line("3. Submit their predictions; replies hold the score on validation")
        for team, file in files:
            reply = challenge.submit(file, challenge.join(team))
            console.print_line(f"   {team}: {reply.score}, {reply.remaining} queries left today")
        console.print_line("4. Close: score each selection once, on test and on environments never seen")
        ranking = challenge.close(early=True)
        write_text_atomically(folder / "ranking.json", ranking.model_dump_json(indent=1) + "\n")
        write_text_atomically(folder / "leaderboard.html", render_page(challenge))
    shutil.rmtree(folder / "scratch")
    return ranking


def _bundles(stream: Stream, challenge: Challenge, bundle: Path, scratch: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield each team, its method, and the bundle that it uses."""
    for team in TEAMS:
        yield team, team, bundle
    place = challenge.folder
    order = make_plan(stream, challenge.config, place.salt.read_bytes(), force=True).hiding.order
    names = [stream.card.feature_names[column] for column in order.tolist()]
    columns = [place for place, name in enumerate(names) if name.startswith("invariant")]
    yield REFERENCE, "logistic", _restrict(bundle, scratch, columns)


def _restrict(bundle: Path, copy: Path, columns: list[int]) -> Path:
    """Copy what a baseline reads, with some of the features."""
    copy.mkdir()
    shutil.copy(bundle / BASELINE, copy)
    card = json.loads((bundle / CARD).read_text(encoding="utf-8"))
    card["features"] = [card["features"][column] for column in columns]
    (copy / CARD).write_text(json.dumps(card), encoding="utf-8")
    for name in ("train.npz", "holdout.npz"):
        arrays: dict[str, Any] = read_arrays(bundle / name, "must be an NPZ file of the bundle")
        np.savez(copy / name, **(arrays | {"X": arrays["X"][:, columns]}))
    return copy


def _predict(folder: Path, runs: Iterator[tuple[str, str, Path]]) -> list[tuple[str, Path]]:
    """Run the baselines, as many at once as there are processors; return the teams with their files."""
    folder.mkdir()
    jobs = [
        (team, method, bundle, folder / f"{place}-{method}.csv") for place, (team, method, bundle) in enumerate(runs)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (team, *_), _done in zip(jobs, pool.map(lambda job: _run_baseline(*job[1:]), jobs), strict=True):
            console.print_line(f"   {team}: done")
    return [(team, file) for team, _, _, file in jobs]


def _run_baseline(method: str, bundle: Path, file: Path) -> None:
    # Away from the folder of whoever runs this, whose files must not be imported.
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(  # noqa: S603 - this interpreter, on a file that was just written
            [sys.executable, "-P", bundle / BASELINE, "--method", method, "--output", file],
            capture_output=True,
            text=True,
            cwd=elsewhere,
            timeout=_MAX_S,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"baseline.py --method {method} failed: {done.stderr.strip().splitlines()[-1]}")
