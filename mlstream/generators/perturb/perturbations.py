"""Perturbations: streams made of streams. Learning rows are changed, evaluation sets stay the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metrics.validation import require_choice
from mlstream.generators._parameters import describe_call, require_share
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.perturb.perturbed import perturbed_stream
from mlstream.streams.card_model import GeneratorCard
from mlstream.streams.keys import take_keys
from mlstream.streams.stream import Experience, Features, Index, Stream

Change = Callable[[Experience, np.random.Generator], Experience]


def noisy_labels(stream: Stream, *, rate: float, seed: int = 0) -> Stream:
    """Turn labels round.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    rate : float
        Probability in [0, 1] with which each label that counts is turned round, by row.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        The same rows; labels outside the label mask stay, and so do unknown ones.
    """
    require_share(rate, "rate")

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        turned = (rng.random(experience.Y.shape) < rate) & experience.label_mask
        return replace(experience, Y=np.where(turned, 1 - experience.Y, experience.Y))

    return _perturb(stream, change, describe_call(noisy_labels, {"rate": rate, "seed": seed}))


def missing_labels(stream: Stream, *, rate: float, per: Literal["label", "row"] = "label", seed: int = 0) -> Stream:
    """Hide labels: they are NaN, unknown.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    rate : float
        Probability in [0, 1] with which a label, or all labels of a row, are missing, in the label mask or not.
    per : {"label", "row"}
        What goes missing.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        The same rows and label masks.
    """
    require_share(rate, "rate")
    require_choice(per, "per", ("label", "row"))

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        n_rows, n_labels = experience.Y.shape
        known = rng.random((n_rows, n_labels if per == "label" else 1)) >= rate
        return replace(experience, Y=np.where(known, experience.Y, np.float32(np.nan)))

    return _perturb(stream, change, describe_call(missing_labels, {"rate": rate, "per": per, "seed": seed}))


def noisy_features(stream: Stream, *, scale: float, seed: int = 0) -> Stream:
    """Add Gaussian noise to features.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    scale : float
        Standard deviation of the noise, in standard deviations of each feature within its experience; not negative.
        Categories stay as they are.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        The same labels. Zeros of a sparse matrix stay zero.
    """
    if not 0 <= scale < np.inf:
        raise ValueError(f"scale must be at least 0 and finite. Got {scale!r} instead.")

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        X = experience.X.copy()
        spread = scale * _spread(X)
        spread[list(stream.categorical_features)] = 0
        if sparse.issparse(X):
            X.data += (rng.normal(size=X.nnz) * spread[X.indices]).astype(X.dtype)
        else:
            X += (rng.normal(size=X.shape) * spread).astype(X.dtype)
        return replace(experience, X=X)

    return _perturb(stream, change, describe_call(noisy_features, {"scale": scale, "seed": seed}))


def missing_features(stream: Stream, *, rate: float, seed: int = 0) -> Stream:
    """Set features to 0.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    rate : float
        Probability in [0, 1] with which a value is missing.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        The same labels. Learners need finite numbers: a missing value is 0, that of a category its first value.
    """
    require_share(rate, "rate")

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        X = experience.X.copy()
        if sparse.issparse(X):
            X.data[rng.random(X.nnz) < rate] = 0
            X.eliminate_zeros()
        else:
            X[rng.random(X.shape) < rate] = 0
        return replace(experience, X=X)

    return _perturb(stream, change, describe_call(missing_features, {"rate": rate, "seed": seed}))


def duplicated_rows(stream: Stream, *, rate: float, seed: int = 0) -> Stream:
    """Show rows twice in a row.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    rate : float
        Probability in [0, 1] with which a row comes twice.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        All rows, some of them twice, in their order.
    """
    require_share(rate, "rate")

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        return _take(experience, np.repeat(np.arange(len(experience)), 1 + (rng.random(len(experience)) < rate)))

    return _perturb(stream, change, describe_call(duplicated_rows, {"rate": rate, "seed": seed}))


def reordered_rows(stream: Stream, *, seed: int = 0) -> Stream:
    """Shuffle the rows of each experience.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        The same rows in another order.
    """

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        return _take(experience, rng.permutation(len(experience)))

    return _perturb(stream, change, describe_call(reordered_rows, {"seed": seed}))


def rare_labels(stream: Stream, *, keep: Mapping[str, float], seed: int = 0) -> Stream:
    """Make labels rare: leave out part of the rows that carry them.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    keep : mapping of str to float
        Probability in [0, 1] with which a row that carries a label is kept; of several such labels, the least counts.
        Unknown labels do not count.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        Some of the rows, in their order.

    Raises
    ------
    ValueError
        If a label is unknown, or an experience would lose all its rows.
    """
    names = stream.card.label_names
    chance = np.ones(len(names))
    for label, share in keep.items():
        if label not in names:
            raise ValueError(f"keep must name labels of the stream. Got {label!r} instead.")
        require_share(share, f"the share of {label!r}")
        chance[names.index(label)] = share

    def change(experience: Experience, rng: np.random.Generator) -> Experience:
        least = np.where(experience.Y > 0, chance, 1).min(axis=1)
        return _take(experience, np.flatnonzero(rng.random(len(experience)) < least))

    return _perturb(stream, change, describe_call(rare_labels, {"keep": keep, "seed": seed}))


def _perturb(stream: Stream, change: Change, call: GeneratorCard) -> Stream:
    """Change every experience, each with a source of randomness of its own."""
    experiences = tuple(
        change(experience, generator_for(Purpose.PERTURBING, call.seed, number))
        for number, experience in enumerate(stream)
    )
    return perturbed_stream(stream, experiences, call)


def _take(experience: Experience, rows: Index) -> Experience:
    return Experience(
        experience.X[rows],
        experience.Y[rows],
        experience.task_ids[rows],
        experience.label_mask if experience.label_mask.ndim == 1 else experience.label_mask[rows],
        experience.row_ids[rows],
        take_keys(experience.keys, rows),
    )


def _spread(X: Features) -> npt.NDArray[np.floating]:
    if not sparse.issparse(X):
        return np.asarray(np.std(X, axis=0))
    mean, square = X.mean(axis=0), (X * X).mean(axis=0)
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)))
