"""Warnings of a learner: one of each kind, with its count, where each row may repeat them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

# A text that differs from row to row must not fill the memory; nor the record.
MAX_TEXTS = 100
_REST = "Other warnings."
_SHOWN_ONCE = {"default", "module", "once"}


class _First(NamedTuple):
    """The first warning of a text, and where it was given."""

    message: Warning
    category: type[Warning]
    filename: str
    lineno: int


@contextmanager
def collapsed_warnings(name: str) -> Iterator[dict[str, int]]:
    """Keep the warnings of the block until its end, then give each once, with the number of times.

    Filters of the user hold: a warning that they ignore is not counted, and one that they make an error is raised. Like
    `warnings.catch_warnings`, it changes what all threads of the process share while the block runs. `name` is what
    learns, for the text of repeated warnings. The numbers of warnings by text are complete at the end of the block: the
    first hundred texts, and the rest together.
    """
    counts: dict[str, int] = {}
    first: dict[str, _First] = {}

    def count(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        warning = message if isinstance(message, Warning) else category(message)
        text = str(warning) if str(warning) in counts or len(counts) < MAX_TEXTS else _REST
        counts[text] = counts.get(text, 0) + 1
        first.setdefault(text, _First(warning, category, filename, lineno))

    try:
        with warnings.catch_warnings():
            # Python shows a text once per line, until anything changes a filter, as scikit-learn does all the time.
            shown = [("always" if action in _SHOWN_ONCE else action, *rest) for action, *rest in warnings.filters]
            warnings.filters[:] = [*shown, ("always", None, Warning, None, 0)]  # type: ignore[index]
            warnings.showwarning = count
            yield counts
    finally:
        for text, (message, category, filename, lineno) in first.items():
            if counts[text] > 1:
                message.args = (f"{text} ({counts[text]:,} times while {name} was evaluated)",)
            warnings.warn_explicit(message, category, filename, lineno)
