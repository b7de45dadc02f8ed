"""
Labels that emerge
==================

A stream may start with three labels and end with thirty. ``emerging_labels_stream`` makes such a stream of any
multi-label table: a label occurs in no row before it emerges, and stays from then on.
"""

# %%
# A table of thirty labels, and a stream in which three emerge at a time.
from sklearn.datasets import make_multilabel_classification

from mlstream import Dataset, evaluate
from mlstream.generators import emerging_labels_stream

X, Y = make_multilabel_classification(6000, n_features=20, n_classes=30, allow_unlabeled=False, random_state=0)
features = tuple(f"x{column}" for column in range(20))
table = Dataset(X, Y.astype("uint8"), features, tuple(f"label {number}" for number in range(30)), name="thirty")
stream = emerging_labels_stream(table, first_labels=3, labels_per_task=3)

for experience in stream:
    print(f"{len(experience):5} rows, {experience.label_mask.sum():2} labels have emerged")

# %%
# The card states the experience in which each label emerges.
print(dict(zip(stream.card.label_names, stream.card.scenario.emergence, strict=True)))

# %%
# Each experience has an evaluation set of the labels that had emerged by then: row k of R is measured after experience
# k, and column j is the evaluation set of task j. Later labels are truly absent from earlier evaluation sets.
import matplotlib.pyplot as plt

from estimators.strategies import make_strategy
from mlstream.plotting import TransferMatrixDisplay

result = evaluate(make_strategy("StreamRidge"), stream, label_space="seen", energy="none")
TransferMatrixDisplay.from_result(result, vmin=0.5, vmax=1)
plt.show()
