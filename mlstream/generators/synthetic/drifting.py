"""Synthetic concepts that drift, with the truth about every drift on the card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from metrics.validation import require_choice
from mlstream._support.mapped import INDEX_BYTES, empty_table, require_memory, slices, take_rows
from mlstream.cards.description import describe_stream
from mlstream.generators._parameters import describe_call, require_count
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators._threads import for_each
from mlstream.generators.schedule.experiences import lay_out, require_window, resolve_order
from mlstream.generators.schedule.partition import Partition, make_partition
from mlstream.generators.schedule.visit_plan import OrderName, Shape, VisitPlan
from mlstream.generators.synthetic.concept_functions import ConceptFunctions, Floats, Kind, count_columns
from mlstream.generators.synthetic.concepts import (
    N_SAMPLE_ROWS,
    Concept,
    ConceptParams,
    Pattern,
    changes_between,
    draw_rows,
    list_drifts,
    make_concepts,
)
from mlstream.streams.card_model import DriftTarget, ScenarioCard
from mlstream.streams.stream import Dataset, Stream

PATTERNS: tuple[Pattern, ...] = ("abrupt", "gradual", "incremental")

_PIECE = 2048
_WHAT = "n_rows rows of each concept"


def drifting_stream(  # noqa: PLR0913 - the options of a generator are what its card holds
    kind: Kind = "tree",
    *,
    seed: int = 0,
    n_rows: int = 1000,
    n_concepts: int = 3,
    n_features: int = 10,
    n_labels: int = 8,
    cardinality: float = 2.0,
    imbalance: float = 1.0,
    dependence: float = 0.3,
    noise: float = 0.2,
    drift_in: Sequence[DriftTarget] = ("P(Y|X)",),
    magnitude: float = 1.0,
    pattern: Pattern | None = None,
    name: str | None = None,
    learning_fractions: Sequence[float] = (0.35, 0.35),
    evaluation_fraction: float = 0.30,
    order: Sequence[int] | OrderName | None = None,
    window: int = 0,
    shape: Shape = "linear",
) -> Stream:
    """Make a stream of synthetic concepts, one per task, that drifts from one to the next.

    Parameters
    ----------
    kind : {"hyperplane", "tree", "rbf", "categorical", "interactions"}
        What labels depend on: one hyperplane per label through uniform features; the leaves of a random tree over
        uniform features; the regions around the centres from which Gaussian clusters of features come; categories, and
        pairs of them, of about half of the features, which have 2 to 20 categories; pairs of uniform features, by
        whether just one of the two is above 1/2 (XOR), so that no feature tells anything by itself.
    seed : int
        Source of everything random.
    n_rows : int
        Rows of each concept.
    n_concepts : int
        Number of concepts.
    n_features : int
        Number of features, at least 2 where labels depend on pairs. A feature of categories becomes one 0/1 column per
        category, named such as ``x0=3``.
    n_labels : int
        Number of labels.
    cardinality : float
        Mean number of labels of a row.
    imbalance : float
        How many times more frequent the first label is than the last; between them it falls geometrically.
    dependence : float
        Correlation in [0, 1] between the scores of any two labels, and between what features leave unexplained in them.
    noise : float
        Share in (0, 1] of a score's variance that the features do not explain.
    drift_in : sequence of {"P(X)", "P(Y|X)", "dependence"}
        What differs between concepts. Where only the dependence does, the inputs and the probability of each single
        label given the features stay: some labels that attract each other begin to exclude each other.
    magnitude : float
        How much concepts differ, in [0, 1]; 0 is not at all.
    pattern : {"abrupt", "gradual", "incremental"}, optional
        What a drift is like. In a window around each boundary, rows come from either concept (gradual), or from a
        concept on its way from one to the other (incremental). By default gradual with a window, abrupt without one.
    name : str, optional
        Name of the stream; by default ``drifting-`` and the kind.
    learning_fractions : sequence of float
        Share of each concept's rows that each of its visits gets; with two numbers or more, concepts recur.
    evaluation_fraction : float
        Share of each concept's rows that is held out.
    order : sequence of int or {"random", "similarity", "dissimilarity", "interleaved"}, optional
        Concept of each experience, or the rule that gives it; by default a seeded permutation, repeated for each visit.
    window : int
        Rows of that window, at most those of an experience, so that each drift has a place of its own; 0 for abrupt
        drifts.
    shape : {"linear", "sigmoid"}
        How the next concept rises in the window.

    Returns
    -------
    Stream
        Every label is in every signature. The drifts are on the card: what changes, how, and from which row to which.

    Raises
    ------
    ValueError
        If an option is out of its range, or options contradict each other.

    Notes
    -----
    The score of label j is ``sqrt(1 - noise) s_j(x) + sqrt(noise) e_j``: s_j has mean 0 and variance 1 over the inputs
    of concept 0, e_j is a Gaussian disturbance, correlated between labels. The label is there if the score is above a
    threshold, which a sample of 65,536 rows gives. Labels fewer than features (hyperplane), than pairs of
    features (interactions) or than 31 (tree: 32 leaves; rbf: 32 centres; categorical: more parts than that) have s_j
    with the correlation that was asked for, at concept 0 or at full magnitude; with more labels, it is that on average.
    Cardinality and imbalance hold in every concept unless its P(X) has drifted: then labels keep their probability
    given the features. A drift in P(X) makes uniform features powers of uniform ones, moves clusters, but not the
    regions that labels depend on, and changes the frequencies of categories.

    Interactions are weighted sums of as many disjoint pairs as there are, of 1 if the two features are on different
    sides of 1/2, else -1. A drift in P(X) moves these features towards or away from 1/2, so that labels depend on no
    single feature there, either. Categories are drawn independently. A quarter of as many pairs of them as there are
    features, rounded up, have effects: on average, 35 % of the variance of a pair's score are due to each of its two
    features alone, 30 % to both together.

    References
    ----------
    .. [1] Gama, Zliobaite, Bifet, Pechenizkiy, Bouchachia: A survey on concept drift adaptation. ACM Computing Surveys
       46(4), 2014.
    .. [2] Dembczynski, Waegeman, Cheng, Huellermeier: On label dependence and loss minimization in multi-label
       classification. Machine Learning 88, 2012.

    Examples
    --------
    >>> stream = drifting_stream("tree", n_concepts=2, order=[0, 1, 0, 1], pattern="gradual", window=100)
    >>> [(drift.start, drift.stop, drift.recurring) for drift in stream.card.drifts]
    [(300, 400, False), (650, 750, True), (1000, 1100, True)]
    """
    pattern = pattern or ("gradual" if window else "abrupt")
    given = dict(locals())
    _require_size(kind, n_rows=n_rows, n_concepts=n_concepts, n_features=n_features, n_labels=n_labels)
    params = ConceptParams(n_labels, cardinality, imbalance, dependence, noise, drift_in, magnitude)
    visits = VisitPlan(tuple(learning_fractions), evaluation_fraction, order, False, window, shape, seed)
    require_choice(pattern, "pattern", PATTERNS)
    if (pattern == "abrupt") != (window == 0):
        raise ValueError(
            f"window must be 0 for abrupt drifts, and at least 1 for others. Got {window} for pattern {pattern!r}."
        )
    functions, concepts = make_concepts(kind, params, n_features=n_features, n_concepts=n_concepts, seed=seed)
    name = name or f"drifting-{kind}"
    table = _draw_table(functions, concepts, n_rows, noise, seed, name)
    members = np.split(np.arange(table.n_samples), n_concepts)
    partition = make_partition(table, members, signatures=[np.ones(n_labels, dtype=bool)] * n_concepts)
    path = resolve_order(partition.profiles, visits)
    plan = replace(visits, order=path)
    if pattern == "incremental":
        table = _redraw_windows(table, partition, functions, concepts, plan, noise)
        plan = replace(plan, window=0)
    # Rows of a concept are drawn independently: cutting them in order is a random split already.
    parts, unused = lay_out(table, partition, plan, shuffle=False)
    sizes = [len(experience) for experience in parts.experiences]
    require_window(sizes, window)
    card = describe_stream(
        table,
        parts,
        name=name,
        description=f"Synthetic concepts ({kind}) with {pattern} drift in {', '.join(drift_in) or 'nothing'}.",
        generator=describe_call(drifting_stream, given | visits.describe() | {"name": name}),
        scenario=ScenarioCard(name="drift", boundary=visits.boundary, task_identity="training"),
        drops=unused,
    )
    drifts = list_drifts(concepts, path, sizes, pattern, window)
    return Stream(parts, card.model_copy(update={"drifts": drifts}))


def _require_size(kind: Kind, **sizes: int) -> None:
    for name, size in sizes.items():
        require_count(size, name)
    sample_bytes = N_SAMPLE_ROWS * (8 * count_columns(kind, sizes["n_features"]) + sizes["n_labels"])
    row_bytes = sizes["n_labels"] + INDEX_BYTES
    require_memory(sizes["n_rows"] * sizes["n_concepts"] * row_bytes + sample_bytes, _WHAT)


def _draw_table(
    functions: ConceptFunctions, concepts: list[Concept], n_rows: int, noise: float, seed: int, name: str
) -> Dataset:
    features, n_labels = functions.feature_names, len(concepts[0].thresholds)
    X = empty_table((len(concepts) * n_rows, len(features)), np.float64, _WHAT)
    Y = np.empty((len(concepts) * n_rows, n_labels), dtype=np.uint8)

    def draw(number: int) -> None:
        concept, rng = concepts[number], generator_for(Purpose.SAMPLING, seed, number)
        # In pieces that stay in the cache, and that are too small for BLAS to spread over threads.
        own = slice(number * n_rows, (number + 1) * n_rows)
        inputs, labels = X[own], Y[own]
        for rows in slices(n_rows, _PIECE, inputs):
            n_drawn = rows.stop - rows.start
            inputs[rows], labels[rows] = draw_rows(functions, (concept, concept), 0.0, noise, n_drawn, rng)

    for_each(draw, range(len(concepts)))
    return Dataset(X, Y, features, tuple(f"y{column}" for column in range(n_labels)), name, source="synthetic")


def _redraw_windows(
    table: Dataset,
    partition: Partition,
    functions: ConceptFunctions,
    concepts: list[Concept],
    plan: VisitPlan,
    noise: float,
) -> Dataset:
    """Draw the rows around each boundary again, from concepts on their way."""
    parts, _ = lay_out(table, partition, replace(plan, window=0), shuffle=False)
    sizes = [len(experience) for experience in parts.experiences]
    require_window(sizes, plan.window)
    rows = np.concatenate([experience.row_ids for experience in parts.experiences])
    path = [int(experience.task_ids[0]) for experience in parts.experiences]
    progress = _rise(plan.window, plan.shape)
    X, Y = take_rows(np.asarray(table.X), np.arange(table.n_samples)), table.Y.copy()
    for number, (before, after) in enumerate(pairwise(path)):
        if not changes_between(concepts[before], concepts[after]):
            continue
        start = int(np.sum(sizes[: number + 1])) - plan.window // 2
        chosen = rows[start : start + plan.window]
        rng = generator_for(Purpose.BLENDING, plan.seed, number)
        way = concepts[before], concepts[after]
        X[chosen], Y[chosen] = draw_rows(functions, way, progress, noise, plan.window, rng)
    return replace(table, X=X, Y=Y)


def _rise(window: int, shape: Shape) -> Floats:
    """Return the progress of each row of a window, as a column."""
    place = (np.arange(window)[:, np.newaxis] + 0.5) / window
    return place if shape == "linear" else np.asarray(1 / (1 + np.exp(-10 * (place - 0.5))))
