"""
Pictures of a stream and of results
===================================

The classes of `mlstream.plotting` draw as those of scikit-learn do: ``from_*`` takes a stream, a table or results,
draws, and returns an object that keeps the data and the axes. ``ax=`` draws into axes of your own.
"""

# %%
# The frequency of each label in a table.
import matplotlib.pyplot as plt

from estimators.strategies import make_strategy
from mlstream import evaluate, load_dataset, run_campaign, task_stream
from mlstream.plotting import (
    CriticalDifferenceDisplay,
    LabelFrequencyDisplay,
    ParetoFrontDisplay,
    ScheduleDisplay,
    ScoreCurvesDisplay,
    TransferMatrixDisplay,
)

table = load_dataset("yeast")
LabelFrequencyDisplay.from_dataset(table)
plt.show()

# %%
# A stream of four tasks: when each of them is visited, and how often labels occur in it.
stream = task_stream(table, n_tasks=4, seed=1)
ScheduleDisplay.from_stream(stream)
plt.show()

# %%
LabelFrequencyDisplay.from_stream(stream)
plt.show()

# %%
# Two learners on the stream. Every row is predicted and scored before it is learnt; vertical lines mark the ends of
# experiences.
results = {name: evaluate(make_strategy(name), stream, energy="none") for name in ("NN_TL", "StreamRidge")}
ScoreCurvesDisplay.from_results(results)
plt.show()

# %%
# The matrix R: the score on the evaluation set of each task, after each experience. A frame marks the task that was
# just learnt. Forgetting is what falls again below a frame.
figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
for axis, (name, result) in zip(axes, results.items(), strict=True):
    TransferMatrixDisplay.from_result(result, ax=axis, vmin=0.45, vmax=0.7)
    axis.set_title(name)
plt.show()

# %%
# The same matrix, as a line per task.

# sphinx_gallery_thumbnail_number = 6
TransferMatrixDisplay.from_result(results["NN_TL"], kind="lines")
plt.show()

# %%
# With runs on several streams, mean ranks: bars join strategies that the Nemenyi test does not tell apart.
from tempfile import TemporaryDirectory

streams = [task_stream(table, n_tasks=4, seed=seed, name=f"yeast-{seed}") for seed in range(4)]
with TemporaryDirectory() as folder:
    runs = run_campaign(["NN_TL", "StreamRidge", "mean", "1NN"], streams, [0], folder, energy="cpu")

display = CriticalDifferenceDisplay.from_runs(runs)
print(dict(zip(display.names, display.ranks.tolist(), strict=True)))
plt.show()

# %%
# Accuracy against the energy of all four streams: CPU seconds times a stated power. The line joins the strategies that
# no other beats in both.
display = ParetoFrontDisplay.from_runs(runs)
print(display.front)
plt.show()
