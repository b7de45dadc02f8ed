"""Slow loops over plain numbers: what the metrics must equal, written from the definitions and sharing no code."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

NAN = float("nan")


def cells(y_true: Any, other: Any, label_mask: Any) -> list[list[tuple[int, float, int]]]:
    """Per row, (truth, other, label) of every cell that counts."""
    y_true, other = np.asarray(y_true), np.asarray(other)
    mask = np.ones(y_true.shape, bool) if label_mask is None else np.broadcast_to(label_mask, y_true.shape)
    return [
        [(int(y_true[i, j]), float(other[i, j]), j) for j in range(y_true.shape[1]) if mask[i, j]]
        for i in range(y_true.shape[0])
    ]


def mean(values: Sequence[float]) -> float:
    """Mean of what is defined."""
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else NAN


def ratio(top: float, bottom: float, zero_division: float) -> float:
    return top / bottom if bottom else zero_division


# decisions


def counts(y_true: Any, y_pred: Any, label_mask: Any = None) -> list[list[int]]:
    """Rows tp, fp, fn, tn; one column per label."""
    table = [[0] * np.asarray(y_true).shape[1] for _ in range(4)]
    for row in cells(y_true, y_pred, label_mask):
        for t, p, j in row:
            table[{(1, 1): 0, (0, 1): 1, (1, 0): 2, (0, 0): 3}[t, int(p)]][j] += 1
    return table


def ba_macro(y_true: Any, y_pred: Any, label_mask: Any = None, one_class: str = "skip") -> float:
    scores = []
    for tp, fp, fn, tn in zip(*counts(y_true, y_pred, label_mask), strict=True):
        recalls = [hit / n for hit, n in ((tp, tp + fn), (tn, tn + fp)) if n]
        met = [c for c, n in ((1, tp + fn + fp), (0, tn + fp + fn)) if n]
        if one_class == "skip" and len(recalls) == 2:
            scores.append(sum(recalls) / 2)
        if one_class == "recall" and recalls:
            scores.append(sum(recalls) / len(recalls))
        if one_class == "river" and met:
            scores.append(sum(recalls) / len(met))
    return mean(scores)


def fbeta(
    y_true: Any, y_pred: Any, beta: float, label_mask: Any = None, average: Any = "samples", zero_division: float = 0.0
) -> Any:
    """The harmonic mean of precision and recall in which recall weighs beta squared."""

    def score(cells: list[tuple[int, int]]) -> float:
        if not cells:
            return NAN
        hits, true, pred = (sum(values) for values in zip(*((t * p, t, p) for t, p in cells), strict=True))
        if not hits:
            return zero_division if true * beta == pred == 0 else 0.0
        return (1 + beta**2) / (pred / hits + beta**2 * true / hits)

    rows = cells(y_true, y_pred, label_mask)
    groups = {
        "samples": [[(t, int(p)) for t, p, _ in row] for row in rows],
        "micro": [[(t, int(p)) for row in rows for t, p, _ in row]],
    }.get(average) or [
        [(t, int(p)) for row in rows for t, p, own in row if own == j] for j in range(np.shape(y_true)[1])
    ]
    values = [score(group) for group in groups]
    return values if average is None else mean(values)


def mcc(y_true: Any, y_pred: Any, label_mask: Any = None, average: Any = "macro") -> Any:
    """Pearson's correlation of the two columns of 0 and 1."""
    rows = cells(y_true, y_pred, label_mask)
    columns = [[(t, p) for row in rows for t, p, own in row if own == j] for j in range(np.shape(y_true)[1])]
    if average == "micro":
        columns = [[pair for column in columns for pair in column]]

    def score(pairs: list[tuple[int, float]]) -> float:
        if len({t for t, _ in pairs}) < 2:
            return NAN
        return float(np.corrcoef(*zip(*pairs, strict=True))[0, 1]) if len({p for _, p in pairs}) == 2 else 0.0

    values = [score(column) for column in columns]
    return values if average is None else mean(values)


def _ratio(name: str, tp: int, fp: int, fn: int, zero_division: float) -> float:
    if name == "precision":
        return ratio(tp, tp + fp, zero_division)
    if name == "recall":
        return ratio(tp, tp + fn, zero_division)
    if name == "jaccard":
        return ratio(tp, tp + fp + fn, zero_division)
    if tp + fp + fn == 0:
        return zero_division
    p, r = ratio(tp, tp + fp, 0), ratio(tp, tp + fn, 0)
    return ratio(2 * p * r, p + r, 0.0)


def decision_ratio(name: str) -> Callable[..., Any]:
    def oracle(
        y_true: Any, y_pred: Any, label_mask: Any = None, average: str | None = "samples", zero_division: float = 0.0
    ) -> Any:
        if average == "samples":
            rows = [row for row in cells(y_true, y_pred, label_mask) if row]
            tallies = [[sum((t, p) == kind for t, p, _ in row) for kind in ((1, 1), (0, 1), (1, 0))] for row in rows]
            return mean([_ratio(name, *tally, zero_division) for tally in tallies])
        columns = list(zip(*counts(y_true, y_pred, label_mask), strict=True))
        if average == "micro":
            return _ratio(name, *[sum(column[i] for column in columns) for i in range(3)], zero_division)
        values = [_ratio(name, *column[:3], zero_division) if any(column) else NAN for column in columns]
        return values if average is None else mean(values)

    return oracle


def hamming_loss(y_true: Any, y_pred: Any, label_mask: Any = None, average: str = "micro") -> float:
    wrong = [[t != p for t, p, _ in row] for row in cells(y_true, y_pred, label_mask) if row]
    if average == "samples":
        return mean([sum(row) / len(row) for row in wrong])
    return sum(map(sum, wrong)) / sum(map(len, wrong))


def subset_accuracy(y_true: Any, y_pred: Any, label_mask: Any = None) -> float:
    return mean([all(t == p for t, p, _ in row) for row in cells(y_true, y_pred, label_mask) if row])


def pw_js(y_true: Any, y_pred: Any, label_mask: Any = None) -> float:
    scores = []
    for row in cells(y_true, y_pred, label_mask):
        true, pred = {j for t, _, j in row if t}, {j for _, p, j in row if p}
        if not true | pred:
            scores.append(1.0 if row else NAN)
        else:
            scores.append(len(true & pred) / len(true | pred) * ratio(len(true & pred), len(pred), 0.0))
    return mean(scores)


def refinement_jaccard(y_true: Any, y_pred: Any, parents: Mapping[int, int], label_mask: Any = None) -> float:
    """Walk up and down the tree of each label; labels that do not count are not there."""
    scores = []
    for row in cells(y_true, y_pred, label_mask):
        there = {j for _, _, j in row}
        up = {j: parents[j] for j in there if j in parents and parents[j] in there}

        def above(j: int, up: dict[int, int] = up) -> list[int]:
            return [*above(up[j]), up[j]] if j in up else []

        def weight(j: int, up: dict[int, int] = up) -> float:
            siblings = sum(up.get(other) == up[j] for other in up) if j in up else 0
            return sum(map(weight, above(j))) * siblings / 2 if j in up else 1.0

        shares = []
        for top in there - up.keys():
            tree = [(t, p, weight(j)) for t, p, j in row if [*above(j), j][0] == top]
            either = sum(w for t, p, w in tree if t or p)
            if either:
                shares.append(sum(w for t, p, w in tree if t and p) / either)
        scores.append(mean(shares) if shares else 1.0 if row else NAN)
    return mean(scores)


def refinement_recall(
    y_true: Any, y_pred: Any, parents: Mapping[int, int], label_mask: Any = None, zero_division: float = 0.0
) -> float:
    found = [p for row in cells(y_true, y_pred, label_mask) for t, p, j in row if t and j in parents]
    return ratio(sum(found), len(found), zero_division)


def hierarchy_consistency(y_pred: Any, parents: Mapping[int, int], label_mask: Any = None) -> float:
    kept = []
    for row in cells(y_pred, y_pred, label_mask):
        labels = {j: p for _, p, j in row}
        broken = [j for j in labels if labels[j] and j in parents and labels.get(parents[j]) == 0]
        kept.append(float(not broken) if row else NAN)
    return mean(kept)


def pragma(
    y_true: Any, y_pred: Any, importance: Any = 1.0, compromise: Any = (0.5, 0.5), labels: Any = None, local: Any = None
) -> float:
    total = weight = 0.0
    for c in sorted(set(y_true) if labels is None else set(y_true) & set(labels)):
        hits = sum(t == p == c for t, p in zip(y_true, y_pred, strict=True))
        r = hits / sum(t == c for t in y_true)
        p = ratio(hits, sum(q == c for q in y_pred), 0.0)
        theta = importance[c] if isinstance(importance, Mapping) else importance
        x, y = compromise[c] if isinstance(compromise, Mapping) else compromise
        alpha = -1 / (1 + (1 - y) / (1 - x))
        total += theta * (local(r, p) if local else 1 + alpha * r + (-1 - alpha) * p)
        weight += theta
    return ratio(total, weight, NAN)


def pragma_multilabel(y_true: Any, y_pred: Any, label_mask: Any = None, **options: Any) -> float:
    """Each label is the class "present" of a two-class problem of its own; means over labels are weighted by theta."""
    own = {name: value if isinstance(value, Mapping) else {} for name, value in options.items()}
    total = weight = 0.0
    columns: dict[int, list[tuple[int, float]]] = {j: [] for j in range(np.asarray(y_true).shape[1])}
    for row in cells(y_true, y_pred, label_mask):
        for t, p, j in row:
            columns[j].append((t, p))
    for j, pairs in columns.items():
        if any(t for t, _ in pairs):
            ours = {name: own[name].get(j, value) for name, value in options.items()}
            theta = ours.pop("importance", 1.0)
            total += theta * pragma([t for t, _ in pairs], [int(p) for _, p in pairs], labels=[1], **ours)
            weight += theta
    return ratio(total, weight, NAN)


# stream order


def last_values(y_true: Any, label_mask: Any = None) -> list[list[int | None]]:
    """Last value of each label before each row, among the cells that count; None before the first."""
    last: list[int | None] = [None] * np.asarray(y_true).shape[1]
    rows = []
    for row in cells(y_true, y_true, label_mask):
        rows.append(list(last))
        for t, _, j in row:
            last[j] = t
    return rows


def no_change_predictions(y_true: Any, label_mask: Any = None) -> list[list[int]]:
    return [[value or 0 for value in row] for row in last_values(y_true, label_mask)]


def kappa_temporal(y_true: Any, y_pred: Any, label_mask: Any = None, average: str | None = "subset") -> Any:
    repeated = no_change_predictions(y_true, label_mask)

    def kappa(p: float, p_n: float) -> float:
        return NAN if math.isnan(p_n) or p_n > 1 - 1e-9 else (p - p_n) / (1 - p_n)

    if average == "subset":
        return kappa(*(subset_accuracy(y_true, other, label_mask) for other in (y_pred, repeated)))
    accuracies = [
        [
            ratio(tp + tn, tp + fp + fn + tn, NAN)
            for tp, fp, fn, tn in zip(*counts(y_true, other, label_mask), strict=True)
        ]
        for other in (y_pred, repeated)
    ]
    values = [kappa(p, p_n) for p, p_n in zip(*accuracies, strict=True)]
    return values if average is None else mean(values)


def persistence_kappa(y_true: Any, label_mask: Any = None) -> list[float]:
    before = last_values(y_true, label_mask)
    values = []
    for j in range(np.asarray(y_true).shape[1]):
        rows = enumerate(cells(y_true, y_true, label_mask))
        pairs = [(t, before[i][j]) for i, row in rows for t, _, label in row if label == j and before[i][j] is not None]
        if not pairs:
            values.append(NAN)
            continue
        agreed = sum(now == then for now, then in pairs) / len(pairs)
        share_now, share_then = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
        chance = share_now * share_then + (1 - share_now) * (1 - share_then)
        values.append(NAN if chance == 1 else (agreed - chance) / (1 - chance))
    return values


# scores


def _over_orders(
    row: list[Any], score: Callable[[float], float], value: Callable[[list[Any]], float], ties: str
) -> float:
    """Mean of a value over all orders of a row by decreasing score, or its value in the order of columns."""

    def key(cell: Any) -> float:
        return -score(cell[1])

    if ties == "order":
        return value(sorted(row, key=key))
    tied = [itertools.permutations(group) for _, group in itertools.groupby(sorted(row, key=key), key=key)]
    return mean([value(list(itertools.chain(*order))) for order in itertools.product(*tied)])


def _hits(row: list[Any], k: int, ties: str) -> float:
    return _over_orders(row, float, lambda order: sum(t for t, _, _ in order[:k]), ties)


def _rows(score_row: Callable[..., float]) -> Callable[..., float]:
    def oracle(y_true: Any, y_score: Any, *args: Any, label_mask: Any = None, **options: Any) -> float:
        return mean([score_row(row, *args, **options) for row in cells(y_true, y_score, label_mask) if row])

    return oracle


@_rows
def precision_at_k(row: Any, k: int, ties: str = "expected") -> float:
    return _hits(row, k, ties) / k


def precision_at_k_maximum(y_true: Any, k: int, label_mask: Any = None) -> float:
    return mean([min(k, sum(t for t, _, _ in row)) / k for row in cells(y_true, y_true, label_mask) if row])


@_rows
def recall_at_k(row: Any, k: int, zero_division: float = 0.0, ties: str = "expected") -> float:
    return ratio(_hits(row, k, ties), sum(t for t, _, _ in row), zero_division)


@_rows
def ndcg_at_k(row: Any, k: int, zero_division: float = 0.0, ties: str = "expected") -> float:
    def gain(order: list[Any]) -> float:
        return sum(t / math.log2(place + 2) for place, (t, _, _) in enumerate(order[:k]))

    return ratio(_over_orders(row, float, gain, ties), gain(sorted(row, reverse=True)), zero_division)


@_rows
def confident_accuracy_at_k(row: Any, k: int, ties: str = "expected") -> float:
    right = lambda order: sum(t == (p >= 0.5) for t, p, _ in order[:k]) / k  # noqa: E731
    return _over_orders(row, lambda p: max(p, 1 - p), right, ties)


def _at_budget(cells_of: list[Any], budget: int, period: Any, ties: str) -> tuple[float, int, int]:
    """Hits, alarms and relevant cells, over the periods."""
    hits = n_alarms = n_relevant = 0.0
    for name in set(period):
        best = sorted((-s, i, t) for i, (t, s, at) in enumerate(cells_of) if at == name)
        last = best[min(budget, len(best)) - 1][0] if best else 0
        tied = [t for s, _, t in best if s == last]
        above = [t for s, _, t in best if s < last]
        n_left = min(budget, len(best)) - len(above)
        if best:
            hits += sum(above) + (sum(tied[:n_left]) if ties == "order" else n_left * sum(tied) / len(tied))
        n_alarms += min(budget, len(best))
        n_relevant += sum(t for _, _, t in best)
    return hits, int(n_alarms), int(n_relevant)


def precision_at_budget(
    y_true: Any, y_score: Any, budget: int, period: Any, label_mask: Any = None, ties: str = "expected"
) -> float:
    rows = zip(cells(y_true, y_score, label_mask), period, strict=True)
    hits, n_alarms, _ = _at_budget([(t, s, at) for row, at in rows for t, s, _ in row], budget, list(period), ties)
    return hits / n_alarms


def recall_at_budget(
    y_true: Any,
    y_score: Any,
    budget: int,
    period: Any,
    label_mask: Any = None,
    zero_division: float = 0.0,
    ties: str = "expected",
) -> float:
    rows = zip(cells(y_true, y_score, label_mask), period, strict=True)
    hits, _, n_relevant = _at_budget([(t, s, at) for row, at in rows for t, s, _ in row], budget, list(period), ties)
    return ratio(hits, n_relevant, zero_division)


def propensity_scored(discounted: bool) -> Callable[..., float]:
    """Sum of gains 1 / p at the k best places, with or without discounts, over the greatest sum."""

    def score(
        y_true: Any,
        y_score: Any,
        k: int,
        propensities: Any,
        label_mask: Any = None,
        ties: Any = "expected",
        normalize: bool = True,
    ) -> float:
        weights = [1 / math.log2(place + 2) if discounted else 1.0 for place in range(k)]

        def gain(order: list[Any]) -> float:
            return sum(w * t / propensities[j] for w, (t, _, j) in zip(weights, order, strict=False)) / sum(weights)

        rows = [row for row in cells(y_true, y_score, label_mask) if row]
        reached = [_over_orders(row, float, gain, ties) for row in rows]
        best = [gain(sorted(row, key=lambda cell: -cell[0] / propensities[cell[2]])) for row in rows]
        return ratio(sum(reached), sum(best), NAN) if normalize else mean(reached)

    return score


@_rows
def rmse(row: Any) -> float:
    return math.sqrt(sum((s - t) ** 2 for t, s, _ in row) / len(row))


@_rows
def one_error(row: Any, ties: str = "expected") -> float:
    return 1.0 - _hits(row, 1, ties)


@_rows
def coverage(row: Any) -> float:
    relevant = [s for t, s, _ in row if t]
    return float(sum(s >= min(relevant) for _, s, _ in row)) if relevant else 0.0


@_rows
def ranking_loss(row: Any) -> float:
    pairs = [s >= r for t, r, _ in row if t for u, s, _ in row if not u]
    return ratio(sum(pairs), len(pairs), 0.0)


@_rows
def lrap(row: Any) -> float:
    purities = [sum(t for t, r, _ in row if r >= s) / sum(r >= s for _, r, _ in row) for u, s, _ in row if u]
    return ratio(sum(purities), len(purities), 1.0)


def _groups(y_true: Any, y_score: Any, label_mask: Any, average: Any) -> list[list[tuple[int, float]]]:
    """Cells that an area is computed from: those of each label, of each row, or all."""
    rows = [[(t, s) for t, s, _ in row] for row in cells(y_true, y_score, label_mask)]
    labels = [
        [(t, s) for row in cells(y_true, y_score, label_mask) for t, s, own in row if own == j]
        for j in range(np.shape(y_true)[1])
    ]
    return {"samples": rows, "micro": [list(itertools.chain(*rows))]}.get(average, labels)


def roc_auc(y_true: Any, y_score: Any, label_mask: Any = None, average: Any = "macro") -> Any:
    """Count the pairs of a 1 and a 0 in the right order, ties half."""

    def area(pairs: list[tuple[int, float]]) -> float:
        points = [(s > r) + (s == r) / 2 for t, s in pairs if t for u, r in pairs if not u]
        return sum(points) / len(points) if points else NAN

    values = [area(group) for group in _groups(y_true, y_score, label_mask, average)]
    return values if average is None else mean(values)


def average_precision(y_true: Any, y_score: Any, label_mask: Any = None, average: Any = "macro") -> Any:
    """Sum precision times the growth of recall over thresholds."""

    def area(pairs: list[tuple[int, float]]) -> float:
        n_ones, found, value = sum(t for t, _ in pairs), 0, 0.0
        for threshold in sorted({s for _, s in pairs}, reverse=True):
            above = [t for t, s in pairs if s >= threshold]
            value += (sum(above) - found) * sum(above) / len(above)
            found = sum(above)
        return value / n_ones if n_ones else NAN

    values = [area(group) for group in _groups(y_true, y_score, label_mask, average)]
    return values if average is None else mean(values)


def calibration_bins(pairs: list[tuple[int, float]], n_bins: int, strategy: str) -> list[list[tuple[int, float]]]:
    """Put cells into bins that hold their upper edges."""
    values = [p for _, p in pairs]
    edges = [b / n_bins for b in range(n_bins + 1)]
    if strategy == "quantile":
        edges = np.quantile(values, edges).tolist() if pairs else edges
    bins: list[list[tuple[int, float]]] = [[] for _ in range(n_bins)]
    for t, p in pairs:
        bins[sum(p > edge for edge in edges[1:-1])].append((t, p))
    return bins


def brier_score(y_true: Any, y_proba: Any, label_mask: Any = None, average: Any = "macro") -> Any:
    values = [
        sum((t - p) ** 2 for t, p in group) / len(group) if group else NAN
        for group in _groups(y_true, y_proba, label_mask, average)
    ]
    return values if average is None else mean(values)


SET_VALUES = {1: {1}, 0: {0}, -1: {0, 1}, -2: set()}


def set_coverage(y_true: Any, sets: Any, label_mask: Any = None, average: Any = "micro") -> Any:
    if average == "subset":
        rows = [row for row in cells(y_true, sets, label_mask) if row]
        return mean([all(t in SET_VALUES[int(s)] for t, s, _ in row) for row in rows])
    groups = _groups(y_true, sets, label_mask, average)
    values = [mean([t in SET_VALUES[int(s)] for t, s in group]) for group in groups]
    return values if average is None else mean(values)


def set_size(sets: Any, label_mask: Any = None, average: Any = "micro") -> Any:
    groups = _groups(np.zeros(np.shape(sets)), sets, label_mask, average)
    values = [mean([len(SET_VALUES[int(s)]) for _, s in group]) for group in groups]
    return values if average is None else mean(values)


def expected_calibration_error(
    y_true: Any,
    y_proba: Any,
    label_mask: Any = None,
    n_bins: int = 10,
    strategy: str = "uniform",
    average: Any = "macro",
) -> Any:
    def error(pairs: list[tuple[int, float]]) -> float:
        gaps = [abs(mean([p for _, p in one]) - mean([t for t, _ in one])) * len(one) for one in bins(pairs) if one]
        return sum(gaps) / len(pairs) if pairs else NAN

    def bins(pairs: list[tuple[int, float]]) -> list[list[tuple[int, float]]]:
        return calibration_bins(pairs, n_bins, strategy)

    values = [error(group) for group in _groups(y_true, y_proba, label_mask, average)]
    return values if average is None else mean(values)


def calibration_curve(
    y_true: Any, y_proba: Any, label_mask: Any = None, n_bins: int = 10, strategy: str = "uniform"
) -> Any:
    """Mean probability, share of true cells and number of cells, of all bins: a column per label."""
    columns = []
    for group in _groups(y_true, y_proba, label_mask, None):
        bins = calibration_bins(group, n_bins, strategy)
        sides = [[mean([float(pair[side]) for pair in one]) for one in bins] for side in (1, 0)]
        columns.append([*sides[0], *sides[1], *map(len, bins)])
    return np.transpose(columns)


def calibration_sums(y_true: Any, y_proba: Any, label_mask: Any = None, n_bins: int = 10) -> Any:
    """Numbers of cells, sums of probabilities and true cells of all bins, and sums of squares: a column per label."""
    columns = []
    for group in _groups(y_true, y_proba, label_mask, None):
        bins = calibration_bins(group, n_bins, "uniform")
        sums = [[sum(pair[side] for pair in one) for one in bins] for side in (1, 0)]
        columns.append([*map(len, bins), *sums[0], *sums[1], sum((t - p) ** 2 for t, p in group)])
    return np.transpose(columns)


def nce(y_true: Any, y_prob: Any, label_mask: Any = None, eps: float = 1e-15, constant_labels: str = "raise") -> float:
    columns: dict[int, list[tuple[int, float]]] = {}
    for row in cells(y_true, y_prob, label_mask):
        for t, p, j in row:
            columns.setdefault(j, []).append((t, min(max(p, eps), 1 - eps)))
    if constant_labels == "skip":
        columns = {j: pairs for j, pairs in columns.items() if len({t for t, _ in pairs}) == 2}
    scores = []
    for pairs in columns.values():
        loss = -sum(math.log(p if t else 1 - p) for t, p in pairs) / len(pairs)
        rate = sum(t for t, _ in pairs) / len(pairs)
        entropy = -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)
        scores.append((loss - entropy) / entropy)
    return sum(scores) / len(scores)


def nce_by_environment(
    y_true: Any, y_prob: Any, environment: Any, label_mask: Any = None, **options: Any
) -> dict[Any, float]:
    y_true, y_prob = np.asarray(y_true), np.asarray(y_prob)
    mask = np.broadcast_to(True if label_mask is None else label_mask, y_true.shape)
    chosen = {e: [i for i, own in enumerate(environment) if own == e] for e in sorted(set(environment))}
    return {e: nce(y_true[rows], y_prob[rows], mask[rows], **options) for e, rows in chosen.items()}


# continual


def visits(order: Any, n_tasks: int) -> list[set[int]]:
    """Tasks of each experience."""
    order = np.asarray(order)
    if order.ndim == 1:
        return [{int(task)} for task in order]
    return [{j for j in range(n_tasks) if row[j]} for row in order]


def _history(R: Any, order: Any) -> tuple[Any, list[set[int]], int, list[set[int]], dict[int, list[int]]]:
    R = np.asarray(R, float).tolist()
    now = [set(), *visits(order, len(R[0]))]
    seen = [set().union(*now[: s + 1]) for s in range(len(now))]
    when = {j: [s for s in range(1, len(now)) if j in now[s]] for j in seen[-1]}
    return R, now, len(now) - 1, seen, when


def acc(R: Any, order: Any, when: str = "final") -> float:
    R, _, last, seen, _ = _history(R, order)
    averages = [mean([R[s][j] for j in seen[s]]) for s in range(1, last + 1)]
    if when == "triangular":
        return mean([R[s][j] for s in range(1, last + 1) for j in seen[s]])
    return averages[-1] if when == "final" else mean(averages)


def bwt(R: Any, order: Any, reference: str = "last", include_current: bool = False) -> float:
    R, now, last, _, when = _history(R, order)
    tasks = [j for j in when if include_current or j not in now[last]]
    return mean([R[last][j] - R[when[j][-1 if reference == "last" else 0]][j] for j in tasks])


def fwt(R: Any, order: Any, reference_scores: Any = None) -> float:
    R, _, _, _, when = _history(R, order)
    new = [j for j in when if when[j][0] > 1]
    if reference_scores is not None:
        return mean([R[when[j][0]][j] - reference_scores[j] for j in new])
    return mean([R[when[j][0] - 1][j] - R[0][j] for j in new])


def fm(R: Any, order: Any, best_since: str = "first_visit", include_current: bool = False) -> float:
    R, now, last, seen, when = _history(R, order)
    tasks = [j for j in seen[last - 1] if include_current or j not in now[last]]
    start = {j: when[j][0] if best_since == "first_visit" else 1 for j in tasks}
    return mean([max(R[s][j] for s in range(start[j], last)) - R[last][j] for j in tasks])


def intransigence(R: Any, order: Any, reference_scores: Any, when: str = "final") -> float:
    R, _, _, _, visited = _history(R, order)
    newest = max(steps[0] for steps in visited.values())
    tasks = [j for j in visited if when == "mean" or visited[j][0] == newest]
    return mean([reference_scores[j] - R[visited[j][0]][j] for j in tasks])


def stepwise_transfer(
    R: Any, order: Any, baseline: str = "measured", include_current: bool = False
) -> dict[str, float]:
    R, now, last, seen, _ = _history(R, order)
    if baseline == "zero":
        R[0] = [0.0] * len(R[0])
    steps: dict[str, list[float]] = {key: [] for key in ("BWT", "FWT", "BWT+", "BWT-", "FWT+", "FWT-")}
    for s in range(1, last + 1):
        backward = [j for j in seen[s - 1] if include_current or j not in now[s]]
        forward = [j for j in range(len(R[0])) if j not in seen[s]]
        for name, tasks in (("BWT", backward), ("FWT", forward)):
            changes = [R[s][j] - R[s - 1][j] for j in tasks]
            steps[name].append(mean(changes))
            steps[name + "+"].append(mean([change for change in changes if change >= 0]))
            steps[name + "-"].append(mean([change for change in changes if change < 0]))
    means = {name: mean(values) for name, values in steps.items()}
    return {name: 0.0 if math.isnan(value) else value for name, value in means.items()}


# curves


def first_reaching(instances: Any, scores: Any, level: float, after: float) -> float:
    for n, score in zip(instances, scores, strict=True):
        if n >= after and score >= level:
            return n
    return math.inf


def learning_speed(instances: Any, scores: Any, target: float, warm_up: float = 0) -> tuple[float, int, int]:
    needed = [first_reaching(instances, run, target, warm_up) for run in np.atleast_2d(scores).tolist()]
    reached = [n for n in needed if n < math.inf]
    return (sum(reached) / len(reached) if reached else math.inf), len(reached), len(needed)


def transition_time(instances: Any, scores: Any, boundary: float, warm_up: float = 0) -> float:
    pairs = [(n, s) for n, s in zip(instances, scores, strict=True) if n <= boundary and not math.isnan(s)]
    after = [(n, s) for n, s in zip(instances, scores, strict=True) if n > boundary]
    reached = first_reaching(*zip(*after, strict=True), pairs[-1][1], boundary + warm_up)
    return reached - boundary


def area_under_curve(instances: Any, scores: Any) -> float:
    points = [(n, s) for n, s in zip(instances, scores, strict=True) if not math.isnan(s)]
    area = sum((m - n) * (s + r) / 2 for (n, s), (m, r) in itertools.pairwise(points))
    return area / (points[-1][0] - points[0][0])


# rows one after the other


def by_row(oracle: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Score each row as a table of its own."""

    def score(y_true: Any, other: Any, *args: Any, label_mask: Any = None, **options: Any) -> list[Any]:
        y_true, other = np.asarray(y_true), np.asarray(other)
        mask = np.broadcast_to(True if label_mask is None else label_mask, y_true.shape)
        return [oracle(y_true[[i]], other[[i]], *args, label_mask=mask[[i]], **options) for i in range(len(y_true))]

    return score


def running_mean(values: Any, sum_before: float = 0.0, n_before: int = 0) -> list[float]:
    found = []
    for value in values:
        if not math.isnan(value):
            sum_before, n_before = sum_before + value, n_before + 1
        found.append(sum_before / n_before if n_before else NAN)
    return found


# significance


def average_ranks(scores: Any, higher_is_better: bool = True) -> list[float]:
    table = [[-s if higher_is_better else s for s in row] for row in np.asarray(scores, float).tolist()]
    ranks = [[1 + sum(o < s for o in row) + (sum(o == s for o in row) - 1) / 2 for s in row] for row in table]
    return [sum(column) / len(column) for column in zip(*ranks, strict=True)]


def friedman_statistic(scores: Any) -> float:
    """Friedman's chi-squared with the correction for ties, from Demšar's formula and the sizes of the tied groups."""
    table = np.asarray(scores, float).tolist()
    n, k = len(table), len(table[0])
    ranks = average_ranks(scores)
    plain = 12 * n / (k * (k + 1)) * (sum(rank**2 for rank in ranks) - k * (k + 1) ** 2 / 4)
    ties = sum(row.count(value) ** 3 - row.count(value) for row in table for value in set(row))
    return ratio(plain, 1 - ties / (n * k * (k**2 - 1)), NAN)


def studentized_range_sf(q: float, k: int) -> float:
    """P(range of k standard normals > q), by Simpson's rule on its textbook integral."""
    nodes = np.linspace(-9, 9, 4001)
    density = np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
    upper = np.array([0.5 * (1 + math.erf(z / math.sqrt(2))) for z in nodes])
    lower = np.array([0.5 * (1 + math.erf((z - q) / math.sqrt(2))) for z in nodes])
    weights = np.ones(len(nodes))
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return float(1 - k * np.sum(weights * density * (upper - lower) ** (k - 1)) * (nodes[1] - nodes[0]) / 3)


def nemenyi(scores: Any) -> list[list[float]]:
    n, k = np.shape(scores)
    ranks = average_ranks(scores)
    error = math.sqrt(k * (k + 1) / (6 * n))
    return [
        [1.0 if a == b else studentized_range_sf(abs(a - b) / error * math.sqrt(2), k) for b in ranks] for a in ranks
    ]


def rank_intervals(
    scores: Any, higher_is_better: bool = True, level: float = 0.95, n_draws: int = 2000, seed: int = 0
) -> list[list[float]]:
    """Percentiles of mean ranks, the data sets drawn again one by one."""
    rows = np.asarray(scores, float).tolist()
    draws = np.random.default_rng(seed).integers(len(rows), size=(n_draws, len(rows))).tolist()
    means = [average_ranks([rows[place] for place in draw], higher_is_better) for draw in draws]
    return [
        [percentile(sorted(column), (1 + sign * level) / 2) for sign in (-1, 1)] for column in zip(*means, strict=True)
    ]


def percentile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def wilcoxon_holm(scores: Any, first: int) -> list[float]:
    """Signed-rank tests of one column with each other, then Holm's steps, by the definition of both."""
    columns = list(zip(*np.asarray(scores, float).tolist(), strict=True))
    p = {other: signed_rank_p(columns[first], column) for other, column in enumerate(columns) if other != first}
    corrected, greatest = {first: 1.0}, 0.0
    for step, other in enumerate(sorted(p, key=lambda place: p[place])):
        greatest = max(greatest, p[other] * (len(p) - step))
        corrected[other] = min(greatest, 1.0)
    return [corrected[place] for place in range(len(columns))]


def signed_rank_p(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided: over all signs where sizes differ and none is 0, else by the normal distribution, ties corrected."""
    differences = [a - b for a, b in zip(one, other, strict=True)]
    kept = [d for d in differences if d]
    if not kept:
        return 1.0
    sizes = [abs(d) for d in kept]
    ranks = [sum(smaller < size for smaller in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]
    won, n = sum(rank for rank, d in zip(ranks, kept, strict=True) if d > 0), len(kept)
    middle = n * (n + 1) / 4
    if len(kept) == len(differences) and len(set(sizes)) == n:
        signs = itertools.product((0, 1), repeat=n)
        sums = [sum(rank * sign for rank, sign in zip(ranks, drawn, strict=True)) for drawn in signs]
        return sum(abs(total - middle) >= abs(won - middle) - 1e-9 for total in sums) / len(sums)
    ties = sum(sizes.count(size) ** 3 - sizes.count(size) for size in set(sizes))
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    return math.erfc(abs(won - middle) / math.sqrt(2 * variance))


def bayesian_signed_rank(first: Any, second: Any, rope: float, n_draws: int, seed: int) -> list[float]:
    z = [0.0] + [a - b for a, b in zip(first, second, strict=True)]
    draws = np.random.default_rng(seed).dirichlet([0.5] + [1.0] * (len(z) - 1), size=n_draws).tolist()
    won = [0.0, 0.0, 0.0]
    for weights in draws:
        mass = [0.0, 0.0, 0.0]
        for (a, w), (b, v) in itertools.product(zip(z, weights, strict=True), repeat=2):
            middle = (a + b) / 2
            mass[0 if middle > rope else 2 if middle < -rope else 1] += w * v
        won[mass.index(max(mass))] += 1 / n_draws
    return won


def detection_scores(
    drifts: Any, alarms: Any, *, n_samples: int, max_delay: int, max_early: int = 0
) -> tuple[float, ...]:
    """One alarm after another, one drift after another."""
    first: dict[int, int] = {}
    hits = false = 0
    for alarm in alarms.tolist():
        begun = [i for i, (start, _) in enumerate(drifts.tolist()) if start - max_early <= alarm]
        if begun and alarm <= drifts[begun[-1]][1] + max_delay:
            hits += 1
            first.setdefault(begun[-1], int(alarm - drifts[begun[-1]][0]))
        else:
            false += 1
    missed = len(drifts) - len(first)
    precision, recall = (hits / (hits + false), hits / (hits + missed)) if hits else (0.0, 0.0)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    delay = sum(first.values()) / len(first) if first else math.nan
    rates = len(first) / len(drifts), precision, f1, delay, delay / max_delay, false / n_samples * 1000
    between = n_samples / false / max_delay if false else math.nan
    return *rates, hits, false, missed, recall, (hits + false) / n_samples * 1000, between
