"""
Comparing learners under one decision rule
==========================================

Part of a learner's balanced accuracy comes from its decision rule, not from what it has learnt. Here all learners are
compared with their own decisions, at a probability of one half, and under the rule that is best for balanced accuracy:
a label is predicted as soon as its probability reaches its prevalence.
"""

# %%
# A stream of tasks from the embedded Yeast data. Each learner runs three times; probabilities are the same each time.
from estimators import make_strategy
from mlstream import evaluate, task_stream

stream = task_stream("yeast", seed=1)
names = ("no_features", "BR_HT", "NN", "NN_TL", "NN_TLH_fifo", "StreamRidge")
rules = ("own", "half", "prevalence")
results = {
    name: [evaluate(make_strategy(name), stream, decision=rule, energy="none") for rule in rules] for name in names
}

print(f"{'BA_macro':12}", *(f"{rule:>10}" for rule in rules))
for name, runs in results.items():
    print(f"{name:12}", *(f"{run.scores['ba_macro']:10.3f}" for run in runs))

# %%
# The distance between two bars of one learner is what the rule gives. The distance of a learner to `no_features`, which
# sees no feature at all, is what features give: under one rule, that is the comparison to make.
import matplotlib.pyplot as plt
import numpy as np

figure, axis = plt.subplots(figsize=(9, 5.5), layout="constrained")
for place, rule in enumerate(rules):
    heights = [runs[place].scores["ba_macro"] for runs in results.values()]
    axis.bar(np.arange(len(names)) + 0.27 * (place - 1), heights, width=0.25, label=f"decision={rule!r}")
axis.axhline(
    results["no_features"][-1].scores["ba_macro"], color="grey", linestyle=":", label="no features, by the rule"
)
axis.set(xticks=range(len(names)), xticklabels=names, ylabel="BA_macro, test-then-train", ylim=(0.5, 0.75))
axis.legend(loc="upper left", ncols=2)
plt.show()

# %%
# The same rule around one learner, for use outside of evaluations: probabilities stay those of the learner inside.
from estimators import BinaryRelevance, HoeffdingTreeClassifier, PrevalenceThreshold

trees = BinaryRelevance(HoeffdingTreeClassifier())
for learner in (trees, PrevalenceThreshold(trees)):
    print(f"{type(learner).__name__:20} {evaluate(learner, stream, energy='none').scores['ba_macro']:.3f}")
