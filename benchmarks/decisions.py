"""One measurement for each decision of docs/contributing/decisions.rst: ``python -m benchmarks.decisions NAME ...``.

Both sides of a ratio take turns in this process or in new ones, the ratio is of CPU times, and the median of the turns
counts, so that a busy machine changes little. Without a name, all are printed, which takes two minutes of CPU.
"""

import ast
import inspect
import json
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.harness import sized

TURNS = sized(9, 1)
N_FORKS = sized(10, 1)
FIRST_CALL = """
import logging, time
import numpy as np
from estimators import make_strategy
logging.getLogger("estimators").setLevel("ERROR")
learner = make_strategy("BR_HT")
start = time.process_time()
learner.predict_then_fit(np.eye(4), np.eye(4, dtype=int))
print(time.process_time() - start)
"""


def ratio(slow: Callable[[], object], fast: Callable[[], object], turns: int = 9) -> float:
    """Return how many times the CPU time of one call another takes: the median of calls in turn, after one of each."""
    slow(), fast()
    return median(cpu_seconds(slow) / cpu_seconds(fast) for _ in range(min(turns, TURNS)))


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call, with those of processes that it waits for."""
    start = _used()
    call()
    return _used() - start


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def python(code: str, *arguments: str, folder: str | None = None, **variables: str) -> str:
    """Run code in a new process, and return what it prints."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))} | variables
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=folder, env=environment).stdout


def numba() -> str:
    """Compare steps of logistic regression in NumPy, row by row, with the kernel that takes the same steps."""
    from estimators import OnlineLogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    Y = (X[:, :5] > 0.5).astype(float)

    def loop() -> np.ndarray:
        W, b, probs = np.zeros((20, 5)), np.zeros(5), np.empty(Y.shape)
        for x, y, prob in zip(X, Y, probs, strict=True):
            prob[:] = 1 / (1 + np.exp(-(x @ W + b)))
            W -= 0.01 * np.outer(x, prob - y)
            b -= 0.01 * (prob - y)
        return probs

    def kernel() -> np.ndarray:
        return OnlineLogisticRegression().predict_then_fit(X, Y)[1]

    np.testing.assert_allclose(kernel(), loop(), atol=1e-9)
    return f"A loop over rows in NumPy takes {ratio(loop, kernel):.0f} times the CPU time of the kernel."


def cache() -> str:
    """Edit a kernel that another file calls, and ask Numba's own cache; compile nothing, and everything, of a tree."""
    head = "from numba import njit\n"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "outer.py").write_text(f"{head}import inner\n@njit(cache=True)\ndef outer(): return inner.f()\n")
        for number in (1, 2):
            Path(folder, "inner.py").write_text(f"{head}@njit\ndef f(): return {number}\n")
            printed = python("import sys; sys.path[:0] = ['.']; import outer; print(outer.outer())", folder=folder)

        def cpu(cache: str) -> float:
            return float(python(FIRST_CALL, NUMBA_CACHE_DIR=cache))

        kept = str(Path(folder, "kept"))
        cpu(kept)
        times = [cpu(str(Path(folder, f"empty{turn}"))) / cpu(kept) for turn in range(sized(3, 1))]
    return (
        f"After an edit from 1 to 2, Numba's own cache returns {printed.strip()}. "
        f"The first rows of BR_HT take {median(times):.0f} times the CPU time where no kernel is kept."
    )


def forks() -> str:
    """Fork a process in which another thread compiles, and count the children that do not end."""
    code = """
        import os, signal, sys, threading, time, numba
        if sys.argv[1] == "held":
            from estimators._kernels import keeping
            keeping._folder()
        def compile_one(number):
            namespace = {}
            exec(f"def f(x): return x + {number}", namespace)
            return numba.njit(namespace["f"])(1)
        def compile_on():
            for number in range(10**6):
                compile_one(number)
                time.sleep(0.01)
        threading.Thread(target=compile_on, daemon=True).start()
        n_hung = 0
        for _ in range(int(sys.argv[2])):
            time.sleep(0.2)
            if not (child := os.fork()):
                signal.alarm(60)
                compile_one(-1)
                os._exit(0)
            for _ in range(200):
                if os.waitpid(child, os.WNOHANG)[0]:
                    break
                time.sleep(0.05)
            else:
                os.kill(child, 9)
                os.waitpid(child, 0)
                n_hung += 1
        print(n_hung, flush=True)
        os._exit(0)
    """
    plain, held = (python(code, how, str(N_FORKS)).strip() for how in ("plain", "held"))
    return f"Of {N_FORKS} children forked while a thread compiles, {plain} hang with Numba alone and {held} with ours."


def locks() -> str:
    """Compare the lock of a learner with the shortest call that takes it."""
    from estimators import make_strategy
    from estimators.contract.locks import lock_of

    x, y = np.ones(10), np.array([1, 0, 1])
    learner = make_strategy("NN").partial_fit(x[None], y[None])

    def lock() -> None:
        for _ in range(2000):
            with lock_of(learner):
                pass

    def learn() -> None:
        for _ in range(2000):
            learner.predict_then_fit_one(x, y)

    return f"To predict and learn one row by NN takes {ratio(learn, lock):.0f} times the CPU time of its lock."


def mapped() -> str:
    """Read a table of 256 MiB from an archive, and compare the peaks of memory."""
    from mlstream.formats._zip import write_arrays

    code = """
        import sys
        from pathlib import Path
        import numpy as np
        from mlstream._support.mapped import slices
        from mlstream.formats._zip import read_arrays
        def peak():
            return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
        path, how = sys.argv[1:]
        before = peak()
        if how == "NumPy":
            X = np.load(path, mmap_mode="r")["X"]
        else:
            X = read_arrays(Path(path), mmap=True, check=False)["X"]
        for rows in slices(len(X), 1000, *([X] if how == "ours" else [])):
            X[rows].sum()
        print(peak() - before)
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.npz")
        write_arrays(path, {"X": np.ones((2**18, 128))})
        peaks = {how: float(python(code, str(path), how)) for how in ("NumPy", "map", "ours")}
    return (
        f"A pass over a table of 256 MiB takes {peaks['ours']:.0f} MiB; without giving pages back {peaks['map']:.0f}, "
        f"by numpy.load(mmap_mode='r') {peaks['NumPy']:.0f}."
    )


def readers() -> str:
    """Compare readers of ARFF: time, and files with a defect that they read without an error."""
    import arff
    from scipy.io import arff as scipy_arff

    from mlstream.data.datasets import load_dataset
    from mlstream.formats.arff.writer import format_arff
    from tests.mlstream.formats.arff.test_reader import DEFECTS

    # A column of text or dates is a defect for us only.
    defects = [text for title, (text, _) in DEFECTS.items() if not title.endswith(" column")]
    rng = np.random.default_rng(0)
    X, Y = np.round(rng.random((20_000, 100)), 6), (rng.random((20_000, 10)) < 0.1).astype(np.uint8)
    names = [f"a{i}" for i in range(100)], [f"y{i}" for i in range(10)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.arff")

        def ours(labels: int | None = 1) -> object:
            return load_dataset(path, labels=labels)

        def liac() -> object:
            with path.open(encoding="utf-8") as file:
                return arff.load(file)

        def scipy() -> object:
            return scipy_arff.loadarff(path)

        n_accepted = dict.fromkeys((ours, liac, scipy), 0)
        for text in defects:
            path.write_text(text, encoding="utf-8")
            for read in n_accepted:
                n_accepted[read] += _is_read(read)
        path.write_text("".join(format_arff(X, Y, *names, title="x")), encoding="utf-8")
        times = ratio(liac, lambda: ours(10), turns=3)
    counts = " / ".join(map(str, n_accepted.values()))
    return (
        f"Of {len(defects)} files with a defect, ours / liac-arff / SciPy read {counts} without an error. "
        f"A sound file of 20 MB takes liac-arff {times:.0f} times the CPU time of ours."
    )


def _is_read(read: Callable[[], object]) -> bool:
    try:
        read()
    except Exception:
        return False
    return True


def schema() -> str:
    """Compare a record that is checked by its model with the same text as a dictionary."""
    from mlstream.records.run_result import RunResult
    from tests.mlstream.records.run_records import make_run

    text = make_run().model_dump_json()

    def model() -> None:
        for _ in range(200):
            RunResult.model_validate_json(text)

    def plain() -> None:
        for _ in range(200):
            json.loads(text)

    return f"A record is read and checked in {ratio(model, plain):.1f} times the CPU time of json.loads."


def files() -> str:
    """Compare a file for each run with the same records in one file."""
    from mlstream.records.checks import require_consistent
    from mlstream.records.run_record import load_runs, save_run
    from mlstream.records.run_result import RunResult
    from tests.mlstream.records.run_records import make_run

    with tempfile.TemporaryDirectory() as folder:
        runs = [make_run(seed=seed) for seed in range(300)]
        for run in runs:
            save_run(run, folder)
        one = Path(folder, "all.jsonl")
        one.write_text("\n".join(run.model_dump_json() for run in runs))

        def read_one() -> list[RunResult]:
            records = [RunResult.model_validate_json(line) for line in one.read_text().splitlines()]
            for record in records:
                require_consistent(record)
            return records

        times = ratio(lambda: load_runs(folder), read_one)
    return f"300 records are read from a file each in {times:.1f} times the CPU time that one file takes."


def faces() -> str:
    """Compare the import of a package with that of all its public names."""
    times = []
    for package in ("estimators", "mlstream"):
        all_names = f"import {package} as face; [getattr(face, name) for name in face.__all__]"
        times.append(ratio(partial(python, all_names), partial(python, f"import {package}"), turns=5))
    return "All names take {:.0f} times the CPU time of `import estimators`; of `mlstream`, {:.0f} times.".format(
        *times
    )


def circles() -> str:
    """Count the files that one import upwards would tie together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    from tools.house import ROOT, House

    imported = House(ROOT).imported
    places = {name: place for place, name in enumerate(imported)}

    def largest(*extra: tuple[str, str]) -> int:
        arrows = [(name, other) for name, others in imported.items() for other in others]
        rows, columns = zip(*((places[a], places[b]) for a, b in [*arrows, *extra] if a != b), strict=True)
        graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(places),) * 2)
        n_files = int(np.bincount(connected_components(graph, connection="strong")[1]).max())
        return n_files if n_files > 1 else 0

    upwards = ("mlstream.streams.stream", "mlstream.data.in_memory")
    return f"{largest()} files are in a circle; if {upwards[0]} imported {upwards[1]}, {largest(upwards)} would be."


def hooks() -> str:
    """Count the lines of what a learner adds to its bases, and of what it inherits, without docstrings."""
    from estimators import EWCClassifier

    own, *bases = (kind for kind in EWCClassifier.__mro__ if kind.__module__.startswith("estimators"))
    n_own, n_inherited = _n_lines(own), sum(map(_n_lines, bases))
    return f"EWCClassifier adds {n_own} lines of hooks to {n_inherited} lines that it inherits."


def _n_lines(kind: type) -> int:
    """Count the lines of methods but the constructor, without docstrings and decorators."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    methods = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    bodies = [node.body[ast.get_docstring(node) is not None :] for node in methods]
    return sum(1 + (body[-1].end_lineno or 0) - body[0].lineno + 1 for body in bodies if body)


def metrics() -> str:
    """Compare the import of our metrics with that of scikit-learn's."""
    times = ratio(lambda: python("import sklearn.metrics"), lambda: python("import metrics"), turns=5)
    return f"`import sklearn.metrics` takes {times:.1f} times the CPU time of `import metrics`."


MEASUREMENTS = (numba, cache, forks, locks, mapped, readers, schema, files, faces, circles, hooks, metrics)

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for measure in MEASUREMENTS:
        if not chosen or measure.__name__ in chosen:
            print(measure().replace(". ", ".\n"), flush=True)
