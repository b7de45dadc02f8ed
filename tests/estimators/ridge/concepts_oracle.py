"""Concepts of a drifting stream by slow loops: every model is fitted again on explicitly weighted rows.

It follows a ridge regression without hinges and units whose coefficients are computed after every row.
"""

from itertools import combinations

import numpy as np

RATE, SHARE, MARGIN, MEMORY, PRIOR = 2.0, 0.002, 0.02, 50.0, 5.0


def fit(F, Y, mask, weight, l2=1.0):
    """Return coefficients (n_features + 1, n_labels) and prevalence, label by label."""
    total = weight.sum()
    mean = weight @ F / total
    deviation = np.sqrt(weight @ F**2 / total - mean**2)
    Z = (F - mean) / deviation
    system = (Z * weight[:, np.newaxis]).T @ Z / total + np.eye(F.shape[1]) * l2 * F.shape[1] / total
    coef, prevalence = np.zeros((F.shape[1] + 1, Y.shape[1])), np.zeros(Y.shape[1])
    for label in range(Y.shape[1]):
        w = weight * mask[:, label]
        if w.sum():
            prevalence[label] = w @ Y[:, label] / w.sum()
            label_mean = w @ F / w.sum()
            covariance = (w * Y[:, label]) @ F / w.sum() - label_mean * prevalence[label]
            coef[1:, label] = np.linalg.solve(system, covariance / deviation) / deviation
            coef[0, label] = prevalence[label] - label_mean @ coef[1:, label]
    return coef, prevalence


class SlowExpert:
    """Rows with weights, and the model that was last fitted to them."""

    def __init__(self, weight, due, model=None):
        self.weight, self.due, self.model = weight, due, model

    @property
    def n_rows(self):
        return int((self.weight > 0).sum())


class SlowConcepts:
    """Features F without the constant, labels and masks of all rows; `learn` takes them one after the other."""

    def __init__(self, F, Y, mask, max_stored=4):
        self.F, self.Y, self.mask, self.max_stored = F, Y, mask, max_stored
        n_labels = Y.shape[1]
        self.recent, self.current, self.is_new, self.stored = SlowExpert(self.first(50), 150), None, False, []
        self.late = np.zeros((2, n_labels))
        self.facts = [self.new_facts(1.0, n_labels), self.new_facts(0.0, n_labels)]
        self.n, self.events = 50, []

    def first(self, n):
        return (np.arange(len(self.F)) < n).astype(float)

    @staticmethod
    def new_facts(weight, n_labels):
        return {"weight": weight, "evidence": 0.0, "span": 0, "gain": 0.0, "errors": np.zeros(n_labels)}

    def fit(self, expert):
        return fit(self.F, self.Y, self.mask, expert.weight)

    def everything(self):
        expert = SlowExpert(self.first(self.n), 0)
        expert.model = self.fit(expert)
        return expert

    def experts(self):
        return [self.recent, *([self.current] if self.current else []), *self.stored]

    def models(self):
        coef_all, prevalence_all = self.everything().model
        coefs = [coef_all]
        for expert in self.experts():
            coef = coef_all.copy()
            if expert.model:
                for label in range(self.Y.shape[1]):
                    if expert.weight @ self.mask[:, label] >= 50:
                        coef[:, label] = expert.model[0][:, label]
                        coef[0, label] += prevalence_all[label] - expert.model[1][label]
            coefs.append(coef)
        return coefs, prevalence_all

    def scores(self, F):
        """Return the mixture's scores of rows that follow."""
        parts = [
            fact["weight"] * (coef[0] + F @ coef[1:]) for fact, coef in zip(self.facts, self.models()[0], strict=True)
        ]
        return sum(parts)

    def learn(self, until):
        while self.n < until:
            self.compare(self.n)
            self.recent.weight = self.recent.weight * 0.5 ** (1 / 250)
            self.recent.weight[self.n] = 1.0
            if self.current:
                self.current.weight[self.n] = 1.0
            self.n += 1
            self.change()
            self.refit()

    def compare(self, row):
        coefs, prevalence = self.models()
        counted = np.flatnonzero(self.mask[row])
        losses = []
        for fact, coef in zip(self.facts, coefs, strict=True):
            loss = 0.0
            for label in counted:
                rows = self.late[0, label] + PRIOR
                share = (self.late[1, label] + PRIOR * prevalence[label]) / rows
                share = min(max(share, 0.01), 0.99)
                score = min(max(coef[0, label] + self.F[row] @ coef[1:, label], -1.0), 2.0)
                error = score - self.Y[row, label]
                own_class = share if self.Y[row, label] else 1 - share
                loss += 0.5 / own_class * (error - fact["errors"][label] / rows) ** 2 / len(counted)
                fact["errors"][label] = fact["errors"][label] * (1 - 1 / MEMORY) + error
            losses.append(loss)
        for label in counted:
            self.late[:, label] = self.late[:, label] * (1 - 1 / MEMORY) + [1.0, self.Y[row, label]]
        weights = np.array([fact["weight"] for fact in self.facts]) * np.exp(-RATE * np.array(losses))
        weights = (1 - SHARE) * weights / weights.sum() + SHARE / len(weights)
        standard = 2 if self.current else 0
        for place, (fact, loss, weight) in enumerate(zip(self.facts, losses, weights, strict=True)):
            margin = MARGIN if place == 1 or not self.current else 0.0
            saved = RATE * (losses[standard] * (1 - margin) - loss)
            fact["weight"], fact["gain"] = weight, fact["gain"] + saved
            fact["evidence"], fact["span"] = fact["evidence"] + saved, fact["span"] + 1
            if fact["evidence"] <= 0:
                fact["evidence"], fact["span"] = 0.0, 0

    def change(self):
        rivals = [] if self.current and self.current.n_rows < 100 else [1]
        rivals += range(3, len(self.facts))
        if not rivals:
            return
        best = max(rivals, key=lambda place: self.facts[place]["evidence"])
        if self.facts[best]["evidence"] <= 8:
            return
        shown = np.zeros(len(self.F))
        shown[max(0, self.n - min(self.facts[best]["span"], 300)) : self.n] = 1.0
        same = best > 1 and self.is_new and self.facts[best]["gain"] > 0
        whole = self.current.weight if self.current else self.first(self.n)
        kept = list(zip(self.stored, self.facts[3:], strict=True))
        kept = [(expert, fact) for expert, fact in kept if fact is not self.facts[best]]
        if same:
            shown = whole
        elif (whole - shown > 0).sum() >= 100:
            closed = SlowExpert(whole - shown, np.inf)
            closed.model = self.fit(closed)
            kept.append((closed, self.facts[2 if self.current else 0]))
        if best == 1:
            self.current = SlowExpert(shown, 0)
        else:
            self.current = SlowExpert(self.stored[best - 3].weight + shown, 0, self.stored[best - 3].model)
        self.events.append("begin" if best == 1 else "merge" if same else "recall")
        self.is_new = best == 1
        if len(kept) > self.max_stored:
            kept = self.merged(kept)
        chosen = [self.facts[0], self.facts[1], self.facts[best], *(fact for _, fact in kept)]
        self.stored = [expert for expert, _ in kept]
        self.facts = [{**self.new_facts(fact["weight"], 0), "errors": fact["errors"].copy()} for fact in chosen]
        self.facts[2]["weight"] = max(fact["weight"] for fact in self.facts)
        total = sum(fact["weight"] for fact in self.facts)
        for fact in self.facts:
            fact["weight"] /= total

    def merged(self, kept):
        rows = np.hstack([np.ones((self.n, 1)), self.F[: self.n]])

        def loss(pair):
            (one, _), (other, _) = pair
            difference = rows @ (one.model[0] - other.model[0])
            return (difference**2).sum() * one.n_rows * other.n_rows / (one.n_rows + other.n_rows)

        (one, fact), (other, _) = min(combinations(kept, 2), key=loss)
        both = SlowExpert(one.weight + other.weight, np.inf)
        both.model = self.fit(both)
        return [pair for pair in kept if pair[0] is not one and pair[0] is not other] + [(both, fact)]

    def refit(self):
        if self.n >= self.recent.due:
            self.recent.model, self.recent.due = self.fit(self.recent), self.n + 50
        if self.current and self.current.n_rows >= self.current.due:
            self.current.model = self.fit(self.current)
            self.current.due = self.current.n_rows + max(1, int(0.2 * self.current.n_rows))
