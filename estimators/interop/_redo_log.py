"""Undo for models that learn in place and may fail halfway: a copy from some rows ago, and the rows since."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, Self

import numpy as np

from estimators._typing import Array
from estimators.contract.validation import Features

Chunk = tuple[Features, Array, Array | None]
LearnChunk = Callable[[Any, Features, Array, Array | None], None]

# Copying a River tree takes as long as learning some hundred rows: one copy in so many rows costs little.
MAX_ROWS = 4096
MAX_VALUES = 2**20


class RedoLog:
    """A model as it was at a checkpoint, and the chunks that it has learnt since; neither is saved nor copied.

    A new checkpoint is due once `max_rows` rows, or `max_values` values of X, have been learnt since the last one.
    """

    def __init__(self, max_rows: int = MAX_ROWS, max_values: int = MAX_VALUES) -> None:
        self.max_rows, self.max_values = max_rows, max_values
        self._checkpoint: Any = None
        self._chunks: list[Chunk] = []
        self._n_rows = self._n_values = 0

    def __reduce__(self) -> tuple[type[Self], tuple[int, int]]:
        return type(self), (self.max_rows, self.max_values)

    @contextmanager
    def restored_on_error(self, model: Any, learn: LearnChunk, chunk: Chunk) -> Iterator[None]:
        """Restore the attributes of the model if the block, in which it learns a chunk, fails.

        The chunks before are then learnt again by ``learn(model, X, Y, weight)``, which must depend on these only.
        """
        if self._checkpoint is None or self._n_rows >= self.max_rows or self._n_values >= self.max_values:
            self._checkpoint, self._chunks, self._n_rows, self._n_values = deepcopy(model), [], 0, 0
        try:
            yield
        except BaseException:
            self._restore(model, learn)
            raise
        X, Y, weight = chunk
        # callers may write to their arrays after the call
        self._chunks.append((X.copy(), np.array(Y), None if weight is None else weight.copy()))
        self._n_rows += X.shape[0]
        self._n_values += X.size

    def _restore(self, model: Any, learn: LearnChunk) -> None:
        again = deepcopy(self._checkpoint)
        for chunk in self._chunks:
            learn(again, *chunk)
        vars(model).clear()
        vars(model).update(vars(again))
