"""The features that predict alike in every environment, which only the maker of a synthetic stream can name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Mask

# Generator -> beginning of the names of invariant features.
_INVARIANT: Mapping[str, str] = MappingProxyType({"environment_stream": "invariant-", "hat_and_shirt_stream": "hat"})


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
