"""A table, its tasks and the stream refuse what does not fit, and can be walked through as often as needed."""

import numpy as np
import pytest
from scipy import sparse

from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Stream, StreamParts, Task

X = np.arange(12.0).reshape(6, 2)
Y = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]], dtype=np.uint8)


def dataset(**changes):
    return Dataset(**{"X": X, "Y": Y, "feature_names": ("a", "b"), "label_names": ("p", "q"), "name": "tiny"} | changes)


def experience(rows, task, n_labels=2):
    rows = np.asarray(rows)
    return Experience(X[rows], Y[rows, :n_labels], np.full(len(rows), task), np.ones(n_labels, bool), rows)


def held_out(rows, task):
    rows = np.asarray(rows)
    return EvaluationSet(X[rows], Y[rows], task, np.ones(2, bool), rows)


def parts(**changes):
    tasks = tuple(Task(name, np.ones(2, bool)) for name in ("t0", "t1"))
    whole = StreamParts(tasks, (experience([0, 1], 1), experience([2], 0)), (held_out([3], 0), held_out([4, 5], 1)))
    return whole._replace(**changes)


def test_a_stream_can_be_walked_through_twice():
    stream = Stream(parts(), card=None)
    assert [len(part) for part in stream] == [len(part) for part in stream] == [2, 1]
    assert (len(stream), stream.n_tasks, stream.n_samples, stream.n_features, stream.n_labels) == (2, 2, 3, 2, 2)


def test_a_stream_is_indexed_as_the_tuple_of_its_experiences():
    many = Stream(parts(experiences=tuple(experience([row], row % 2) for row in range(5))), card=None)
    assert [many[place] for place in (0, np.int64(2), -1)] == [many.experiences[place] for place in (0, 2, 4)]
    for chosen in (slice(1, 3), slice(None, None, -2), slice(7, 9)):
        assert many[chosen] == many.experiences[chosen]
    assert (list(reversed(many)), many[3] in many) == (list(many)[::-1], True)


@pytest.mark.parametrize(("index", "error"), [(2, IndexError), (-3, IndexError), ("t0", TypeError), (0.0, TypeError)])
def test_an_index_that_is_none_names_those_that_are(index, error):
    message = rf"stream of 2 experiences must be indexed by a whole number from -2 to 1, or by a slice. Got {index!r} i"
    with pytest.raises(error, match=message):
        Stream(parts(), card=None)[index]


def test_order_says_which_tasks_an_experience_holds():
    mixed = Experience(X[:3], Y[:3], np.array([0, 1, 0]), np.ones((3, 2), bool), np.arange(3))
    stream = Stream(parts(experiences=(experience([0], 1), mixed)), card=None)
    assert stream.order.tolist() == [[False, True], [True, True]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": X[:5]}, r"as many rows each. Got shapes \(5, 2\) and \(6, 2\)"),
        ({"X": np.where(np.arange(12).reshape(6, 2) == 3, np.nan, X)}, "finite. Got NaN or infinity in column 1"),
        ({"X": sparse.csr_array(np.where(X == 4, np.inf, X))}, "finite. Got NaN or infinity in column 0"),
        ({"Y": Y * 2}, r"tiny: Y must hold 0, 1 and NaN \(unknown\) only. Got 2 in row 0, column 0"),
        ({"Y": Y[:, 0]}, r"tiny: Y must be 2-D, one column for each label. Got the shape \(6,\)"),
        ({"feature_names": ("a",)}, "Got 1 names for 2 columns"),
        ({"label_names": ("p", "p")}, "Label names must differ. Got 'p' more than once"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_one_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        dataset(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"experiences": ()}, "at least one task and one experience"),
        ({"evaluation_sets": (held_out([4], 1), held_out([3], 0))}, r"in task order. Got \[1, 0\]"),
        ({"experiences": (experience([0], 1, n_labels=1),)}, r"Got \(2, 1, 1\)"),
        (
            {"experiences": (Experience(X[:2], Y[:3], np.zeros(3, int), np.ones(2, bool), np.arange(3)),)},
            "as many rows each. Got 2, 3 and 3",
        ),
    ],
)
def test_parts_that_disagree_are_refused_in_one_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        Stream(parts(**changes), card=None)


@pytest.mark.parametrize("kind", [list, bool, np.int64, np.float64, np.uint8])
def test_known_labels_of_any_type_are_kept_as_whole_numbers(kind):
    table = dataset(Y=Y.tolist() if kind is list else Y.astype(kind))
    assert table.Y.dtype == np.uint8
    np.testing.assert_array_equal(table.Y, Y)


def test_unknown_labels_are_kept_in_tables_and_parts():
    hidden = Y.astype(float)
    hidden[2, 1] = np.nan
    table = dataset(Y=hidden)
    mixed = Experience(X, hidden, np.zeros(6, int), np.ones(2, bool), np.arange(6))
    tested = EvaluationSet(X, hidden.tolist(), 0, np.ones(2, bool), np.arange(6))
    for part in (table, mixed, tested):
        assert part.Y.dtype == np.float32
        np.testing.assert_array_equal(part.Y, hidden)


def test_a_part_whose_labels_are_all_known_holds_whole_numbers_again():
    hidden = Y.astype(np.float32)
    hidden[2, 1] = np.nan
    part = EvaluationSet(X[:2], dataset(Y=hidden).Y[:2], 0, np.ones(2, bool), np.arange(2))
    assert part.Y.dtype == np.uint8


def test_a_part_refuses_what_is_no_label():
    with pytest.raises(ValueError, match=r"0, 1 and NaN \(unknown\) only. Got 0.5 in row 1, column 0"):
        Experience(X[:2], np.array([[1, 0], [0.5, np.nan]]), np.zeros(2, int), np.ones(2, bool), np.arange(2))


def test_a_table_knows_its_rows_and_cannot_be_rebound():
    table = dataset()
    assert table.n_samples == 6
    with pytest.raises(AttributeError):
        table.name = "other"
