"""Streams as River iterates over data: one row after the other, as dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

from scipy import sparse

from mlstream.stream import Stream


def river_rows(stream: Stream) -> Iterator[tuple[dict[str, float], dict[str, bool]]]:
    """Give the rows of a stream, in its order, as pairs of dictionaries; of sparse rows, what is stored."""
    features, labels = stream.card.feature_names, stream.card.label_names
    for experience in stream:
        for row, y in enumerate(experience.Y.tolist()):
            x = experience.X[row : row + 1]
            if sparse.issparse(x):
                stored = zip((features[index] for index in x.indices), x.data.tolist(), strict=True)
            else:
                stored = zip(features, x[0].tolist(), strict=True)
            yield dict(stored), dict(zip(labels, map(bool, y), strict=True))
