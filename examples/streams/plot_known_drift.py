"""
Three drifts, and the one that hurts
====================================

Concept drift can mean three things: other inputs come, P(X); the same input means something else, P(Y|X); or labels
begin to occur together. `~mlstream.generators.drifting_stream` changes the one that you ask for and leaves the others
as they are, and the card states when. So you know what a learner has to cope with before you measure how it does.
"""

# %%
# Three streams of three concepts. They differ in nothing but what changes where one concept gives way to the next.
import matplotlib.pyplot as plt
import numpy as np

from estimators import make_strategy
from mlstream.generators import drifting_stream

targets = {"P(X)": "other inputs", "P(Y|X)": "other meaning of inputs", "dependence": "labels occur together"}
settings = {"seed": 3, "n_rows": 4000, "learning_fractions": (0.7,), "noise": 0.05}
streams = {target: drifting_stream("hyperplane", drift_in=[target], **settings) for target in targets}

# %%
# The card holds each drift: its first and last row, and how much of each kind has changed. A number is zero where the
# stream holds that part still.
for target, stream in streams.items():
    print(target, stream.card.drifts[0])

# %%
# A network predicts every row, then learns it.
errors = {}
for target, stream in streams.items():
    X, Y = (np.concatenate([getattr(experience, part) for experience in stream]) for part in "XY")
    decided, _ = make_strategy("NN", learning_rate=0.1, random_state=0).predict_then_fit(X, Y)
    errors[target] = np.convolve((decided != Y).mean(axis=1), np.ones(400) / 400, mode="valid")

# %%
# Only where the meaning of the inputs changes are the learnt weights wrong: errors triple at once, and fall as the new
# concept is learnt. Inputs from elsewhere leave the weights right; errors merely settle at another level, since some
# inputs are easier than others. Labels that begin to occur together change nothing for this network, which decides each
# label on its own.
figure, panels = plt.subplots(3, 1, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
for panel, (target, meaning) in zip(panels, targets.items(), strict=True):
    panel.plot(np.arange(399, 399 + len(errors[target])), errors[target], color="C0", linewidth=2)
    panel.fill_between(np.arange(399, 399 + len(errors[target])), errors[target], color="C0", alpha=0.2)
    for drift in streams[target].card.drifts:
        panel.axvline(drift.start, color="C1", linewidth=2)
    panel.set_title(f"{target}: {meaning}", loc="left")
    panel.spines[["top", "right"]].set_visible(False)
panels[0].set(ylim=(0, None), xlim=(399, 8400))
panels[1].set_ylabel("share of wrong labels, last 400 rows")
panels[2].set_xlabel("row of the stream (orange: a drift)")
plt.show()
