"""Streams in River's form: one row after the other, as dictionaries."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scipy import sparse

from mlstream.streams.stream import Stream


def to_river(stream: Stream) -> Iterator[tuple[dict[str, float], dict[str, bool]]]:
    """Iterate over the rows to learn from as River does.

    Parameters
    ----------
    stream : Stream
        The stream.

    Yields
    ------
    x : dict of str to float
        Features by name; of a sparse row, the stored values only.
    y : dict of str to bool
        Labels by name; one that is unknown has no key.

    Examples
    --------
    >>> from mlstream.generators import hat_and_shirt_stream
    >>> x, y = next(to_river(hat_and_shirt_stream()))
    >>> sorted(x), sorted(y)
    (['hat', 'orange'], ['responds'])
    """
    features, labels = stream.card.feature_names, stream.card.label_names
    for experience in stream:
        for row, y in enumerate(experience.Y.tolist()):
            x = experience.X[row : row + 1]
            if sparse.issparse(x):
                stored = zip((features[index] for index in x.indices), x.data.tolist(), strict=True)
            else:
                stored = zip(features, x[0].tolist(), strict=True)
            yield dict(stored), {name: bool(cell) for name, cell in zip(labels, y, strict=True) if not math.isnan(cell)}
