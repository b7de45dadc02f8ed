"""
Labels that are refined
=======================

Incremental implicitly refined classification (IIRC): a learner is first taught coarse labels, such as "bird", and
later the fine ones below them. Nobody tells it that an owl is still a bird. Does it refine what it knows, or replace
it?
"""

# %%
# Scikit-learn's digits, with superclasses of our own: digits with a closed loop, those with straight strokes, the rest.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from estimators import make_strategy
from mlstream import Dataset, evaluate
from mlstream.generators import iirc_stream

X, digit = load_digits(return_X_y=True)
groups = {"loop": "0689", "straight": "147", "curve": "235"}
labels = [*groups, *"0123456789"]
parents = {number: group for group, numbers in groups.items() for number in numbers}
Y = np.array([[label in (str(d), parents[str(d)]) for label in labels] for d in digit]).astype(int)
table = Dataset(X / 16, Y, label_names=labels, name="digits", label_parents=parents)

# %%
# Superclasses come first. A learning row shows the labels that are being introduced, and no others.
introductions = [["loop", "straight", "curve"], ["0", "1", "2"], ["6", "4", "3"], ["8", "7", "5", "9"]]
stream = iirc_stream(table, introductions=introductions, seed=0)

# %%
# Three learners. The first network learns a label that is not shown as absent, the second leaves it out; the third
# learner remembers all rows, and predicts the labels of the nearest one.
learners = {
    "network, not shown is absent": make_strategy("NN", learning_rate=0.1),
    "network, not shown is left out": make_strategy("NN_TL", learning_rate=0.1),
    "nearest row": make_strategy("1NN"),
}
results = {name: evaluate(learner, stream, energy="none") for name, learner in learners.items()}

# %%
# `pw_js`, the precision-weighted Jaccard similarity of predicted and true label sets, punishes those who predict every
# label that they know. It counts the labels introduced so far. Row s of R is measured after s experiences.
figure, axis = plt.subplots(figsize=(8, 4.8), layout="constrained")
for (name, result), style in zip(results.items(), ("o-", "s--", "^-."), strict=True):
    means = [np.mean(row[: s + 1]) for s, row in enumerate(result.R["pw_js"][1:])]
    axis.plot(range(1, 5), means, style, linewidth=2.5, markersize=8, label=name)
axis.set(ylabel="pw-JS, mean over tasks seen", ylim=(0, 1), xlabel="labels introduced")
axis.set_xticks(range(1, 5), ["loop, straight,\ncurve", *("+ " + ", ".join(names) for names in introductions[1:])])
axis.legend()
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The refinement recall is the share of true fine labels that are predicted. The first network has lost two in three of
# them at the end. The second keeps nearly all, at a price: nobody ever tells it that a label is absent, so that it
# predicts too many, and its pw-JS falls all the same. The nearest row brings its whole label set with it.
for name, result in results.items():
    print(f"{name:32}", {score: round(result.scores[score], 2) for score in ("pw_js", "refinement_recall")})
