"""The warm-up of learners: what they import and compile, and the meter, are there before the clock of a run starts."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import IO

import numpy as np
from filelock import lock_descriptor, unlock_descriptor

from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.energy import warm_meter
from mlstream.evaluation.label_space import labels_at_prediction, learning_view, mask_rows
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.settings import Settings
from mlstream.records.paths import file_name
from mlstream.streams.keys import take_keys
from mlstream.streams.stream import Experience, Stream

# Of a learner that does not state how many rows it needs, and of one that asks for many.
_WARM_UP_ROWS, _MAX_WARM_UP_ROWS = 2, 1000

# The lock saves work, and no result depends on it: a process that has waited for so long goes on without it.
TIMEOUT_S = 300.0
_POLL_INTERVAL_S = 0.05


@cpu_part("warm-up")
def warm_up(estimator: object, stream: Stream, settings: Settings | None = None) -> None:
    """Import and compile what an estimator needs: a clone learns as many rows as it asks for, and is dropped.

    Processes of a machine do this one after the other: later ones load what the first one compiled. The rows come from
    the stream, because compiled code depends on their types. With `settings`, a rule of decisions is compiled too, and
    the meter of energy is started.
    """
    if settings is not None and settings.energy == "codecarbon":
        # seconds, of which processes need not take turns
        warm_meter()
    settings = replace(settings or Settings(), warm_up_rows=None)
    held_out, copy = stream.evaluation_sets[0], fresh(estimator, 0, stream, label_budget=settings.label_budget)
    learner = adapt_to_stream(copy, stream, ResourceMeter("none"), settings)
    with compile_lock(f"compiles {type(learner.estimator).__qualname__}"), warnings.catch_warnings():
        # The evaluation gives the same warnings.
        warnings.simplefilter("ignore")
        for first, rows in _first_rows(stream, _rows_to_compile(copy)):
            task_ids, mask = first.task_ids[rows], mask_rows(first.label_mask, rows)
            heads = labels_at_prediction(stream, task_ids)
            learner.test_then_train(first.X[rows], first.Y[rows], mask, heads, task_ids, take_keys(first.keys, rows))
        heads = labels_at_prediction(stream, np.array([held_out.task_id]))
        learner.predict(held_out.X[:_WARM_UP_ROWS], heads)


def _rows_to_compile(estimator: object) -> int:
    """Return the most rows that the learner, or one inside it, asks for."""
    parts = [estimator, *estimator.get_params().values()] if hasattr(estimator, "get_params") else [estimator]
    wanted = [n for part in parts if isinstance(n := _rows_asked_for(part), Integral)]
    return min(max(map(int, wanted), default=_WARM_UP_ROWS), _MAX_WARM_UP_ROWS)


def _rows_asked_for(part: object) -> object:
    try:
        return getattr(part, "_rows_to_compile", None)
    except (TypeError, ValueError, ArithmeticError):
        # it follows from a wrong parameter, which is refused when learning begins
        return None


def _first_rows(stream: Stream, n_rows: int) -> Iterator[tuple[Experience, slice]]:
    """List the experiences that hold the first rows, each with those of its rows."""
    for experience in learning_view(stream).experiences:
        if n_rows <= 0:
            return
        yield experience, slice(0, n_rows)
        n_rows -= len(experience)


@contextmanager
def compile_lock(what: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Let one process of this user at a time run the block; processes with another name in `what` do not wait.

    After `timeout_s` the block runs without the lock. A process that dies releases it.
    """
    try:
        file = (Path(tempfile.gettempdir()) / f"mlstream-{os.getuid()}-{file_name(what)}.lock").open("ab")
    except OSError:
        yield
        return
    with file:
        _wait_for(file, time.monotonic() + timeout_s)
        try:
            yield
        finally:
            # a process that was forked meanwhile has the file open, too
            unlock_descriptor(file.fileno())


def _wait_for(file: IO[bytes], deadline: float) -> None:
    while time.monotonic() < deadline:
        if lock_descriptor(file.fileno(), blocking=False):
            return
        time.sleep(_POLL_INTERVAL_S)
