"""
Forgetting, task by task
========================

An accuracy at the end hides how a learner got there. Here every task has its own evaluation set, asked after every
experience: how high does its score rise when the task is learnt, and how far does it fall while others are learnt?
"""

# %%
# Ten digits in five tasks of two labels each, and every label counts once its task has been seen: the scenario that is
# known as the hardest one for networks.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from estimators import make_strategy
from mlstream import Dataset, evaluate
from mlstream.generators import scenario_stream

X, digit = load_digits(return_X_y=True)
table = Dataset(X / 16, np.eye(10)[digit], label_names=[*"0123456789"], name="digits")
pairs = [["0", "1"], ["2", "3"], ["4", "5"], ["6", "7"], ["8", "9"]]
stream = scenario_stream(table, "class-incremental", label_lists=pairs, order=[0, 1, 2, 3, 4], seed=0)

# %%
# The network learns each row once. With A-GEM it also keeps some rows, and corrects each step that would make it worse
# on these. Ridge regression keeps sums of products of features, in which nothing is overwritten.
learners = {
    "network": make_strategy("NN", learning_rate=0.1),
    "network with A-GEM": make_strategy("A-GEM"),
    "ridge regression": make_strategy("StreamRidge"),
}
results = {name: evaluate(learner, stream, energy="none") for name, learner in learners.items()}

# %%
# Each line is a task, from the experience in which it was learnt (the dot) onwards. ACC is the mean at the end, FM how
# much lower that is than the best score of each task before: 0 means that nothing was forgotten.
figure, axes = plt.subplots(1, 3, figsize=(9, 5), sharey=True, layout="constrained")
colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, 5))
for axis, (name, result) in zip(axes, results.items(), strict=True):
    R = np.array(result.R["ba_macro"], dtype=float)
    for task, colour in enumerate(colours):
        axis.plot(range(task + 1, 6), R[task + 1 :, task], color=colour, linewidth=3)
        axis.plot(task + 1, R[task + 1, task], "o", color=colour, markersize=10, label=" and ".join(pairs[task]))
    axis.set_title(f"{name}\nACC {result.scores['acc']:.2f}, FM {result.scores['fm']:.2f}")
    axis.set(xlabel="experience", xticks=range(1, 6))
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set(ylabel="balanced accuracy of the task", ylim=(0.45, 1.02))
axes[2].legend(title="digits", loc="lower left")
plt.show()
