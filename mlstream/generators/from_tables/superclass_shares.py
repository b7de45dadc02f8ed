"""Division of the rows of a subclass between its superclasses and itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlstream.generators._parameters import require_count, require_share
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.hierarchy import labels_above
from mlstream.streams.stream import Indicator, Mask


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
