"""Features that are categories: what they may hold, and that every generator keeps their words."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from mlstream import generators
from mlstream.streams.card_model import StreamCard, parse_card
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.columns import make_reading
from tests.mlstream.generators.tables import dense
from tests.mlstream.small_streams import Shape, make_stream

VALUES = {"proto": ("tcp", "udp", "icmp"), "flag": ("S0", "SF")}
LABELS = ("animal", "cat", "dog", "tree")


def make_table(*, as_sparse: bool = False) -> Dataset:
    """Make a table of two categories, and of a third that never varies, among numbers; a row has one or two labels."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 2, 240), np.ones(240), rng.integers(0, 3, 240)]
    X = np.column_stack([rng.random(240), *codes, np.arange(240.0)])
    Y = np.tile(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], dtype=np.uint8), (80, 1))
    names = ("size", "flag", "same", "proto", "when")
    values = VALUES | {"same": ("off", "on")}
    return Dataset(sparse.csr_array(X) if as_sparse else X, Y, names, LABELS, "flows", feature_values=values)


FROM_TABLES = {
    "task_stream": {"n_tasks": 2},
    "scenario_stream": {"scenario": "class-incremental"},
    "emerging_labels_stream": {"first_labels": 2, "labels_per_task": 2},
    "iirc_stream": {"labels_per_task": 3},
    "carve_environments": {"roles": ("train", "unseen"), "by": "time"},
}
FROM_STREAMS = {
    "delayed_labels": {"delay": 3},
    "duplicated_rows": {"rate": 0.3},
    "missing_features": {"rate": 0.5},
    "missing_labels": {"rate": 0.3},
    "noisy_features": {"scale": 3.0},
    "noisy_labels": {"rate": 0.3},
    "rare_labels": {"keep": {"cat": 0.5}},
    "reordered_rows": {},
    "reordered_tasks": {},
    "resplit_rows": {},
}


def test_every_generator_stands_here() -> None:
    assert set(generators.FROM_TABLES) == set(FROM_TABLES)
    assert set(generators.FROM_STREAMS) == set(FROM_STREAMS)


def assert_keeps_words(stream, table: Dataset) -> None:
    """Check that each cell of a category stands for the word that its row has in the table."""
    assert dict(stream.feature_values) == VALUES
    names = stream.card.feature_names
    assert stream.categorical_features == {names.index("flag"): 2, names.index("proto"): 3}
    for name, words in VALUES.items():
        codes = dense(table.X)[:, table.feature_names.index(name)].astype(int)
        for part in (*stream, *stream.evaluation_sets):
            got = dense(part.X)[:, names.index(name)].astype(int)
            assert [words[code] for code in got] == [words[code] for code in codes[part.row_ids]]


@pytest.mark.parametrize("name", FROM_TABLES)
def test_streams_of_tables_know_the_words(name: str) -> None:
    for as_sparse in (False, True):
        table = make_table(as_sparse=as_sparse)
        assert_keeps_words(getattr(generators, name)(table, **FROM_TABLES[name]), table)


@pytest.mark.parametrize("name", FROM_STREAMS)
def test_streams_of_streams_know_the_words(name: str) -> None:
    table = make_table()
    stream = getattr(generators, name)(generators.task_stream(table, n_tasks=2), **FROM_STREAMS[name])
    if name != "missing_features":
        assert_keeps_words(stream, table)
    # Its zeros are first values.
    assert dict(stream.feature_values) == VALUES


GOOD = {"X": [[0.5, 2], [7, 0]], "Y": [[1], [0]], "name": "t", "feature_values": {"x1": ("a", "b", "c")}}


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("code", [-1, 0.5, 3, 1e300])
def test_what_is_no_code_is_one_error_with_table_feature_and_row(code: float, as_sparse: bool) -> None:
    X = np.array([[0.5, 2], [7, code], [9, code]])
    rule = r"t: feature 'x1' must hold codes of its 3 values, whole numbers from 0 to 2\. Got "
    with pytest.raises(ValueError, match=rule + rf"{code:g} in row 1, counted from 0\.".replace("+", r"\+")):
        Dataset(**GOOD | {"X": sparse.csr_array(X) if as_sparse else X, "Y": [[1]] * 3})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"proto": ("a",)}, r"t: feature_values must name features\. Got 'proto'\."),
        ({"x1": ()}, r"t: the values of feature 'x1' must be a list of words, one at least\. Got \(\)\."),
        ({"x1": "abc"}, r"t: the values of feature 'x1' must be a list of words, one at least\. Got 'abc'\."),
        ({"x1": (0, 1, 2)}, r"t: the values of feature 'x1' must be a list of words, one at least\. Got \(0, 1, 2\)\."),
        ({"x1": ("a", "b", "a")}, r"t: the values of feature 'x1' must differ\. Got \['a', 'b', 'a'\]\."),
    ],
)
def test_what_are_no_values_is_one_error(values, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Dataset(**GOOD | {"feature_values": values})


def test_a_missing_category_is_allowed_where_missing_values_are_kept() -> None:
    missing = GOOD | {"X": [[0.5, np.nan], [7, 0]]}
    assert Dataset(**missing, reading=make_reading(missing="keep")).categorical_features == {1: 3}
    with pytest.raises(ValueError, match=r"t: X must be finite\. Got NaN .* 'x1'"):
        Dataset(**missing)


def test_a_changed_table_is_looked_at_again() -> None:
    with pytest.raises(ValueError, match="feature 'x1' must hold codes"):
        replace(Dataset(**GOOD), X=[[0.5, 2], [7, 9]])


def test_a_card_states_categories_only_where_there_are_some() -> None:
    assert "feature_values" not in make_stream().card.model_dump_json()
    card = generators.task_stream(make_table(), n_tasks=2).card
    assert card.model_dump()["feature_values"] == VALUES
    assert parse_card(card.model_dump_json().encode(), "x.card.json") == card


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"z": ["u"]}, "feature_values of the card must fit its lists. Got unknown feature 'z'"),
        ({"a": ["u", "u"]}, "feature_values of 'a' of the card must fit its lists. Got an entry twice"),
        ({"a": []}, "feature_values"),
    ],
)
def test_values_that_do_not_fit_a_card_are_refused(values, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StreamCard.model_validate(make_stream(Shape()).card.model_dump() | {"feature_values": values})


def test_summaries_count_categories() -> None:
    table = make_table()
    assert "3, of 2 to 3 values" in table._repr_html_()
    assert "2, of 2 to 3 values" in generators.task_stream(table, n_tasks=2)._repr_html_()
    assert "Categories" not in make_stream()._repr_html_()
