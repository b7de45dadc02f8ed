"""Cost of a row as tables grow wide: CPU and peak memory by features, and by labels, for every strategy.

Rows are sparse: their number of values that are not zero stays the same while features are added, and so does their
number of labels. Frequent features and labels come first, as words do in texts. Each figure is taken in a process of
its own: after the strategy has learnt a small table, so that compiled functions are there, the peak of the process is
set back (Linux only), some rows are learnt, and the others tested, then learnt, in one call.

    python benchmarks/wide_growth.py
    python benchmarks/wide_growth.py --only features --strategies BR_HT BR_HT:estimator__zeros=together
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from harness import TINY, sized
from scipy import sparse

from estimators import STRATEGIES, make_strategy

SIZES = {
    "features": sized((100, 1000, 10_000, 100_000), (10, 20)),
    "labels": sized((10, 100, 1000, 10_000), (3, 6)),
}
BASE = {"features": sized(100, 10), "labels": sized(10, 3)}
VALUES = {"features": sized(50, 3), "labels": sized(10, 3)}  # that are not zero, in a row
N_ROWS = {"features": sized(500, 12), "labels": sized(100, 12)}
LABELS_PER_ROW = 3
N_BEFORE = 4
STATUS = Path("/proc/self/status")


def table(n_rows: int, n_features: int, n_values: int, n_labels: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Draw sparse rows; a label is there where one of its features is, or by chance."""
    rng = np.random.default_rng(0)
    X = _places(rng, n_rows, n_features, n_values)
    X.data[:] = rng.random(X.nnz) + 0.5
    return X, _places(rng, n_rows, n_labels, LABELS_PER_ROW)


def _places(rng: np.random.Generator, n_rows: int, n_columns: int, n_each: int) -> sparse.csr_array:
    """Draw columns of each row, the first ones more often."""
    columns = (n_columns * rng.random((n_rows, n_each)) ** 2).astype(int)
    rows = np.repeat(np.arange(n_rows), n_each)
    drawn = sparse.csr_array((np.ones(rows.size), (rows, columns.ravel())), shape=(n_rows, n_columns))
    drawn.sum_duplicates()
    drawn.data[:] = 1.0
    return drawn


def memory_kib(what: str) -> int:
    """Return the memory of this process (VmRSS), or its peak (VmHWM), in KiB."""
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith(what)]
    return int(line.split()[1])


def measure(name: str, what: str, size: int, n_rows: int) -> dict[str, float]:
    """Return microseconds of CPU a row, and MiB that learning took beyond what was there before, tables included."""
    widths = BASE | {what: size}
    name, *options = name.split(":")
    chosen = dict(option.split("=") for option in options)
    small = table(N_BEFORE, BASE["features"], VALUES[what], BASE["labels"])
    make_strategy(name, random_state=0, **chosen).partial_fit(*small).predict_then_fit(*small)
    X, Y = table(n_rows + N_BEFORE, widths["features"], VALUES[what], widths["labels"])
    Path("/proc/self/clear_refs").write_text("5")
    before = memory_kib("VmRSS")
    learner = make_strategy(name, random_state=0, **chosen).partial_fit(X[:N_BEFORE], Y[:N_BEFORE])
    started = time.process_time()
    learner.predict_then_fit(X[N_BEFORE:], Y[N_BEFORE:])
    seconds = time.process_time() - started
    return {"us": 1e6 * seconds / n_rows, "mib": (memory_kib("VmHWM") - before) / 1024}


def in_a_process(cell: list[str], limits: tuple[float, float]) -> dict[str, float | str]:
    """Measure in a new process of a bounded size and time, and return the figures or the error."""
    gib, seconds = limits

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (int(gib * 2**30),) * 2)

    try:
        done = subprocess.run(
            [sys.executable, __file__, "--cell", *cell],
            capture_output=True,
            text=True,
            timeout=seconds,
            preexec_fn=bound,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"> {seconds:g} s"}
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
    print(f"  {' '.join(cell)}: {last[0]}")
    return {"error": last[0].split(":")[0].rpartition(".")[2]}


def print_table(chosen: argparse.Namespace, what: str) -> None:
    """Print a line for each strategy: microseconds of CPU a row, then MiB."""
    sizes, n_rows = chosen.sizes or SIZES[what], chosen.rows or N_ROWS[what]
    print(f"\n{what:22}" + f"{'CPU us a row':>{11 * len(sizes)}}" + f"{'MiB at peak':>{11 * len(sizes)}}")
    print(f"{'':22}" + "".join(f"{size:>11,}" for size in [*sizes, *sizes]))
    for name in sized(chosen.strategies, chosen.strategies[:2]):
        limits = chosen.most_gib, chosen.most_seconds
        cells = [in_a_process([name, what, str(size), str(n_rows)], limits) for size in sizes]
        parts = [_shown(cell, "us") for cell in cells] + [_shown(cell, "mib") for cell in cells]
        print(f"{name:22}" + "".join(f"{part:>11}" for part in parts), flush=True)


def _shown(cell: dict[str, float | str], figure: str) -> str:
    return str(cell["error"])[:10] if "error" in cell else f"{cell[figure]:,.0f}"


def main() -> None:
    """Measure one figure, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--strategies", nargs="+", default=list(STRATEGIES), metavar="NAME", help="or NAME:PARAMETER=VALUE"
    )
    parser.add_argument("--only", choices=list(SIZES), help="one of the two tables")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of features, or of labels")
    parser.add_argument("--rows", type=int, metavar="N", help="number of rows")
    parser.add_argument("--most-gib", type=float, default=16.0, help="size of a process (default: %(default)s)")
    parser.add_argument("--most-seconds", type=float, default=120.0, help="time of a figure (default: %(default)s)")
    parser.add_argument("--cell", nargs=4, metavar=("NAME", "WHAT", "SIZE", "ROWS"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.cell:
        name, what, *numbers = chosen.cell
        print(json.dumps(measure(name, what, *map(int, numbers))))
        return
    print("Rows of sparse tables" + (" (a short run: the figures mean nothing)" if TINY else ""))
    for what in [chosen.only] if chosen.only else SIZES:
        print_table(chosen, what)


if __name__ == "__main__":
    main()
