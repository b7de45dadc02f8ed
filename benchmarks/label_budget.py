"""Macro balanced accuracy of learners under a budget of labels, by strategy, against random queries.

    python benchmarks/label_budget.py
    python benchmarks/label_budget.py --streams yeast-tasks --learners StreamRidge BR_HT --ask rows --seeds 5

Each row is predicted, then asked for or not; every row is scored. Streams are those that this project publishes; real
tables are read from MLSTREAM_DATA. A line shows the mean over seeds of the strategies, the difference to random queries
of the same budget, and the p of Wilcoxon's rank-sum test that it is chance. The last lines are CPU times of a row.
"""

import argparse
from functools import partial
from itertools import product

import numpy as np
from harness import sized, us_a_row
from scipy.stats import mannwhitneyu

from estimators import LabelBudget, OnlineLogisticRegression, PrevalenceThreshold, make_strategy
from mlstream import Stream, evaluate
from mlstream.publishing.presets import make_preset

STREAMS = (
    *("yeast-tasks", "scene-tasks", "slashdot-tasks", "reuters-k500-tasks", "20ng-tasks"),
    *("synthetic-monolab", "synthetic-bilab", "synthetic-rand"),
)
# the step is longer than for all labels: a tenth of the rows must do
LEARNERS = {"logistic": PrevalenceThreshold(OnlineLogisticRegression(1.0))}
STRATEGIES = ("random", "uncertainty", "cardinality", "rarity")


def make(name: str) -> object:
    """Return the learner of a name."""
    return LEARNERS[name] if name in LEARNERS else make_strategy(name)


def score(estimator: object, stream: Stream, seed: int) -> float:
    """Return the macro balanced accuracy of a learner with its own decisions."""
    return float(evaluate(estimator, stream, seed=seed, energy="none", chunk_size=4096).scores["ba_macro"])


def scores(learner: str, stream: Stream, strategy: str, options: argparse.Namespace) -> list[float]:
    """Return the scores under a budget, seed by seed."""
    budgeted = LabelBudget(make(learner), options.budget, strategy=strategy, ask=options.ask)
    return [score(budgeted, stream, seed) for seed in range(options.seeds)]


def print_cost(name: str) -> None:
    """Print what a row of ten labels takes under a budget of a tenth, and without one."""
    alone = partial(make_strategy, name, random_state=0)
    budgets = {f"ask={unit!r}": partial(LabelBudget, alone(), ask=unit, random_state=0) for unit in ("labels", "rows")}
    for kind, (chunk, one) in us_a_row({"alone": alone, **budgets}).items():
        print(f"{name}, {kind}: {chunk:.1f} us a row in one call, {one:.1f} us one by one")


def main() -> None:
    """Print a line for each stream, learner and strategy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", default=list(sized(STREAMS, STREAMS[-1:])), metavar="NAME")
    parser.add_argument("--learners", nargs="+", default=["logistic", "StreamRidge"], metavar="NAME")
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES[1:]), metavar="NAME")
    parser.add_argument("--ask", default="labels", choices=("labels", "rows"))
    parser.add_argument("--budget", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=sized(20, 2))
    options = parser.parse_args()
    print(f"{'':20}{'':12}{'all labels':>11}{'random':>9}{'':14}{'':8}{'difference':>11}{'p':>8}")
    for name, learner in product(options.streams, options.learners):
        stream = make_preset(name)
        every = score(make(learner), stream, 0)
        chance = scores(learner, stream, "random", options)
        for strategy in options.strategies:
            found = scores(learner, stream, strategy, options)
            gain, p = np.mean(found) - np.mean(chance), mannwhitneyu(found, chance).pvalue
            line = f"{name:20}{learner:12}{every:11.3f}{np.mean(chance):9.3f}  {strategy:12}{np.mean(found):8.3f}"
            print(f"{line}{gain:+11.4f}{p:8.4f}", flush=True)
    for name in ("BR_LR", "StreamRidge"):
        print_cost(name)


if __name__ == "__main__":
    main()
