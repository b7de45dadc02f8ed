"""The table of windows equals one that a slow loop makes with dictionaries, and what gives labels away is refused."""

import math
import warnings
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from mlstream import Events, TextColumn
from mlstream.generators import scenario_stream, synthetic_events, task_stream, windowed
from tests.loops import check_all

MINUTE = 60 * 10**6


def make_log(seed, n_events=200, span_min=300):
    """Draw events at whole seconds, with empty cells in every column."""
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.integers(-3600, span_min * 60, n_events))

    def cells(values):
        return TextColumn.encode(rng.choice(["", *values], n_events))

    numbers = np.where(rng.random(n_events) < 0.2, np.nan, rng.integers(-50, 50, n_events) / 4)
    columns = {"host": cells("abc"), "threat": cells(["scan", "worm", "ok"]), "proto": cells("tui"), "size": numbers}
    return Events((seconds * 10**6).astype("datetime64[us]"), columns, labels="threat", by="host")


def slow_table(events, minutes, *, by, horizon=0, empty="drop", benign=("ok",), top=2):
    """Make the table row by row: (window, host) -> features and labels, in the order of rows."""
    width = minutes * MINUTE
    texts = {
        name: [column.values[code] if code >= 0 else "" for code in column.codes]
        for name, column in events.columns.items()
        if isinstance(column, TextColumn)
    }
    times = events.times.view(np.int64).tolist()
    hosts = texts["host"] if by else [None] * len(events)
    seen_hosts = list(dict.fromkeys(hosts))
    cells = defaultdict(list)
    for place, (time, host) in enumerate(zip(times, hosts, strict=True)):
        cells[math.floor(time / width), host].append(place)
    last = max(window for window, _ in cells)
    counts = defaultdict(int)
    for value in texts["proto"]:
        counts[value] += value != ""
    ranked = sorted((value for value in counts if value), key=lambda value: (-counts[value], value))
    if empty == "keep":
        for host in seen_hosts:
            for window in range(min(window for window, other in cells if other == host), last + 1):
                cells.setdefault((window, host), [])
    rows, label_sets = [], []
    for window, host in sorted(cells, key=lambda key: (key[0], seen_hosts.index(key[1]))):
        if window + horizon > last:
            continue
        mine = cells[window, host]
        row = [len(mine)]
        row += [sum(texts["proto"][place] == value for place in mine) for value in ranked[:top]]
        row += [sum(texts["proto"][place] in ranked[top:] for place in mine)] if len(ranked) > top else []
        sizes = [events.columns["size"][place] for place in mine if not math.isnan(events.columns["size"][place])]
        row += [sum(sizes) / len(sizes), min(sizes), max(sizes), sum(sizes)] if sizes else [0] * 4
        day = 2 * math.pi * (window * width % (1440 * MINUTE)) / (1440 * MINUTE)
        rows.append([*row, math.sin(day), math.cos(day), window * width / 1e6])
        later = cells.get((window + horizon, host), [])
        label_sets.append({texts["threat"][place] for place in later} - {"", *benign})
    return rows, label_sets


def slow_keys(events, minutes, *, by, n_rows):
    """List the host and the start of each window with events, in the order of rows."""
    width = np.timedelta64(minutes, "m")
    column = events.columns["host"]
    hosts = [column.values[code] if code >= 0 else "(none)" for code in column.codes]
    order = list(dict.fromkeys(hosts))
    epoch = np.datetime64(0, "us")
    found = {(epoch + (time - epoch) // width * width, host) for time, host in zip(events.times, hosts, strict=True)}
    ranked = sorted(found, key=lambda key: (key[0], order.index(key[1])))[:n_rows]
    return (
        [(host, start) for start, host in ranked]
        if by
        else [(start,) for start in sorted({start for start, _ in found})][:n_rows]
    )


@pytest.mark.parametrize("by", ["host", None])
@pytest.mark.parametrize(("horizon", "minutes"), [(0, 10), (2, 60)])
def test_rows_keep_their_host_and_the_start_of_their_window(by, horizon, minutes):
    events = make_log(3)
    events = Events(events.times, events.columns, labels="threat", by=by)
    table = windowed(events, f"{minutes}min", horizon=horizon)
    assert (
        table.keys.tolist()
        == np.array(slow_keys(events, minutes, by=by, n_rows=table.n_samples), table.keys.dtype).tolist()
    )
    assert table.keys.dtype.names == (("host",) if by else ()) + ("start",)
    np.testing.assert_array_equal(table.times, table.keys["start"].astype(np.int64) / 1e6)


def test_the_key_gives_way_to_a_feature_or_label_of_its_name():
    times = np.array(["2026-01-01T00:00", "2026-01-01T00:01"], "M8[us]")
    columns = {"host": TextColumn.encode("ab"), "threat": TextColumn.encode(["host", ""])}
    table = windowed(Events(times, columns), "1min", by="host", labels="threat", time_column="start")
    assert table.keys.dtype.names == ("host_", "start_")


def test_the_table_equals_that_of_a_slow_loop():
    def check(case):
        empty, (by, minutes, horizon), seed = case
        events = make_log(seed)
        if by is None:
            events = Events(events.times, events.columns, labels="threat")
        options = {"horizon": horizon, "empty": empty, "benign": ["ok"], "max_values": 2, "time_column": "start"}
        table = windowed(events, f"{minutes}min", by=by, categories=["proto"], **options)
        rows, label_sets = slow_table(events, minutes, by=by, horizon=horizon, empty=empty)
        np.testing.assert_allclose(table.X, rows, rtol=1e-12, atol=1e-12)
        assert table.label_names == ("scan", "worm")
        assert [{table.label_names[i] for i in np.flatnonzero(row)} for row in table.Y] == label_sets
        assert len(rows) > 1

    check_all(
        product(
            ["drop", "keep"],
            [
                *(("host", minutes, horizon) for minutes in (10, 60) for horizon in (0, 1, 3)),
                (None, 10, 2),
                ("host", 99_999, 0),
            ],
            [0, 1],
        ),
        check,
    )


def test_features_have_names_and_the_clock_is_that_of_the_window():
    events = make_log(0)
    table = windowed(events, "1h", categories={"proto": ["t", "absent"]}, statistics=["max"], clock=["week", "day"])
    assert table.feature_names == (
        *("events", "proto=t", "proto=absent", "proto=(other)", "size_max"),
        *("week_sin", "week_cos", "day_sin", "day_cos"),
    )
    np.testing.assert_array_equal(table.X[:, 2], 0)
    # Thursday, 1 January 1970, midnight, three days after the week began.
    midnight = table.X[windowed(events, "1h", time_column="t", numbers=[], clock=[], categories=[]).X[:, 1] == 0][0]
    np.testing.assert_allclose(midnight[5:], [np.sin(6 * np.pi / 7), np.cos(6 * np.pi / 7), 0, 1], atol=1e-12)
    assert table.name == "events-1h"


def test_by_default_features_hold_neither_labels_nor_hosts():
    names = windowed(make_log(0), "1h").feature_names
    assert not [name for name in names if name.startswith(("threat", "host"))]
    numbered = Events(make_log(0).times, make_log(0).columns | {"port": np.arange(200) % 3 + 80.0})
    table = windowed(numbered, "1h", labels="threat", by="port")
    assert not [name for name in table.feature_names if name.startswith("port")]


def test_the_column_of_labels_is_refused_as_a_feature_of_its_own_window_only():
    for option in ({"categories": ["threat"]}, {"categories": {"threat": ["scan"]}}):
        with pytest.raises(ValueError, match=r"must not hold the column of labels with horizon=0.*Got 'threat'"):
            windowed(make_log(0), "1h", **option)
        assert "threat=scan" in windowed(make_log(0), "1h", horizon=1, **option).feature_names


def test_a_column_that_determines_the_label_is_warned_of():
    events = make_log(0)
    leak = TextColumn(events.columns["threat"].codes, ("sig-1", "sig-2", "sig-3"))
    leaky = Events(events.times, {**events.columns, "signature": leak}, labels="threat", by="host")
    with pytest.warns(UserWarning, match="Column 'signature' determines the label of each event in 'threat'"):
        windowed(leaky, "1h")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        windowed(leaky, "1h", horizon=1)
        windowed(leaky, "1h", categories=["proto"])
        # Names that never come back determine everything, and show nothing.
        once = TextColumn.encode(f"flow-{place}" for place in range(len(events)))
        windowed(Events(events.times, {**events.columns, "id": once}, labels="threat"), "1h")


def test_a_wrong_option_is_refused():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            windowed(make_log(0), **({"every": "10min"} | options))

    check_all(
        [
            ({"every": "0min"}, "every must be a whole number, at least 1"),
            ({"every": "-10min"}, "every must be a whole number, at least 1"),
            ({"horizon": -1}, "horizon must be a whole number, at least 0"),
            ({"horizon": 10**18}, r"horizon must be less than the number of windows, 36, .*Got 10"),
            ({"by": "x"}, "by must name a column of events, one of host, threat, proto, size. Got 'x'"),
            ({"labels": "x"}, "labels must name a column of events"),
            ({"labels": "proto", "benign": ["t", "u", "i"]}, "at least one label that is not benign. Got 'proto'"),
            ({"categories": ["x"]}, "categories must name a column"),
            ({"categories": "proto"}, "categories must be a list of names. Got 'proto'"),
            ({"benign": "ok"}, "benign must be a list of names"),
            ({"numbers": ["x"]}, "numbers must name a column"),
            ({"numbers": ["proto"]}, "numbers must name columns of numbers. Got 'proto', which holds text"),
            ({"statistics": ["median"]}, "statistics must be one of"),
            ({"clock": ["year"]}, "clock must be one of"),
            ({"empty": "fill"}, "empty must be one of"),
            ({"max_values": 0}, "max_values must be a whole number, at least 1"),
            ({"time_column": "events"}, "Feature names must differ. Got 'events' more than once"),
        ],
        check,
    )


def test_a_log_without_labels_or_events_is_refused():
    events = make_log(0)
    with pytest.raises(ValueError, match=r"labels must name the column of labels, here or in read_events\. Got None"):
        windowed(Events(events.times, events.columns), "1h")
    with pytest.raises(ValueError, match=r"must hold at least one event\. Got 0"):
        windowed(Events(events.times[:0], {"threat": TextColumn.encode([])}, labels="threat"), "1h")


def make_long_log(end):
    times = np.array([0, end], "datetime64[us]")
    return Events(times, {"threat": TextColumn.encode(["scan", ""])}, labels="threat")


def test_too_many_windows_are_refused_before_memory_is_taken():
    # A thousand million seconds are 10 ** 12 milliseconds.
    long = make_long_log(10**15)
    with pytest.raises(ValueError, match=r"1,000,000,000,001 windows, those without .* must fit into the memory"):
        windowed(long, "1ms", empty="keep")
    assert windowed(long, "1ms").n_samples == 2
    hosts = TextColumn.encode(f"h{host}" for host in range(5000))
    times = np.linspace(0, 9 * 10**18, 5000).astype(np.int64).view("datetime64[us]")
    many = Events(times, {"host": hosts, "threat": hosts}, labels="threat", by="host")
    with pytest.raises(ValueError, match=r"every must be longer: there are .* windows of 5,000 groups, too many"):
        windowed(many, "1ms")


def test_a_stream_of_the_table_keeps_the_order_of_time():
    table = windowed(synthetic_events(seed=2, n_days=4), "30min", time_column="start")
    stream = scenario_stream(table, "online", by="time", n_tasks=3, unlabelled="keep")
    start = stream.card.feature_names.index("start")
    starts = np.concatenate([experience.X[:, start] for experience in stream])
    assert (np.diff(starts) >= 0).all()
    for experience, held_out in zip(stream, stream.evaluation_sets, strict=True):
        assert experience.X[:, start].max() <= held_out.X[:, start].min()
    assert task_stream(table, n_tasks=2).n_labels == 4


def test_numbers_are_added_in_the_order_of_their_events():
    # In pairs, the sum would be 0.
    sizes = np.array([1e16, 1.0, -1e16, 1.0] * 9)
    log = Events(np.zeros(36, "datetime64[us]"), {"threat": TextColumn.encode(["scan"] * 36), "size": sizes})
    table = windowed(log, "1h", labels="threat", statistics=["sum", "mean"], clock=[])
    total = 0.0
    for size in sizes.tolist():
        total += size
    assert table.X[0, 1:].tolist() == [total, total / 36]
