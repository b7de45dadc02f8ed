"""
A window of rows, balanced by task
==================================

Two tasks take turns, and each asks for labels of its own. A classifier that is fitted again to the last rows forgets
the task that is away; with a context of both tasks it does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from estimators import ContextWindowClassifier

# %%
# The first task counts two labels, the second two others. Each stays for 400 rows, three times.

rng = np.random.default_rng(0)
X = rng.random((2400, 4))
Y = (X + rng.normal(0, 0.1, X.shape) > 0.6).astype(int)
task = np.arange(2400) // 400 % 2
label_mask = np.where(task[:, np.newaxis] == 0, [[1, 1, 0, 0]], [[0, 0, 1, 1]]).astype(bool)

# %%
# After every 40 rows, all labels are predicted for rows that are never learnt.

X_test = rng.random((500, 4))
Y_test = (X_test > 0.6).astype(int)
curves, fits = {}, {}
for policy in ("last", "task"):
    tree = DecisionTreeClassifier(min_samples_leaf=5)
    learner = ContextWindowClassifier(tree, context_size=300, policy=policy, refit_every=60, random_state=0)
    correct = []
    for start in range(0, 2400, 40):
        rows = slice(start, start + 40)
        learner.partial_fit(X[rows], Y[rows], label_mask=label_mask[rows])
        correct.append((learner.predict(X_test) == Y_test).mean(axis=0))
    curves[policy], fits[policy] = np.array(correct), learner.n_fits_

# %%
# The labels of the task that is present are learnt by both. Those of the task that is away, in grey, are lost from
# the last 300 rows after 300 rows; in the other context each task keeps 150 rows.

figure, panels = plt.subplots(2, 1, figsize=(8, 5), sharex=True, sharey=True, layout="constrained")
for panel, (policy, correct) in zip(panels, curves.items(), strict=True):
    panel.plot(np.arange(1, 61) * 40, correct[:, :2].mean(axis=1), label="labels of the first task")
    panel.plot(np.arange(1, 61) * 40, correct[:, 2:].mean(axis=1), label="labels of the second task")
    for start in range(400, 2400, 800):
        panel.axvspan(start, start + 400, color="0.93")
    panel.set(title=f"policy={policy!r}: learnt {fits[policy]} times", ylabel="share correct", xlim=(40, 2400))
panels[0].legend(loc="lower right")
panels[1].set_xlabel("rows learnt (shaded: the second task)")
plt.show()
