"""Concepts: distributions with parameters, the transitions between them, and the truth about where they drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from typing import Literal

import numpy as np

from metrics.validation import require_choice
from mlstream.generators._parameters import require_count, require_share
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.synthetic.concept_functions import KINDS, ConceptFunctions, Floats, Kind, make_functions
from mlstream.streams.card_model import DriftCard, DriftTarget
from mlstream.streams.stream import Experience, Index, Indicator, Stream

TARGETS: tuple[DriftTarget, ...] = ("P(X)", "P(Y|X)", "dependence")

# Rows drawn to find the thresholds of labels.
N_SAMPLE_ROWS = 65536
Pattern = Literal["abrupt", "gradual", "incremental"]


@dataclass(frozen=True)
class ConceptParams:
    """Parameters of the labels, and of the differences between concepts.

    Raises ValueError if a parameter is out of its range, or parameters contradict each other.
    """

    n_labels: int = 8
    cardinality: float = 2.0  # mean number of labels of a row
    imbalance: float = 1.0  # frequency of the first label divided by that of the last; geometric in between
    dependence: float = 0.3  # correlation in [0, 1] of the scores of any two labels
    noise: float = 0.2  # share in (0, 1] of a score's variance that the features do not explain
    drift_in: Sequence[DriftTarget] = ("P(Y|X)",)  # what differs between concepts
    magnitude: float = 1.0  # how much it differs, in [0, 1]

    def __post_init__(self) -> None:
        require_count(self.n_labels, "n_labels")
        require_share(self.dependence, "dependence")
        require_share(self.magnitude, "magnitude")
        if not 0 < self.noise <= 1:
            raise ValueError(f"noise must lie in (0, 1]. Got {self.noise!r} instead.")
        if not 1 <= self.imbalance < float("inf"):
            raise ValueError(f"imbalance must be finite, at least 1. Got {self.imbalance!r} instead.")
        if isinstance(self.drift_in, str) or not set(self.drift_in) <= set(TARGETS):
            raise ValueError(f"drift_in must be a sequence of {', '.join(TARGETS)}. Got {self.drift_in!r} instead.")
        if "dependence" in self.drift_in and not (self.dependence > 0 and self.n_labels > 1):
            raise ValueError(
                "For a drift in dependence, there must be two labels at least, and dependence above 0. "
                f"Got n_labels={self.n_labels}, dependence={self.dependence}."
            )
        label_shares(self.n_labels, self.cardinality, self.imbalance)


@dataclass(frozen=True, eq=False)
class Concept:
    """One distribution of features and labels."""

    place: Floats  # parameters of P(X)
    weights: Floats  # (n_parts, n_labels): from parts of a description to scores
    thresholds: Floats  # (n_labels,): scores above which a label is present
    loadings: Floats  # (n_labels,): correlation of each label's disturbance with the shared one


def label_shares(n_labels: int, cardinality: float, imbalance: float) -> Floats:
    """Return the share of rows that each label is to have, in (0, 1).

    The shares add up to the cardinality and fall geometrically; the first divided by the last is the imbalance. Raises
    ValueError if the first label would be in every row, or cardinality is not positive.
    """
    shares = np.geomspace(imbalance, 1, n_labels)
    most = float(shares.sum() / shares[0])
    if not 0 < cardinality < most:
        raise ValueError(
            f"cardinality must lie between 0 and {most:g}, for {n_labels} labels and an imbalance of {imbalance:g}. "
            f"Got {cardinality!r} instead."
        )
    return np.asarray(shares * (cardinality / shares.sum()))


def make_concepts(
    kind: Kind, params: ConceptParams, *, n_features: int, n_concepts: int, seed: int
) -> tuple[ConceptFunctions, list[Concept]]:
    """Draw the functions of a kind, and concepts that use them.

    The first concept has the place of the functions, and labels that all attract each other.
    """
    require_choice(kind, "kind", KINDS)
    require_count(n_features, "n_features")
    require_count(n_concepts, "n_concepts")
    functions = make_functions(kind, n_features, generator_for(Purpose.CONCEPTS, seed))
    shares = label_shares(params.n_labels, params.cardinality, params.imbalance)
    loadings = np.full(params.n_labels, sqrt(params.dependence))
    weights = _draw_weights(functions, params, generator_for(Purpose.CONCEPTS, seed, 1))
    concepts = [
        Concept(functions.place, weights, _find_thresholds(functions, weights, shares, params.noise, seed), loadings)
    ]
    for number in range(1, n_concepts):
        rng = generator_for(Purpose.CONCEPTS, seed, number + 2)
        concepts.append(_move(functions, concepts[0], params, shares, seed, rng))
    return functions, concepts


def draw_rows(
    functions: ConceptFunctions,
    way: tuple[Concept, Concept],
    progress: Floats | float,
    noise: float,
    n_rows: int,
    rng: np.random.Generator,
) -> tuple[Floats, Indicator]:
    """Draw rows on the way from one concept to another; twice the same concept is that concept.

    `progress` is how far on the way each row is, from 0 to 1: a number or shape (n_rows, 1). `noise` is the share of a
    score's variance that the features do not explain.
    """
    before, after = way
    X = functions.draw(n_rows, before.place, after.place, progress, rng)
    score, threshold, loading = functions.score(X, before.weights), before.thresholds, before.loadings
    if after is not before:
        score = _blend_scores(functions, score, X, way, progress)
        threshold = threshold + progress * (after.thresholds - threshold)
        loading = loading + progress * (after.loadings - loading)
    disturbance = rng.standard_normal(score.shape)
    disturbance *= np.sqrt(noise * (1 - loading**2))
    disturbance += rng.standard_normal((n_rows, 1)) * (sqrt(noise) * loading)
    score *= sqrt(1 - noise)
    score += disturbance
    return X, (score > threshold).view(np.uint8)


def changes_between(before: Concept, after: Concept) -> list[DriftTarget]:
    """List what differs between two concepts; nothing if they are the same."""
    pairs: dict[DriftTarget, tuple[Floats, Floats]] = {
        "P(X)": (before.place, after.place),
        "P(Y|X)": (before.weights, after.weights),
        "dependence": (before.loadings, after.loadings),
    }
    return [target for target, (old, new) in pairs.items() if not np.array_equal(old, new)]


def _move(
    functions: ConceptFunctions,
    first: Concept,
    params: ConceptParams,
    shares: Floats,
    seed: int,
    rng: np.random.Generator,
) -> Concept:
    place, weights, thresholds, loadings = first.place, first.weights, first.thresholds, first.loadings
    if not params.magnitude:
        return first
    if "P(X)" in params.drift_in:
        place = functions.move(params.magnitude, rng)
    if "P(Y|X)" in params.drift_in:
        fresh = _draw_weights(functions, params, rng)
        weights = _standardise(functions, sqrt(1 - params.magnitude**2) * weights + params.magnitude * fresh)
        thresholds = _find_thresholds(functions, weights, shares, params.noise, seed)
    if "dependence" in params.drift_in:
        # The first label never turns, so that no two patterns of signs mean the same.
        turned = 1 + rng.permutation(params.n_labels - 1)[: ceil(params.magnitude * (params.n_labels - 1) / 2)]
        loadings = loadings.copy()
        loadings[turned] *= -1
    return Concept(place, weights, thresholds, loadings)


def _draw_weights(functions: ConceptFunctions, params: ConceptParams, rng: np.random.Generator) -> Floats:
    """Draw weights of scores with variance 1 and the correlation that was asked for."""
    drawn = _standardise(functions, rng.normal(size=(len(functions.shares), params.n_labels + 1)))
    if len(functions.shares) > params.n_labels + 1:
        root = np.sqrt(np.maximum(functions.shares, 1e-12))[:, np.newaxis]
        drawn = _standardise(functions, np.linalg.qr(root * drawn)[0] / root)
    mixed = sqrt(params.dependence) * drawn[:, :1] + sqrt(1 - params.dependence) * drawn[:, 1:]
    return _standardise(functions, mixed)


def _standardise(functions: ConceptFunctions, weights: Floats) -> Floats:
    """Give scores mean 0 and variance 1 at the place of the functions."""
    centred = weights - functions.shares @ weights if functions.partitions else weights
    return np.asarray(centred / np.sqrt(functions.shares @ centred**2))


def _find_thresholds(functions: ConceptFunctions, weights: Floats, shares: Floats, noise: float, seed: int) -> Floats:
    """Find the scores that the share of a label's rows is above, in a sample from the place of the functions."""
    rng = generator_for(Purpose.CONCEPTS, seed, 2)
    X = functions.draw(N_SAMPLE_ROWS, functions.place, functions.place, 0.0, rng)
    score = sqrt(1 - noise) * functions.score(X, weights)
    score += sqrt(noise) * rng.standard_normal(score.shape)
    return np.array([np.quantile(column, 1 - share) for column, share in zip(score.T, shares, strict=True)])


def _blend_scores(
    functions: ConceptFunctions, score: Floats, X: Floats, way: tuple[Concept, Concept], progress: Floats | float
) -> Floats:
    """Blend the scores of two concepts so that their variance stays."""
    before, after = way
    agreement = functions.shares @ (before.weights * after.weights)
    blended = (1 - progress) * score + progress * functions.score(X, after.weights)
    square = (1 - progress) ** 2 + progress**2 + 2 * progress * (1 - progress) * agreement
    # Scores that turn round pass through zero.
    return np.asarray(blended / np.sqrt(np.maximum(square, 1e-3)))


def list_drifts(
    concepts: Sequence[Concept], path: Sequence[int], sizes: Sequence[int], pattern: Pattern, window: int
) -> list[DriftCard]:
    """List the drifts at the boundaries of a stream; a boundary between equal concepts is not a drift.

    `path` and `sizes` hold the concept and the number of rows of each experience; one concept gives way to the next
    within `window` rows.
    """
    ends = np.cumsum(sizes).tolist()
    drifts = []
    for number, (before, after) in enumerate(pairwise(path)):
        start = ends[number] - window // 2
        if what := changes_between(concepts[before], concepts[after]):
            known = after in path[: number + 1]
            drift = DriftCard(
                what=what,
                pattern=pattern,
                start=start,
                stop=start + window,
                before=before,
                after=after,
                recurring=known,
            )
            drifts.append(drift)
    return drifts


def carry_drifts(stream: Stream, experiences: Sequence[Experience]) -> list[DriftCard]:
    """Find the drifts of a stream again after rows were moved, left out or repeated.

    A drift spans the first row that is not surely of the task before to the last one that is not surely of the task
    after.
    """
    if not stream.card.drifts:
        return []
    rows = _rows(stream.experiences)
    by_row = np.argsort(rows, kind="stable")
    old = by_row[np.searchsorted(rows, _rows(experiences), sorter=by_row)]
    return [
        drift.model_copy(
            update={
                "start": int(np.append(np.flatnonzero(old >= drift.start), len(old))[0]),
                "stop": int(np.append(-1, np.flatnonzero(old < drift.stop))[-1]) + 1,
            }
        )
        for drift in stream.card.drifts
    ]


def _rows(experiences: Sequence[Experience]) -> Index:
    return np.concatenate([experience.row_ids for experience in experiences])
