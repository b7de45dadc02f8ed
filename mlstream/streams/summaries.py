"""Features and labels in a few words, and in facts for a page."""

from __future__ import annotations

from scipy import sparse

from mlstream.streams.frames import Features
from mlstream.streams.label_values import Indicator, filled, unknown_share


def describe_shape(X: Features, Y: Indicator) -> str:
    """Describe the rows and columns of a table.

    >>> import numpy as np
    >>> describe_shape(np.zeros((5, 3)), np.zeros((5, 2), np.uint8))
    '5 rows, 3 features, 2 labels'
    """
    n_rows, n_labels = Y.shape
    features = f"{X.shape[1]:,} {'sparse ' if sparse.issparse(X) else ''}features"
    return f"{n_rows:,} rows, {features}, {n_labels:,} labels"


def list_facts(X: Features, Y: Indicator) -> dict[str, str]:
    """List facts of a table: sizes, types, labels per row, and unknown labels where there are some."""
    kind = f"{X.dtype}, {'sparse' if sparse.issparse(X) else 'dense'}"
    unknown = unknown_share(Y)
    return {
        "Rows": f"{len(Y):,}",
        "Features": f"{X.shape[1]:,} ({kind})",
        "Labels": f"{Y.shape[1]:,}",
        "Labels per row": f"{filled(Y).sum() / max(len(Y), 1):.2f} known to be present",
        "Unknown labels": f"{unknown:.2%} of the cells" if unknown else "",
    }


def label_shares(names: tuple[str, ...], Y: Indicator) -> dict[str, float]:
    """Return the share of the rows that each label is known to be present in."""
    return dict(zip(names, (filled(Y).sum(axis=0) / max(len(Y), 1)).tolist(), strict=True))
