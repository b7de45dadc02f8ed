"""Challenges on environments that nobody has seen: host one, take part, rank, without a leak.

`Challenge` is imported when it is first used, so that the process that scores starts quickly.
"""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.challenge.engine import Challenge as Challenge
else:
    __getattr__, __dir__, __all__ = attach(__name__)
