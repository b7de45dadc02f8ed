"""
One name, several metrics
=========================

Two papers report an accuracy of 0.25 and of 0.67, and both may mean the same predictions. Libraries agree on common
cases; they part where scores tie, a label has one class, or a word such as accuracy has two meanings. Here the same
predictions are scored by scikit-learn, River, torchmetrics and our `metrics`.
"""

# %%
# Four rows with three labels; the last row has no label, and none is predicted. A label that is never present, and is
# predicted once. A ranking in which the true label ties with a false one. And two rows of
# which one is completely wrong.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import sklearn.metrics as sk
import torch
from river import metrics as rv
from torchmetrics.functional import classification as tm

import metrics

Y_true = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
Y_pred = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
never, once = np.array([0, 0, 0]), np.array([1, 0, 0])
truth, tied = np.array([[0, 1, 0]]), np.array([[0.5, 0.5, 0.1]])
pair, zeros = np.array([[1, 1], [0, 0]]), np.zeros((2, 2))


def river(metric, true=Y_true, predicted=Y_pred):
    """Return a metric of River, which reads one row at a time, as dictionaries."""
    for y, z in zip(true.tolist(), predicted.tolist(), strict=True):
        metric.update(dict(enumerate(y)), dict(enumerate(z))) if isinstance(y, list) else metric.update(y, z)
    return metric.get()


def torch_of(name, true=Y_true, predicted=Y_pred, **options):
    """Return a metric of torchmetrics for tables of labels."""
    function = getattr(tm, f"multilabel_{name}")
    return float(function(torch.tensor(predicted), torch.tensor(true), num_labels=true.shape[1], **options))


# %%
# Each line is a question, each column a library; where a library has no such metric, nothing is entered.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # scikit-learn warns of the labels that are never present: that is the point
    table = {
        "F1, mean over rows\n(one row is empty)": {
            "ours": metrics.f1(Y_true, Y_pred, average="samples"),
            "scikit-learn": sk.f1_score(Y_true, Y_pred, average="samples"),
            "River": river(rv.multioutput.SampleAverage(rv.F1())),
        },
        "F1, micro": {
            "ours": metrics.f1(Y_true, Y_pred, average="micro"),
            "scikit-learn": sk.f1_score(Y_true, Y_pred, average="micro"),
            "River": river(rv.multioutput.MicroAverage(rv.F1())),
            "torchmetrics": torch_of("f1_score", average="micro"),
        },
        "accuracy": {
            "ours": metrics.subset_accuracy(Y_true, Y_pred),
            "scikit-learn": sk.accuracy_score(Y_true, Y_pred),
            "River": river(rv.multioutput.MicroAverage(rv.Accuracy())),
            "torchmetrics": torch_of("accuracy"),
        },
        "balanced accuracy\n(label never present)": {
            "ours": metrics.ba_macro(never[:, None], once[:, None], one_class="river"),
            "scikit-learn": sk.balanced_accuracy_score(never, once),
            "River": river(rv.BalancedAccuracy(), never, once),
        },
        "ranking loss\n(tie)": {
            "ours": metrics.ranking_loss(truth, tied),
            "scikit-learn": sk.label_ranking_loss(truth, tied),
            "torchmetrics": torch_of("ranking_loss", truth, tied),
        },
        "RMSE": {
            "ours": metrics.rmse(pair, zeros),
            "scikit-learn": sk.root_mean_squared_error(pair, zeros),
            "River": river(rv.multioutput.MacroAverage(rv.RMSE()), pair, zeros),
        },
    }
for question, values in table.items():
    print(f"{question:45}".replace("\n", " "), {library: round(float(value), 3) for library, value in values.items()})

# %%
# Points that lie apart are two metrics of one name. "Accuracy" is the share of rows that are right as a whole, or the
# share of cells. A tie counts against the learner, or for it. The root of RMSE is drawn row by row, or once. By
# default ours leaves a label that is never present out of balanced accuracy; the value shown is that of published
# tables made with an older River, which ``one_class="river"`` reproduces. Say which definition you report.
styles = {
    "ours": ("o", "C0", 17),
    "scikit-learn": ("s", "C1", 11),
    "River": ("^", "k", 8),
    "torchmetrics": ("x", "0.35", 9),
}
figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
for line, values in enumerate(table.values()):
    found = list(map(float, values.values()))
    axis.plot([min(found), max(found)], [line, line], color="C3", linewidth=6, alpha=0.35, zorder=0)
    for library, value in values.items():
        marker, colour, size = styles[library]
        mine = {"markerfacecolor": "none", "markeredgewidth": 2.5} if library == "ours" else {"markeredgewidth": 2}
        axis.plot(value, line, marker, color=colour, markersize=size, label=library if line == 1 else None, **mine)
axis.set(yticks=range(len(table)), yticklabels=list(table), xlabel="value on the same predictions", xlim=(-0.03, 1.03))
axis.invert_yaxis()
axis.grid(axis="y", color="0.9")
axis.legend(loc="upper right")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
