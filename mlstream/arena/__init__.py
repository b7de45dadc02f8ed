"""The arena: a versioned suite of streams, records of all strategies on it, and where another learner stands.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.arena.bundles import pack as pack
    from mlstream.arena.bundles import verify as verify
    from mlstream.arena.fresh_worlds import rank_on_fresh_worlds as rank_on_fresh_worlds
    from mlstream.arena.page import write_page as write_page
    from mlstream.arena.records import LearnerRecord as LearnerRecord
    from mlstream.arena.records import load_matrices as load_matrices
    from mlstream.arena.records import load_records as load_records
    from mlstream.arena.running import ArenaRun as ArenaRun
    from mlstream.arena.running import run as run
    from mlstream.arena.standings import find_places as find_places
    from mlstream.arena.standings import rank_learners as rank_learners
    from mlstream.arena.suite import Suite as Suite
    from mlstream.arena.suite import load_suite as load_suite
else:
    __getattr__, __dir__, __all__ = attach(__name__)
