"""The similarity that never rewards a learner for stopping at the superclass: its properties, one by one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import metrics
from tests.loops import check_all
from tests.strategies import LabelCase, decisions, refined_decisions


def score(true: Any, predicted: Any, parents: dict[int, int]) -> float:
    """Score one row, given as two sets of labels out of eight."""
    rows = np.zeros((2, 1, 8), dtype=int)
    rows[0, 0, list(true)] = rows[1, 0, list(predicted)] = 1
    return metrics.refinement_jaccard(*rows, parents)


@st.composite
def forests(draw: st.DrawFn) -> dict[int, int]:
    """Superclasses of eight labels: -1 for none."""
    above = [draw(st.integers(-1, label - 1)) for label in range(1, 8)]
    return {label: up for label, up in enumerate(above, start=1) if up >= 0}


label_sets = st.sets(st.integers(0, 7))


def path_to(label: int, parents: dict[int, int]) -> list[int]:
    """The labels above a label and itself, the topmost first."""
    return [*(path_to(parents[label], parents) if label in parents else []), label]


def below(label: int, parents: dict[int, int]) -> list[int]:
    return [child for child, up in parents.items() if up == label]


@given(parents=forests(), true=label_sets, predicted=label_sets)
def test_a_row_scores_1_if_and_only_if_it_is_predicted_exactly(
    parents: dict[int, int], true: set[int], predicted: set[int]
) -> None:
    assert score(true, true, parents) == 1.0
    assert (score(true, predicted, parents) == 1.0) == (true == predicted)


@given(parents=forests(), true=label_sets, predicted=label_sets, label=st.integers(0, 7))
def test_a_true_label_raises_the_score_and_a_false_one_never_does(
    parents: dict[int, int], true: set[int], predicted: set[int], label: int
) -> None:
    assume(label not in predicted)
    before, after = (score(true, labels, parents) for labels in (predicted, predicted | {label}))
    assert after > before if label in true else after <= before


@given(parents=forests(), true=label_sets, predicted=label_sets, data=st.data())
def test_to_guess_one_of_the_subclasses_at_random_pays(
    parents: dict[int, int], true: set[int], predicted: set[int], data: st.DataObject
) -> None:
    assume(parents)
    label = data.draw(st.sampled_from(sorted(set(parents.values()))))
    path, subclasses = path_to(label, parents), below(label, parents)
    true |= {*path, data.draw(st.sampled_from(subclasses))}
    elsewhere = {other for other in range(8) if path_to(other, parents)[0] != path[0]}
    predicted = {*path} | {other for other in predicted - {*subclasses} if other in elsewhere or other not in true}
    guesses = [score(true, predicted | {guess}, parents) for guess in subclasses]
    assert np.mean(guesses) > score(true, predicted, parents)


@given(counts=st.lists(st.integers(0, 6), min_size=1, max_size=6).filter(any))
def test_to_stop_at_the_superclass_scores_less_than_guesses_do(counts: list[int]) -> None:
    n_subclasses = len(counts)
    parents = dict.fromkeys(range(1, n_subclasses + 1), 0)
    subclass = np.repeat(np.arange(n_subclasses), counts)

    def rows(chosen: Any) -> np.ndarray:
        return np.hstack([np.ones((len(subclass), 1), int), np.eye(n_subclasses, dtype=int)[chosen]])

    def mean_score(predicted: Any) -> float:
        return metrics.refinement_jaccard(rows(subclass), predicted, parents)

    stopping = rows(subclass) * ([1] + [0] * n_subclasses)
    uniform = [mean_score(rows(np.full_like(subclass, guess))) for guess in range(n_subclasses)]
    at_prevalence = [mean_score(rows(np.roll(subclass, shift))) for shift in range(len(subclass))]
    assert mean_score(stopping) == pytest.approx(2 / (n_subclasses + 2))
    assert np.mean(uniform) == pytest.approx(2 / (n_subclasses + 1))
    assert mean_score(stopping) < min(np.mean(uniform), np.mean(at_prevalence), max(uniform))


@pytest.mark.parametrize("n_subclasses", [2, 3, 7])
def test_a_guess_breaks_even_where_it_is_right_once_in_the_number_of_subclasses_and_two(n_subclasses: int) -> None:
    parents = dict.fromkeys(range(1, n_subclasses + 1), 0)
    right, wrong, stopping = (score({0, 1}, labels, parents) for labels in ({0, 1}, {0, 2}, {0}))
    assert (right + (n_subclasses + 1) * wrong) / (n_subclasses + 2) == pytest.approx(stopping)


def test_scores_computed_by_hand() -> None:
    rows: list[tuple[set[int], set[int], float]] = [
        ({0, 1}, {0, 1}, 1),
        ({0, 1}, {0}, 2 / 5),  # too coarse
        ({0}, {0, 1}, 2 / 5),  # too fine
        ({0, 1}, {0, 2}, 1 / 4),  # wrong subclass
        ({0, 1}, {4}, 0),
        ({0, 1, 4}, {0, 4}, (2 / 5 + 1) / 2),  # two trees
        ({4, 5, 6}, {4, 5}, 1.5 / 2.25),  # a chain of three, whose labels weigh 1, 1/2 and 3/4
        (set(), set(), 1),
        (set(), {4}, 0),
        ({0, 1}, set(), 0),
    ]

    def check(row: tuple[set[int], set[int], float]) -> None:
        true, predicted, expected = row
        assert score(true, predicted, {1: 0, 2: 0, 3: 0, 5: 4, 6: 5}) == pytest.approx(expected)

    check_all(rows, check)


@given(case=decisions())
def test_without_a_hierarchy_it_is_the_jaccard_similarity(case: LabelCase) -> None:
    expected = metrics.jaccard(case.y_true, case.other, label_mask=case.mask, zero_division=1.0)
    ours = metrics.refinement_jaccard(case.y_true, case.other, {}, label_mask=case.mask)
    assert ours == pytest.approx(expected, nan_ok=True)


@given(true=st.sets(st.integers(0, 2)), predicted=st.sets(st.integers(0, 2)))
def test_with_two_subclasses_it_is_the_jaccard_similarity(true: set[int], predicted: set[int]) -> None:
    expected = len(true & predicted) / len(true | predicted) if true | predicted else 1.0
    assert score(true, predicted, {1: 0, 2: 0}) == pytest.approx(expected)


def test_a_subclass_whose_superclass_does_not_count_stands_for_itself() -> None:
    mask = [[False, True, True], [True, True, True]]
    rows = [[1, 1, 0], [1, 1, 0]], [[0, 1, 1], [1, 0, 1]]
    assert metrics.refinement_jaccard(*rows, {1: 0, 2: 0}, label_mask=mask) == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_subclasses_that_do_not_count_are_no_alternatives() -> None:
    rows, mask = ([[1, 1, 0, 0]], [[1, 0, 0, 0]]), [True, True, False, False]
    assert metrics.refinement_jaccard(*rows, {1: 0, 2: 0, 3: 0}, label_mask=mask) == pytest.approx(2 / 3)


@given(case=refined_decisions())
def test_blocks_of_rows_are_scored_alike(case: LabelCase) -> None:
    with pytest.MonkeyPatch.context() as patch:
        expected = case.call(metrics.refinement_jaccard)
        patch.setattr("metrics._blocks._CELLS_PER_BLOCK", 1)
        assert case.call(metrics.refinement_jaccard) == pytest.approx(expected)


@given(parents=forests(), true=label_sets, predicted=label_sets, counted=st.sets(st.integers(0, 7), min_size=1))
def test_a_label_that_does_not_count_might_as_well_not_be_there(
    parents: dict[int, int], true: set[int], predicted: set[int], counted: set[int]
) -> None:
    place = {label: i for i, label in enumerate(sorted(counted))}
    t, p = ([[label in labels for label in range(8)]] for labels in (true, predicted))
    masked = metrics.refinement_jaccard(t, p, parents, label_mask=[label in counted for label in range(8)])
    rest = {place[child]: place[up] for child, up in parents.items() if counted.issuperset((child, up))}
    t, p = ([[label in labels for label in place]] for labels in (true, predicted))
    assert masked == pytest.approx(metrics.refinement_jaccard(t, p, rest))


def test_predictions_must_be_matrices_of_the_same_shape() -> None:
    for wrong, rule in ([1], "y_pred must be 2-D"), ([[1, 0]], "y_pred must have the shape of y_true"):
        with pytest.raises(ValueError, match=rule):
            metrics.refinement_jaccard([[1]], wrong, {})


@pytest.mark.filterwarnings("error")
def test_a_chain_whose_weights_overflow_is_refused() -> None:
    chain = {label: label - 1 for label in range(1, 2000)}
    with pytest.raises(ValueError, match=r"parents must not be so deep that weights overflow. Got 1999 subclasses"):
        metrics.refinement_jaccard(np.ones((1, 2000)), np.ones((1, 2000)), chain)
