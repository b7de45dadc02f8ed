"""A learner in service: predictions that wait for their labels, and sources of rows that come in."""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.service.feedback import FeedbackBuffer as FeedbackBuffer
    from mlstream.service.growing_file import SourceWarning as SourceWarning
    from mlstream.service.sources import Source as Source
    from mlstream.service.sources import follow_csv as follow_csv
    from mlstream.service.sources import follow_jsonl as follow_jsonl
    from mlstream.service.sources import follow_parquet as follow_parquet
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "mlstream.service.feedback": ["FeedbackBuffer"],
            "mlstream.service.growing_file": ["SourceWarning"],
            "mlstream.service.sources": ["Source", "follow_csv", "follow_jsonl", "follow_parquet"],
        },
    )
