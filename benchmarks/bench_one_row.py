"""One row per call, as a service learns: `predict_then_fit_one` of every strategy, side by side with the peer's loop.

Ten times the speed of River and of lean PyTorch is asked for. Each line has the mean, the median and the 99th
percentile of the time of a row, in microseconds, of ours and of the peer, and the ratio of the medians. Both sides
learn the same rows, twenty in turn, after a few that are not timed; a peer that is slow learns the first of them only,
and the ratio is that of these. With ``--chunk``, ours are calls of `predict_then_fit` with one row. The line "nothing"
is a learner that does nothing, the least that a row can cost. With ``--grow``, rows name their labels, every tenth
lacks one, and learners are those that can take in new ones.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from harness import RESULTS, TINY, machine, sized, versions
from one_row_peers import PEERS, Step
from scipy import sparse

from estimators import STRATEGIES, make_strategy
from estimators.contract.base import StreamClassifier
from estimators.contract.new_labels import set_choice
from mlstream import load_dataset
from mlstream.generators import multiplier_stream

SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
N_WARM, N_ROWS = sized((60, 400), (6, 20))
IN_TURN = 20
PEER_SECONDS = sized(1.5, 0.2)
ASKED = 10
NOTHING = "nothing"
# peers that do all that the strategy does: of these, the speed is asked for
WHOLE = ("River", "PyTorch")

Table = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Latency:
    """Times of rows, in microseconds."""

    n_rows: int
    mean_us: float
    p50_us: float
    p99_us: float


@dataclass(frozen=True)
class Line:
    """A strategy on a table, and its peer, if it has one, with the ratio of the medians."""

    table: str
    strategy: str
    ours: Latency
    peer: str | None = None
    theirs: Latency | None = None
    ratio: float | None = None


def tables() -> Iterator[tuple[str, Table]]:
    """Yield Yeast (103 features, 14 labels), synthetic_rand (4 and 4) and Slashdot (1079 and 22), or its shape."""
    yeast = load_dataset("yeast")
    yield "Yeast", plain(yeast.X, yeast.Y)
    drawn = multiplier_stream("rand", n_rows=N_WARM + N_ROWS).experiences
    yield "synthetic_rand", plain(*(np.concatenate([getattr(one, part) for one in drawn]) for part in "XY"))
    path = SHARED / "multilabel" / "Slashdot.arff"
    if path.exists():
        found = load_dataset(path)
        yield "Slashdot", plain(found.X, found.Y)
        return
    rng = np.random.default_rng(0)
    X = (rng.random((N_WARM + N_ROWS, 1079)) < 0.013).astype(float)
    yield "Slashdot's shape", (X, (X @ rng.normal(size=(1079, 22)) > 1.5).astype(int))


def plain(X: Any, Y: Any) -> Table:
    """Return the first rows as dense arrays."""
    n = N_WARM + N_ROWS
    dense = X[:n].toarray() if sparse.issparse(X) else np.asarray(X)[:n]
    return np.ascontiguousarray(dense, dtype=float), np.asarray(Y)[:n].astype(int)


class Nothing(StreamClassifier):
    """A learner that does nothing: a call of it costs what checks, the lock and the arrays that are returned cost."""

    def _start(self) -> None:
        self.zeros = np.zeros((1, self.n_labels_))

    def _predict_then_learn(self, X: Any, Y: np.ndarray, mask: Any) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        return self.zeros, self.zeros


def can_grow(name: str) -> bool:
    """Return whether a strategy takes in new labels."""
    return name != NOTHING and not STRATEGIES[name].to_install and STRATEGIES[name].build()._can_grow()


def our_loop(name: str, X: np.ndarray, Y: np.ndarray, *, chunk: bool, grow: bool) -> Step:
    """Return the loop of a strategy."""
    if grow:
        return growing_loop(set_choice(STRATEGIES[name].build(), "grow"), X, Y)
    learner = Nothing() if name == NOTHING else make_strategy(name, random_state=0)
    if chunk:
        return lambda i: learner.predict_then_fit(X[i : i + 1], Y[i : i + 1])
    return lambda i: learner.predict_then_fit_one(X[i], Y[i])


def growing_loop(learner: StreamClassifier, X: np.ndarray, Y: np.ndarray) -> Step:
    """Return the loop of a service whose labels have names, one of them unknown in every tenth row."""
    names = [f"label {j}" for j in range(Y.shape[1])]
    labels = Y.astype(float)
    labels[::10, 0] = np.nan
    return lambda i: learner.predict_then_fit_one(X[i], labels[i], names)


def time_rows(step: Step, rows: range, clock: Callable[[], int]) -> list[int]:
    """Return the nanoseconds of each row."""
    times = []
    for i in rows:
        start = clock()
        step(i)
        times.append(clock() - start)
    return times


def contest(
    name: str, table: Table, clock: Callable[[], int], *, chunk: bool, grow: bool
) -> tuple[list[int], list[int]]:
    """Return the nanoseconds of rows of ours and of the peer, which take turns."""
    ours, peer = our_loop(name, *table, chunk=chunk, grow=grow), None if grow else PEERS.get(name)
    n, our_ns, peer_ns = len(table[0]), [], []
    theirs = peer.make(*table) if peer else None
    first = min(N_WARM, n // 2)
    time_rows(ours, range(first), clock)
    if theirs is not None:
        until = time.perf_counter() + PEER_SECONDS
        for i in range(first):
            theirs(i)
            if time.perf_counter() > until:
                break
    until = time.perf_counter() + PEER_SECONDS
    for start in range(first, n, IN_TURN):
        rows = range(start, min(start + IN_TURN, n))
        our_ns += time_rows(ours, rows, clock)
        if theirs is not None and time.perf_counter() < until:
            peer_ns += time_rows(theirs, rows, clock)
    return our_ns, peer_ns


def latency(times_ns: list[int]) -> Latency:
    """Return the mean, the median and the 99th percentile."""
    times = np.array(times_ns) / 1e3
    return Latency(len(times), float(times.mean()), *(float(p) for p in np.percentile(times, (50, 99))))


def line_of(table: str, name: str, our_ns: list[int], peer_ns: list[int]) -> Line:
    """Return the figures of a strategy on a table."""
    if not peer_ns:
        return Line(table, name, latency(our_ns))
    both = len(peer_ns)
    return Line(
        table, name, latency(our_ns), PEERS[name].name, latency(peer_ns), median(peer_ns) / median(our_ns[:both])
    )


def cells(values: Iterable[float | str]) -> str:
    """Return values as cells of the table that is printed."""
    return " ".join(f"{value:>9}" if isinstance(value, str) else f"{value:9.1f}" for value in values)


def text_of(line: Line) -> str:
    """Return the figures as a line of the table that is printed."""
    ours, theirs = line.ours, line.theirs
    text = f"{line.table:16} {line.strategy:21} {cells((ours.mean_us, ours.p50_us, ours.p99_us))}"
    if theirs is None or line.ratio is None:
        return f"{text}  no peer"
    missed = "  MISSED" if line.ratio < ASKED and line.peer in WHOLE and not TINY else ""
    return f"{text}  {line.peer:23} {cells((theirs.mean_us, theirs.p50_us, theirs.p99_us))} {line.ratio:8.1f}x{missed}"


def main() -> None:
    """Print the table, and save it if asked to."""
    parser = argparse.ArgumentParser(description="One row per call")
    parser.add_argument("--cpu", action="store_true", help="compare seconds of CPU, which other work disturbs less")
    parser.add_argument("--chunk", action="store_true", help="call predict_then_fit with one row")
    parser.add_argument("--grow", action="store_true", help="rows that name their labels, for learners that grow")
    parser.add_argument("--only", default="", help="strategies, divided by commas (default: all)")
    parser.add_argument("--table", default="", help="tables whose name begins so (default: all)")
    parser.add_argument("--save", action="store_true", help=f"write the figures to {RESULTS}")
    options = parser.parse_args()
    if TINY and options.save:
        parser.error("--save must be left out where MLSTREAM_BENCH_TINY is set: figures of tiny input mean nothing.")
    torch.set_num_threads(1)
    setting = {"machine": machine(), "versions": versions(("numba", "numpy", "river", "torch", "scikit-learn"))}
    for part in setting.values():
        print(", ".join(f"{key} {value}" for key, value in part.items()))
    times = ("mean", "p50", "p99")
    print(f"{'us per row':38} {cells(times)}  {'against':23} {cells(times)}     ratio")
    clock = time.process_time_ns if options.cpu else time.perf_counter_ns
    lines = []
    names = options.only.split(",") if options.only else [NOTHING, *STRATEGIES]
    for table, rows in tables():
        for name in filter(can_grow, names) if options.grow else names:
            if table.startswith(options.table):
                lines.append(line_of(table, name, *contest(name, rows, clock, chunk=options.chunk, grow=options.grow)))
                print(text_of(lines[-1]), flush=True)
    if options.save:
        record = {**setting, "taken": datetime.now(UTC).isoformat(timespec="seconds"), "cpu": options.cpu}
        path = RESULTS / "bench_one_row.json"
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps({**record, "results": [asdict(line) for line in lines]}, indent=2) + "\n")
        print(f"Saved {path}")


if __name__ == "__main__":
    main()
