"""
A tenth of the labels
=====================

Somebody has to say what rows are, and has time for a tenth of the labels. Which ones should a learner ask for?
"""

# %%
# A stream of label sets whose shares are uneven, and four ways to spend the same budget on it.
import matplotlib.pyplot as plt

from estimators import LabelBudget, OnlineLogisticRegression, PrevalenceThreshold
from mlstream import evaluate
from mlstream.plotting import ScoreCurvesDisplay
from mlstream.publishing.presets import make_preset

stream = make_preset("synthetic-bilab")
inside = PrevalenceThreshold(OnlineLogisticRegression(1.0))
runs = {"all labels": evaluate(inside, stream, energy="none")}
for strategy in ("uncertainty", "cardinality", "rarity", "random"):
    runs[strategy] = evaluate(LabelBudget(inside, budget=0.1, strategy=strategy), stream, energy="none")
for name, run in runs.items():
    print(f"{name:12} {run.scores['ba_macro']:.3f}  asked for {run.scores.get('share_asked', 1):.3f}")

# %%
# Every row is scored, whether anybody was asked about it or not. Where the learner is unsure an answer moves it most.
ScoreCurvesDisplay.from_results(runs, kind="cumulative")
plt.show()
