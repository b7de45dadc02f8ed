"""Keys of rows: four types whatever they come as, one of its own for every row, and never a feature."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.streams.keys import join_keys
from mlstream.streams.stream import Dataset, Experience, Stream, StreamParts
from tests.mlstream.small_streams import Shape, keys, make_keyed_stream, make_stream

ZONE = timezone(timedelta(hours=2))
TIMES = [datetime(2026, 1, 1, 2, tzinfo=ZONE), datetime(2026, 1, 1, 1, tzinfo=UTC)]
COLUMNS = {"host": ["a", "bc"], "port": [1, 2], "share": [0.5, 0.25], "start": TIMES}
EXPECTED = np.array(
    [("a", 1, 0.5, "2026-01-01T00:00"), ("bc", 2, 0.25, "2026-01-01T01:00")],
    [("host", "<U2"), ("port", "<i8"), ("share", "<f8"), ("start", "<M8[us]")],
)


def table(of=None, n_rows=2):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    return Dataset(X, np.ones((n_rows, 1)), ("a", "b"), ("y",), keys=of)


@pytest.mark.parametrize(
    "given_as",
    [EXPECTED, COLUMNS, pd.DataFrame(COLUMNS | {"start": pd.to_datetime(TIMES, utc=True)})]
    + [kind(COLUMNS | {"start": [time.astimezone(UTC) for time in TIMES]}) for kind in (pl.DataFrame, pa.table)]
    + [EXPECTED.astype([("host", "<U9"), ("port", "u1"), ("share", "f4"), ("start", "<M8[ns]")])],
    ids=["structured", "mapping", "pandas", "polars", "pyarrow", "other types"],
)
def test_keys_are_held_in_four_types(given_as):
    found = table(given_as).keys
    assert found.dtype == EXPECTED.dtype
    np.testing.assert_array_equal(found, EXPECTED)


@given(st.integers(0, 6).flatmap(keys))
def test_settled_keys_stay_as_they_are(columns):
    n_rows = len(next(iter(columns.values())))
    settled = table(columns, n_rows).keys
    again = table(settled, n_rows).keys
    assert again.dtype == settled.dtype
    np.testing.assert_array_equal(again, settled)


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        (["a", ""], r"every row must have a key of its own. Got no 'key' in row 1; fill it in"),
        (["a", None], r"Got no 'key' in row 1"),
        ([np.nan, 1.0], r"Got no 'key' in row 0"),
        (np.array(["2026", "NaT"], "M8[s]"), r"Got no 'key' in row 1"),
        (["a", "a"], r"own. Got key='a' in rows 0 and 1; add a column that tells them apart"),
        (["a"], r"keys must have one row per row of X, 2. Got 1 in 'key'"),
        ([["a"], ["b"]], r"must hold texts, numbers or times, all of one type. Got list"),
        (np.ones((2, 2)), r"must be one column. Got the shape \(2, 2\)"),
        (["a", 1], r"all of one type. Got int, str"),
        ([True, False], r"all of one type. Got bool"),
        (np.array([True, False]), r"must hold texts, numbers or times. Got the type bool"),
        (["a", "\ud800"], r"must be text that UTF-8 can hold, without zero bytes. Got another in row 1; repair it"),
        (["a", "b\0c"], r"without zero bytes. Got another in row 1"),
        (["a", " "], r"Got no 'key' in row 1"),
        (np.array([1, 2**63], np.uint64), r"whole numbers below 2\*\*63. Got a larger one; write it as text"),
    ],
)
def test_wrong_keys_are_one_error(column, rule):
    with pytest.raises(ValueError, match=rule):
        table({"key": column})


def test_keys_differ_as_a_whole():
    whole = {"host": ["a", "a", "b", "b", "a"], "day": [1, 2, 1, 2, 2]}
    with pytest.raises(ValueError, match=r"Got host='a', day='2' in rows 1 and 4;"):
        table(whole, 5)
    assert table({name: column[:4] for name, column in whole.items()}, 4).keys.dtype.names == ("host", "day")


@pytest.mark.parametrize("wrong", [{}, {"": [1, 2]}, {"a\nb": [1, 2]}])
def test_keys_have_names(wrong):
    with pytest.raises(ValueError, match="keys must have a column at least, each with a name of one line"):
        table(wrong)


@given(
    st.lists(st.sampled_from([1, 2**20, 2**44, 2**62]), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=24),
)
def test_repeated_keys_are_found_however_far_apart_numbers_are(steps, digits):
    n_rows = len(digits)
    columns = {
        str(step): np.array([(digit >> place) % 2 * step for digit in digits]) for place, step in enumerate(steps)
    }
    columns["day"] = np.datetime64("2026-01-01", "us") + np.arange(n_rows) % 3
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    if len(set(rows)) == n_rows:
        assert table(columns, n_rows).keys.tolist() == rows
    else:
        again = next(row for row in range(n_rows) if rows[row] in rows[:row])
        with pytest.raises(ValueError, match=f"in rows {rows.index(rows[again])} and {again};"):
            table(columns, n_rows)


@pytest.mark.parametrize("name", ["a", "y"])
def test_a_key_is_no_feature_and_no_label(name):
    with pytest.raises(ValueError, match=f"must have a name of its own. Got {name!r} twice; keys are neither features"):
        table({name: [1, 2]})


@pytest.mark.parametrize("wrong", [["a", "b"], np.array(["a", "b"]), "ab"])
def test_keys_without_names_are_refused(wrong):
    with pytest.raises(TypeError, match="must be a structured array, a mapping of names to columns, or a data frame"):
        table(wrong)


def test_frames_have_keys_in_their_index():
    one = table({"host": ["a", "b"]}).to_frame()
    assert (one.index.name, one.index.tolist()) == ("host", ["a", "b"])
    stream = make_keyed_stream()
    frame = stream.to_frame()
    assert frame.index.names == ["experience", "task", "row", "host", "start", "port", "weight"]
    joined = join_keys([part.keys for part in stream])
    assert joined is not None
    np.testing.assert_array_equal(frame.index.get_level_values("start"), joined["start"])
    clashing = make_stream(Shape(sizes=(2,), evaluation_sizes=(1,), keys={"row": [7, 8, 9]}))
    assert clashing.evaluation_sets[0].to_frame().index.names == ["task", "row", "row_"]


def test_parts_of_a_stream_have_the_same_keys():
    stream = make_keyed_stream()
    bare = stream[0]
    first = Experience(bare.X, bare.Y, bare.task_ids, bare.label_mask, bare.row_ids)
    parts = StreamParts(stream.tasks, (*stream[1:], first), stream.evaluation_sets)
    with pytest.raises(ValueError, match=r"must have the same columns of keys, or none. Got \['host', .*\] and \[\]"):
        Stream(parts, stream.card)


@pytest.mark.parametrize("wrong", [{"host": ["a"]}, np.array(["a"])])
def test_keys_of_a_part_are_a_structured_array(wrong):
    stream = make_stream()
    first = stream[0]
    odd = Experience(first.X, first.Y, first.task_ids, first.label_mask, first.row_ids, wrong)
    with pytest.raises(
        TypeError, match=r"keys of a part must be a structured array, as Dataset\(..., keys=...\) makes"
    ):
        Stream(StreamParts(stream.tasks, (odd, *stream[1:]), stream.evaluation_sets), stream.card)


def test_values_of_keys_stay_out_of_cards_and_displays():
    stream = make_keyed_stream()
    whole = table({"host": ["höst", "b"]})
    shown = [text for one in (stream, stream[0], whole) for text in (repr(one), one._repr_html_())]
    shown.append(stream.card.model_dump_json())
    assert stream.card.keys == ["host", "start", "port", "weight"]
    assert not [text for text in shown if "höst" in text]
