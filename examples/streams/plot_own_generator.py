"""
Your own generator
==================

Your question may need a stream that nobody has made yet. You draw a table, and name the column that tells the tasks
apart; the rest is there: visits, evaluation sets, a card, files, every metric.
"""

# %%
# Two years in a house. What is cold in July is warm in January: people heat, and open windows, when it is colder or
# warmer than usual for the season, and turn the light on when it is dark. Nothing but NumPy, and a seed, so that the
# function returns the same table each time.
import matplotlib.pyplot as plt
import numpy as np

from estimators import make_strategy
from mlstream import Dataset, evaluate
from mlstream.generators import scenario_stream
from mlstream.plotting import TransferMatrixDisplay

SEASONS = ("winter", "spring", "summer", "autumn")
USUAL, DAYLIGHT = np.array([2, 10, 20, 11]), np.array([8, 13, 16, 11])


def house(seed, n_rows=4000):
    """Draw hours of the year: season, temperature outside and hour; and what people do then."""
    rng = np.random.default_rng(seed)
    season, hour = rng.integers(0, 4, n_rows), rng.uniform(0, 24, n_rows)
    warmth = USUAL[season] + 4 * np.sin((hour - 9) * np.pi / 12) + rng.normal(0, 3, n_rows)
    X = np.column_stack([season, warmth, hour, np.cos(hour * np.pi / 12)])
    unusual = warmth - USUAL[season]
    Y = np.column_stack([unusual < -2, unusual > 2, np.abs(hour - 13) > DAYLIGHT[season] / 2])
    return Dataset(X, Y, ["season", "warmth", "hour", "cosine of hour"], ["heating", "window", "light"], name="house")


table = house(seed=0)
table

# %%
# Each season is a task, and comes twice.
stream = scenario_stream(table, "task-based", by="column", column="season", order=[0, 1, 2, 3] * 2, seed=0)
stream

# %%
# A look at the table: each season has thresholds of its own. Within a season, from left to right, are the hours.
figure, axis = plt.subplots(figsize=(7, 4.8), layout="constrained")
place = table.X[:, 0] + (table.X[:, 2] - 12) / 30
for label, colour in (("heating", "C1"), ("window", "C0")):
    is_on = table.Y[:, table.label_names.index(label)] == 1
    axis.scatter(place[is_on], table.X[is_on, 1], s=8, color=colour, label=label)
is_idle = table.Y[:, :2].sum(axis=1) == 0
axis.scatter(place[is_idle], table.X[is_idle, 1], s=4, color="0.8", label="neither")
axis.set(xticks=range(4), xticklabels=SEASONS, ylabel="degrees outside")
axis.legend(loc="upper left", markerscale=2)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A Hoeffding tree for each label. In the first year a season costs what was known of others: summer takes spring from
# 0.90 to 0.51. By autumn the trees have split by season, which is among the features, and from then on they forget
# little.
result = evaluate(make_strategy("BR_HT"), stream, energy="none")
TransferMatrixDisplay.from_result(result)
plt.show()
