"""
A stack that follows its best member
====================================

A network and a tree predict two labels, one of which changes. :class:`~estimators.PrequentialStack` mixes
them, for each label by weights of its own, and the weights follow.
"""

import matplotlib.pyplot as plt
import numpy as np

from estimators import HoeffdingTreeClassifier, OnlineNeuralClassifier, PrequentialStack

# %%
# The first label is linear all the time. The second is a band, after 3,000 rows a line, and after 6,000 the band again.

rng = np.random.default_rng(0)
X = rng.random((9000, 4))
turned = (np.arange(9000) >= 3000) & (np.arange(9000) < 6000)
band, line = 0.25 - abs(X[:, 0] - 0.5), X[:, 1] - X[:, 2]
scores = np.column_stack([X[:, 0] - X[:, 3], np.where(turned, line, band)])
Y = (scores + rng.normal(0, 0.05, scores.shape) > 0).astype(int)

# %%
# A linear network follows changes fast, and cannot learn a band. A tree finds the band, and keeps its splits.

members = [
    ("network", OnlineNeuralClassifier(learning_rate=0.1, random_state=0)),
    ("tree", HoeffdingTreeClassifier()),
]
stack, weights, correct = PrequentialStack(members, random_state=0), [], []
for start in range(0, 9000, 50):
    rows = slice(start, start + 50)
    Y_pred, _ = stack.predict_then_fit(X[rows], Y[rows])
    weights.append(stack.weights_)
    correct.append((Y_pred == Y[rows]).mean(axis=0))
weights, correct = np.array(weights), np.array(correct)

# %%
# The weights, and the share of rows that the stack predicts correctly (black, mean over ten chunks). For the second
# label the weights move to the other member soon after each change. For the first, both members predict well in the
# end: the weights go back and forth while the stack stays accurate.

figure, panels = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
x, window = np.arange(1, 181) * 50, np.ones(10) / 10
for label, (panel, title) in enumerate(zip(panels, ("A line", "A band, a line, the band"), strict=True)):
    panel.stackplot(x, weights[:, :, label].T, labels=[name for name, _ in members], alpha=0.7)
    panel.plot(x[9:], np.convolve(correct[:, label], window, mode="valid"), color="black", label="correct")
    for change in (3000, 6000) if label else ():
        panel.axvline(change, color="grey", linestyle=":")
    panel.set(title=title, ylabel="weight, or share correct", ylim=(0, 1), xlim=(50, 9000))
panels[0].legend(loc="lower right", ncols=4, framealpha=1)
panels[1].set_xlabel("rows learnt")
plt.show()

# %%
# The bound of the notes of :class:`~estimators.PrequentialStack` holds on any stream: compared with the best
# sequence of members, chosen in hindsight, the sum of losses grows by about ln(N / share) for each change of member.
