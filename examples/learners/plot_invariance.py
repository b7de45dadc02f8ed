"""
Environments never seen
=======================

A classifier trained on some environments is asked about others, in which a feature that predicted well predicts the
opposite. Learners made for invariance need several environments that disagree.
"""

# %%
# Six environments to train on, one for the test and five that nobody sees. In each, two spurious features follow the
# label with a correlation of their own; three invariant features predict it alike everywhere.
from mlstream.generators import environment_stream, invariant_features

roles = ("train",) * 6 + ("test",) + ("unseen",) * 5
stream = environment_stream(roles, correlation=(0.2, 0.9), encoding="one-hot")
correlations = stream.card.generator.parameters["correlations"]
[round(rho, 2) for rho in correlations]

# %%
# The environment of each row is passed in training only. The reference sees the invariant features alone: nobody knows
# them, except for the maker of a synthetic stream.
import numpy as np

from estimators import InvariantLogisticClassifier

learners = {
    "pooled": InvariantLogisticClassifier(),
    "group-dro": InvariantLogisticClassifier("group-dro"),
    "irm": InvariantLogisticClassifier("irm"),
    "vrex": InvariantLogisticClassifier("vrex"),
    "reference": InvariantLogisticClassifier(),
}
X, Y, environment = (np.concatenate([getattr(part, name) for part in stream]) for name in ("X", "Y", "task_ids"))
invariant = invariant_features(stream.card)
for name, learner in learners.items():
    learner.fit(X[:, invariant] if name == "reference" else X, Y, environment=environment)

# %%
# Normalised cross-entropy by the correlation of the spurious features: 0 is the base rate, lower is better. The more an
# environment differs from those in training, the worse pooled regression becomes; the others depend on it less.
import matplotlib.pyplot as plt

from metrics import nce

figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
order = np.argsort(correlations)
for (name, learner), marker in zip(learners.items(), "os^Dv", strict=True):
    scores = [
        nce(part.Y, learner.predict_proba(part.X[:, invariant] if name == "reference" else part.X))
        for part in stream.evaluation_sets
    ]
    axis.plot(np.array(correlations)[order], np.array(scores)[order], marker=marker, label=name)
axis.axhline(0, color="grey", linewidth=1, linestyle="--")
axis.set(xlabel="correlation of the spurious features", ylabel="normalised cross-entropy")
axis.legend()
plt.show()
