"""Streams of multi-label tasks from tables, as files with cards, and the protocol that evaluates learners on them.

Names are imported when they are first used, so that ``mlstream --help`` starts at once.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from estimators.contract.old_names import OldNames as _OldNames
from mlstream._support.old_names import MOVED as _MOVED
from mlstream._support.version import __version__ as __version__

# First: another thread may already import a module of this package.
sys.meta_path.append(_OldNames(_MOVED))

if TYPE_CHECKING:
    from mlstream.campaign.campaign import run_campaign
    from mlstream.campaign.config import load_config
    from mlstream.campaign.detection import run_detections
    from mlstream.campaign.search import Search
    from mlstream.cards.terms import with_terms
    from mlstream.data.datasets import fetch_dataset, iter_dataset, load_dataset
    from mlstream.data.event_files import read_events, write_events
    from mlstream.data.events import Events, TextColumn
    from mlstream.data.registry import list_datasets
    from mlstream.diagnosis.diagnosis import Diagnosis, diagnose
    from mlstream.evaluation.detect import detect
    from mlstream.evaluation.evaluate import evaluate
    from mlstream.formats import load, save
    from mlstream.generators import task_stream
    from mlstream.interop.hub import upload
    from mlstream.interop.mlflow import track
    from mlstream.publishing.folder import publish, regenerate, verify
    from mlstream.records.detection_record import Detection, Detections, load_detections
    from mlstream.records.run_record import load_runs
    from mlstream.records.run_result import RunResult, Runs
    from mlstream.reporting.report import report
    from mlstream.streams.card_model import StreamCard, load_card
    from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Stream, StreamParts, Task

_HOMES = {
    "mlstream.streams.card_model": ("StreamCard", "load_card"),
    "mlstream.cards.terms": ("with_terms",),
    "mlstream.data.datasets": ("fetch_dataset", "iter_dataset", "load_dataset"),
    "mlstream.data.event_files": ("read_events", "write_events"),
    "mlstream.data.events": ("Events", "TextColumn"),
    "mlstream.data.registry": ("list_datasets",),
    "mlstream.diagnosis.diagnosis": ("Diagnosis", "diagnose"),
    "mlstream.formats": ("load", "save"),
    "mlstream.generators": ("task_stream",),
    "mlstream.interop.hub": ("upload",),
    "mlstream.campaign.campaign": ("run_campaign",),
    "mlstream.campaign.config": ("load_config",),
    "mlstream.campaign.detection": ("run_detections",),
    "mlstream.evaluation.detect": ("detect",),
    "mlstream.evaluation.evaluate": ("evaluate",),
    "mlstream.reporting.report": ("report",),
    "mlstream.records.detection_record": ("Detection", "Detections", "load_detections"),
    "mlstream.records.run_record": ("load_runs",),
    "mlstream.records.run_result": ("RunResult", "Runs"),
    "mlstream.campaign.search": ("Search",),
    "mlstream.interop.mlflow": ("track",),
    "mlstream.publishing.folder": ("publish", "regenerate", "verify"),
    "mlstream.streams.stream": ("Dataset", "EvaluationSet", "Experience", "Stream", "StreamParts", "Task"),
}

__all__ = [
    "Dataset",
    "Detection",
    "Detections",
    "Diagnosis",
    "EvaluationSet",
    "Events",
    "Experience",
    "RunResult",
    "Runs",
    "Search",
    "Stream",
    "StreamCard",
    "StreamParts",
    "Task",
    "TextColumn",
    "detect",
    "diagnose",
    "evaluate",
    "fetch_dataset",
    "iter_dataset",
    "list_datasets",
    "load",
    "load_card",
    "load_config",
    "load_dataset",
    "load_detections",
    "load_runs",
    "publish",
    "read_events",
    "regenerate",
    "report",
    "run_campaign",
    "run_detections",
    "save",
    "task_stream",
    "track",
    "upload",
    "verify",
    "with_terms",
    "write_events",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'mlstream' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
