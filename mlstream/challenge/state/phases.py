"""The phases of a challenge, by its rules, the time, and whether it was closed."""

from __future__ import annotations

from datetime import datetime

from mlstream.challenge.clock import format_time
from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.errors import PhaseClosed
from mlstream.challenge.replies import Phase
from mlstream.challenge.state.store import Reading


def phase_of(state: Reading, config: ChallengeConfig, now: datetime) -> Phase:
    """Return the phase at a time; once closing has begun, there is no way back.

    "registration" until `opens`; "development" until `development_ends`; "selection" until `final_ends`; "final" until
    the organiser has closed; then "published". If an end is not in the rules, the phase lasts until the next one that
    is, or until the organiser closes.
    """
    if state.first("SELECT 1 FROM rankings"):
        return "published"
    if state.first("SELECT 1 FROM closings") or (config.final_ends is not None and now >= config.final_ends):
        return "final"
    if config.development_ends is not None and now >= config.development_ends:
        return "selection"
    return "registration" if config.opens is not None and now < config.opens else "development"


def require_phase(state: Reading, config: ChallengeConfig, now: datetime, *allowed: Phase, to: str) -> None:
    """Raise PhaseClosed for what belongs to another phase; the message states both."""
    found = phase_of(state, config, now)
    if found not in allowed:
        raise PhaseClosed(
            f"To {to}, the phase must be {' or '.join(allowed)}. Got {found}: {explain_phase(found, config)}."
        )


def explain_phase(phase: Phase, config: ChallengeConfig) -> str:
    """Write what a phase is for, and until when it lasts."""
    what, until = {
        "registration": ("teams register, and submissions are taken from {} on", config.opens),
        "development": ("teams submit until {}", config.development_ends or config.final_ends),
        "selection": ("submissions have ended, and teams select which of theirs count until {}", config.final_ends),
        "final": ("submissions and selections have ended, and the organiser closes the challenge next", None),
        "published": ("the challenge is closed, and the board shows the rankings", None),
    }[phase]
    return what.format(format_time(until, config.timezone) if until else "the organiser closes the challenge")
