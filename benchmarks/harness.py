"""A small harness for benchmarks: ours and its peers side by side, in one run, on one machine.

A benchmark is a list of `Contest`s handed to `main`. Contenders take turns, so that a busy moment of the machine hits
all of them; medians are compared; and the answers are compared before any time is believed. `--save` writes the
figures, with the machine and the versions they were taken on, to results/.

With the variable MLSTREAM_BENCH_TINY set, every benchmark runs once on a few rows, in seconds: that shows that it still
works, and its figures mean nothing. Nothing is demanded of them, and they cannot be saved.
"""

import argparse
import json
import os
import platform
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np

RESULTS = Path(__file__).parent / "results"
TINY = bool(os.environ.get("MLSTREAM_BENCH_TINY"))

Size = TypeVar("Size")


def sized(full: Size, tiny: Size) -> Size:
    """Return the size for figures, or that for a short run."""
    return tiny if TINY else full


def demand(condition: bool, text: str) -> None:
    """Raise where figures are not as they should be; a short run has no figures."""
    if not (TINY or condition):
        raise AssertionError(f"Asked for: {text}")


def us_a_row(learners: Mapping[str, Callable[[], Any]]) -> dict[str, tuple[float, float]]:
    """Return the CPU time of a row of ten labels, in one call and one by one: the least of runs in turns."""
    rng = np.random.default_rng(0)
    X, n_one = rng.random((sized(20000, 200), 10)), sized(3000, 20)
    Y = (X > 0.5).astype(np.uint8)
    best = dict.fromkeys(learners, (np.inf, np.inf))
    for name in list(learners) * sized(5, 1):
        model = learners[name]()
        model.predict_then_fit(X[:100], Y[:100])
        start = time.process_time()
        model.predict_then_fit(X, Y)
        middle = time.process_time()
        for x, y in zip(X[:n_one], Y[:n_one], strict=True):
            model.predict_then_fit_one(x, y)
        times = 1e6 * (middle - start) / len(X), 1e6 * (time.process_time() - middle) / n_one
        best[name] = min(best[name][0], times[0]), min(best[name][1], times[1])
    return best


@dataclass(frozen=True)
class Contest:
    """One job, done by us and by others.

    Parameters
    ----------
    name : str
        What is done.
    ours : callable
        Does it our way, without arguments.
    peers : mapping of str to callable
        Does it another way; the key names who and how.
    demand : float
        Least ratio of a peer's time to ours that is asked for; 0 asks for nothing.
    tolerance : float or None
        Greatest difference of the answers, relative and absolute; None compares nothing, where answers differ by
        definition.
    input_bytes : int
        Size of the input, to which our peak memory is compared; 0 measures no memory.
    repeats : int or None
        Turns of each contender, for jobs so slow that the default is out of the question.
    """

    name: str
    ours: Callable[[], Any]
    peers: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    demand: float = 0.0
    tolerance: float | None = 1e-6
    input_bytes: int = 0
    repeats: int | None = None


@dataclass(frozen=True)
class Result:
    """Medians of one contest, against one peer if there is any."""

    name: str
    peer: str | None
    ours_s: float
    peer_s: float | None
    ratio: float | None
    demand: float
    peak_memory_ratio: float | None


def hold(contest: Contest, repeats: int, clock: Callable[[], float] = time.perf_counter) -> list[Result]:
    """Run one contest: compare the answers, then let the contenders take turns."""
    contenders = {"ours": contest.ours, **contest.peers}
    answers = {name: call() for name, call in contenders.items()}  # warms caches and compilers, too
    if contest.tolerance is not None:
        for name, answer in answers.items():
            np.testing.assert_allclose(
                answer,
                answers["ours"],
                rtol=contest.tolerance,
                atol=contest.tolerance,
                err_msg=f"{contest.name}: {name}",
            )
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(sized(contest.repeats or repeats, 1)):
        for name, call in contenders.items():
            start = clock()
            call()
            times[name].append(clock() - start)
    ours, memory = median(times.pop("ours")), _peak_memory_ratio(contest)
    if not times:
        return [Result(contest.name, None, ours, None, None, contest.demand, memory)]
    rivals = {name: median(values) for name, values in times.items()}
    return [
        Result(contest.name, name, ours, theirs, theirs / ours, contest.demand, memory)
        for name, theirs in rivals.items()
    ]


def machine() -> dict[str, str]:
    """Say what the figures were taken on."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        model = models[0] if models else model
    return {
        "cpu": model,
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Say which versions were compared; a package that is missing is said to be missing."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def main(title: str, contests: Sequence[Contest], packages: Sequence[str], *, repeats: int = 7) -> None:
    """Hold all contests, print them as a table, and save them if asked to."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--repeats", type=int, default=repeats, help="turns of each contender (default: %(default)s)")
    parser.add_argument("--cpu", action="store_true", help="compare seconds of CPU, which other work disturbs less")
    parser.add_argument("--save", action="store_true", help=f"write the figures to {RESULTS}")
    parser.add_argument("--only", default="", help="hold only contests whose name contains this")
    options = parser.parse_args()
    if TINY and options.save:
        parser.error("--save must be left out where MLSTREAM_BENCH_TINY is set: figures of tiny input mean nothing.")
    setting = {"machine": machine(), "versions": versions(packages)}
    print(title)
    for part in setting.values():
        print(", ".join(f"{key} {value}" for key, value in part.items()))
    print(f"{'job':38} {'against':24} {'ours ms':>9} {'peer ms':>9} {'ratio':>7} {'asked':>6} {'memory':>7}")
    results = []
    for contest in contests:
        if options.only in contest.name:
            for result in hold(contest, options.repeats, time.process_time if options.cpu else time.perf_counter):
                print(_line(result), flush=True)
                results.append(asdict(result))
    if options.save:
        _save({"title": title, **setting, "taken": datetime.now(UTC).isoformat(timespec="seconds"), "results": results})


def _line(result: Result) -> str:
    memory = "" if result.peak_memory_ratio is None else f"{result.peak_memory_ratio:.2f}x"
    line = f"{result.name:38} {result.peer or '-':24} {result.ours_s * 1e3:9.2f}"
    if result.peer_s is None or result.ratio is None:
        return f"{line} {'':9} {'':7} {'':6} {memory:>7}"
    asked = f"{result.demand:g}x" if result.demand and not TINY else ""
    verdict = "  MISSED" if asked and result.ratio < result.demand else ""
    return f"{line} {result.peer_s * 1e3:9.2f} {result.ratio:6.1f}x {asked:>6} {memory:>7}{verdict}"


def _peak_memory_ratio(contest: Contest) -> float | None:
    """Measure what our way allocates on top of its input, relative to the input."""
    if not contest.input_bytes:
        return None
    tracemalloc.start()
    contest.ours()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / contest.input_bytes


def _save(record: dict[str, Any]) -> None:
    import __main__

    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{Path(__main__.__file__).stem}.json"
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(f"Saved {path}")
