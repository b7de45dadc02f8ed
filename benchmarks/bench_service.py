"""A learner in service: what each part between events and alarms takes, in microseconds of CPU.

    python benchmarks/bench_service.py              # or some of its parts, as `--help` lists them

``windows``: live windows of 40 hosts, beside a list of events that pandas groups at the end of each window: nobody else
gives rows as windows close. 200,000 events a second are asked for, which is 5 us an event.
``budget``: `AlarmBudget` beside the learner inside it. ``calibrate``: the same of `PrequentialCalibrator`.
``feedback``: rows that are learnt a thousand rows later, by a `FeedbackBuffer`, and by the calls of the learner alone
with a deque; "nothing" is a learner whose calls return at once. Each may add 5 us to a row. ``explain``: one row of 100
features and ten labels, beside predicting it and beside `permutation_importance` of scikit-learn over 100 rows, which
explains no row; 50 us are asked for. ``monitor``: a monitor of 100 features and five labels, one row a call, looks
included, beside a detector of River for each feature; it may take 10 us. ``sources``: a learner that is evaluated on
single rows, and on chunks; rows of a CSV file by `follow_csv`, beside pandas with ``chunksize``. ``memory``: peaks over
five million events, and five million rows.
"""

import argparse
import pickle
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import river.drift
from harness import machine, sized, versions
from sklearn.inspection import permutation_importance

from estimators import AlarmBudget, OnlineLogisticRegression, PrequentialCalibrator, make_strategy
from estimators.contract.base import StreamClassifier
from mlstream import Events, TextColumn, evaluate
from mlstream.generators import LiveWindows, synthetic_events
from mlstream.service import FeedbackBuffer, Monitor, follow_csv

N_DAYS, N_ROWS, N_MANY = sized((20, 20_000, 5_000_000), (1, 200, 20_000))
N_LABELS, DELAY, CHUNK, ROUNDS = 4, sized(1000, 20), 1000, sized(5, 1)
N_FEATURES, N_EXPLAINED = 100, sized(1000, 5)
STATISTICS = ("mean", "min", "max", "sum")
LIMITS: dict[str, dict[str, Any]] = {
    "rows": {"budget": 20, "period": 1000},
    "time": {"budget": 20, "period": "1d", "time": "at"},
    "time and keys": {"budget": 20, "period": "1d", "key_budget": 2, "time": "at", "key": "host"},
}

Event = dict[str, object]


def show(name: str, count: int, loops: dict[str, Callable[[], object]]) -> None:
    """Print the least time of each loop over `count` rows or events; the loops take turns."""
    times: dict[str, list[float]] = {kind: [] for kind in loops}
    for _ in range(ROUNDS):
        for kind, loop in loops.items():
            start = time.process_time()
            loop()
            times[kind].append((time.process_time() - start) * 1e6 / count)
    print(f"{name:24}", *(f"{kind}: {min(values):6.2f} us  " for kind, values in times.items()), flush=True)


# ---------------------------------------------------------------------- windows
def live_windows() -> LiveWindows:
    """Return windows of hosts with five counts, and eight statistics."""
    services = {"service": ["http", "dns", "smtp"]}
    return LiveWindows("10min", by="host", labels="threat", categories=services, numbers=["bytes", "seconds"], clock=[])


def to_dicts(events: Events) -> list[Event]:
    """Return single events, as a service gets them."""
    columns = {
        name: column.tolist() if isinstance(column, np.ndarray) else [(*column.values, "")[i] for i in column.codes]
        for name, column in events.columns.items()
    }
    names = ("time", *columns)
    return [dict(zip(names, row, strict=True)) for row in zip(events.times.tolist(), *columns.values(), strict=True)]


def give(pieces: list[Event] | list[Events]) -> None:
    """Take all pieces in live windows."""
    live = live_windows()
    for piece in pieces:
        live.update(piece)
    live.close()


def group_by_pandas(events: list[Event]) -> None:
    """Group the events of a window when the next one begins."""
    width, end = timedelta(minutes=10), datetime(1970, 1, 1)
    waiting: list[Event] = []
    for event in events:
        if event["time"] >= end:
            summarise(waiting)
            waiting, end = [], event["time"] - (event["time"] - datetime(1970, 1, 1)) % width + width
        waiting.append(event)
    summarise(waiting)


def summarise(waiting: list[Event]) -> None:
    """Aggregate the events of a window by host."""
    if waiting:
        frame = pd.DataFrame(waiting)
        frame.groupby("host")[["bytes", "seconds"]].agg(list(STATISTICS))
        frame.groupby(["host", "service"]).size()


def windows() -> None:
    """Print what live windows take an event, one a call and in chunks."""
    events = synthetic_events(n_hosts=40, n_days=N_DAYS)
    single = to_dicts(events)
    chunks = [events.take(slice(start, start + CHUNK)) for start in range(0, len(events), CHUNK)]
    loops = {
        "one event a call": lambda: give(single),
        f"chunks of {CHUNK}": lambda: give(chunks),
        "pandas": lambda: group_by_pandas(single),
    }
    show("windows", len(events), loops)


# ----------------------------------------------------------------------- budget
def spend(learner: StreamClassifier, X: np.ndarray, Y: np.ndarray, keys: np.ndarray, step: int) -> None:
    """Test and train a learner in chunks, or row by row."""
    uses_keys = getattr(learner, "uses_keys", False)
    for start in range(0, len(X), step):
        rows = slice(start, start + step) if step > 1 else start
        given = {"keys": keys[rows]} if uses_keys else {}
        (learner.predict_then_fit if step > 1 else learner.predict_then_fit_one)(X[rows], Y[rows], **given)


def budget() -> None:
    """Print what a learner takes by itself, and inside of a budget."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 10))
    Y = (rng.random((N_ROWS, N_LABELS)) < 1 / (1 + np.exp(6 - 2 * X[:, :N_LABELS]))).astype(int)
    keys = np.empty(N_ROWS, dtype=[("at", "datetime64[us]"), ("host", "U8")])
    keys["at"] = np.datetime64("2026-01-01") + np.arange(N_ROWS) * np.timedelta64(1, "m")
    keys["host"] = rng.integers(0, 40, N_ROWS).astype(str)
    plain = OnlineLogisticRegression()
    makers: dict[str, Callable[[], StreamClassifier]] = {"learner": OnlineLogisticRegression}
    makers |= {f"by {name}": lambda limits=limits: AlarmBudget(plain, **limits) for name, limits in LIMITS.items()}
    for name, step in (("budget, row by row", 1), (f"budget, chunks of {CHUNK}", CHUNK)):
        loops = {kind: lambda make=make, step=step: spend(make(), X, Y, keys, step) for kind, make in makers.items()}
        show(name, N_ROWS, loops)


# -------------------------------------------------------------------- calibrate
def calibrate() -> None:
    """Print what a learner takes by itself, and calibrated."""
    rng = np.random.default_rng(0)
    X, plain = rng.normal(size=(N_ROWS, 20)), OnlineLogisticRegression()
    makers = {"learner": OnlineLogisticRegression, "calibrated": lambda: PrequentialCalibrator(plain)}
    for n_labels in (5, 20):
        Y = (rng.random((N_ROWS, n_labels)) < 0.2).astype(int)
        for name, step in ((f"{n_labels} labels, row by row", 1), (f"{n_labels} labels, chunks", CHUNK)):
            show(
                name,
                N_ROWS,
                {kind: lambda make=make, step=step, Y=Y: spend(make(), X, Y, X, step) for kind, make in makers.items()},
            )


# --------------------------------------------------------------------- feedback
class Nothing:
    """A learner whose calls do nothing."""

    classes_ = np.tile([0, 1], (N_LABELS, 1))
    n_labels_ = N_LABELS
    predicted = np.zeros(N_LABELS, int), np.zeros(N_LABELS)

    def predict_then_fit_one(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        """Return the same for every row."""
        return self.predicted

    def partial_fit_one(self, x: np.ndarray, y: np.ndarray, classes: object = None) -> None:
        """Learn nothing."""

    predict_then_fit = predict_then_fit_one
    partial_fit = partial_fit_one


def through_buffer(learner: StreamClassifier, X: np.ndarray, Y: np.ndarray) -> None:
    """Predict each row, and learn it later, through the buffer."""
    buffer = FeedbackBuffer(learner, expiry=2 * DELAY)
    for i, x in enumerate(X):
        buffer.predict_one(i, x)
        if i >= DELAY:
            buffer.learn_one(i - DELAY, Y[i - DELAY])


def by_hand(learner: StreamClassifier, X: np.ndarray, Y: np.ndarray) -> None:
    """Do the same with a deque, which knows neither ids nor bounds."""
    waiting: deque[np.ndarray] = deque()
    unknown = np.full(N_LABELS, np.nan)
    for i, x in enumerate(X):
        learner.predict_then_fit_one(x, unknown)
        waiting.append(x)
        if i >= DELAY:
            learner.partial_fit_one(waiting.popleft(), Y[i - DELAY])


def feedback() -> None:
    """Print what the buffer takes a row."""
    X = np.random.default_rng(0).random((N_ROWS, 20))
    Y = (X[:, :N_LABELS] > 0.5).astype(int)
    for name in ("nothing", "BR_LR", "BR_HT", "StreamRidge"):

        def begun(name: str = name) -> StreamClassifier:
            return Nothing() if name == "nothing" else make_strategy(name, random_state=0).begin(X[:1], Y[:1])

        loops = {"buffer": lambda: through_buffer(begun(), X, Y), "by hand": lambda: by_hand(begun(), X, Y)}
        show(f"feedback, {name}", N_ROWS, loops)


# ---------------------------------------------------------------------- explain
def explain() -> None:
    """Print the time to say what each feature adds to the scores of a row."""
    X = np.random.default_rng(0).normal(size=(3000, N_FEATURES))
    Y = (X[:, :10] > 1).astype(np.uint8)
    rows = [X[place : place + 1] for place in range(N_EXPLAINED)]
    for name in ("StreamRidge", "LogisticRegression", "BR_HT", "RollingForest"):
        learner = make_strategy(name, random_state=0) if name != "LogisticRegression" else OnlineLogisticRegression()
        learner.partial_fit(X, Y)
        loops: dict[str, Callable[[], object]] = {
            "predict": lambda learner=learner: [learner.predict_proba(row) for row in rows],  # type: ignore[misc]
            "explain": lambda learner=learner: [learner.explain(row) for row in rows],  # type: ignore[misc]
        }
        show(name, len(rows), loops)
    start = time.process_time()
    permutation_importance(learner, X[:100], Y[:100], n_repeats=5, random_state=0)
    print(f"{'permutation_importance':24} all at once: {time.process_time() - start:.1f} s", flush=True)


# ---------------------------------------------------------------------- monitor
def watch(X: np.ndarray, Y: np.ndarray, labels: bool) -> None:
    """Pass rows to a monitor, one a call."""
    watcher, Y_proba = Monitor(), 0.8 * Y + 0.1
    for x, y, y_proba in zip(X, Y, Y_proba, strict=True):
        if labels:
            watcher.update(x, y, y, y_proba=y_proba)
        else:
            watcher.update(x, y)


def watch_by_river(X: np.ndarray) -> None:
    """Pass rows to a detector of each feature."""
    detectors = [river.drift.ADWIN() for _ in X[0]]
    for x in X:
        for detector, value in zip(detectors, x.tolist(), strict=True):
            detector.update(value)


def monitor() -> None:
    """Print what a monitor takes a row."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(N_ROWS, 100)), (rng.random((N_ROWS, 5)) < 0.1).astype(int)
    loops = {"rows": lambda: watch(X, Y, False), "rows and labels": lambda: watch(X, Y, True)}
    show("monitor", N_ROWS, loops)
    few = X[: sized(2000, 20)]
    show("monitor", len(few), {"River's ADWIN a feature": lambda: watch_by_river(few)})


# ---------------------------------------------------------------------- sources
def sources() -> None:
    """Print the time of a row of a live source."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(N_ROWS, 20)), rng.integers(0, 2, (N_ROWS, N_LABELS)).astype(np.uint8)

    def chunks(size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return ((X[start : start + size], Y[start : start + size]) for start in range(0, N_ROWS, size))

    loops: dict[str, Callable[[], object]] = {
        "rows": lambda: evaluate(OnlineLogisticRegression(), zip(X, Y, strict=True), energy="none"),
        "chunks of 10": lambda: evaluate(OnlineLogisticRegression(), chunks(10), energy="none"),
        f"chunks of {CHUNK}": lambda: evaluate(OnlineLogisticRegression(), chunks(CHUNK), energy="none"),
        "learner alone": lambda: [OnlineLogisticRegression().predict_then_fit(*part) for part in chunks(256)],
    }
    show("evaluate", N_ROWS, loops)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        labels = [f"y{place}" for place in range(N_LABELS)]
        pd.DataFrame(np.hstack([X, Y]), columns=[*(f"x{place}" for place in range(20)), *labels]).to_csv(
            path, index=False
        )
        reads: dict[str, Callable[[], object]] = {
            "follow_csv": lambda: deque(follow_csv(path, labels, stop=lambda: True), maxlen=0),
            "pandas": lambda: deque(pd.read_csv(path, chunksize=CHUNK), maxlen=0),
        }
        show("rows of CSV", N_ROWS, reads)


# ----------------------------------------------------------------------- memory
def memory() -> None:
    """Print the peak of memory at each fifth of many events, and of many rows of which a tenth is never learnt."""
    show_peaks("events in windows", take_many_events())
    show_peaks("rows in a buffer", take_many_rows())


def show_peaks(name: str, steps: Iterator[object]) -> None:
    """Print the peak of memory of work that is done in steps, and the size of its state when pickled, in kB."""
    tracemalloc.start()
    peaks = [(tracemalloc.get_traced_memory()[1] / 1e3, len(pickle.dumps(state)) / 1e3) for state in steps]
    tracemalloc.stop()
    fifths = [peaks[place] for place in np.linspace(0, len(peaks) - 1, 6).astype(int)]
    print(f"{N_MANY:,} {name}, peak/state in kB:", *(f"{peak:.0f}/{state:.1f}" for peak, state in fifths), flush=True)


def take_many_events() -> Iterator[object]:
    """Yield live windows after every ten thousand events."""
    rng, live = np.random.default_rng(0), live_windows()
    hosts, services = tuple(f"host{i}" for i in range(40)), ("http", "dns", "smtp", "ssh")
    for start in range(0, N_MANY, 10_000):
        times = (start // 10_000 * 600 + np.sort(rng.integers(0, 600, 10_000))) * 10**6
        columns = {
            "host": TextColumn(rng.integers(0, 40, 10_000), hosts),
            "service": TextColumn(rng.integers(0, 4, 10_000), services),
            "threat": TextColumn(rng.integers(-1, 1, 10_000), ("scan",)),
            "bytes": rng.random(10_000),
            "seconds": rng.random(10_000),
        }
        live.update(Events(times.astype("datetime64[us]"), columns))
        yield live


def take_many_rows() -> Iterator[object]:
    """Yield a buffer after every ten thousand rows."""
    x, y = np.random.default_rng(0).random(20), np.array([1, 0, 0, 1])
    buffer = FeedbackBuffer(Nothing(), max_rows=20_000)
    for i in range(N_MANY):
        buffer.predict_one(i, x)
        if i % 10 and i - DELAY in buffer:
            buffer.learn_one(i - DELAY, y)
        if (i + 1) % 10_000 == 0:
            yield buffer


SECTIONS = {part.__name__: part for part in (windows, budget, calibrate, feedback, explain, monitor, sources, memory)}


def main() -> None:
    """Print the sections asked for."""
    parser = argparse.ArgumentParser(description="A learner in service")
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(SECTIONS)} (default: all)")
    wanted = parser.parse_args().sections
    for part in (machine(), versions(("numba", "numpy", "pandas"))):
        print(", ".join(f"{key} {value}" for key, value in part.items()))
    for name in wanted or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
