"""
A threat without a name
=======================

Somebody labels the rows of a log, and knows five threats. A sixth one appears. Which rows show it, before it has a
name?
"""

# %%
# Three weeks of a log, as windows of an hour. Nobody knows the label that is withheld.
import matplotlib.pyplot as plt
import numpy as np

from estimators import NovelLabels, make_strategy
from mlstream import evaluate_naming
from mlstream.generators import synthetic_events, windowed

log = synthetic_events(seed=10, n_days=21, n_threats=6, n_campaigns=8)
table = windowed(log, every="1h")
withheld = "worm"
Y = np.asarray(table.Y)
shows = Y[:, table.label_names.index(withheld)] == 1
print(f"{len(Y)} windows, {(Y == 1).any(axis=1).mean():.0%} of them with a threat; {withheld} in {shows.sum()}")

# %%
# Groups of novel rows are offered. If at least half of a group show the threat, it gets its name, and the learner
# learns it as a new label from then on.
learner = NovelLabels(make_strategy("StreamRidge", random_state=0, on_new_labels="grow"), random_state=0)
result = evaluate_naming(learner, table, [withheld])
found = result.labels[withheld]
print(f"Area under the curve of the novelty until then: {found.auc:.2f}")
print(f"Rows with the threat before it was named: {found.n_missed}")
print(f"False groups in 1,000 rows: {result.false_groups_per_1000:.1f}")
print(f"Area under the curve of the new label afterwards: {found.auc_named:.2f}")

# %%
# Rows that show the threat rise above the others, and fall back among the known once they are learnt.
rows = np.arange(result.n_rows)
figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
axes.scatter(rows[~shows], result.novelty[~shows], s=4, color="0.75", label="other rows")
axes.scatter(rows[shows], result.novelty[shows], s=14, color="tab:red", label=f"rows with {withheld}")
if found.delay is not None:
    axes.axvline(np.argmax(shows) + found.delay, color="black", linestyle="--", label="named here")
axes.set(xlabel="window", ylabel="novelty")
axes.legend(loc="upper right")
plt.show()
