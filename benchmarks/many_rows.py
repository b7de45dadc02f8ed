"""Memory and CPU time by the number of rows, from drawing a stream to its evaluation, each step in its own process.

    python benchmarks/many_rows.py [--rows 100000 1000000 10000000] [--features 100] [--strategy NN] [--folder FOLDER]

Memory is the greatest resident memory of the process, read from /proc every 10 ms: in all, and without the pages of
files that it maps, which the system takes back when it needs them. Time is CPU time of the process, so that other
programs hardly matter; the start of Python and compilation are in it, and weigh in the first line. The folder needs 24
bytes of disk for each cell, and TMPDIR 8; both are free again at the end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

MIB = 2**20
_POLL_S = 0.01


class Cost(NamedTuple):
    """Cost of a command: greatest resident memory in bytes, in all and without maps of files, and CPU seconds."""

    resident: int
    anonymous: int
    cpu_s: float


def run(*arguments: object) -> Cost:
    """Run a command of mlstream, and watch its memory."""
    child = subprocess.Popen([sys.executable, "-m", "mlstream", *map(str, arguments)], stdout=subprocess.DEVNULL)
    status, peaks = Path(f"/proc/{child.pid}/status"), {"VmRSS": 0, "RssAnon": 0}
    while True:
        ended, code, usage = os.wait4(child.pid, os.WNOHANG)
        if ended:
            break
        for line in status.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in peaks:
                peaks[name] = max(peaks[name], 1024 * int(value.split()[0]))
        time.sleep(_POLL_S)
    child.returncode = os.waitstatus_to_exitcode(code)
    if child.returncode:
        raise SystemExit(f"mlstream {arguments[0]} must end well. Got the exit status {child.returncode}.")
    return Cost(peaks["VmRSS"], peaks["RssAnon"], usage.ru_utime + usage.ru_stime)


def measure(n_rows: int, n_features: int, strategy: str, folder: Path) -> None:
    """Print a line for each step with a stream of a number of rows."""
    stream, published = folder / "stream.npz", folder / "published"
    sizes = ("--rows", n_rows // 2, "--concepts", 2, "--features", n_features, "--labels", 5)
    steps = {
        "synthesise": ("synthesise", "hyperplane", *sizes, "--cardinality", 1.5, "-o", stream),
        "publish": ("publish", stream, published, "--no-arff", "--licence", "CC0-1.0"),
        "verify": ("verify", published),
        "run": ("run", published, "-o", folder / "runs", "-s", strategy, "--energy", "none", "--quiet"),
    }
    for name, arguments in steps.items():
        cost = run(*arguments)
        memory = f"{cost.resident / MIB:8.0f} {cost.anonymous / MIB:10.0f}"
        size = stream.stat().st_size / MIB
        print(
            f"{n_rows:>12,} {size:8.0f}  {name:10} {memory} {cost.cpu_s:8.1f} {1e6 * cost.cpu_s / n_rows:8.2f}",
            flush=True,
        )


def main() -> None:
    """Parse the command line and measure each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--strategy", default="NN")
    parser.add_argument("--folder", type=Path, default=None, help="on a disk with room; by default that of TMPDIR")
    arguments = parser.parse_args()
    print(f"{'rows':>12} {'file MiB':>8}  {'step':10} {'peak MiB':>8} {'anon. MiB':>10} {'CPU s':>8} {'us a row':>8}")
    for n_rows in arguments.rows:
        with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="many-rows-") as folder:
            measure(n_rows, arguments.features, arguments.strategy, Path(folder))


if __name__ == "__main__":
    main()
