"""Time and energy of the published code, side by side with ours: same rows, same hyper-parameters.

    git clone https://github.com/eliot-leguy/OSC-MLC ../OSC-MLC && git -C ../OSC-MLC checkout 35c710b
    python -m benchmarks.reproduction.published_code ../OSC-MLC

Both sides test, then train, on the first learning rows of the published streams; theirs row by row, which is all that
it can, ours in one call. Nothing but that is measured: of the published program, its scores and what it prints are left
out. Both sides run in one thread: PyTorch's second one makes such small networks slower, many times where the machine
does other work. Energy is read by mlstream's CodeCarbon meter on both sides; runs are repeated until they have lasted
long enough for it.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import RESULTS, machine, versions
from benchmarks.reproduction import real_streams
from benchmarks.reproduction.compare import ROOT, require_shared
from benchmarks.reproduction.environments import python_with
from benchmarks.reproduction.measure import Cost, measure, start_meter
from benchmarks.reproduction.river_environment import RIVER
from benchmarks.reproduction.shared_settings import FOREST, NETWORKS, TREE, TREES
from estimators import make_strategy
from metrics import ba_macro
from tests.estimators import published

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
N_ROWS = {"synthetic_rand": 1000, "Yeast": 500, "Slashdot": 100}


@dataclass(frozen=True)
class Pair:
    """A strategy on the rows of a stream, theirs and ours."""

    stream: str
    n_rows: int
    strategy: str
    theirs: Cost
    ours: Cost
    their_ba: float
    our_ba: float

    @property
    def line(self) -> str:
        """The line of the printed table; seconds are CPU seconds, which other programs disturb little."""
        ratio = self.theirs.cpu_s / self.ours.cpu_s
        energy = self.theirs.energy_j / self.ours.energy_j
        rates = f"{self.n_rows / self.theirs.cpu_s:8.0f} {self.n_rows / self.ours.cpu_s:9.0f}"
        costs = f"{self.theirs.cpu_s:9.3f} {self.ours.cpu_s:9.5f} {rates} {ratio:7.0f}x"
        joules = f"{self.theirs.energy_j:9.2f} {self.ours.energy_j:9.5f} {energy:7.0f}x"
        return f"{self.stream:15} {self.strategy:21} {costs} {joules} {self.their_ba:6.3f} {self.our_ba:6.3f}"


HEADER = (
    f"{'stream':15} {'strategy':21} {'theirs s':>9} {'ours s':>9} {'rows/s':>8} {'rows/s':>9} {'ratio':>8} "
    f"{'theirs J':>9} {'ours J':>9} {'ratio':>8} {'BA':>6} {'BA':>6}"
)


class PublishedCode:
    """A process that runs the published classes."""

    def __init__(self, checkout: Path, python: Path) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.reproduction.published_code_cells"],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{checkout.resolve()}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, strategy: str, rows: Path, least_s: float) -> tuple[Cost, np.ndarray]:
        """Run a strategy on rows; give what it took and what was decided."""
        self._process.stdin.write(json.dumps({"strategy": strategy, "rows": str(rows), "least_s": least_s}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"The published code stopped at {strategy}. Run its cells by hand to see why.")
        reply = json.loads(line)
        return Cost(*reply["cost"]), np.array(reply["decided"])

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def run_ours(strategy: str, rows: Rows, least_s: float, meter: Any) -> tuple[Cost, np.ndarray]:
    """Run our strategy on the same rows; those of a sparse table are sparse, as mlstream reads them."""
    X, Y, mask = rows
    if np.mean(X == 0) > 0.5:
        X = sparse.csr_array(X)
    settings = {} if strategy in NETWORKS else FOREST if strategy == "BR_random_forest" else TREE

    def run() -> np.ndarray:
        learner = make_strategy(strategy, **settings)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=0)
        return learner.predict_then_fit(X, Y, label_mask=mask if learner.uses_task else None)[0]

    decided = run()  # compiles, too
    return measure(run, meter, least_s), decided


def first_rows(name: str, n_rows: int) -> Rows:
    """Give features, labels and masks of the first learning rows of a published stream."""
    tables = {column: table for table, column in real_streams.NAMES.items()}
    stream = real_streams.load(tables[name]) if name in tables else published.load(require_shared().joinpath, "rand")
    X, Y = (np.vstack(part)[:n_rows] for part in zip(*stream.experiences, strict=True))
    tasks = np.repeat(stream.order, [len(Y) for _, Y in stream.experiences])[:n_rows]
    return X, Y, stream.masks[tasks]


def pairs(code: PublishedCode, meter: Any, options: argparse.Namespace, folder: Path) -> Iterator[Pair]:
    """Run every strategy on every stream, theirs and then ours."""
    for name in options.streams:
        rows = X, Y, mask = first_rows(name, options.rows or N_ROWS[name])
        path = folder / f"{name}.npz"
        np.savez(path, X=X, Y=Y, mask=mask)
        for strategy in options.strategies:
            theirs, decided = code.run(strategy, path, options.least_s)
            ours, our_decided = run_ours(strategy, rows, options.least_s, meter)
            scores = (ba_macro(Y, answers, label_mask=mask) for answers in (decided, our_decided))
            yield Pair(name, len(Y), strategy, theirs, ours, *scores)


def main() -> None:
    """Run, print, and save if asked to."""
    options = _options()
    code = PublishedCode(options.checkout, options.python or _environment())
    meter = start_meter()
    setting = {
        "machine": machine(),
        "versions": versions(["numba", "numpy", "codecarbon"]) | {"their river": RIVER},
        "energy": f"{meter.method}; {'an estimate' if meter.is_estimate else 'measured'}",
    }
    sys.stdout.write(f"{json.dumps(setting)}\n{HEADER}\n")
    done = []
    with TemporaryDirectory() as folder:
        for pair in pairs(code, meter, options, Path(folder)):
            sys.stdout.write(pair.line + "\n")
            sys.stdout.flush()
            done.append(pair)
    code.close()
    if options.save:
        _save(setting, done)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="folder of the published code, at 35c710b")
    parser.add_argument("--python", type=Path, help="interpreter with River, PyTorch and CodeCarbon (made by default)")
    parser.add_argument("--streams", nargs="+", choices=N_ROWS, default=list(N_ROWS), help="streams to run")
    parser.add_argument("--strategies", nargs="+", choices=NETWORKS + TREES, default=NETWORKS + TREES)
    parser.add_argument("--rows", type=int, help=f"first rows to run (default: {N_ROWS})")
    parser.add_argument("--least-s", type=float, default=2.0, help="seconds a measurement lasts at least")
    parser.add_argument("--save", action="store_true", help=f"write the figures to {RESULTS}")
    options = parser.parse_args()
    if not (options.checkout / "implemented_models").is_dir():
        parser.error(f"{options.checkout} must hold the published code (implemented_models/); see --help to get it.")
    return options


def _environment() -> Path:
    torch = f"torch=={version('torch').split('+')[0]}"
    return python_with("published-code", f"river=={RIVER}", torch, f"codecarbon=={version('codecarbon')}")


def _save(setting: dict[str, Any], done: list[Pair]) -> None:
    records = [asdict(pair) | {side: getattr(pair, side)._asdict() for side in ("theirs", "ours")} for pair in done]
    path = RESULTS / "published_code.json"
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    path.write_text(json.dumps({**setting, "taken": taken, "results": records}, indent=2) + "\n")


if __name__ == "__main__":
    main()
