"""
A scikit-learn search that respects masks
=========================================

Each task asks for labels of its own; those of other tasks are masked. A grid search that reads masked labels as absent
chooses the parameters of a learner that says no. With metadata routing scikit-learn cuts the mask as it cuts the rows,
and the score counts the cells that count.
"""

# %%
# Three tasks, each with two labels of six. The mask has a row for each row. Masked labels hold 0.
import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from estimators import OnlineNeuralClassifier
from metrics import ba_macro

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 8))
task = np.arange(3000) // 250 % 3
label_mask = np.repeat(np.eye(3, dtype=bool)[task], 2, axis=1)
Y = ((X @ rng.normal(size=(8, 6)) + rng.normal(size=(3000, 6)) > 1.5) & label_mask).astype(int)

# %%
# Rows of a stream must not be shuffled: `PredefinedSplit` learns the rows before 2,250 and scores those after.
is_validation = np.arange(3000) >= 2250
split = PredefinedSplit(np.where(is_validation, 0, -1))
grid = {"learning_rate": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0], "hidden_units": [5, 50, 500]}

# %%
# Learner and scorer both ask for `label_mask`. Without the mask, the same search reads masked cells as absent labels.
with sklearn.config_context(enable_metadata_routing=True):
    network = OnlineNeuralClassifier(targeted_loss="signature", random_state=0).set_fit_request(label_mask=True)
    score = make_scorer(ba_macro).set_score_request(label_mask=True)
    masked = GridSearchCV(network, grid, cv=split, scoring=score, refit=False).fit(X, Y, label_mask=label_mask)
plain = GridSearchCV(OnlineNeuralClassifier(random_state=0), grid, cv=split, scoring=make_scorer(ba_macro), refit=False)
searches = {"masked labels are left out": masked, "masked labels are absent": plain.fit(X, Y)}

# %%
# A star marks the choice. With the mask, good networks stand out from those that learn nothing. Without it, networks
# are taught, and expected, to say no to all labels that their task does not ask for: no score is much better than
# chance, and the choice means little.
shape = len(grid["hidden_units"]), len(grid["learning_rate"])
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7.5, 5.2), layout="constrained")
for axis, (name, search) in zip(axes, searches.items(), strict=True):
    scores = search.cv_results_["mean_test_score"].reshape(shape)
    image = axis.imshow(scores, cmap="cividis", vmin=0.5, vmax=0.9, aspect="auto")
    for (y, x), value in np.ndenumerate(scores):
        axis.text(x, y, f"{value:.2f}", ha="center", va="center", color="black" if value > 0.7 else "white")
    best = np.unravel_index(scores.argmax(), shape)
    axis.plot(best[1] + 0.3, best[0] - 0.28, "*", color="C1", markersize=18, markeredgecolor="black")
    axis.set(title=name, xticks=range(shape[1]), xticklabels=grid["learning_rate"])
    axis.set(yticks=range(shape[0]), yticklabels=grid["hidden_units"], ylabel="hidden units")
axes[1].set_xlabel("learning rate")
figure.colorbar(image, ax=axes, label="balanced accuracy")
plt.show()
for name, search in searches.items():
    print(f"{name:28}", search.best_params_)
