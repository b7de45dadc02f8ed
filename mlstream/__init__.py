"""Streams of multi-label tasks from tables, as files with cards, and the protocol that evaluates learners on them.

Names are imported when they are first used, so that ``mlstream --help`` starts at once.
"""

import logging
import sys
from typing import TYPE_CHECKING

from estimators.contract.lazy import attach
from estimators.contract.old_names import OldNames as _OldNames
from mlstream._support.old_names import MOVED as _MOVED
from mlstream._support.version import __version__ as __version__

# First: another thread may already import a module of this package.
sys.meta_path.append(_OldNames(_MOVED))
# Silent, unless the program that uses the package shows what is logged.
logging.getLogger("mlstream").addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from mlstream.campaign.campaign import run_campaign as run_campaign
    from mlstream.campaign.config import load_config as load_config
    from mlstream.campaign.detection import run_detections as run_detections
    from mlstream.campaign.search import Search as Search
    from mlstream.cards.terms import with_terms as with_terms
    from mlstream.data.datasets import fetch_dataset as fetch_dataset
    from mlstream.data.datasets import iter_dataset as iter_dataset
    from mlstream.data.datasets import load_dataset as load_dataset
    from mlstream.data.event_files import read_events as read_events
    from mlstream.data.event_files import write_events as write_events
    from mlstream.data.events import Events as Events
    from mlstream.data.events import TextColumn as TextColumn
    from mlstream.data.registry import list_datasets as list_datasets
    from mlstream.diagnosis.diagnosis import Diagnosis as Diagnosis
    from mlstream.diagnosis.diagnosis import diagnose as diagnose
    from mlstream.evaluation.detect import detect as detect
    from mlstream.evaluation.evaluate import evaluate as evaluate
    from mlstream.evaluation.naming import NamedLabel as NamedLabel
    from mlstream.evaluation.naming import Naming as Naming
    from mlstream.evaluation.naming import evaluate_naming as evaluate_naming
    from mlstream.formats import load as load
    from mlstream.formats import save as save
    from mlstream.generators import task_stream as task_stream
    from mlstream.interop.hub import upload as upload
    from mlstream.interop.mlflow import track as track
    from mlstream.publishing.folder import publish as publish
    from mlstream.publishing.folder import regenerate as regenerate
    from mlstream.publishing.folder import verify as verify
    from mlstream.records.detection_record import Detection as Detection
    from mlstream.records.detection_record import Detections as Detections
    from mlstream.records.detection_record import load_detections as load_detections
    from mlstream.records.run_record import load_runs as load_runs
    from mlstream.records.run_result import RunResult as RunResult
    from mlstream.records.run_result import Runs as Runs
    from mlstream.reporting.report import report as report
    from mlstream.streams.card_model import StreamCard as StreamCard
    from mlstream.streams.card_model import load_card as load_card
    from mlstream.streams.stream import Dataset as Dataset
    from mlstream.streams.stream import EvaluationSet as EvaluationSet
    from mlstream.streams.stream import Experience as Experience
    from mlstream.streams.stream import Stream as Stream
    from mlstream.streams.stream import StreamParts as StreamParts
    from mlstream.streams.stream import Task as Task
else:
    __getattr__, __dir__, __all__ = attach(__name__)
