"""Streams of multi-label tasks from tables, as files with cards, and the protocol that judges learners on them.

Names are imported when they are first used, so that ``mlstream --help`` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.cards import StreamCard, load_card
    from mlstream.datasets import fetch_dataset, iter_dataset, list_datasets, load_dataset
    from mlstream.diagnosis import Diagnosis, diagnose
    from mlstream.formats import load, save
    from mlstream.generators import task_stream
    from mlstream.hub import upload
    from mlstream.protocol.campaign import run_campaign
    from mlstream.protocol.config import load_config
    from mlstream.protocol.continual import evaluate
    from mlstream.protocol.report import report
    from mlstream.protocol.results import RunResult, load_runs
    from mlstream.protocol.selection import Search
    from mlstream.protocol.tracking import track
    from mlstream.publishing import publish, regenerate, verify
    from mlstream.stream import Dataset, EvaluationSet, Experience, Stream, StreamParts, Task

_HOMES = {
    "mlstream.cards": ("StreamCard", "load_card"),
    "mlstream.datasets": ("fetch_dataset", "iter_dataset", "list_datasets", "load_dataset"),
    "mlstream.diagnosis": ("Diagnosis", "diagnose"),
    "mlstream.formats": ("load", "save"),
    "mlstream.generators": ("task_stream",),
    "mlstream.hub": ("upload",),
    "mlstream.protocol.campaign": ("run_campaign",),
    "mlstream.protocol.config": ("load_config",),
    "mlstream.protocol.continual": ("evaluate",),
    "mlstream.protocol.report": ("report",),
    "mlstream.protocol.results": ("RunResult", "load_runs"),
    "mlstream.protocol.selection": ("Search",),
    "mlstream.protocol.tracking": ("track",),
    "mlstream.publishing": ("publish", "regenerate", "verify"),
    "mlstream.stream": ("Dataset", "EvaluationSet", "Experience", "Stream", "StreamParts", "Task"),
}

__all__ = [
    "Dataset",
    "Diagnosis",
    "EvaluationSet",
    "Experience",
    "RunResult",
    "Search",
    "Stream",
    "StreamCard",
    "StreamParts",
    "Task",
    "diagnose",
    "evaluate",
    "fetch_dataset",
    "iter_dataset",
    "list_datasets",
    "load",
    "load_card",
    "load_config",
    "load_dataset",
    "load_runs",
    "publish",
    "regenerate",
    "report",
    "run_campaign",
    "save",
    "task_stream",
    "track",
    "upload",
    "verify",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'mlstream' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
