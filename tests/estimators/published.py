"""The published synthetic streams, and the six scores printed for each learner on them."""

import json
from typing import NamedTuple

import numpy as np

from metrics import acc, stepwise_transfer

NAMES = ("monolab", "bilab", "rand")


class Published(NamedTuple):
    order: list[int]
    experiences: list[tuple[np.ndarray, np.ndarray]]
    evaluations: list[tuple[np.ndarray, np.ndarray]]
    masks: np.ndarray


class Answers(NamedTuple):
    Y: np.ndarray
    mask: np.ndarray
    decided: np.ndarray
    proba: np.ndarray
    R: np.ndarray


def load(shared_data, name, order=None):
    """Read a stream, in the supplement's order of tasks unless another is given."""
    folder = shared_data("osc-mlc")
    order = order or list(json.loads((folder / f"Orders/synthetic_{name}_random_task_based.json").read_text()).values())
    labels = json.loads((folder / f"Labels/synthetic_{name}_cluster_labels_task_based.json").read_text())
    masks = np.array([[f"L{j}" in labels[f"Cluster {t}"] for j in range(4)] for t in range(4)])
    experiences = [
        _table(folder / f"Experiences/synthetic_{name}_{task}_exp_{1 if task not in order[:s] else 2}.csv")
        for s, task in enumerate(order)
    ]
    evaluations = [_table(folder / f"Eval_set/synthetic_{name}_{task}_eval_set.csv") for task in range(4)]
    return Published(order, experiences, evaluations, masks)


def _table(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :4], table[:, 4:].astype(int)


def balanced_accuracy(Y, decided, mask):
    """River's rule up to 0.21: recalls of classes with support, over classes that occur at all, mean over labels."""
    scores = []
    for j in np.flatnonzero(mask.any(axis=0)):
        y, z = Y[mask[:, j], j], decided[mask[:, j], j]
        recalls = [np.mean(z[y == c] == c) for c in np.unique(y)]
        scores.append(sum(recalls) / len(np.union1d(y, z)))
    return np.mean(scores)


def test_then_train(learner, stream, *, told=False):  # noqa: PT028 - a procedure of that name, no test
    """Run a learner through a stream; R has its row of zeros before any learning, as published.

    A learner that is `told` gets the mask of the task when it learns.
    """
    R = np.zeros((len(stream.order) + 1, 4))
    masks, answers = [], []
    for s, (X, Y) in enumerate(stream.experiences):
        task = stream.masks[stream.order[s]]
        answers.append(learner.predict_then_fit(X, Y, label_mask=task) if told else learner.predict_then_fit(X, Y))
        masks.append(np.tile(task, (len(Y), 1)))
        for j, (X_test, Y_test) in enumerate(stream.evaluations):
            mask = np.tile(stream.masks[j], (len(Y_test), 1))
            R[s + 1, j] = balanced_accuracy(Y_test, learner.predict(X_test), mask)
    decided, proba = (np.vstack(part) for part in zip(*answers, strict=True))
    return Answers(np.vstack([Y for _, Y in stream.experiences]), np.vstack(masks), decided, proba, R)


def scores(answers, stream, *, half=False):
    """Return BA, ACC and the stepwise transfers BWT-, BWT+, FWT-, FWT+ in the published form.

    The published code neither rounds an output of exactly 0.5 up nor down while testing and training, and BA takes it
    for a class of its own: `half=True`, for learners whose outputs are no decisions.
    """
    decided = np.where(answers.proba == 0.5, 0.5, answers.decided) if half else answers.decided
    transfer = stepwise_transfer(answers.R, stream.order, baseline="zero")
    return [
        balanced_accuracy(answers.Y, decided, answers.mask),
        acc(answers.R, stream.order, when="mean"),
        *(transfer[name] for name in ("BWT-", "BWT+", "FWT-", "FWT+")),
    ]
