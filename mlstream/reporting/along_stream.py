"""Scores that depend on the order of the rows: at any time, and beside a learner that repeats the last labels."""

from __future__ import annotations

from collections.abc import Sequence

from mlstream.analysis.groups import Group, score_names, spread
from mlstream.reporting.tables import Table, format_score, score_table

ALONG_STREAM = (
    "ba_macro_anytime",
    "rmse_anytime",
    "precision_at_k_anytime",
    "kappa_temporal",
    "kappa_temporal_macro",
)
_REPEATING = "no_change_subset_accuracy"


def final_table(groups: Sequence[Group]) -> Table:
    """Build the table of the scores of one stream that are not in `along_table`."""
    return score_table(groups, [name for name in score_names(groups) if name not in (*ALONG_STREAM, _REPEATING)])


def along_table(groups: Sequence[Group]) -> Table | None:
    """Build the table of the scores along one stream; None where no run has them, as runs of earlier versions."""
    names = [name for name in ALONG_STREAM if name in score_names(groups)]
    return score_table(groups, names) if names else None


def repeating_note(groups: Sequence[Group]) -> str:
    """Return a sentence about a learner that repeats the last labels, and the strategies that it beats.

    The sentence is empty where no run has its score.
    """
    score = spread(run.scores.get(_REPEATING) for group in groups for run in group.measured).mean
    if score is None:
        return ""
    gains = {group.strategy: group.score("kappa_temporal").mean for group in groups}
    beaten = [name for name, gain in gains.items() if gain is not None and gain < 0]
    note = f"A learner that repeats the last labels has subset accuracy {format_score(score)} on this stream"
    if not beaten:
        return f"{note}."
    n_compared = sum(gain is not None for gain in gains.values())
    return f"{note}, more than {len(beaten)} of {n_compared} strategies: {', '.join(beaten)}."
