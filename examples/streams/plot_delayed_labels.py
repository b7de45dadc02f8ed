"""
Labels that arrive late
=======================

Most protocols give a learner the labels right after its prediction. An analyst may confirm an alert hours later.
`~mlstream.generators.delayed_labels` takes any stream and lets labels come after their rows, each by its own delay.
"""

# %%
# Four concepts, one after the other: what the features mean changes three times. Then the same rows with labels that
# are 800 rows late.
import matplotlib.pyplot as plt

from estimators import make_strategy
from mlstream import evaluate
from mlstream.generators import delayed_labels, drifting_stream
from mlstream.plotting import TransferMatrixDisplay

in_time = drifting_stream(
    "hyperplane", seed=1, n_concepts=4, n_rows=1500, noise=0.05, learning_fractions=(0.7,), order=[0, 1, 2, 3]
)
streams = {"in time": in_time, "800 rows late": delayed_labels(in_time, delay=800, predict_first=True)}
for name, stream in streams.items():
    print(f"labels {name:13}", [len(experience) for experience in stream], "rows come in each experience")

# %%
# The scores of test-then-train do not move: every label has the same delay, so that rows keep their order, and a label
# is scored by what was learnt just before it arrived. But an analyst sees the prediction that is made when a row comes.
# With ``predict_first``, each row also comes at its own time, and ``ba_macro[first]`` scores what was predicted then.
results = {
    name: evaluate(make_strategy("NN", learning_rate=0.1), stream, energy="none") for name, stream in streams.items()
}
for name, result in results.items():
    first = result.scores.get("ba_macro[first]", result.scores["ba_macro"])
    print(f"labels {name:13} BA_macro over all rows {result.scores['ba_macro']:.3f}, of first predictions {first:.3f}")

# %%
# The evaluation sets do see it. A frame marks the concepts whose labels came in the experience. In time, the concept
# that has just passed is known best, and it alone. With late labels the learner is still half in the concept before:
# what it knows is out of date.
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for axis, (name, result) in zip(axes, results.items(), strict=True):
    TransferMatrixDisplay.from_result(result, ax=axis, vmin=0.45, vmax=0.9)
    axis.set_title(f"labels {name}")
plt.show()
