"""A learner in service: what stands between events and alarms, side by side with what a user would write.

Section "windows": live windows of a log of 40 hosts, one event a call and in chunks of a thousand. Nobody else gives
rows of windows as they close; the peer keeps the events of a window in a list, and groups them with pandas when the
next one begins. 200,000 events a second are asked for, one a call. The memory of the state is measured over five
million events, of which none are kept.
"""

import pickle
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
from harness import Contest, main, sized

from mlstream import Events, TextColumn
from mlstream.generators import LiveWindows, synthetic_events

N_DAYS, N_MEMORY = sized((20, 5_000_000), (1, 20_000))
EVERY, CHUNK = "10min", 1000
ASKED = 200_000
STATISTICS = ("mean", "min", "max", "sum")

Event = dict[str, Any]


def live_windows() -> LiveWindows:
    """Return windows of hosts with five counts, and eight statistics."""
    services = {"service": ["http", "dns", "smtp"]}
    return LiveWindows(EVERY, by="host", labels="threat", categories=services, numbers=["bytes", "seconds"], clock=[])


def to_dicts(events: Events) -> list[Event]:
    """Return single events, as a service gets them."""
    columns = {
        name: column.tolist() if isinstance(column, np.ndarray) else [(*column.values, "")[i] for i in column.codes]
        for name, column in events.columns.items()
    }
    names = ("time", *columns)
    return [dict(zip(names, row, strict=True)) for row in zip(events.times.tolist(), *columns.values(), strict=True)]


def to_chunks(events: Events) -> list[Events]:
    """Cut a log into chunks."""
    return [take(events, slice(start, start + CHUNK)) for start in range(0, len(events), CHUNK)]


def take(events: Events, rows: slice) -> Events:
    """Return some events."""
    columns = {
        name: column[rows] if isinstance(column, np.ndarray) else column._replace(codes=column.codes[rows])
        for name, column in events.columns.items()
    }
    return Events(events.times[rows], columns)


def by_us(pieces: list[Event] | list[Events]) -> float:
    """Take all pieces, and return a sum of all features to compare."""
    windows = live_windows()
    total = sum(float(rows.X.sum()) for rows in map(windows.update, pieces) if len(rows.X))
    return total + float(windows.close().X.sum())


def by_pandas(events: list[Event]) -> float:
    """Group the events of a window when the next one begins, and return the same sum."""
    width, total = timedelta(minutes=10), 0.0
    waiting: list[Event] = []
    end = datetime(1970, 1, 1)
    for event in events:
        if event["time"] >= end:
            total += summarise(waiting)
            waiting, end = [], event["time"] - (event["time"] - datetime(1970, 1, 1)) % width + width
        waiting.append(event)
    return total + summarise(waiting)


def summarise(waiting: list[Event]) -> float:
    """Aggregate the events of a window by host."""
    if not waiting:
        return 0.0
    frame = pd.DataFrame(waiting)
    groups = frame.groupby("host")
    numbers = groups[["bytes", "seconds"]].agg(list(STATISTICS))
    services = frame.groupby(["host", "service"]).size()
    return float(groups.size().sum() + numbers.to_numpy().sum() + services.sum())


def windows() -> Iterator[Contest]:
    """Pair live windows with pandas, for one event a call and for chunks."""
    events = synthetic_events(n_hosts=40, n_days=N_DAYS)
    single, chunks = to_dicts(events), to_chunks(events)
    print(f"{len(events):,} events: {ASKED:,} a second are {len(events) / ASKED * 1e3:,.0f} ms")
    peers = {"pandas at each window": lambda: by_pandas(single)}
    yield Contest("windows: one event a call", lambda: by_us(single), peers, 0, 1e-9, 0, 3)
    yield Contest("windows: chunks of a thousand", lambda: by_us(chunks), peers, 0, 1e-9, 0, 3)


def measure_memory() -> None:
    """Print the peak of memory, and the size of the state of windows when pickled, as events go on."""
    rng, live = np.random.default_rng(0), live_windows()
    hosts, services = tuple(f"host{i}" for i in range(40)), ("http", "dns", "smtp", "ssh")
    tracemalloc.start()
    seconds, peaks, sizes = 0, [], []
    while live.n_events_ < N_MEMORY:
        times = (seconds + np.sort(rng.integers(0, 600, 10_000))) * 10**6
        columns = {
            "host": TextColumn(rng.integers(0, 40, 10_000), hosts),
            "service": TextColumn(rng.integers(0, 4, 10_000), services),
            "threat": TextColumn(rng.integers(-1, 1, 10_000), ("scan",)),
            "bytes": rng.random(10_000),
            "seconds": rng.random(10_000),
        }
        live.update(Events(times.astype("datetime64[us]"), columns))
        seconds += 600
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        sizes.append(len(pickle.dumps(live)) / 1e3)
    tracemalloc.stop()
    for name, values in (("Peak, in MB", peaks), ("State, in kB", sizes)):
        fifths = [values[place] for place in np.linspace(0, len(values) - 1, 6).astype(int)]
        print(f"{name}, over {live.n_events_:,} events: {', '.join(f'{value:.2f}' for value in fifths)}")


if __name__ == "__main__":
    measure_memory()
    main("In service", list(windows()), ["numpy", "pandas"])
