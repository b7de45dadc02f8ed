"""Live windows give the rows of the batch form bit for bit, however events are cut, and refuse what cannot be right."""

import math
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream import Events, TextColumn
from mlstream.generators import LiveWindows, windowed
from mlstream.generators.from_events import live, live_events
from tests.loops import check_all

SECOND = 10**6
OPTIONS = {"labels": "threat", "benign": ["ok"], "categories": {"proto": ["t", "u"]}, "numbers": ["size", "rate"]}
EVENTS = st.lists(
    st.tuples(
        st.integers(-300, 900),
        st.sampled_from(["a", "b", "c", ""]),
        st.sampled_from(["", "scan", "worm", "ok"]),
        st.sampled_from(["", "t", "u", "i"]),
        st.sampled_from([math.nan, 0.1, 0.7, -0.0, 0.0, 1e16, -3.3]),
        st.floats(-1e9, 1e9),
        st.integers(0, 120),
    ),
    min_size=1,
    max_size=40,
)
NAMES = ("time", "host", "threat", "proto", "size", "rate")


def to_events(rows, **roles):
    """Make a log of rows in the order of time."""
    times, *columns = zip(*rows, strict=True) if rows else [()] * 6
    texts = {name: TextColumn.encode(cells) for name, cells in zip(NAMES[1:4], columns[:3], strict=True)}
    numbers = {name: np.array(cells, float) for name, cells in zip(NAMES[4:], columns[3:], strict=True)}
    return Events((np.array(times, np.int64) * SECOND).view("datetime64[us]"), texts | numbers, **roles)


def to_event(row):
    """Make a mapping of a row."""
    return dict(zip(NAMES, row, strict=True))


def pieces(rows, cuts):
    """Cut rows into single events and chunks, which are in the order of time."""
    start = 0
    while start < len(rows):
        stop = start + max(1, next(cuts))
        stop = next((k for k in range(start + 1, min(stop, len(rows))) if rows[k][0] < rows[k - 1][0]), stop)
        yield to_event(rows[start]) if stop == start + 1 else to_events(rows[start:stop])
        start = stop


def label_sets(tables):
    """Return the names of the labels of each row."""
    return [{name for name, has in zip(one.label_names, row, strict=True) if has} for one in tables for row in one.Y]


def expected_keys(rows, width, horizon, empty, *, by):
    """List host and start of each row, in a slow loop over a log in the order of time."""
    hosts = [row[1] if by else None for row in rows]
    windows = [row[0] // width for row in rows]
    begins = {}
    for host, window in zip(hosts, windows, strict=True):
        begins.setdefault(host, window)
    held = set(zip(windows, hosts, strict=True))
    return [
        (*([host or "(none)"] if by else []), np.datetime64(window * width, "s"))
        for window in range(min(windows), max(windows) + 1 - horizon)
        for host in begins
        if ((window, host) in held or (empty == "keep" and window >= begins[host]))
    ]


def same(tables, rows, options, every):
    """Compare tables with the batch form of a log in the order of time."""
    keys = [tuple(key) for one in tables for key in one.keys.tolist()]
    by = options["by"] is not None
    wanted = expected_keys(rows, every, options["horizon"], options["empty"], by=by)
    assert [(*key[:-1], np.datetime64(key[-1], "s")) for key in keys] == wanted
    if not wanted:
        return
    with warnings.catch_warnings():
        # Categories may determine labels that are drawn.
        warnings.simplefilter("ignore")
        table = windowed(to_events(rows), f"{every}s", **options)
    X = np.concatenate([one.X for one in tables])
    assert X.tobytes() == table.X.tobytes()
    assert all(one.feature_names == table.feature_names for one in tables)
    assert label_sets(tables) == label_sets([table])


@settings(max_examples=150, deadline=None)
@given(
    drawn=EVENTS,
    max_delay=st.sampled_from([0, 1, 60, 120]),
    every=st.sampled_from([7, 60, 600]),
    by=st.sampled_from([None, "host"]),
    horizon=st.integers(0, 2),
    empty=st.sampled_from(["drop", "keep"]),
    cuts=st.lists(st.integers(1, 12), min_size=1, max_size=10),
    limits=st.sampled_from([(2, 3), (4096, 65536)]),
    data=st.data(),
)
def test_rows_are_those_of_the_batch_form(drawn, max_delay, every, by, horizon, empty, cuts, limits, data):
    drawn = [(0, "a", "scan", "t", 1.0, 1.0, 0), *drawn]
    drawn.sort(key=lambda row: row[0])
    # Late by at most max_delay.
    arrived = [row[:6] for row in sorted(drawn, key=lambda row: row[0] + min(row[6], max_delay))]
    options = {"by": by, "horizon": horizon, "empty": empty, "clock": ["day", "week"], "time_column": "s", **OPTIONS}
    saved_after = data.draw(st.integers(0, 10))
    n_pending, n_block = limits
    with (
        mock.patch.multiple(live, MAX_PENDING=n_pending, BLOCK=n_block),
        mock.patch.object(live_events, "MAX_PENDING", n_pending),
    ):
        windows = LiveWindows(f"{every}s", max_delay=f"{max_delay}s", **options)
        tables = []
        for number, piece in enumerate(pieces(arrived, iter(cuts * len(arrived)))):
            if number == saved_after:
                windows = pickle.loads(pickle.dumps(windows))  # noqa: S301
            tables.append(windows.update(piece))
        tables.append(windows.close())
    same(tables, sorted(arrived, key=lambda row: row[0]), options, every)
    assert (windows.n_events_, windows.n_late_, windows.n_open_) == (len(drawn), 0, 0)


@settings(max_examples=60)
@given(drawn=EVENTS, max_delay=st.sampled_from([0, 30, 200]), cuts=st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_events_that_are_too_late_are_dropped_and_counted(drawn, max_delay, cuts):
    arrived, kept, newest = [row[:6] for row in drawn], [], -math.inf
    for row in arrived:
        newest = max(newest, row[0])
        if row[0] >= newest - max_delay:
            kept.append(row)
    options = {"by": "host", "horizon": 0, "empty": "keep", **OPTIONS}
    windows = LiveWindows("60s", max_delay=f"{max_delay}s", **options)
    tables = [*map(windows.update, pieces(arrived, iter(cuts * len(arrived)))), windows.close()]
    assert (windows.n_events_, windows.n_late_) == (len(kept), len(arrived) - len(kept))
    if any(row[2] in {"scan", "worm"} for row in kept):
        same(tables, sorted(kept, key=lambda row: row[0]), options, 60)


@settings(max_examples=60)
@given(
    drawn=EVENTS,
    later=st.integers(0, 900),
    horizon=st.integers(0, 2),
    empty=st.sampled_from(["drop", "keep"]),
    max_delay=st.sampled_from([0, 45]),
)
def test_the_clock_closes_windows_as_an_event_does(drawn, later, horizon, empty, max_delay):
    rows = sorted((row[:6] for row in [*drawn, (0, "a", "scan", "t", 1.0, 1.0, 0)]), key=lambda row: row[0])
    now, last = rows[-1][0] + later, rows[-1][0]
    options = {"by": "host", "horizon": horizon, "empty": empty, **OPTIONS}
    windows = LiveWindows("60s", max_delay=f"{max_delay}s", **options)
    tables = [windows.update(to_events(rows)), windows.advance(now * 1.0)]
    starts = np.concatenate([one.keys["start"] for one in tables])
    assert (starts < np.datetime64(((now - max_delay) // 60 - horizon) * 60, "s")).all()
    tables.append(windows.close())
    # As if another host had shown that time has passed.
    longer = [*rows, (now, "clock", "", "", 0.0, 0.0)]
    bound = max(last // 60 + 1, now // 60) - horizon
    wanted = [
        key
        for key in expected_keys(longer, 60, horizon, empty, by=True)
        if key[0] != "clock" and key[1] < np.datetime64(bound * 60, "s")
    ]
    given_keys = [tuple(key) for one in tables for key in one.keys.tolist()]
    assert [(host, np.datetime64(start, "s")) for host, start in given_keys] == wanted


def test_a_row_is_given_when_no_event_can_come_for_it():
    windows = LiveWindows("10min", max_delay="5s")
    times = ["2026-01-01T00:09:59", "2026-01-01T00:10:04.999999", "2026-01-01T00:09:59.999999", "2026-01-01T00:10:05"]
    assert [windows.update({"time": time}).X[:, 0].tolist() for time in times] == [[], [], [], [2.0]]
    assert windows.n_open_ == 1
    assert windows.advance("2026-01-01T00:20:04").n_samples == 0
    assert windows.advance("2026-01-01T00:20:05").X[:, 0].tolist() == [2.0]
    assert windows.advance("2026-01-01T00:10").n_samples == windows.close().n_samples == 0
    with pytest.raises(ValueError, match="must not be closed to go on; make new ones"):
        windows.update({"time": times[-1]})


def test_no_event_is_no_row():
    def check(empty):
        for close in (
            LiveWindows.close,
            lambda windows: windows.advance(900),
            lambda windows: windows.update(to_events([])),
        ):
            windows = LiveWindows("1min", empty=empty, max_delay="999999999d", max_gap="999999999d", **OPTIONS)
            assert close(windows).n_samples == windows.close().n_samples == windows.n_open_ == 0

    check_all(["drop", "keep"], check)


def test_labels_are_new_last_columns_and_may_be_left_out():
    windows = LiveWindows("1min", labels="threat", clock=[])
    names = [
        windows.update({"time": 60 * minute, "threat": threat}).label_names
        for minute, threat in enumerate(["worm", "", "scan", "worm", "ddos"])
    ]
    assert [*names, windows.close().label_names] == [
        *((), ("worm",), ("worm", "scan"), ("worm", "scan"), ("worm", "scan", "ddos"), ("worm", "scan", "ddos"))
    ]
    plain = LiveWindows("1min", clock=[])
    plain.update({"time": 0})
    assert plain.update({"time": 60}).Y.shape == (1, 0)


def test_times_of_every_kind_are_read():
    moment = datetime(2026, 1, 5, 8, 1, 2, 500_000)

    def check(time):
        windows = LiveWindows("1min", time_column="start", clock=[])
        windows.update({"time": time})
        assert windows.close().X.tolist() == [[1, 1767600060]]
        assert windows._newest == 1767600062500000

    seconds = 1767600062.5
    check_all(
        [
            *(moment, moment.replace(tzinfo=UTC), np.datetime64(moment), np.datetime64(moment, "ns")),
            *("2026-01-05T08:01:02.5", "2026-01-05 08:01:02.500Z", "2026-01-05T10:01:02.5+02:00"),
            *(seconds, np.float64(seconds), str(seconds), int(seconds * 1000), str(int(seconds * 1000))),
        ],
        check,
    )


def test_cells_of_every_kind_are_read_as_those_of_files():
    options = {
        "by": "port",
        "labels": "threat",
        "categories": {"up": ["true", "1.5"]},
        "numbers": ["size"],
        "clock": [],
    }
    windows = LiveWindows("1min", statistics=["sum"], **options)
    for port, up, size in [
        (80, True, "2.5"),
        ("80", 1.5, None),
        (80.0, None, np.int32(3)),
        (np.int64(80), "", math.nan),
    ]:
        windows.update({"time": 0, "port": port, "up": up, "size": size, "threat": None})
    rows = windows.close()
    assert rows.X.tolist() == [[4, 1, 1, 0, 5.5]]
    assert rows.keys["port"].tolist() == ["80"]


def test_an_event_or_chunk_that_cannot_be_read_changes_nothing():
    good = {"time": 0, "host": "a", "proto": "t", "size": 1.0}
    windows = LiveWindows("1min", by="host", categories={"proto": ["t"]}, numbers=["size"])
    windows.update(good)
    log = to_events([(0, "a", "", "t", 1.0, 1.0)])
    texts = Events(log.times, {**log.columns, "size": log.columns["proto"]})

    def check(case):
        event, message = case
        before = pickle.dumps(windows)
        with pytest.raises(ValueError, match=re.escape(message)):
            windows.update(event)
        assert pickle.dumps(windows) == before

    check_all(
        [
            *(
                (good | {"time": time}, "time must be a time: a datetime, text in ISO 8601")
                for time in ("soon", "", None, math.nan, np.datetime64("NaT", "us"), True, 1e15)
            ),
            ({"time": 0, "host": "a", "size": 1}, "hold column 'proto', None where its cell is empty. Got time, host"),
            (good | {"host": ["a"]}, "Column 'host' must hold text or numbers. Got ['a'] of type list"),
            *(
                (good | {"size": size}, "Column 'size' must hold finite numbers, or None. Got ")
                for size in ("big", math.inf, "inf", True, 10**400, [1])
            ),
            *((good | {"host": host}, "The name of a host must be text that UTF-8") for host in (" ", "a\0", "\ud800")),
            (Events(log.times, {**log.columns, "host": TextColumn.encode([" "])}), "The name of a host must be text"),
            ([0, "a"], "An event must be a mapping of columns, or Events. Got list"),
            (Events(log.times, {"host": log.columns["host"]}), "categories must name a column of events"),
            (texts, "numbers must name columns of numbers. Got 'size', which holds text"),
        ],
        check,
    )


def test_a_clock_that_jumps_is_an_error_that_says_what_to_do():
    def check(empty):
        windows = LiveWindows("1min", max_gap="1h", empty=empty, clock=[], statistics=[])
        windows.update({"time": 0.5})
        windows.update({"time": 3600.5})
        before = pickle.dumps(windows)
        with pytest.raises(ValueError, match=r"at most max_gap, 1:00:00, .* Got one 1:00:00.000001 after") as raised:
            windows.update({"time": "1970-01-01T02:00:00.500001"})
        assert pickle.dumps(windows) == before
        windows.advance(re.search(r"call advance\('(.*)'\)", str(raised.value))[1])
        windows.update({"time": "1970-01-01T02:00:00.500001"})
        rows = [(hour * 3600, "a", "", "", 0.0, 0.0) for hour in (2, 2, 2, 4)]
        with pytest.raises(ValueError, match="after the 3 events of the chunk before it"):
            windows.update(to_events([(7300, *row[1:]) for row in rows[:3]] + [(14400, *rows[3][1:])]))
        windows.update(to_events([(7300, *row[1:]) for row in rows[:3]]))
        windows.advance(14400)
        windows.update(to_events(rows[3:]))
        assert (windows.n_events_, windows.n_late_) == (7, 0)

    check_all(["drop", "keep"], check)


def test_windows_without_events_that_do_not_fit_into_memory_are_refused():
    windows = LiveWindows("1ms", empty="keep", max_gap="9999d")
    windows.update({"time": 0})
    before = pickle.dumps(windows)
    for wrong in (lambda: windows.advance(8e8), lambda: windows.update({"time": 8e8})):
        with pytest.raises(ValueError, match="800,000,000,000 windows, those without events among them, must fit into"):
            wrong()
    assert pickle.dumps(windows) == before


def test_hosts_that_wait_or_come_in_a_chunk_count_before_they_need_too_much_memory():
    rows = [(0, f"h{host}", "", "", 0.0, 0.0) for host in range(2000)]
    jump = (80_000, "h0", "", "", 0.0, 0.0)
    for before, call in [
        (rows, lambda windows: windows.update(to_event(jump))),
        (rows, lambda windows: windows.advance(80_000)),
        ([], lambda windows: windows.update(to_events([*rows, jump]))),
    ]:
        windows = LiveWindows("1ms", by="host", empty="keep")
        for row in before:
            windows.update(to_event(row))
        with pytest.raises(ValueError, match="160,000,000,000 windows, those without events among them, must fit into"):
            call(windows)
        assert windows.n_events_ == len(before)
        # The clock has not moved.
        windows.update(to_events(rows))
        assert windows.n_late_ == 0


def test_the_state_does_not_grow_with_the_events_of_a_window():
    rng = np.random.default_rng(0)
    windows = LiveWindows(
        "1d", by="host", labels="threat", categories={"proto": ["t"]}, numbers=["size"], max_delay="5s"
    )
    sizes, held = [], []
    for second in range(20_000):
        event = {"time": 1 + second, "host": "ab"[second % 2], "threat": "scan", "proto": "t", "size": rng.random()}
        windows.update(event)
        held.append(
            sum(
                len(pending.times) + sum(len(block.times) for block in pending.packed)
                for pending in windows._waiting.by_window.values()
            )
        )
        if second % 5000 == 4999:
            sizes.append(len(pickle.dumps(windows)))
    assert max(held) <= 4096 + 6
    assert max(sizes) - min(sizes) < 50
    assert windows.n_open_ == 2
    assert windows.close().X[:, 0].tolist() == [10_000, 10_000]


def test_threads_may_share_live_windows_and_save_them():
    windows = LiveWindows("1min", by="host", max_delay="1h", clock=[])

    def run(host):
        return sum(windows.update({"time": second, "host": host}).X[:, 0].sum() for second in range(3000))

    with ThreadPoolExecutor(5) as pool:
        saved = pool.submit(lambda: [pickle.dumps(windows) for _ in range(20)])
        given_events = sum(pool.map(run, "abcd"))
    assert len(saved.result()) == 20
    rows = windows.close()
    assert (given_events, rows.X[:, 0].sum(), rows.n_samples) == (0, 12_000, 200)


def test_a_wrong_option_is_refused():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            LiveWindows(**({"every": "10min"} | options))

    check_all(
        [
            ({"every": "0min"}, "every must be a whole number, at least 1"),
            ({"max_delay": "-5s"}, "max_delay must be a whole number, at least 0"),
            ({"max_gap": "0s"}, "max_gap must be a whole number, at least 1"),
            ({"horizon": -1}, "horizon must be a whole number, at least 0"),
            ({"categories": ["proto"]}, "categories must be a mapping: the values of each column"),
            ({"categories": {"proto": "tcp"}}, r"categories\['proto'\] must be a list of names. Got 'tcp'"),
            ({"numbers": "size"}, "numbers must be a list of names"),
            ({"benign": "ok"}, "benign must be a list of names"),
            ({"statistics": ["median"]}, "statistics must be one of"),
            ({"clock": ["year"]}, "clock must be one of"),
            ({"empty": "fill"}, "empty must be one of"),
            ({"time_column": "events"}, "Feature names must differ. Got 'events' more than once"),
            ({"labels": "x", "numbers": ["x"]}, r"must not hold the column of labels with horizon=0.*Got 'x'"),
        ],
        check,
    )
    LiveWindows("10min", labels="x", numbers=["x"], horizon=1)


def test_keys_make_way_for_labels_as_in_the_batch_form():
    rows = [(60 * minute, "a", label, "t", 1.0, 1.0) for minute, label in enumerate(["scan", "host", "start", ""])]
    windows = LiveWindows("60s", by="host", **OPTIONS)
    tables = [windows.update(to_events(rows[:2])), windows.update(to_events(rows[2:])), windows.close()]
    assert [one.keys.dtype.names for one in tables] == [("host_", "start"), ("host_", "start_"), ("host_", "start_")]
    assert windowed(to_events(rows), "60s", by="host", **OPTIONS).keys.dtype.names == ("host_", "start_")


def test_a_host_called_none_is_that_of_empty_cells():
    rows = [(0, "", "scan", "t", 1.0, 1.0), (1, "(none)", "", "t", 1.0, 1.0), (70, "(none)", "", "t", 1.0, 1.0)]
    options = {"by": "host", "horizon": 0, "empty": "drop"} | OPTIONS
    windows = LiveWindows("60s", **options)
    tables = [windows.update(to_event(rows[0])), windows.update(to_events(rows[1:])), windows.close()]
    same(tables, [(row[0], "", *row[2:]) for row in rows], options, 60)
    assert windowed(to_events(rows), "60s", **options).keys.tolist() == [
        key for one in tables for key in one.keys.tolist()
    ]
