"""A log holds columns of one length in the order of time."""

import numpy as np
import pytest

from estimators.contract.durations import parse_duration
from mlstream import Events, TextColumn
from tests.loops import check_all

TIMES = np.array([0, 5], "datetime64[us]")


@pytest.mark.parametrize(
    ("times", "columns", "roles", "message"),
    [
        (TIMES[::-1], {}, {}, "times must not fall"),
        (TIMES.astype("datetime64[ns]"), {}, {}, r"times must be 1-D datetime64\[us\]"),
        (np.array(["NaT"], "datetime64[us]"), {}, {}, "without NaT"),
        (TIMES, {"a": np.zeros(3)}, {}, r"column 'a' must hold one cell for each of 2 events\. Got shape \(3,\)"),
        (TIMES, {"a": np.array([1, np.inf])}, {}, "column 'a' must hold finite numbers or NaN"),
        (TIMES, {"a": TextColumn(np.array([0, 1]), ("x",))}, {}, "column 'a' must hold codes from -1 to 0"),
        (TIMES, {"a": np.zeros(2)}, {"by": "b"}, "by must name a column of events, one of a. Got 'b'"),
        (TIMES, {"a": np.zeros(2)}, {"labels": "b"}, "labels must name a column of events"),
    ],
)
def test_what_is_no_log_is_refused(times, columns, roles, message):
    with pytest.raises(ValueError, match=message):
        Events(times, columns, **roles)


def test_numbers_become_text_without_needless_digits():
    events = Events(TIMES, {"port": np.array([443.0, np.nan])})
    assert events.texts("port", "by") == (pytest.approx([0, -1]), ("443",))


@pytest.mark.parametrize("events", [slice(1, None), np.array([1, 2, 2]), np.array([True, False, True])])
def test_a_part_of_a_log_has_the_cells_of_its_events(events):
    hosts, sizes = ["a", "", "b"], [1.0, np.nan, 3.0]
    times = np.array([0, 5, 9], "datetime64[us]")
    log = Events(times, {"host": TextColumn.encode(hosts), "bytes": np.array(sizes)}, by="host", name="n", source="s")
    part = log.take(events)
    assert (part.by, part.labels, part.name, part.source) == ("host", None, "n", "s")
    np.testing.assert_array_equal(part.times, times[events])
    np.testing.assert_array_equal(part.columns["bytes"], np.array(sizes)[events])
    found = part.texts("host", "by")
    assert [(*found.values, "")[code] for code in found.codes] == np.array(hosts)[events].tolist()


def test_a_part_of_a_log_has_no_times_that_fall():
    with pytest.raises(ValueError, match="times must not fall"):
        Events(TIMES, {}).take(np.array([1, 0]))


def test_an_empty_log_has_a_text():
    assert repr(Events(TIMES[:0], {})) == "Events('events': 0 events, columns )"


@pytest.mark.parametrize(
    ("text", "us"), [("1ms", 1000), ("90 s", 90e6), ("10min", 600e6), ("2h", 7200e6), ("1d", 86400e6)]
)
def test_durations_are_a_number_and_a_unit(text, us):
    assert parse_duration(text, "every") == us


def test_other_durations_are_refused():
    def check(text):
        with pytest.raises(ValueError, match="every must be a whole number, at least 1, and a unit"):
            parse_duration(text, "every")

    check_all(["", "10", "min", "0min", "-1s", "1.5h", "1w", "1 0s", "1" * 30 + "s", "٣s", 10, None], check)
