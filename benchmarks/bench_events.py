"""Logs of events: read from CSV, and aggregated by windows of time, side by side with pandas.

A million events of 100 hosts. pandas computes the same features with groupby; the answers are compared.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Contest, main, sized

from mlstream import Events, read_events, write_events
from mlstream.generators import synthetic_events, windowed

N_HOSTS, N_DAYS = sized((100, 35), (5, 2))
EVERY = "10min"
STATISTICS = ("mean", "min", "max", "sum")


def to_frame(events: Events) -> pd.DataFrame:
    """Return a log as a frame with categories."""
    columns = {
        name: column if isinstance(column, np.ndarray) else pd.Categorical.from_codes(column.codes, column.values)
        for name, column in events.columns.items()
    }
    return pd.DataFrame({"time": events.times, **columns})


def window_by_pandas(frame: pd.DataFrame) -> float:
    """Aggregate windows of hosts, and return a sum of all cells to compare."""
    keys = [frame["time"].dt.floor(EVERY), frame["host"]]
    groups = frame.groupby(keys, observed=True)
    n_events = groups.size()
    summaries = groups[["bytes", "seconds"]].agg(list(STATISTICS))
    services = frame.groupby([*keys, "service"], observed=True).size()
    threats = frame.groupby([*keys, "threat"], observed=True).size().unstack(fill_value=0) > 0
    return float(n_events.sum() + summaries.to_numpy().sum() + services.to_numpy().sum() + threats.to_numpy().sum())


def window_by_us(events: Events) -> float:
    """Make the table, and return the same sum."""
    table = windowed(events, EVERY, clock=[])
    return float(table.X.sum() + table.Y.sum())


def read_by_pandas(path: Path) -> float:
    """Read the log, its times parsed, and return a sum to compare."""
    frame = pd.read_csv(path, dtype={"host": "category", "service": "category", "threat": "category"})
    frame["time"] = pd.to_datetime(frame["time"], format="ISO8601")
    return float(frame["bytes"].sum() + len(frame))


def read_by_us(path: Path) -> float:
    """Read the log, and return the same sum."""
    events = read_events(path, time="time", labels="threat", by="host")
    return float(np.sum(events.columns["bytes"]) + len(events))


def contests(folder: Path) -> list[Contest]:
    """Pair our reader and our windows with those of pandas."""
    events, path = synthetic_events(n_hosts=N_HOSTS, n_days=N_DAYS), folder / "log.csv"
    write_events(events, path)
    frame = to_frame(events)
    print(f"{len(events):,} events, {path.stat().st_size / 1e6:.0f} MB of CSV")
    by_pandas = {"pandas groupby": lambda: window_by_pandas(frame)}
    return [
        Contest(f"windows of {EVERY}", lambda: window_by_us(events), by_pandas, 0, 1e-9, 0, 1),
        Contest("read CSV", lambda: read_by_us(path), {"pandas": lambda: read_by_pandas(path)}, 0, 1e-9, 0, 1),
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main("Events", contests(Path(name)), ["numpy", "pandas"])
