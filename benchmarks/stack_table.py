"""Scores of a stack and of each of its members, labels decided at their prevalence, with the CPU time of each.

    python -m benchmarks.stack_table yeast-tasks scene-tasks tree-abrupt

A member is run alone: it does inside the stack what it does alone, so that its time there is the same.
"""

import argparse
from collections.abc import Mapping
from typing import Any

from estimators import make_strategy
from mlstream import evaluate
from mlstream.analysis.costs import cpu_time_s
from mlstream.generators import drifting_stream
from mlstream.publishing.presets import list_presets, make_preset
from mlstream.streams.stream import Stream

SCORES = ("ba_macro", "acc_mean", "rmse", "precision_at_k")
PATTERNS: Mapping[str, Mapping[str, Any]] = {
    "abrupt": {"n_rows": 2500, "n_concepts": 4},
    "gradual": {"n_rows": 2500, "n_concepts": 4, "pattern": "gradual", "window": 400},
    "recurring": {
        "n_rows": 4200,
        "n_concepts": 3,
        "learning_fractions": (0.4, 0.4),
        "evaluation_fraction": 0.2,
        "order": (0, 1, 2, 0, 1, 2),
    },
}


def main() -> None:
    """Print a line for each stream and learner."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stack_table", description=__doc__)
    parser.add_argument("streams", nargs="+", help="published streams, or worlds such as tree-abrupt")
    learners = {"NN_TLH_mini_memories": make_strategy("NN_TLH_mini_memories"), "Stack": make_strategy("Stack")}
    learners |= dict(learners["Stack"].estimator.estimators)
    print(f"{'':44}{''.join(f'{score:>15}' for score in SCORES)}{'CPU s':>8}")
    for name in parser.parse_args().streams:
        stream = make_stream(name)
        for learner, estimator in learners.items():
            run = evaluate(estimator, stream, decision="prevalence", energy="none")
            scores = (run.scores.get(score) for score in SCORES)
            shown = "".join(f"{'n/a' if value is None else f'{value:.3f}':>15}" for value in scores)
            print(f"{name:22}{learner:22}{shown}{cpu_time_s(run) or 0:8.2f}", flush=True)


def make_stream(name: str) -> Stream:
    """Make a published stream, or a drifting world."""
    if name in list_presets():
        return make_preset(name)
    kind, _, pattern = name.partition("-")
    return drifting_stream(kind, n_features=10, n_labels=6, seed=11, **PATTERNS[pattern])


if __name__ == "__main__":
    main()
