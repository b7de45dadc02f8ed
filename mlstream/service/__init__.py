"""A learner in service: sources of rows, feedback that comes late, a state that survives, and what changes."""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.data.growing_file import SourceWarning as SourceWarning
    from mlstream.data.live_sources import Source as Source
    from mlstream.data.live_sources import follow_csv as follow_csv
    from mlstream.data.live_sources import follow_jsonl as follow_jsonl
    from mlstream.data.live_sources import follow_parquet as follow_parquet
    from mlstream.service.durable import DurableBuffer as DurableBuffer
    from mlstream.service.feedback import FeedbackBuffer as FeedbackBuffer
    from mlstream.service.journal import Journal as Journal
    from mlstream.service.monitor import Monitor as Monitor
    from mlstream.service.monitor_collector import MonitorCollector as MonitorCollector
    from mlstream.service.shadow import Shadow as Shadow
    from mlstream.service.snapshot import load_snapshot as load_snapshot
    from mlstream.service.snapshot import read_snapshot_facts as read_snapshot_facts
    from mlstream.service.snapshot import save_snapshot as save_snapshot
else:
    __getattr__, __dir__, __all__ = attach(__name__)
