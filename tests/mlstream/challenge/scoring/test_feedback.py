"""What a reply tells of a score: the ladder, its step, and how little someone who knows base rates only learns."""

from collections import Counter
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.manifest import Feedback
from mlstream.challenge.scoring.feedback import feedback_of, plan_feedback, report, standard_error
from mlstream.challenge.scoring.metric import METRIC_NAMES, metric_of
from mlstream.challenge.truth import Truth

N_ROWS, N_QUERIES = 200, 3


def truth_of(labels):
    labels = np.asarray(labels, np.uint8)
    return Truth(np.arange(len(labels), dtype=np.uint64), labels, np.ones(labels.shape, bool))


def draw_labels(rng, rate, n_labels=1):
    ordered = np.arange(N_ROWS)[:, None] < max(1, rate * N_ROWS)
    return rng.permuted(np.repeat(ordered, n_labels, axis=1), axis=0).astype(np.uint8)


def score(metric, labels, prob):
    mask = np.ones(labels.shape, bool)
    return metric_of(metric).score(labels, np.broadcast_to(prob, labels.shape), mask, eps=1e-3)


def plan(metric, labels, **rules):
    return plan_feedback(ChallengeConfig(name="c", metric=metric, **rules), [truth_of(labels)], [])


@given(
    st.lists(st.floats(-1, 3), min_size=1),
    st.sampled_from([0.0, 0.01, 0.02, 0.05, 0.25]),
    st.none() | st.just(0.0),
    st.booleans(),
)
def test_the_ladder_reports_as_a_slow_loop_does(scores, step, start, lower_is_better):
    feedback = Feedback(decimals=2, step=step, start=start)
    told = []
    for one in scores:
        reached = (min if lower_is_better else max)([*told, *([] if start is None else [start])], default=None)
        got = report(feedback, one, reached, lower_is_better=lower_is_better)
        gain = 0 if reached is None else (reached - one) * (1 if lower_is_better else -1)
        if step == 0:
            assert got == round(one, 2)
        elif reached is not None and gain <= step:
            assert got == reached
        else:
            assert abs(got / step - round(got / step)) < 1e-6
            assert abs(got - one) <= step / 2 + 0.005
        told.append(got)


@pytest.mark.parametrize("metric", METRIC_NAMES)
@pytest.mark.parametrize("rate", [0.5, 0.1, 0.02])
def test_the_step_is_1_2_or_5_times_a_power_of_ten_and_at_least_two_errors(metric, rate):
    labels = draw_labels(np.random.default_rng(0), rate, 3)
    planned = plan(metric, labels)
    digits = f"{planned.step:.{planned.decimals}f}".lstrip("0.")
    assert digits.rstrip("0") in {"1", "2", "5"}
    error = standard_error(metric, [truth_of(labels)], [score(metric, labels, labels.mean(axis=0))])
    assert 2 * error <= planned.step < 5 * error


@pytest.mark.parametrize("rate", [0.5, 0.1])
@pytest.mark.parametrize("metric", ["ba_macro", "rmse"])
def test_the_error_bounds_that_of_the_scores_of_guesses(metric, rate):
    rng = np.random.default_rng(0)
    labels = draw_labels(rng, rate)
    # Coins for the one, whose recalls vary most; draws by the base rate for the other.
    chance = 0.5 if metric == "ba_macro" else rate
    scores = [score(metric, labels, rng.random(labels.shape) < chance) for _ in range(2000)]
    error = standard_error(metric, [truth_of(labels)], [score(metric, labels, rate)])
    assert 0.75 * error < np.std(scores) < 1.05 * error


def test_of_several_environments_the_error_is_that_of_their_mean():
    environments = [truth_of(draw_labels(np.random.default_rng(seed), rate)) for seed, rate in ((0, 0.5), (1, 0.1))]
    errors = [standard_error("nce", [one], [0.0]) for one in environments]
    assert standard_error("nce", environments, [0.0, 0.0]) == pytest.approx(np.hypot(*errors) / 2)


def test_what_the_rules_state_is_kept():
    labels = draw_labels(np.random.default_rng(0), 0.5)
    assert plan("nce", labels, decimals=5, ladder_step=0.3) == Feedback(decimals=5, step=0.3, start=0.0)
    assert plan("nce", labels, decimals=1) == Feedback(decimals=1, step=0.1, start=0.0)
    assert plan("nce", labels, ladder_step=0.0) == Feedback(decimals=3, step=0.0)
    config = ChallengeConfig(name="old", decimals=4)
    assert feedback_of(config, None) == Feedback(decimals=4, step=0.0)


@pytest.mark.parametrize("step", [0.015, 0.25, 0.3, 1.0, 2e-05])
def test_scores_have_the_decimals_that_multiples_of_a_stated_step_have(step):
    planned = plan("nce", draw_labels(np.random.default_rng(0), 0.5), ladder_step=step)
    assert report(planned, 3 * step, None, lower_is_better=True) == pytest.approx(3 * step, rel=1e-12)
    assert report(planned, 1 / 3, None, lower_is_better=True) / step == pytest.approx(round(1 / 3 / step))


def test_few_held_out_rows_of_training_environments_are_behind_their_own_noise():
    many, few = (draw_labels(np.random.default_rng(0), 0.5)[:n] for n in (N_ROWS, N_ROWS // 10))
    config = ChallengeConfig(name="c", in_distribution_score=True)
    alone, both = (plan_feedback(config, [truth_of(many)], trained) for trained in ([], [truth_of(few)]))
    assert alone.step < standard_error("nce", [truth_of(few)], [0.0]) <= both.step


def logistic(odds):
    return 1 / (1 + np.exp(-odds))


def probe_few_rows(rng, query, center):
    """A few rows with weights in a geometric series; all others tell nothing."""
    prob = np.full(N_ROWS, center) + rng.normal(0, 1e-7, N_ROWS)
    prob[12 * query : 12 * query + 12] = logistic(np.log(999) / 2.0 ** np.arange(12))
    return prob.clip(0, 1)


def probe_group(rng, query, center):
    """How many of a tenth of the rows have the label."""
    prob = np.full(N_ROWS, center)
    prob[20 * query : 20 * query + 20] = 0.999
    return prob


def probe_all_rows(rng, query, center):
    """Coins, worst first, so that each score is better than the one before."""
    return logistic(rng.choice([-1, 1], N_ROWS) * np.log(999) * (1 - query / N_QUERIES))


def bits_per_query(metric, rate, probe, feedback, n_labels=1):
    """Measure the entropy of all replies to a series of queries, over labels that share their base rates."""
    lower_is_better, rng = metric_of(metric).lower_is_better, np.random.default_rng(1)
    probes = [np.column_stack([probe(rng, query, rate) for _ in range(n_labels)]) for query in range(N_QUERIES)]
    replies = Counter()
    for seed in range(100):
        labels, told = draw_labels(np.random.default_rng(seed), rate, n_labels), []
        for prob in probes:
            reached = told[-1] if told and feedback.step else feedback.start
            told.append(report(feedback, score(metric, labels, prob), reached, lower_is_better=lower_is_better))
        replies[tuple(told)] += 1
    return sum(n / 100 * log2(100 / n) for n in replies.values()) / N_QUERIES


@pytest.mark.parametrize("probe", [probe_few_rows, probe_group, probe_all_rows])
@pytest.mark.parametrize("rate", [0.5, 0.05])
@pytest.mark.parametrize("metric", METRIC_NAMES)
def test_a_query_tells_less_than_one_label_by_default(metric, rate, probe):
    n_labels = 1 + 2 * (metric in {"precision_at_k", "pw_js"})
    planned = plan(metric, draw_labels(np.random.default_rng(0), rate, n_labels), k=1)
    assert bits_per_query(metric, rate, probe, planned, n_labels) < 1


def test_without_a_step_or_without_a_start_a_query_tells_more():
    labels = draw_labels(np.random.default_rng(0), 0.5)
    planned = plan("nce", labels)
    for weaker in (Feedback(decimals=3, step=0.0), planned.model_copy(update={"start": None})):
        assert bits_per_query("nce", 0.5, probe_all_rows, weaker) > 2
