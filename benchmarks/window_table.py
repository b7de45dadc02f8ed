"""Scores and CPU time of classifiers fitted again to a window of rows, beside learners that learn each row once.

    python -m benchmarks.window_table yeast-tasks scene-tasks tree-abrupt

Labels are decided at their prevalence, for all alike.
"""

import argparse

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators import ContextWindowClassifier, StreamClassifier, make_strategy
from mlstream import evaluate
from mlstream.analysis.costs import cpu_time_s
from mlstream.generators import drifting_stream
from mlstream.publishing.presets import make_preset
from mlstream.streams.stream import Stream

SCORES = ("ba_macro", "acc_mean", "rmse", "precision_at_k")


def learners() -> dict[str, StreamClassifier]:
    """Return the learners that are compared, by name."""
    regression = make_pipeline(StandardScaler(), LogisticRegression())
    return {
        "trees, last": make_strategy("ContextWindow", random_state=0),
        "trees, task": make_strategy("ContextWindow", policy="task", random_state=0),
        "trees, label": make_strategy("ContextWindow", policy="label", random_state=0),
        "trees, last, half": make_strategy("ContextWindow", change=0.5, random_state=0),
        "trees, last, native": make_strategy("ContextWindow", multilabel="native", random_state=0),
        "regression, label": ContextWindowClassifier(regression, policy="label"),
        "1NN": make_strategy("1NN", window=1000),
        "NN_TLH_mini_memories": make_strategy("NN_TLH_mini_memories", random_state=0),
        "StreamRidge": make_strategy("StreamRidge", random_state=0),
    }


def make_stream(name: str) -> Stream:
    """Make a published stream, or the drifting world."""
    if name == "tree-abrupt":
        return drifting_stream("tree", n_features=10, n_labels=6, seed=11, n_rows=2500, n_concepts=4)
    return make_preset(name)


def main() -> None:
    """Print a line for each stream and learner."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.window_table", description=__doc__)
    parser.add_argument("streams", nargs="+", help="published streams, or tree-abrupt, a drifting world")
    print(f"{'':44}{''.join(f'{score:>15}' for score in SCORES)}{'CPU s':>8}")
    for name in parser.parse_args().streams:
        stream = make_stream(name)
        for learner, estimator in learners().items():
            run = evaluate(estimator, stream, decision="prevalence", energy="none")
            scores = (run.scores.get(score) for score in SCORES)
            shown = "".join(f"{'n/a' if value is None else f'{value:.3f}':>15}" for value in scores)
            print(f"{name:22}{learner:22}{shown}{cpu_time_s(run) or 0:8.2f}", flush=True)


if __name__ == "__main__":
    main()
