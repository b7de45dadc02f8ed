"""
Your own learner in five lines
==============================

Any scikit-learn classifier with ``partial_fit`` goes through the protocol: here scikit-learn's own network beside ours.
"""

# %%
# A stream of tasks from the embedded Yeast data: label sets are clustered, every task is visited twice.
from mlstream import evaluate, load_dataset, task_stream

stream = task_stream(load_dataset("yeast"), seed=0)
stream

# %%
# scikit-learn's network, exactly as it is. It learns row by row, after it has predicted the row.
from sklearn.neural_network import MLPClassifier

from estimators.strategies import make_strategy

theirs = evaluate(MLPClassifier(hidden_layer_sizes=(), random_state=0), stream, energy="none")
ours = evaluate(make_strategy("NN_TL", learning_rate=0.01), stream, energy="none")

for name, result in {"MLPClassifier": theirs, "NN_TL": ours}.items():
    print(f"{name:14} BA_macro {result.scores['ba_macro']:.3f}  ACC {result.scores['acc']:.3f}")

# %%
# What each knew of every task, experience after experience (row 0: before any learning).
import matplotlib.pyplot as plt
import numpy as np

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for axis, (name, result) in zip(axes, {"MLPClassifier": theirs, "NN_TL": ours}.items(), strict=True):
    R = np.array(result.R["ba_macro"], dtype=float)
    image = axis.imshow(R, vmin=0.4, vmax=0.9, aspect="auto")
    axis.set(title=name, xlabel="evaluation set of task", xticks=range(R.shape[1]))
axes[0].set_ylabel("after experience")
figure.colorbar(image, ax=axes, label="BA_macro")
plt.show()
