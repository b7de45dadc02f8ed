"""The fields of a record that are known before the run: learner, stream, versions, machine."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import JsonValue

from mlstream._support.version import __version__
from mlstream.evaluation.label_space import resolve_label_space, shows_task_at_prediction
from mlstream.evaluation.learner_base import is_given_environment, takes_task_to_predict, uses_task
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.predictions import rules_as_json
from mlstream.evaluation.run import precision_k
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.wrapping import wrapped_as
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Dataset, Stream

# Packages that can change the bits of a run, or its cost.
_VERSIONED = ("numpy", "scipy", "scikit-learn", "numba", "river", "codecarbon")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def describe_run(estimator: object, stream: Stream, seed: int, settings: Settings) -> dict[str, Any]:
    """Return the fields of `RunResult` that describe the run; the strategy is the name of the estimator's class.

    The estimator is as the user has it: neither wrapped nor seeded.
    """
    copy = fresh(estimator, seed, stream, label_budget=settings.label_budget)
    return _describe_learner(estimator, copy, seed) | {
        "stream": stream.card.name,
        "stream_sha256": stream.card.data_sha256,
        "task_names": [task.name for task in stream.tasks],
        "order": [np.flatnonzero(row).tolist() for row in stream.order],
        "experience_sizes": [len(experience) for experience in stream],
        "label_space": resolve_label_space(settings.label_space, stream.card),
        "settings": settings.as_json() | rules_as_json(settings) | {"k": precision_k(stream)},
        "given_labels": _given_labels(copy, stream.card),
        "given_environment": is_given_environment(copy, stream.card),
        "predicts_with_task": shows_task_at_prediction(stream) and takes_task_to_predict(copy),
    }


def describe_live_run(estimator: object, first: Dataset, seed: int, settings: Settings, k: int) -> dict[str, Any]:
    """Return the same fields for rows of a live source, of which the first chunk is given: all are of one task."""
    copy = fresh(estimator, seed, first, label_budget=settings.label_budget)
    return _describe_learner(estimator, copy, seed) | {
        "scenario": "live",
        "stream": first.name if first.name != Dataset.name else "live",
        "stream_sha256": "",
        "task_names": ["live"],
        "order": [[0]],
        "label_space": "all",
        "settings": settings.as_json() | rules_as_json(settings) | {"k": k},
        "given_labels": "all" if uses_task(copy) else "none",
    }


def _describe_learner(estimator: object, copy: Any, seed: int) -> dict[str, Any]:
    return {
        "strategy": type(estimator).__name__,
        "wrapped_as": wrapped_as(estimator),
        "estimator": plain_repr(copy),
        "parameters": parameters_as_json(copy),
        "seed": seed,
        "uses_task": uses_task(copy),
        "versions": installed_versions(),
        "machine": describe_machine(),
    }


def _given_labels(estimator: object, card: StreamCard) -> Literal["none", "task", "all"]:
    if not uses_task(estimator):
        return "none"
    return "all" if card.scenario.task_identity == "never" else "task"


def plain_repr(value: object) -> str:
    """Return the representation of an object without addresses in memory, which differ from run to run."""
    return _ADDRESS.sub("", repr(value))


def parameters_as_json(estimator: Any) -> dict[str, JsonValue]:
    """Return the parameters of an estimator by name, sorted, each as `to_json` does."""
    return {name: to_json(value) for name, value in sorted(estimator.get_params().items())}


def to_json(value: object) -> JsonValue:
    """Convert a parameter to JSON: anything but numbers, text and collections of these becomes its representation."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return plain_repr(value)


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that matter, as far as they are installed."""
    return dict(_installed_versions())


@cache
def _installed_versions() -> Mapping[str, str]:
    # Reading them takes longer than a short run.
    versions = {"python": platform.python_version(), "mlstream": __version__}
    for package in _VERSIONED:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def describe_machine() -> dict[str, str]:
    """Return the system, processor, number of cores and memory."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory_bytes / 2**30:.1f} GiB",
    }


@cache
def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    model = re.search(r"^model name\s*:\s*(.+)$", facts, flags=re.MULTILINE)
    return model[1].strip() if model else platform.processor() or platform.machine()
