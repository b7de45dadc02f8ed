"""
A learner that grows with its labels
====================================

A stream starts with three labels and ends with thirty. A learner made with ``on_new_labels="grow"`` takes in each label
when it appears; one that has all thirty columns from the start learns that labels are absent which nobody has seen yet.
"""

# %%
# A stream of thirty labels, of which three emerge at a time.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification

from estimators import make_strategy
from mlstream import Dataset, evaluate
from mlstream.generators import emerging_labels_stream
from mlstream.plotting import ScoreCurvesDisplay

X, Y = make_multilabel_classification(6000, n_features=20, n_classes=30, allow_unlabeled=False, random_state=0)
features, labels = tuple(f"x{j}" for j in range(20)), tuple(f"label {j}" for j in range(30))
stream = emerging_labels_stream(Dataset(X, Y.astype("uint8"), features, labels, name="thirty"))

# %%
# With ``partial_fit``, more columns than before are new labels; ``classes=[...]`` names them, in any order.
learner = make_strategy("StreamRidge", on_new_labels="grow")
first, second = stream.experiences[:2]
for experience in (first, second):
    known = experience.label_mask
    names = [name for name, has_emerged in zip(labels, known, strict=True) if has_emerged]
    learner.partial_fit(experience.X, experience.Y[:, known], classes=names)
    print(learner.n_labels_, learner.label_names_)

# %%
# ``evaluate`` does this on its own where labels emerge. A nearest row that is older than a label cannot say whether the
# row has it: the learner that grows looks for the nearest row that can, the other one takes the label for absent.
results = {
    choice: evaluate(make_strategy("1NN", on_new_labels=choice), stream, label_space="seen", energy="none")
    for choice in ("grow", "error")
}
widths = [int(experience.label_mask.sum()) for experience in stream]
n_rows = np.cumsum([len(experience) for experience in stream])

figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(7, 5), height_ratios=(1, 2), layout="constrained")
top.step([0, *n_rows], [*widths, widths[-1]], where="post", color="black")
top.set(ylabel="labels so far")
named = {
    f"{name}: {result.scores['ba_macro']:.3f} over all rows": result
    for name, result in zip(("grows", "has all columns"), results.values(), strict=True)
}
ScoreCurvesDisplay.from_results(named, ax=bottom)
bottom.legend(loc="upper right")
plt.show()
