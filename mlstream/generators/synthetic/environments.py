"""Environments between which inputs, and what predicts the labels, shift; and the example of hats and shirts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.validation import require_choice
from mlstream._support.mapped import require_memory
from mlstream.generators._parameters import describe_call, require_count, require_seed, require_share
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.environments_from_table import (
    Role,
    check_roles,
    describe_environments,
    lay_out_roles,
)
from mlstream.generators.synthetic.concept_functions import one_hot, one_hot_names
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Dataset, Indicator, Mask, Stream

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Encoding = Literal["codes", "one-hot", "numeric"]

# The correlations drawn from these parameters are on the card.
_DRAWN_FROM = ("correlation", "shifted_correlation")
_TWELVE = ("train",) * 3 + ("validation", "test") + ("unseen",) * 7
# Generator -> beginning of the names of invariant features.
_INVARIANT: Mapping[str, str] = MappingProxyType({"environment_stream": "invariant-", "hat_and_shirt_stream": "hat"})
# Columns: hat, orange, responds. Six people a domain.
_PEOPLE = {
    "A": ((0, 1, 1), (0, 1, 1), (0, 1, 0), (1, 1, 0), (1, 0, 0), (1, 0, 0)),
    "B": ((0, 0, 1), (0, 0, 1), (0, 0, 0), (1, 1, 0), (1, 0, 0), (1, 0, 0)),
}


def environment_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    roles: Sequence[str] = _TWELVE,
    *,
    seed: int = 0,
    n_rows: int = 1000,
    n_labels: int = 1,
    invariant: Sequence[int] = (2, 3, 4),
    spurious: Sequence[int] = (2, 3),
    correlation: tuple[float, float] = (0.6, 0.9),
    shifted_correlation: tuple[float, float] = (-0.9, 0.9),
    correlations: Sequence[float] | None = None,
    diversity: float = 0.3,
    encoding: Encoding = "codes",
    evaluation_fraction: float = 0.30,
    name: str = "environments",
) -> Stream:
    """Make synthetic environments with invariant and spurious features.

    Parameters
    ----------
    roles : sequence of {"train", "validation", "test", "unseen"}
        Role of each environment; by default three to train on, one for validation, one for the test and seven unseen.
    seed : int
        Source of everything random.
    n_rows : int
        Rows of each environment.
    n_labels : int
        Number of labels.
    invariant : sequence of int
        Number of categories of each invariant feature, at least 2.
    spurious : sequence of int
        Number of categories of each spurious feature, at least 2.
    correlation : (float, float)
        Range in [-1, 1] from which the correlation of each training environment is drawn.
    shifted_correlation : (float, float)
        Range in [-1, 1] from which the correlation of each other environment is drawn.
    correlations : sequence of float, optional
        Correlation of each environment, instead of drawing it.
    diversity : float
        How far the distribution of the invariant features shifts between environments: 0 not at all, 1 to a random one.
    encoding : {"codes", "one-hot", "numeric"}
        A category is a number, a column of its own, or a number plus Gaussian noise of standard deviation 1/4.
    evaluation_fraction : float
        Share of the rows of a training environment that is held out; of the others, all rows are.
    name : str
        Name of the stream.

    Returns
    -------
    Stream
        One experience per training environment, one evaluation set per environment. The card holds the correlation of
        every environment.

    Raises
    ------
    ValueError
        If a role is unknown, or a number is outside its range.

    Notes
    -----
    Invariant features are drawn independently, and the probability of each label given all of them is the same in every
    environment: the logistic function of a sum of random effects of their categories. Spurious feature s is drawn after
    label s modulo n_labels: with a probability of the absolute correlation from the upper half of its categories if the
    label is 1 (the lower half if the correlation is negative) and from the other half if it is 0; else from all
    categories.

    Examples
    --------
    >>> environment_stream(("train", "train", "unseen"), n_rows=100)
    Stream('environments': 2 experiences of 3 tasks, 140 rows, 5 features, 1 labels)
    """
    given = dict(locals())
    roles = check_roles(roles, len(roles))
    _require_options(invariant, spurious, n_labels, diversity, encoding)
    strength = _draw_correlations(roles, correlations, correlation, shifted_correlation, require_seed(seed))
    n_categories = sum(invariant) + sum(spurious)
    n_columns = n_categories if encoding == "one-hot" else len(invariant) + len(spurious)
    n_values = require_count(n_rows, "n_rows") * len(roles) * n_columns
    require_memory(8 * (n_values + n_categories * n_labels), "n_rows rows of each environment")
    effects_rng = generator_for(Purpose.ENVIRONMENTS, seed)
    effects = [effects_rng.normal(scale=1.5, size=(size, n_labels)) for size in invariant]
    drawn = []
    for number, rho in enumerate(strength):
        rng = generator_for(Purpose.SAMPLING, seed, number)
        stable, Y = _draw_invariant(effects, n_rows, diversity, rng)
        drawn.append((np.column_stack([*stable, *_draw_spurious(Y, spurious, rho, rng)]), Y))
    codes, labels = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    X, features = _encode(codes, (*invariant, *spurious), len(invariant), encoding, seed)
    table = Dataset(X, labels, features, tuple(f"y{label}" for label in range(n_labels)), name, source="synthetic")
    members = np.split(np.arange(len(X)), len(roles))
    parts = lay_out_roles(table, members, roles, evaluation_fraction=evaluation_fraction, seed=seed)
    chosen = {"roles": roles, "correlations": strength}
    call = describe_call(environment_stream, given | chosen, replaced=_DRAWN_FROM)
    description = "Synthetic environments with invariant and spurious features."
    return Stream(parts, describe_environments(table, parts, roles, call, name=name, description=description))


def _require_options(
    invariant: Sequence[int], spurious: Sequence[int], n_labels: int, diversity: float, encoding: Encoding
) -> None:
    require_count(n_labels, "n_labels")
    if not invariant:
        raise ValueError("invariant must hold at least one number of categories. Got 0.")
    for sizes, name in ((invariant, "invariant"), (spurious, "spurious")):
        for size in sizes:
            require_count(size, f"each number of categories in {name}", minimum=2)
    require_share(diversity, "diversity")
    require_choice(encoding, "encoding", ("codes", "one-hot", "numeric"))


def _draw_correlations(
    roles: Sequence[str],
    correlations: Sequence[float] | None,
    training: tuple[float, float],
    others: tuple[float, float],
    seed: int,
) -> list[float]:
    if correlations is None:
        for ends, name in ((training, "correlation"), (others, "shifted_correlation")):
            if len(ends) != 2:
                raise ValueError(f"{name} must be two numbers, the ends of a range. Got {tuple(ends)} instead.")
        u = generator_for(Purpose.ENVIRONMENTS, seed, 1).random(len(roles))
        ranges = [training if role == "train" else others for role in roles]
        correlations = [low + share * (high - low) for share, (low, high) in zip(u, ranges, strict=True)]
    strength = [float(rho) for rho in correlations]
    if len(strength) != len(roles):
        raise ValueError(f"There must be one correlation per environment. Got {len(strength)} for {len(roles)}.")
    for rho in strength:
        if not -1 <= rho <= 1:
            raise ValueError(f"A correlation must lie in [-1, 1]. Got {rho}.")
    return strength


def _draw_invariant(
    effects: Sequence[Floats], n_rows: int, diversity: float, rng: np.random.Generator
) -> tuple[list[Codes], Indicator]:
    columns, logits = [], np.zeros((n_rows, effects[0].shape[1]))
    for effect in effects:
        chance = (1 - diversity) / len(effect) + diversity * rng.dirichlet(np.ones(len(effect)))
        columns.append(rng.choice(len(effect), size=n_rows, p=chance / chance.sum()))
        logits += effect[columns[-1]]
    return columns, (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.uint8)


def _draw_spurious(Y: Indicator, sizes: Sequence[int], rho: float, rng: np.random.Generator) -> list[Codes]:
    columns = []
    for number, size in enumerate(sizes):
        upper = Y[:, number % Y.shape[1]].astype(bool) ^ (rho < 0)
        half = size // 2
        related = np.where(upper, rng.integers(half, size, len(Y)), rng.integers(0, half, len(Y)))
        columns.append(np.where(rng.random(len(Y)) < abs(rho), related, rng.integers(0, size, len(Y))))
    return columns


def _encode(
    codes: Codes, sizes: Sequence[int], n_invariant: int, encoding: Encoding, seed: int
) -> tuple[Floats, tuple[str, ...]]:
    kinds = ["invariant"] * n_invariant + ["spurious"] * (len(sizes) - n_invariant)
    places = [*range(n_invariant), *range(len(sizes) - n_invariant)]
    names = [f"{kind}-{place}" for kind, place in zip(kinds, places, strict=True)]
    if encoding == "one-hot":
        return one_hot(codes, sizes), one_hot_names(names, sizes)
    X = codes.astype(np.float64)
    if encoding == "numeric":
        X += 0.25 * generator_for(Purpose.ENVIRONMENTS, seed, 2).normal(size=X.shape)
    return X, tuple(names)


def invariant_features(card: StreamCard) -> Mask:
    """Return which features of a synthetic stream of environments are invariant.

    A learner that sees no other features is the reference of such a stream: it is what learners made for invariance aim
    at. No contestant of a challenge can make it, since public cards hide the generator.

    Parameters
    ----------
    card : StreamCard
        Card of a stream of `environment_stream` or `hat_and_shirt_stream`.

    Returns
    -------
    ndarray of bool, shape (n_features,)
        True for features whose relation to the labels is the same in every environment.

    Raises
    ------
    ValueError
        If the stream was not made by one of these generators.

    Examples
    --------
    >>> from mlstream.generators import environment_stream, invariant_features
    >>> stream = environment_stream(("train", "unseen"), n_rows=50, invariant=(2, 3), spurious=(2,))
    >>> invariant_features(stream.card).tolist()
    [True, True, False]
    """
    beginning = _INVARIANT.get(card.generator.name)
    if beginning is None:
        raise ValueError(
            f"card must be that of a stream of {' or '.join(_INVARIANT)}: no other names its invariant features. "
            f"Got the generator {card.generator.name!r} instead."
        )
    return np.array([name.startswith(beginning) for name in card.feature_names])


def hat_and_shirt_stream(*, seed: int = 0, n_copies: int = 50, name: str = "hat-and-shirt") -> Stream:
    """Make the example of hats and shirts, exact to its proportions: who wears a hat never responds.

    Parameters
    ----------
    seed : int
        Source of everything random: the order of the rows.
    n_copies : int
        Copies of the six people of a domain, in its experience and again in its evaluation set.
    name : str
        Name of the stream.

    Returns
    -------
    Stream
        Domains A and B, one experience each. Features are "hat" and "orange", the label is "responds". The hat is
        invariant; orange predicts a response in A, and blue does in B.

    References
    ----------
    Criteo AI Lab, "PRINCE: PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> hat_and_shirt_stream(n_copies=1)
    Stream('hat-and-shirt': 2 experiences of 2 tasks, 12 rows, 2 features, 1 labels)
    """
    # Four blocks of copies of six people, with two features and one label, as integers before they are converted.
    require_memory(4 * 6 * 3 * 8 * require_count(n_copies, "n_copies"), "n_copies copies")
    rng = generator_for(Purpose.SPLIT, require_seed(seed))
    # Whole copies are learnt and whole copies held out, so that both are exact.
    halves = [rng.permutation(np.tile(_PEOPLE[domain], (n_copies, 1))) for domain in "AABB"]
    people = np.concatenate(halves)
    X, Y = people[:, :2].astype(np.float64), people[:, 2:].astype(np.uint8)
    table = Dataset(X, Y, ("hat", "orange"), ("responds",), name, source="synthetic")
    members = np.split(np.arange(len(people)), 2)
    roles: tuple[Role, Role] = ("train", "train")
    parts = lay_out_roles(table, members, roles, evaluation_fraction=0.5, seed=seed, shuffle=False)
    call = describe_call(hat_and_shirt_stream, {"n_copies": n_copies, "name": name, "seed": seed})
    description = "Two domains in which the colour of the shirt misleads and the hat does not."
    return Stream(parts, describe_environments(table, parts, roles, call, name=name, description=description))
