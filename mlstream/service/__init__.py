"""A learner in service: predictions that wait for their labels."""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.service.feedback import FeedbackBuffer as FeedbackBuffer
else:
    __getattr__, __dir__, __all__ = attach(__name__, {"mlstream.service.feedback": ["FeedbackBuffer"]})
