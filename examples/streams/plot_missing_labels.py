"""
An unknown label is not an absent one
=====================================

Nobody labels everything. A common way out is to write 0 where a label was not looked for, and the learner learns that
it is absent. Here an unknown label is NaN, and no learner learns anything from it.
"""

# %%
# A table of ten labels. A growing share of all cells is lost at random, present and absent labels alike.
import matplotlib.pyplot as plt
import numpy as np

from estimators import make_strategy
from metrics import ba_macro
from mlstream import Dataset
from mlstream.generators import missing_labels, scenario_stream

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
Y = X @ rng.normal(size=(10, 10)) > 1
stream = scenario_stream(Dataset(X, Y, name="ten"), "instance-incremental", learning_fractions=(0.7,))
held_out = stream.evaluation_sets[0]

# %%
# The same learner reads the same rows twice: with NaN for what is unknown, and with 0 in its place. Both are evaluated
# on rows whose labels are all known.
rates = np.arange(0, 1, 0.1)
scores = {"unknown (NaN)": [], "absent (0)": []}
for rate in rates:
    (rows,) = missing_labels(stream, rate=rate, seed=0) if rate else stream
    for reading, found in zip(scores, (rows.Y, np.nan_to_num(rows.Y)), strict=True):
        learner = make_strategy("NN", learning_rate=0.05, random_state=0).partial_fit(rows.X, found)
        scores[reading].append(ba_macro(held_out.Y, learner.predict(held_out.X)))

# %%
# Of nine labels in ten that are missing, the learner that knows what it does not know hardly suffers: the tenth that
# is left is enough. The other one learns a prevalence that is too small, and ends by predicting nothing.
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
for (reading, found), style in zip(scores.items(), ("o-", "s--"), strict=True):
    axis.plot(100 * rates, found, style, linewidth=2.5, markersize=7, label=f"missing labels are {reading}")
axis.axhline(0.5, color="grey", linestyle=":")
axis.set(xlabel="labels that are missing, percent", ylabel="balanced accuracy on complete rows")
axis.legend(loc="lower left", bbox_to_anchor=(0, 0.08))
axis.spines[["top", "right"]].set_visible(False)
plt.show()
