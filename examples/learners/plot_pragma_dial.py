"""
PRAGMA as a dial: recall against precision as a floor moves
===========================================================

The lowest PRAGMA may cost more false alarms than one can follow up. ``min_precision`` of
`estimators.PragmaForestClassifier` is a floor: the search for weights lowers PRAGMA among those whose precision reaches
it, on votes of trees that have not seen the row. Turned from 0 upwards, it trades recall for precision.
"""

# %%
# The task: find one digit among ten, with few pixels. The preferences ask for recall: eights are ten times as
# important, and finding all of them with a precision of 0.1 is as good as finding nine in ten without a false alarm.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import StratifiedKFold

from estimators import PragmaForestClassifier
from metrics import pragma

X, digit = load_digits(return_X_y=True)
X, y = X[:, 18:46:3], (digit == 8).astype(int)
wanted = {"importance": {1: 10, 0: 1}, "compromise": {1: (0.1, 0.9), 0: (0.8, 0.8)}}

# %%
# Each half of the digits is predicted by a forest that has learnt the other half, for every floor.
floors = np.arange(0.0, 0.91, 0.1)
halves = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
rates = []
for floor in floors:
    forest = PragmaForestClassifier(50, min_precision={1: floor}, random_state=0, **wanted)
    predicted = np.empty_like(y)
    for train, test in halves:
        predicted[test] = forest.fit(X[train], y[train]).predict(X[test])
    recall, precision = recall_score(y, predicted), precision_score(y, predicted)
    rates.append([recall, precision, pragma(y, predicted, **wanted)])
    print(f"floor {floor:.1f}: recall {recall:.2f}, precision {precision:.2f}, PRAGMA {rates[-1][-1]:.3f}")
recall, precision, loss = np.transpose(rates)

# %%
# The dial: every point is a forest with its floor. The two lowest floors change nothing: the lowest PRAGMA reaches them
# anyway.
figure, axis = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
axis.plot(recall, precision, "-", color="0.7", linewidth=3, zorder=1)
points = axis.scatter(recall, precision, s=120, c=floors, edgecolor="black", zorder=2)
axis.set(xlabel="recall of eights", ylabel="precision of eights", xlim=(0, 1.03), ylim=(0, 1.03))
figure.colorbar(points, label="min_precision")
plt.show()

# %%
# The same against the floor. Up to about 0.5, precision costs little: it triples while one eight in nine is lost.
# Beyond, PRAGMA rises fast. On rows that were not learnt, precision stays near the floor, not exactly above it: floors
# hold on the votes of the search.
figure, axis = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
axis.plot(floors, recall, "o-", label="recall")
axis.plot(floors, precision, "s-", label="precision")
axis.plot(floors, loss, "^-", label="PRAGMA")
axis.plot(floors, floors, "k--", label="the floor")
axis.set(xlabel="min_precision", ylim=(0, 1.03))
axis.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()
