"""
Your own learner in five lines
==============================

Any classifier that learns row by row can be evaluated on a stream: scikit-learn's with ``partial_fit``, River's, and
those of your own, beside ours. Campaigns take the same learners, under names that you choose.
"""

# %%
# A stream of tasks from the embedded Yeast data: the label sets are clustered, and every task is visited twice. The
# first 600 rows are enough here, for scikit-learn's classifiers are slow row by row.
from mlstream import Dataset, evaluate, load_dataset, task_stream

yeast = load_dataset("yeast")
stream = task_stream(Dataset(yeast.X[:600], yeast.Y[:600], label_names=yeast.label_names, name="yeast-600"), seed=0)
stream

# %%
# Learners go in as they are. `MLPClassifier` learns all labels at once. `SGDClassifier` learns one class a row: each
# label gets a copy of it (`BinaryRelevance`). River's model reads rows as dictionaries (`RiverClassifier`). The record
# states the wrapper. A class of your own needs `partial_fit` and `predict`, nothing else.
from river.linear_model import LogisticRegression
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from estimators.strategies import make_strategy

learners = {
    "MLPClassifier": MLPClassifier(hidden_layer_sizes=()),
    "SGDClassifier": SGDClassifier(loss="log_loss"),
    "River's regression": LogisticRegression(),
    "NN_TL": make_strategy("NN_TL", learning_rate=0.01),
}
results = {name: evaluate(learner, stream, energy="none") for name, learner in learners.items()}

for name, result in results.items():
    print(f"{name:20} BA_macro {result.scores['ba_macro']:.3f}  ACC {result.scores['acc']:.3f}  {result.wrapped_as}")

# %%
# What it costs: scikit-learn checks its input at every call, and a row means three calls for each of the 14 labels (two
# predictions and one step of learning).
import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(7, 4.8), layout="constrained")
for (name, result), marker in zip(results.items(), "os^D", strict=True):
    seconds = sum(phase.cpu_time_s for phase in result.resources.phases.values())
    axis.plot(seconds, result.scores["ba_macro"], marker, markersize=16, label=name)
axis.set(xscale="log", xlabel="seconds of CPU", ylabel="BA_macro, test-then-train")
axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
axis.margins(0.15)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The score of each learner on every task, after every experience (row 0: before any learning).
from mlstream.plotting import TransferMatrixDisplay

figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
for axis, (name, result) in zip(axes.flat, results.items(), strict=True):
    TransferMatrixDisplay.from_result(result, ax=axis, vmin=0.45, vmax=0.75)
    axis.set_title(name)
plt.show()
