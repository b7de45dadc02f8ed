"""The protocol as a loop over rows, slow and plain: what everything faster is held against."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

N_LABELS = 5


def run_slowly(estimator, stream, label_space, k):
    """Give each row's (truth, decision, probability, mask), and R of balanced accuracy, RMSE and precision."""
    learner, learnt = clone(estimator), False
    seen, rows, R = set(), [], [measure(None, stream, set(), label_space, k)]
    for experience in stream.experiences:
        for i, task in enumerate(experience.task_ids.tolist()):
            x, y = experience.X[i : i + 1], experience.Y[i : i + 1]
            seen.add(task)
            decided = learner.predict(x)[0] if learnt else np.zeros(N_LABELS, int)
            proba = learner.predict_proba(x)[0] if learnt else np.zeros(N_LABELS)
            rows.append((y[0], decided, proba, counted(stream, task, seen, label_space)))
            told = {"label_mask": stream.tasks[task].signature} if getattr(learner, "uses_task", False) else {}
            learner.partial_fit(x, y, **told)
            learnt = True
        R.append(measure(learner, stream, seen, label_space, k))
    return rows, np.array(R).transpose(2, 0, 1)


def measure(learner, stream, seen, label_space, k):
    """Give a row of R: for each task its three scores."""
    scores, decisions = [], []
    for task, held_out in enumerate(stream.evaluation_sets):
        mask = counted(stream, task, seen | {task}, label_space)
        nothing = np.zeros((len(held_out), N_LABELS))
        decided = nothing.astype(int) if learner is None else learner.predict(held_out.X)
        proba = nothing if learner is None else learner.predict_proba(held_out.X)
        rows = [(y, d, p, mask) for y, d, p in zip(held_out.Y, decided, proba, strict=True)]
        decisions.append(decided)
        scores.append(score_slowly(rows, k)[1:])
    return [
        (accuracy_on_pool(stream, decisions, task, seen, label_space), *others) for task, others in enumerate(scores)
    ]


def accuracy_on_pool(stream, decisions, task, seen, label_space):
    """Give the balanced accuracy of a task's labels on all rows of its pool of evaluation sets, by scikit-learn."""
    pool = {"task": {task}, "seen": seen | {task}, "all": set(range(stream.n_tasks))}[label_space]
    accuracies = []
    for label in np.flatnonzero(stream.tasks[task].signature):
        truth = [y[label] for t in pool for y in stream.evaluation_sets[t].Y]
        decided = [d[label] for t in pool for d in decisions[t]]
        if len(set(truth)) == 2:
            accuracies.append(balanced_accuracy_score(truth, decided))
    return np.mean(accuracies) if accuracies else np.nan


def counted(stream, task, seen, label_space):
    """Say which labels count."""
    if label_space == "all":
        return np.ones(N_LABELS, bool)
    tasks = [task] if label_space == "task" else sorted(seen)
    return np.array([any(stream.tasks[t].signature[label] for t in tasks) for label in range(N_LABELS)])


def score_slowly(rows, k):
    """Give balanced accuracy by scikit-learn, label by label, and RMSE and precision@k row by row."""
    accuracies = []
    for label in range(N_LABELS):
        pairs = [(y[label], d[label]) for y, d, _, mask in rows if mask[label]]
        if len({truth for truth, _ in pairs}) == 2:
            accuracies.append(balanced_accuracy_score(*zip(*pairs, strict=True)))
    errors, precisions = [], []
    for y, _, proba, mask in rows:
        labels = [label for label in range(N_LABELS) if mask[label]]
        errors.append(np.sqrt(sum((proba[j] - y[j]) ** 2 for j in labels) / len(labels)))
        lowest = sorted(proba[j] for j in labels)[-k]
        above, tied = [j for j in labels if proba[j] > lowest], [j for j in labels if proba[j] == lowest]
        precisions.append((sum(y[above]) + (k - len(above)) * np.mean(y[tied])) / k)
    return np.mean(accuracies) if accuracies else np.nan, np.mean(errors), np.mean(precisions)
