"""
Sets of labels with a promise
=============================

A prediction set says of each label that it is there, that it is excluded, or that it is open. Its promise is how often
it may be wrong. Where the world drifts, thresholds that were fitted once break it; those that follow the stream keep
it.
"""

# %%
# A world whose rules change abruptly, three times. Each row is predicted, then learnt.
import matplotlib.pyplot as plt
import numpy as np

from estimators import PredictionSets, make_strategy
from metrics import set_coverage, set_size
from mlstream.generators import drifting_stream
from mlstream.plotting import PredictionSetsDisplay

stream = drifting_stream("hyperplane", n_concepts=4, n_rows=1250, learning_fractions=[0.8], evaluation_fraction=0.2)
X, Y = (np.concatenate([getattr(experience, part) for experience in stream]) for part in "XY")
learner = PredictionSets(make_strategy("BR_HT", random_state=0), alpha=0.1)
sets, Y_proba = learner.predict_set_then_fit(X, Y)
print(np.unique(sets, return_counts=True))

# %%
# A label that is there is excluded in a tenth of its rows, and one that is not there is claimed in as many.
for value, cells in ((1, Y == 1), (0, Y == 0)):
    print(f"{value}: {1 - set_coverage(Y, sets, label_mask=cells):.3f}")
print(f"values in a set: {set_size(sets):.2f}")

# %%
# Split conformal prediction takes its thresholds from the first rows, and keeps them: here those that were learnt by
# row 1000.
first = PredictionSets(make_strategy("BR_HT", random_state=0), alpha=0.1).fit(X[:1000], Y[:1000])
absent, present = first.thresholds_.T
frozen = np.select([(Y_proba <= absent) & (Y_proba >= present), Y_proba >= present, Y_proba <= absent], [-1, 1, 0], -2)

# %%
# After each change, more labels are open until the learner knows the new rules. The frozen sets stay as small as
# before, and miss more.
PredictionSetsDisplay.from_predictions(Y, {"follows": sets, "frozen at row 1000": frozen}, alpha=0.1)
plt.show()
