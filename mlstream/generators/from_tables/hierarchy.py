"""Label hierarchies: given, read off names, or discovered; and rows divided among their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mlstream.generators._parameters import require_count, require_share
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.streams.label_sets import expected_counts
from mlstream.streams.label_values import as_indicator, filled, known
from mlstream.streams.stream import Dataset, Indicator, Mask

_MAX_SHOWN = 8


def check_hierarchy(parents: Mapping[str, str], label_names: Sequence[str]) -> None:
    """Raise ValueError for a hierarchy (parent of each label that has one) with unknown labels or a cycle."""
    known = set(label_names)
    for child, parent in parents.items():
        for name in (child, parent):
            if name not in known:
                raise ValueError(
                    f"The hierarchy must name labels of the table. Got {name!r} ({child!r} -> {parent!r})."
                )
    _order_from_the_top(parents)


def ancestor_matrix(parents: Mapping[str, str], label_names: Sequence[str]) -> Mask:
    """Tell which labels are above which: ``[i, j]`` is whether label j is an ancestor of label i; no label is its own.

    The hierarchy must be without cycles.
    """
    place = {name: column for column, name in enumerate(label_names)}
    above = np.zeros((len(place), len(place)), dtype=bool)
    for child in _order_from_the_top(parents):
        parent = place[parents[child]]
        above[place[child]] = above[parent]
        above[place[child], parent] = True
    return above


def _order_from_the_top(parents: Mapping[str, str]) -> list[str]:
    """List all labels with a parent, each after its parent, or refuse a cycle."""
    done: dict[str, None] = {}
    for label in parents:
        path: dict[str, None] = {}
        while label in parents and label not in done:
            if label in path:
                cycle = [*list(path)[list(path).index(label) :], label]
                shown = cycle if len(cycle) <= _MAX_SHOWN else [*cycle[: _MAX_SHOWN - 2], "...", label]
                raise ValueError(f"The hierarchy must have no cycle. Got {' -> '.join(shown)}.")
            path[label] = None
            label = parents[label]  # noqa: PLW2901 - climbs from the label to the top
        done.update(dict.fromkeys(reversed(path)))
    return list(done)


def complete_labels(Y: Indicator, above: Mask) -> Indicator:
    """Add to every row the ancestors of its labels that are known to be present; no other cell changes."""
    return as_indicator(np.where(labels_above(Y, above), Y.dtype.type(1), Y))


def labels_above(Y: Indicator, above: Mask) -> Mask:
    """Tell which labels are above those of each row.

    A label of the row is True only if another one, known to be present, is below it.
    """
    # Rows have few labels, and labels few ancestors: a product of whole matrices would grow with the labels' square.
    found = sparse.csr_array(filled(Y).astype(np.int32)) @ sparse.csr_array(above.astype(np.int32))
    return np.asarray(found.toarray() > 0)


def with_superclasses(dataset: Dataset, parents: Mapping[str, str]) -> Dataset:
    """Add a label column for every parent that has none, and give every row the ancestors of its labels.

    New labels come last, in the order of their names. A new label is unknown in the rows where a label below it is, and
    none is known to be present. Raises ValueError if a label that is not a parent is unknown, or the hierarchy has a
    cycle.
    """
    new = sorted(set(parents.values()) - set(dataset.label_names))
    names = (*dataset.label_names, *new)
    check_hierarchy(parents, names)
    above = ancestor_matrix(parents, names)
    Y = np.hstack([dataset.Y, _new_columns(dataset.Y, above)])
    return replace(dataset, Y=complete_labels(as_indicator(Y), above), label_names=names)


def _new_columns(Y: Indicator, above: Mask) -> Indicator:
    """Return the columns of new superclasses, before any is set: unknown where a label below is, else absent."""
    cells, n_labels = known(Y), Y.shape[1]
    if cells is None:
        return np.zeros((len(Y), len(above) - n_labels), dtype=np.uint8)
    below_unknown = labels_above((~cells).view(np.uint8), above[:n_labels, n_labels:])
    return np.where(below_unknown, np.float32(np.nan), np.float32(0))


def hierarchy_from_names(label_names: Sequence[str], *, separator: str = ".") -> dict[str, str]:
    """Read a hierarchy off names such as "comp.sys.mac": what stands before a separator is a superclass.

    Parameters
    ----------
    label_names : sequence of str
        Names of labels.
    separator : str
        What parts them.

    Returns
    -------
    dict of str to str
        Parent of each label that has one. Beginnings that only one label has are no superclasses.

    Examples
    --------
    >>> hierarchy_from_names(["rec.autos", "rec.sport.hockey", "rec.sport.baseball", "misc.forsale"])
    {'rec.autos': 'rec', 'rec.sport.hockey': 'rec.sport', 'rec.sport.baseball': 'rec.sport', 'rec.sport': 'rec'}
    """
    paths = [name.split(separator) for name in label_names]
    beginnings = Counter(separator.join(path[:depth]) for path in paths for depth in range(1, len(path)))
    superclasses = {name for name, count in beginnings.items() if count > 1}
    parents: dict[str, str] = {}
    for path in paths:
        chain = [separator.join(path[:depth]) for depth in range(1, len(path))]
        chain = [*(name for name in chain if name in superclasses), separator.join(path)]
        # From the label upwards, so that labels come before the superclasses that they bring along.
        parents.update(zip(chain[:0:-1], chain[-2::-1], strict=True))
    return {**{name: parents[name] for name in label_names if name in parents}, **parents}


def discover_hierarchy(Y: Indicator, label_names: Sequence[str], *, min_support: int = 1) -> dict[str, str]:
    """Discover a hierarchy: a label that never occurs without another, more frequent one, is below it.

    Parameters
    ----------
    Y : ndarray of uint8 or float32, shape (n_samples, n_labels)
        Label indicator. Two labels are compared in the rows where both are known.
    label_names : sequence of str
        Names of the columns.
    min_support : int
        Least number of rows of a label that is to have a parent; rare labels imply others by chance.

    Returns
    -------
    dict of str to str
        Parent of each label that has one: of all labels that it implies, the rarest, and of equals the first. Labels
        that always occur together are not below each other.

    Examples
    --------
    >>> discover_hierarchy(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1]], dtype=np.uint8), ["bear", "polar", "brown"])
    {'polar': 'bear', 'brown': 'bear'}
    """
    require_count(min_support, "min_support")
    present, cells = filled(Y).T.astype(np.int64), known(Y)
    together, support = present @ filled(Y), expected_counts(Y)
    # Rows of each label where the other one is known: what the implication rests on.
    rows = np.diag(together)[:, np.newaxis] if cells is None else present @ cells
    implies = (together == rows) & (support[:, np.newaxis] < support) & (rows >= min_support)
    parents = {}
    for label in np.flatnonzero(implies.any(axis=1)).tolist():
        above = np.flatnonzero(implies[label])
        parents[label_names[label]] = label_names[int(above[np.argmin(support[above])])]
    return parents


@dataclass(frozen=True)
class SuperclassShares:
    """Shares of the rows of a subclass, each in [0, 1].

    What both shares add up to beyond 1 is seen under both labels. Raises ValueError if a share is outside its range, or
    the cap is below 1.
    """

    superclass: float = 0.4  # share that each superclass gets
    subclass: float = 0.8  # share that the subclass itself gets
    cap: int = 8  # with more subclasses, the share of a superclass shrinks, so that its rows do not become more

    def __post_init__(self) -> None:
        require_share(self.superclass, "superclass_share")
        require_share(self.subclass, "subclass_share")
        require_count(self.cap, "superclass_cap")


def deal_to_labels(Y: Indicator, above: Mask, shares: SuperclassShares, seed: int, *, overlap: bool = True) -> Mask:
    """Decide under which labels, some of its own, each row is shown: (n_samples, n_labels).

    Y holds complete labels: with every label, its ancestors (see `ancestor_matrix`). The rows of each finest label are
    shuffled and laid on a line. The label itself gets its share at the end of the line; its superclasses, from the root
    down, get theirs at places from the beginning of the line to the beginning of that share, evenly spaced. A label
    without superclass gets all its rows.

    `overlap` says whether a row may be shown under a label and its superclass, as in learning. In evaluation it may
    not: the superclasses share their part among them, and the label gets the rest.
    """
    finest: Mask = labels_above(Y, above) < Y
    is_leaf: Mask = ~np.asarray(above.any(axis=0))
    n_subclasses = above[is_leaf].sum(axis=0)
    share = shares.superclass * np.minimum(1, shares.cap / np.maximum(n_subclasses, 1))
    shown = np.zeros(Y.shape, dtype=bool)
    for label in np.flatnonzero(finest.any(axis=0)):
        rows = generator_for(Purpose.SPLIT, seed, int(label)).permutation(np.flatnonzero(finest[:, label]))
        # The more ancestors an ancestor has, the lower it stands.
        chain = sorted(np.flatnonzero(above[label]), key=lambda upper: above[upper].sum())
        if not chain:
            shown[rows, label] = True
            continue
        own = shares.subclass if overlap else 1 - shares.superclass
        start = len(rows) - round(own * len(rows))
        for depth, upper in enumerate(chain):
            first = round(depth / len(chain) * start)
            width = round(share[upper] * len(rows)) if overlap else round((depth + 1) / len(chain) * start) - first
            shown[rows[first : first + width], upper] = True
        shown[rows[start:], label] = True
    return shown
