"""
Your own learner in five lines
==============================

Any scikit-learn classifier with ``partial_fit`` can be evaluated on a stream: here scikit-learn's own network and a
River model, beside one of ours. Campaigns take the same learners, under names that you choose.
"""

# %%
# A stream of tasks from the embedded Yeast data: the label sets are clustered, and every task is visited twice.
from mlstream import evaluate, load_dataset, task_stream

stream = task_stream(load_dataset("yeast"), seed=0)
stream

# %%
# scikit-learn's network as it is, a River model in a wrapper, and one of ours. Learners without `predict_then_fit` are
# called row by row: each row is predicted, then learnt. A class of your own needs `partial_fit` and `predict`, nothing
# else.
from river.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from estimators.interop.river import RiverClassifier
from estimators.strategies import make_strategy

learners = {
    "MLPClassifier": MLPClassifier(hidden_layer_sizes=(), random_state=0),
    "River's regression": RiverClassifier(LogisticRegression()),
    "NN_TL": make_strategy("NN_TL", learning_rate=0.01),
}
results = {name: evaluate(learner, stream, energy="none") for name, learner in learners.items()}

for name, result in results.items():
    print(f"{name:20} BA_macro {result.scores['ba_macro']:.3f}  ACC {result.scores['acc']:.3f}")

# %%
# The score of each learner on every task, after every experience (row 0: before any learning).
import matplotlib.pyplot as plt

from mlstream.plotting import TransferMatrixDisplay

figure, axes = plt.subplots(1, 3, figsize=(16, 5), layout="constrained")
for axis, (name, result) in zip(axes, results.items(), strict=True):
    TransferMatrixDisplay.from_result(result, ax=axis, vmin=0.45, vmax=0.6)
    axis.set_title(name)
plt.show()
