"""Hypothesis strategies: small label tables, scores, histories of R, curves, and result tables."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

# few distinct values, so that ties are frequent; all are exact in float32
COARSE = (0.5, 0.0, 1.0, 0.25, 0.375, 0.625, 0.75)
Kinds = tuple[str, ...]
ANY = ("none", "labels", "rows")


@dataclass(frozen=True)
class LabelCase:
    """Arguments of a metric of labels: truth, predictions or scores, a mask, and what else it wants."""

    y_true: NDArray[Any]
    other: NDArray[Any]
    mask: NDArray[np.bool_] | None = None
    extra: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def call(self, metric: Callable[..., Any], **changed: Any) -> Any:
        """Call a metric, or its oracle, on this case."""
        options = {"label_mask": self.mask} | self.options | changed
        return metric(self.y_true, self.other, *self.extra, **options)

    def rows(self, chosen: Any) -> "LabelCase":
        """Keep these rows, in this order."""
        mask = self.mask[chosen] if self.mask is not None and self.mask.ndim == 2 else self.mask
        extra = tuple(
            np.asarray(value)[chosen] if np.shape(value) == self.y_true.shape[:1] else value for value in self.extra
        )
        return replace(self, y_true=self.y_true[chosen], other=self.other[chosen], mask=mask, extra=extra)

    def columns(self, chosen: Any) -> "LabelCase":
        """Keep these labels, in this order; a mapping of labels is renamed with them."""
        chosen = [int(j) for j in chosen]
        new = {old: place for place, old in enumerate(chosen)}
        return replace(
            self,
            y_true=self.y_true[:, chosen],
            other=self.other[:, chosen],
            mask=None if self.mask is None else self.mask[..., chosen],
            extra=tuple(_rename(value, new) for value in self.extra),
            options={name: _rename(value, new) for name, value in self.options.items()},
        )


def _rename(value: Any, new: dict[int, int]) -> Any:
    if not isinstance(value, Mapping):
        return value
    parents = all(isinstance(item, int) for item in value.values())
    return {
        new[key]: new[item] if parents else item
        for key, item in value.items()
        if key in new and (not parents or item in new)
    }


@cache  # to build a strategy takes longer than to draw from it
def tables(shape: tuple[int, ...], values: tuple[Any, ...], dtype: Any = None) -> st.SearchStrategy[NDArray[Any]]:
    """Arrays of a few values, drawn as the digits of one number: many times faster than cell by cell."""
    digits, size = np.array(values, dtype), math.prod(shape)
    powers = [len(values) ** place for place in range(size)]

    def spell(number: int) -> NDArray[Any]:
        return digits[[number // power % len(values) for power in powers]].reshape(shape)

    return st.integers(0, len(values) ** size - 1).map(spell)


one_of, whole = cache(st.sampled_from), cache(st.integers)


def indicators(shape: tuple[int, ...]) -> st.SearchStrategy[NDArray[np.uint8]]:
    return tables(shape, (0, 1), np.uint8)


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, int], kinds: Kinds) -> NDArray[np.bool_] | None:
    """One of the kinds: no mask, one for all rows, one per row; never all False."""
    kind = draw(one_of(kinds))
    if kind == "none":
        return None
    mask = draw(tables(shape[1:] if kind == "labels" else shape, (True, False)))
    mask.flat[draw(whole(0, mask.size - 1))] = True
    return mask


SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 6))


@st.composite
def decisions(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    shape = draw(SHAPES)
    return LabelCase(draw(indicators(shape)), draw(indicators(shape)), draw(masks(shape, kinds)))


@st.composite
def refined_decisions(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    """Decisions and a forest over the labels; where a label counts, its ancestors do."""
    case = draw(decisions(kinds))
    order = draw(st.permutations(range(case.y_true.shape[1])))
    parents = {}
    for place in range(1, len(order)):  # a parent comes before its children in the drawn order
        up = draw(whole(-1, place - 1))
        if up >= 0:
            parents[order[place]] = order[up]
    for child in reversed(order):
        if case.mask is not None and child in parents:
            case.mask[..., parents[child]] |= case.mask[..., child]
    return replace(case, extra=(parents,))


@st.composite
def scored(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    shape = draw(SHAPES)
    return LabelCase(draw(indicators(shape)), draw(tables(shape, COARSE)), draw(masks(shape, kinds)))


@st.composite
def covered(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    """Prediction sets, as numbers with a sign."""
    shape = draw(SHAPES)
    return LabelCase(draw(indicators(shape)), draw(tables(shape, (-1.0, 0.0, 1.0, -2.0))), draw(masks(shape, kinds)))


@st.composite
def scored_at_k(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    case = draw(scored(kinds))
    widths = np.broadcast_to(True if case.mask is None else case.mask, case.y_true.shape).sum(axis=1)
    return replace(case, extra=(draw(whole(1, int(widths[widths > 0].min()))),))


@st.composite
def scored_in_periods(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    """Scores, a budget, and the period of each row."""
    case = draw(scored(kinds))
    periods = draw(tables(case.y_true.shape[:1], ("Monday", "Sunday")))
    return replace(case, extra=(draw(whole(1, 9)), periods))


@st.composite
def scored_with_propensities(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    """Scores, k, and a propensity of each label."""
    case = draw(scored_at_k(kinds))
    drawn = draw(tables(case.y_true.shape[1:], (1.0, 0.5, 0.25, 0.125))).tolist()
    return replace(case, options={"propensities": dict(enumerate(drawn))})


def probabilities(kinds: Kinds = ANY) -> st.SearchStrategy[LabelCase]:
    """Probabilities of labels that all have both classes: two rows are appended to make it so."""
    return scored(kinds).map(_with_both_classes)


@st.composite
def probabilities_in_environments(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    names = draw(one_of((("A", "B"), ("A",), ("C", "A", "B"))))
    case = draw(scored(kinds))
    environment = draw(tables(case.y_true.shape[:1], names)).tolist()
    for name in names:
        case = _with_both_classes(case)
        environment += [name, name]
    return replace(case, extra=(np.array(environment),))


def _with_both_classes(case: LabelCase) -> LabelCase:
    n_labels = case.y_true.shape[1]
    y_true = np.vstack([case.y_true, np.zeros(n_labels, np.uint8), np.ones(n_labels, np.uint8)])
    mask = case.mask
    if mask is not None and mask.ndim == 2:
        mask = np.vstack([mask, np.ones((2, n_labels), bool)])
    return replace(case, y_true=y_true, other=np.vstack([case.other, case.other[:1], case.other[:1]]), mask=mask)


@st.composite
def multilabel_pragma(draw: st.DrawFn, kinds: Kinds = ANY) -> LabelCase:
    case = draw(decisions(kinds))
    columns = range(case.y_true.shape[1])
    return replace(case, options=draw(pragma_options(list(columns))))


@st.composite
def pragma_options(draw: st.DrawFn, classes: list[Any]) -> dict[str, Any]:
    theta, share = st.floats(0.1, 10), st.floats(0, 0.99)
    pair = st.tuples(share, share)
    importance = draw(theta | st.fixed_dictionaries(dict.fromkeys(classes, theta)))
    compromise = draw(pair | st.fixed_dictionaries(dict.fromkeys(classes, pair)))
    return {"importance": importance, "compromise": compromise}


@st.composite
def class_targets(draw: st.DrawFn) -> tuple[list[str], list[str], dict[str, Any]]:
    """True and predicted classes, and options of `pragma`."""
    n = draw(whole(1, 12))
    names = st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)
    return draw(names), draw(names), draw(pragma_options(list("abcd")))


@st.composite
def histories(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """R and the order of tasks: recurring, never trained, one a time or several."""
    n_tasks, n_experiences = draw(whole(1, 4)), draw(whole(1, 7))
    R = draw(tables((n_experiences + 1, n_tasks), COARSE))
    if draw(st.booleans()):
        return R, draw(tables((n_experiences,), tuple(range(n_tasks))))
    present = draw(tables((n_experiences, n_tasks), (True, False)))
    present[np.arange(n_experiences), draw(whole(0, n_tasks - 1))] |= ~present.any(axis=1)
    return R, present


@st.composite
def curves(draw: st.DrawFn, n_runs: int | None = None) -> tuple[list[float], Any]:
    """Checkpoints and readings of a run, or of up to `n_runs`; first and last are defined, others may be NaN."""
    instances = sorted(draw(st.sets(st.integers(1, 100), min_size=2, max_size=10)))
    shape = (draw(whole(1, n_runs or 1)), len(instances))
    runs = draw(tables(shape, (*COARSE, np.nan)))
    runs[:, [0, -1]] = draw(tables((shape[0], 2), COARSE))
    return [float(n) for n in instances], (runs if n_runs else runs[0]).tolist()


@st.composite
def result_tables(draw: st.DrawFn, min_methods: int = 2, min_datasets: int = 1) -> NDArray[np.float64]:
    return draw(tables((draw(whole(min_datasets, 6)), draw(whole(min_methods, 5))), COARSE))


@st.composite
def detections(draw: st.DrawFn) -> tuple[tuple[Any, Any], dict[str, int]]:
    """Drifts, alarms, and the options of `detection_scores`."""
    n = draw(st.integers(10, 400))
    ends = sorted(draw(st.lists(st.integers(0, n), min_size=2, max_size=10)))
    drifts = np.array(ends[: len(ends) // 2 * 2]).reshape(-1, 2)
    alarms = np.array(sorted(draw(st.lists(st.integers(0, n), max_size=12, unique=True))), dtype=np.int64)
    return (drifts, alarms), {"n_samples": n, "max_delay": draw(whole(1, 60)), "max_early": draw(whole(0, 20))}
