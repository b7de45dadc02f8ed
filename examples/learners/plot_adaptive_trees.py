"""
Trees that change their minds
=============================

Three trees learn a label that depends on another feature after 5,000 rows. A Hoeffding tree keeps its splits, an
extremely fast tree revises them, and an adaptive tree replaces branches whose errors grow.
"""

import matplotlib.pyplot as plt
import numpy as np

from estimators import (
    ExtremelyFastDecisionTreeClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
)

# %%
# Bands of one feature are present, the others absent: no Gaussian describes them, so that trees have to split.
# Features 3 and 4 are copies of the first two, so that no feature is ever better than all others.

rng = np.random.default_rng(0)
X = rng.random((10_000, 3))
X = np.hstack([X, X[:, :2]])
decisive = np.where(np.arange(10_000) < 5000, X[:, 0], X[:, 1])
y = ((4 * decisive).astype(int) % 2) ^ (rng.random(10_000) < 0.05)

# %%
# Each tree predicts every row, and learns it then.

trees = {
    "Hoeffding": HoeffdingTreeClassifier(delta=1e-3),
    "extremely fast": ExtremelyFastDecisionTreeClassifier(delta=1e-3),
    "adaptive": HoeffdingAdaptiveTreeClassifier(delta=1e-3, random_state=0),
}
results = {}
for name, tree in trees.items():
    chunks = []
    for start in range(0, 10_000, 100):
        rows = slice(start, start + 100)
        predicted, _ = tree.predict_then_fit(X[rows], y[rows], classes=[0, 1])
        chunks.append(((predicted == y[rows]).mean(), tree.to_dot().count("<=")))
    results[name] = np.array(chunks).T

# %%
# Above, the share of the last 1,000 rows that were predicted correctly. Where no feature beats its copy, the extremely
# fast tree is the first to split: it asks whether a split is better than none. After the change the adaptive tree is
# the first to recover, and the extremely fast tree the most accurate in the end: it revises its splits only once new
# rows outweigh old ones.

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
x, window = np.arange(1, 101) * 100, np.ones(10) / 10
for name, (correct, n_splits) in results.items():
    upper.plot(x[9:], np.convolve(correct, window, mode="valid"), label=name)
    lower.step(x, n_splits, where="post")
for panel in (upper, lower):
    panel.axvline(5000, color="grey", linestyle=":")
upper.set(ylabel="share correct")
upper.legend(loc=(0.27, 0.05))
lower.set(xlabel="rows learnt", ylabel="splits")
lower.yaxis.get_major_locator().set_params(integer=True)
plt.show()
