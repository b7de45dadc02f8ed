"""The table of laws: one row for every public metric, with its oracle, its range and what it is compared with."""

import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import metrics
from tests import oracles
from tests import strategies as given

INF = float("inf")


@dataclass(frozen=True)
class LabelRow:
    """A metric that scores labels, called with a `LabelCase`."""

    metric: Callable[..., Any]
    oracle: Callable[..., Any]
    cases: Callable[..., st.SearchStrategy[given.LabelCase]]
    low: float = 0.0
    high: float = 1.0
    better: int = 1  # 1: higher is better, -1: lower is better, 0: neither
    variants: tuple[dict[str, Any], ...] = ({},)
    per_label: bool = False  # one value per label instead of one for all
    reads_truth: bool = True
    in_order: bool = False  # the order of rows matters
    by_column: bool = False  # the order of columns matters


@dataclass(frozen=True)
class ValueRow:
    """A metric of anything else: `cases` gives its positional arguments and its options."""

    metric: Callable[..., Any]
    oracle: Callable[..., Any]
    cases: st.SearchStrategy[tuple[tuple[Any, ...], dict[str, Any]]]
    low: float = -INF
    high: float = INF


def options(**choices: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values()))


def _first_only(metric: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y_true, y_pred, *args, **kwargs: metric(y_pred, *args, **kwargs)


def _truth_only(metric: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y_true, _other, *args, **kwargs: metric(y_true, *args, **kwargs)


def _stacked(counts: metrics.LabelCounts) -> Any:
    return np.stack([counts.tp, counts.fp, counts.fn, counts.tn])


def _counts(*args: Any, **kwargs: Any) -> Any:
    return _stacked(metrics.label_counts(*args, **kwargs))


def _from_counts(metric: Callable[..., Any], count: Callable[..., Any] = metrics.label_counts) -> Callable[..., Any]:
    """Score the sum of the counts of two chunks: what the protocol does."""

    def score(y_true: Any, y_pred: Any, label_mask: Any = None, **kwargs: Any) -> Any:
        shape = y_true.shape if sparse.issparse(y_true) else np.shape(y_true)
        half = shape[0] // 2
        mask = np.broadcast_to(True if label_mask is None else label_mask, shape)
        known = ~np.isnan(y_true.toarray() if sparse.issparse(y_true) else np.asarray(y_true, dtype=float))
        parts = [
            count(y_true[rows], y_pred[rows], label_mask=mask[rows])
            for rows in (slice(0, half), slice(half, None))
            if (mask & known)[rows].any()
        ]
        return metric(sum(parts[1:], start=parts[0]), **kwargs)

    return score


def _curve_table(*args: Any, **kwargs: Any) -> Any:
    """Put the values of all bins one below the other: a column per label."""
    return np.concatenate(np.moveaxis(np.stack([*metrics.calibration_curve(*args, **kwargs)]), 1, -1))


def _sums_table(*args: Any, **kwargs: Any) -> Any:
    *bins, squares = metrics.calibration_sums(*args, **kwargs).parts
    return np.vstack([*(part.T for part in bins), squares])


def _persistence_oracle(y_true: Any, label_mask: Any = None) -> list[float]:
    repeated = oracles.no_change_predictions(y_true, label_mask)
    kappas = oracles.persistence_kappa(y_true, label_mask)
    return [oracles.subset_accuracy(y_true, repeated, label_mask), oracles.mean(kappas)]


def _with_propensities(metric: Callable[..., Any]) -> Callable[..., Any]:
    def score(y_true: Any, y_score: Any, k: int, propensities: dict[int, float], **options: Any) -> Any:
        return metric(y_true, y_score, k, [propensities[j] for j in sorted(propensities)], **options)

    return score


def _in_periods(metric: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y_true, y_score, budget, period, **options: metric(y_true, y_score, budget, period=period, **options)


ZERO = (0.0, 1.0, float("nan"))
ONE_CLASS = options(one_class=("skip", "recall", "river"))
AVERAGE = options(average=("samples", "micro", "macro"), zero_division=ZERO)
PER_LABEL = options(average=(None,), zero_division=ZERO)
SUMMED = options(average=("micro", "macro"), zero_division=ZERO)
CONSTANT = options(constant_labels=("raise", "skip"))

BETA = {"beta": (0.0, 0.5, 2.0)}
RATIOS = ("precision", "recall", "f1", "jaccard")
LABEL_ROWS: dict[str, LabelRow] = {
    "ba_macro": LabelRow(metrics.ba_macro, oracles.ba_macro, given.decisions, variants=ONE_CLASS),
    "ba_macro_from_counts": LabelRow(
        _from_counts(metrics.ba_macro_from_counts), oracles.ba_macro, given.decisions, variants=ONE_CLASS
    ),
    "label_counts": LabelRow(_counts, oracles.counts, given.decisions, high=INF, better=0, per_label=True),
    "hamming_loss": LabelRow(
        metrics.hamming_loss,
        oracles.hamming_loss,
        given.decisions,
        better=-1,
        variants=options(average=("micro", "samples")),
    ),
    "hamming_loss_from_counts": LabelRow(
        _from_counts(metrics.hamming_loss_from_counts), oracles.hamming_loss, given.decisions, better=-1
    ),
    "subset_accuracy": LabelRow(metrics.subset_accuracy, oracles.subset_accuracy, given.decisions),
    "kappa_temporal": LabelRow(
        metrics.kappa_temporal,
        oracles.kappa_temporal,
        given.decisions,
        low=-INF,
        variants=options(average=("subset", "macro")),
        in_order=True,
    ),
    "kappa_temporal (per label)": LabelRow(
        metrics.kappa_temporal,
        oracles.kappa_temporal,
        given.decisions,
        low=-INF,
        variants=options(average=(None,)),
        per_label=True,
        in_order=True,
    ),
    "no_change_predictions": LabelRow(
        _truth_only(metrics.no_change_predictions),
        _truth_only(oracles.no_change_predictions),
        given.decisions,
        better=0,
        per_label=True,
        in_order=True,
    ),
    "label_persistence": LabelRow(
        _truth_only(lambda *args, **kwargs: metrics.label_persistence(*args, **kwargs)[:2]),
        _truth_only(_persistence_oracle),
        given.decisions,
        low=-1,
        better=0,
        in_order=True,
    ),
    "label_persistence (per label)": LabelRow(
        _truth_only(lambda *args, **kwargs: metrics.label_persistence(*args, **kwargs).kappa),
        _truth_only(oracles.persistence_kappa),
        given.decisions,
        low=-1,
        better=0,
        per_label=True,
        in_order=True,
    ),
    "fbeta": LabelRow(
        metrics.fbeta,
        oracles.fbeta,
        given.decisions,
        variants=options(average=("samples", "micro", "macro"), zero_division=ZERO, **BETA),
    ),
    "fbeta (per label)": LabelRow(
        metrics.fbeta,
        oracles.fbeta,
        given.decisions,
        variants=options(average=(None,), zero_division=ZERO, **BETA),
        per_label=True,
    ),
    "fbeta_from_counts": LabelRow(
        _from_counts(metrics.fbeta_from_counts),
        oracles.fbeta,
        given.decisions,
        variants=options(average=("micro", "macro"), zero_division=ZERO, **BETA),
    ),
    "mcc": LabelRow(metrics.mcc, oracles.mcc, given.decisions, low=-1, variants=options(average=("macro", "micro"))),
    "mcc (per label)": LabelRow(
        metrics.mcc, oracles.mcc, given.decisions, low=-1, variants=options(average=(None,)), per_label=True
    ),
    "mcc_from_counts": LabelRow(
        _from_counts(metrics.mcc_from_counts),
        oracles.mcc,
        given.decisions,
        low=-1,
        variants=options(average=("macro", "micro")),
    ),
    "pw_js": LabelRow(metrics.pw_js, oracles.pw_js, given.decisions),
    "refinement_jaccard": LabelRow(metrics.refinement_jaccard, oracles.refinement_jaccard, given.refined_decisions),
    "refinement_recall": LabelRow(
        metrics.refinement_recall,
        oracles.refinement_recall,
        given.refined_decisions,
        variants=options(zero_division=ZERO),
    ),
    "hierarchy_consistency": LabelRow(
        _first_only(metrics.hierarchy_consistency),
        _first_only(oracles.hierarchy_consistency),
        given.refined_decisions,
        better=0,
        reads_truth=False,
    ),
    "pragma (labels)": LabelRow(
        metrics.pragma,
        oracles.pragma_multilabel,
        given.multilabel_pragma,
        better=-1,
    ),
    "rmse": LabelRow(metrics.rmse, oracles.rmse, given.scored, better=-1),
    "one_error": LabelRow(metrics.one_error, oracles.one_error, given.scored, better=-1),
    "coverage": LabelRow(metrics.coverage, oracles.coverage, given.scored, high=6, better=-1),
    "ranking_loss": LabelRow(metrics.ranking_loss, oracles.ranking_loss, given.scored, better=-1),
    "lrap": LabelRow(metrics.lrap, oracles.lrap, given.scored),
    "precision_at_k": LabelRow(metrics.precision_at_k, oracles.precision_at_k, given.scored_at_k),
    "precision_at_k_maximum": LabelRow(
        _truth_only(metrics.precision_at_k_maximum),
        _truth_only(oracles.precision_at_k_maximum),
        given.scored_at_k,
        better=0,
    ),
    "recall_at_k": LabelRow(
        metrics.recall_at_k, oracles.recall_at_k, given.scored_at_k, variants=options(zero_division=ZERO)
    ),
    "ndcg_at_k": LabelRow(
        metrics.ndcg_at_k, oracles.ndcg_at_k, given.scored_at_k, variants=options(zero_division=ZERO)
    ),
    "confident_accuracy_at_k": LabelRow(
        metrics.confident_accuracy_at_k, oracles.confident_accuracy_at_k, given.scored_at_k
    ),
    "precision_at_budget": LabelRow(
        _in_periods(metrics.precision_at_budget), oracles.precision_at_budget, given.scored_in_periods
    ),
    "recall_at_budget": LabelRow(
        _in_periods(metrics.recall_at_budget),
        oracles.recall_at_budget,
        given.scored_in_periods,
        variants=options(zero_division=ZERO),
    ),
    "psprecision_at_k": LabelRow(
        _with_propensities(metrics.psprecision_at_k),
        oracles.propensity_scored(discounted=False),
        given.scored_with_propensities,
        high=8,
        better=0,
        variants=options(normalize=(True, False)),
    ),
    "psndcg_at_k": LabelRow(
        _with_propensities(metrics.psndcg_at_k),
        oracles.propensity_scored(discounted=True),
        given.scored_with_propensities,
        high=8,
        better=0,
        variants=options(normalize=(True, False)),
    ),
    "nce": LabelRow(metrics.nce, oracles.nce, given.probabilities, low=-1, high=INF, better=-1, variants=CONSTANT),
    "worst_nce": LabelRow(
        metrics.worst_nce,
        lambda *args, **kwargs: max(oracles.nce_by_environment(*args, **kwargs).values()),
        given.probabilities_in_environments,
        variants=CONSTANT,
        low=-1,
        high=INF,
        better=-1,
    ),
    "nce_by_environment": LabelRow(
        metrics.nce_by_environment,
        oracles.nce_by_environment,
        given.probabilities_in_environments,
        variants=CONSTANT,
        low=-1,
        high=INF,
        better=0,
    ),
}
for _name in ("roc_auc", "average_precision"):
    _row = LabelRow(
        getattr(metrics, _name),
        getattr(oracles, _name),
        given.scored,
        variants=options(average=("macro", "micro", "samples")),
    )
    LABEL_ROWS |= {_name: _row, f"{_name} (per label)": replace(_row, variants=({"average": None},), per_label=True)}
BINS = {"n_bins": (1, 3, 4), "strategy": ("uniform", "quantile")}
MEANS, EACH = {"average": ("macro", "micro")}, {"average": (None,)}
for _name, _how in (("brier_score", {}), ("expected_calibration_error", BINS)):
    _row = LabelRow(
        getattr(metrics, _name), getattr(oracles, _name), given.scored, better=-1, variants=options(**MEANS, **_how)
    )
    _summed = replace(
        _row,
        metric=_from_counts(getattr(metrics, f"{_name}_from_sums"), metrics.calibration_sums),
        variants=options(**MEANS),
    )
    LABEL_ROWS |= {
        _name: _row,
        f"{_name} (per label)": replace(_row, variants=options(**EACH, **_how), per_label=True),
        f"{_name}_from_sums": _summed,
        f"{_name}_from_sums (per label)": replace(_summed, variants=options(**EACH), per_label=True),
    }
_covered = LabelRow(
    metrics.set_coverage, oracles.set_coverage, given.covered, variants=options(average=("micro", "macro", "subset"))
)
_sized = LabelRow(
    _first_only(metrics.set_size),
    _first_only(oracles.set_size),
    given.covered,
    high=2.0,
    better=0,
    variants=options(**MEANS),
    reads_truth=False,
)
for _name, _row in (("set_coverage", _covered), ("set_size", _sized)):
    LABEL_ROWS |= {_name: _row, f"{_name} (per label)": replace(_row, variants=options(**EACH), per_label=True)}
LABEL_ROWS |= {
    "calibration_curve": LabelRow(
        _curve_table,
        oracles.calibration_curve,
        given.scored,
        high=INF,
        better=0,
        variants=options(**BINS),
        per_label=True,
    ),
    "calibration_sums": LabelRow(
        _sums_table,
        oracles.calibration_sums,
        given.scored,
        high=INF,
        better=0,
        variants=options(n_bins=(1, 4)),
        per_label=True,
    ),
}
for _name in (
    *("one_error", "precision_at_k", "recall_at_k", "ndcg_at_k", "confident_accuracy_at_k"),
    *("psprecision_at_k", "psndcg_at_k"),
):
    LABEL_ROWS[f"{_name} (ties in order)"] = replace(
        LABEL_ROWS[_name], variants=options(ties=("order",)), by_column=True
    )
for _name in ("precision_at_budget", "recall_at_budget"):
    LABEL_ROWS[f"{_name} (ties in order)"] = replace(
        LABEL_ROWS[_name], variants=options(ties=("order",)), by_column=True, in_order=True
    )
for _name in RATIOS:
    _metric, _summed = getattr(metrics, _name), _from_counts(getattr(metrics, f"{_name}_from_counts"))
    _oracle = oracles.decision_ratio(_name)
    LABEL_ROWS |= {
        _name: LabelRow(_metric, _oracle, given.decisions, variants=AVERAGE),
        f"{_name} (per label)": LabelRow(_metric, _oracle, given.decisions, variants=PER_LABEL, per_label=True),
        f"{_name}_from_counts": LabelRow(_summed, _oracle, given.decisions, variants=SUMMED),
        f"{_name}_from_counts (per label)": LabelRow(
            _summed, _oracle, given.decisions, variants=PER_LABEL, per_label=True
        ),
    }


@st.composite
def _of_history(draw: st.DrawFn, with_scores: bool = False, **choices: tuple[Any, ...]) -> Any:
    R, order = draw(given.histories())
    scores = (draw(given.tables(R.shape[1:], given.COARSE)),) if with_scores else ()
    return (R, order, *scores), draw(st.sampled_from(options(**choices)))


@st.composite
def _of_history_with_option(draw: st.DrawFn) -> Any:
    (R, order, scores), _ = draw(_of_history(with_scores=True))
    return (R, order), draw(st.sampled_from([{}, {"reference_scores": scores}]))


@st.composite
def _of_pragma(draw: st.DrawFn) -> Any:
    y_true, y_pred, chosen = draw(given.class_targets())
    labels = draw(st.none() | st.sets(st.sampled_from("abcd"), min_size=1))
    local = draw(st.sampled_from([None, lambda r, p: 1 - r * p]))
    return (y_true, y_pred), chosen | {"labels": labels, "local": local}


@st.composite
def _of_chunks(draw: st.DrawFn) -> Any:
    """Counts of several chunks, as LabelCounts."""
    n_chunks, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    return [metrics.LabelCounts(*draw(given.tables((4, n_labels), tuple(range(10))))) for _ in range(n_chunks)]


@st.composite
def _of_rows(draw: st.DrawFn, cases: st.SearchStrategy[given.LabelCase], **choices: tuple[Any, ...]) -> Any:
    case = draw(cases)
    chosen = draw(st.sampled_from(options(**choices)))
    return (case.y_true, case.other, *case.extra), {"label_mask": case.mask} | chosen


def _window_oracle(chunks: list[metrics.LabelCounts], width: int) -> Any:
    tables = [_stacked(chunk).tolist() for chunk in chunks]
    return [
        [
            [sum(t[kind][j] for t in tables[max(0, i - width + 1) : i + 1]) for j in range(len(tables[0][kind]))]
            for i in range(len(tables))
        ]
        for kind in range(4)
    ]


SHARE = st.floats(0, 0.999)
JOULES = {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3.6e3, "kWh": 3.6e6, "MWh": 3.6e9}
CURVE = given.curves()
EVERY = 10**6

VALUE_ROWS: dict[str, ValueRow] = {
    "acc": ValueRow(metrics.acc, oracles.acc, _of_history(when=("final", "mean", "triangular")), 0, 1),
    "aia": ValueRow(metrics.aia, partial(oracles.acc, when="mean"), _of_history(), 0, 1),
    "bwt": ValueRow(
        metrics.bwt,
        oracles.bwt,
        _of_history(reference=("last", "first"), include_current=(False, True)),
        -1,
        1,
    ),
    "fwt": ValueRow(metrics.fwt, oracles.fwt, _of_history_with_option(), -1, 1),
    "fm": ValueRow(
        metrics.fm,
        oracles.fm,
        _of_history(best_since=("first_visit", "start"), include_current=(False, True)),
        -1,
        1,
    ),
    "intransigence": ValueRow(
        metrics.intransigence, oracles.intransigence, _of_history(with_scores=True, when=("final", "mean")), -1, 1
    ),
    "stepwise_transfer": ValueRow(
        metrics.stepwise_transfer,
        oracles.stepwise_transfer,
        _of_history(baseline=("measured", "zero"), include_current=(False, True)),
        -1,
        1,
    ),
    "learning_speed": ValueRow(
        metrics.learning_speed,
        oracles.learning_speed,
        st.tuples(given.curves(n_runs=3), st.sampled_from(given.COARSE)).map(
            lambda c: ((*c[0], c[1]), {"warm_up": c[0][0][1]})
        ),
        0,
    ),
    "transition_time": ValueRow(
        metrics.transition_time,
        oracles.transition_time,
        st.tuples(CURVE, st.sampled_from([0, 1])).map(lambda c: ((*c[0], c[0][0][-2]), {"warm_up": c[1]})),
        0,
    ),
    "area_under_curve": ValueRow(
        metrics.area_under_curve, oracles.area_under_curve, CURVE.map(lambda c: (c, {})), 0, 1
    ),
    "detection_scores": ValueRow(metrics.detection_scores, oracles.detection_scores, given.detections(), -20),
    "counts_by_row": ValueRow(
        lambda *args, **kwargs: _stacked(metrics.counts_by_row(*args, **kwargs)),
        lambda *args, **kwargs: np.stack(oracles.by_row(oracles.counts)(*args, **kwargs), axis=1),
        _of_rows(given.decisions()),
        0,
        1,
    ),
    "rmse_by_row": ValueRow(metrics.rmse_by_row, oracles.by_row(oracles.rmse), _of_rows(given.scored()), 0, 1),
    "precision_at_k_by_row": ValueRow(
        metrics.precision_at_k_by_row,
        oracles.by_row(oracles.precision_at_k),
        _of_rows(given.scored_at_k(), ties=("expected", "order")),
        0,
        1,
    ),
    "running_mean": ValueRow(
        metrics.running_mean,
        oracles.running_mean,
        st.tuples(CURVE, st.sampled_from([{}, {"sum_before": 0.75, "n_before": 3}])).map(
            lambda pair: ((pair[0][1],), pair[1])
        ),
        0,
        1,
    ),
    "anytime_score": ValueRow(metrics.anytime_score, oracles.mean, CURVE.map(lambda c: ((c[1],), {})), 0, 1),
    "pragma (classes)": ValueRow(metrics.pragma, oracles.pragma, _of_pragma(), 0, 1),
    "pragma_plane": ValueRow(
        metrics.pragma_plane,
        lambda x, y: (-1 / (1 + (1 - y) / (1 - x)), 1 / (1 + (1 - y) / (1 - x)) - 1),
        st.tuples(SHARE, SHARE).map(lambda pair: (pair, {})),
        -1,
        0,
    ),
    "frug": ValueRow(
        metrics.frug,
        lambda acc, energy, w, energy_unit, scale: acc - w + w / (1 + energy * JOULES[energy_unit] / JOULES[scale]),
        st.tuples(
            st.tuples(st.floats(0, 1), st.floats(0, 1e3)),
            st.fixed_dictionaries(
                {"w": st.floats(0, 1), "energy_unit": st.sampled_from([*JOULES]), "scale": st.sampled_from([*JOULES])}
            ),
        ),
        -1,
        1,
    ),
    "label_propensities": ValueRow(
        metrics.label_propensities,
        lambda counts, n, a=0.55, b=1.5: [
            1 / (1 + (math.log(n) - 1) * (b + 1) ** a * (count + b) ** -a) for count in counts
        ],
        st.tuples(
            st.tuples(st.lists(st.integers(0, 50), min_size=1), st.integers(50, 10**6)),
            st.sampled_from([{}, {"a": 0.5, "b": 0.4}]),
        ),
        0,
        1,
    ),
    "average_ranks": ValueRow(
        metrics.average_ranks,
        oracles.average_ranks,
        st.tuples(
            given.result_tables().map(lambda table: (table,)), st.sampled_from(options(higher_is_better=(True, False)))
        ),
        1,
        5,
    ),
    "friedman": ValueRow(
        lambda table: metrics.friedman(table).statistic,
        oracles.friedman_statistic,
        given.result_tables(min_methods=3, min_datasets=2).map(lambda table: ((table,), {})),
        0,
    ),
    "nemenyi": ValueRow(
        metrics.nemenyi, oracles.nemenyi, given.result_tables().map(lambda table: ((table,), {})), 0, 1
    ),
    "wilcoxon_holm": ValueRow(
        metrics.wilcoxon_holm,
        oracles.wilcoxon_holm,
        given.result_tables().map(lambda table: ((table, len(table) % table.shape[1]), {})),
        0,
        1,
    ),
    "rank_intervals": ValueRow(
        metrics.rank_intervals,
        oracles.rank_intervals,
        st.tuples(
            given.result_tables().map(lambda table: (table,)),
            st.sampled_from(options(higher_is_better=(True, False), level=(0.5, 0.95), n_draws=(1, 30), seed=(0, 7))),
        ),
        1,
        5,
    ),
    "critical_difference": ValueRow(
        lambda k, n, alpha: oracles.studentized_range_sf(
            metrics.critical_difference(k, n, alpha=alpha) * np.sqrt(2 * 6 * n / (k * (k + 1))), k
        ),
        lambda k, n, alpha: alpha,
        st.tuples(st.integers(2, 12), st.integers(1, 30), st.floats(0.01, 0.2)).map(lambda args: (args, {})),
        0,
        1,
    ),
    "bayesian_signed_rank": ValueRow(
        metrics.bayesian_signed_rank,
        oracles.bayesian_signed_rank,
        st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=4).map(
            lambda pairs: (tuple(zip(*pairs, strict=True)), {"rope": 0.03125, "n_draws": 20, "seed": len(pairs)})
        ),
        0,
        1,
    ),
    "stack_counts": ValueRow(
        lambda chunks: _stacked(metrics.stack_counts(chunks)),
        partial(_window_oracle, width=1),
        _of_chunks().map(lambda chunks: ((chunks,), {})),
        0,
    ),
    "cumulative_counts": ValueRow(
        lambda chunks: _stacked(metrics.cumulative_counts(metrics.stack_counts(chunks))),
        partial(_window_oracle, width=EVERY),
        _of_chunks().map(lambda chunks: ((chunks,), {})),
        0,
    ),
    "windowed_counts": ValueRow(
        lambda chunks, width: _stacked(metrics.windowed_counts(metrics.stack_counts(chunks), width)),
        _window_oracle,
        st.tuples(_of_chunks(), st.integers(1, 8)).map(lambda pair: (pair, {})),
        0,
    ),
}

RESULT_TYPES = {
    "BayesianComparison",
    "CalibrationCurve",
    "CalibrationSums",
    "DetectionScores",
    "FriedmanResult",
    "LabelCounts",
    "LabelPersistence",
    "LearningSpeed",
}


def scoring_labels() -> set[str]:
    """Names of the public metrics that read a matrix of true labels."""
    return {name for name in metrics.__all__ if "y_true" in inspect.signature(getattr(metrics, name)).parameters}


def covered() -> set[str]:
    """Names of the metrics that stand in the table."""
    return {name.split(" ")[0] for name in (*LABEL_ROWS, *VALUE_ROWS)}
