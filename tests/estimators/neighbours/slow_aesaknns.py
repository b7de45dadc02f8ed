"""AESAKNNS as loops over plain lists, written from the description of its steps; ADWIN keeps every number."""

import math

import numpy as np

from tests.estimators.neighbours.slow_self_adjusting import Row, SlowAdaptiveWindow


class SlowDetector:
    """ADWIN, on numbers: buckets are lists of numbers, levels are lists of buckets, oldest first."""

    def __init__(self, delta=0.002):
        self.delta, self.levels, self.n_ticks = delta, [], 0

    def numbers(self):
        return [number for level in reversed(self.levels) for bucket in level for number in bucket]

    def mean(self):
        numbers = self.numbers()
        return sum(numbers) / len(numbers) if numbers else 0.0

    def add(self, number):
        self.insert(0, [number])
        self.n_ticks += 1
        changed = False
        while self.n_ticks % 32 == 0 and len(self.numbers()) > 10 and self.has_cut():
            changed = True
            del self.levels[-1][0]
            if not self.levels[-1]:
                del self.levels[-1]
        return changed

    def insert(self, level, bucket):
        if level == len(self.levels):
            self.levels.append([])
        self.levels[level].append(bucket)
        if len(self.levels[level]) == 6:
            first, second = self.levels[level][:2]
            del self.levels[level][:2]
            self.insert(level + 1, first + second)

    def has_cut(self):
        numbers, edge = self.numbers(), 0
        n, log = len(numbers), math.log(2 * math.log(len(numbers)) / self.delta)
        for level in reversed(self.levels):
            for bucket in level:
                edge += len(bucket)
                if edge >= 5 and n - edge >= 5:
                    m = 1 / (edge - 4) + 1 / (n - edge - 4)
                    bound = math.sqrt(2 * m * np.var(numbers) * log) + 2 / 3 * log * m
                    if abs(np.mean(numbers[:edge]) - np.mean(numbers[edge:])) > bound:
                        return True
        return False


class SlowMember:
    """MLSAkNN on some features, its detector and its faded scores."""

    def __init__(self, ensemble, seed):
        self.ensemble, self.rng = ensemble, np.random.RandomState(seed)
        self.features = ensemble.features or ensemble.draw_features(self.rng)
        self.start()

    def start(self, ranges=None):
        self.window = SlowAdaptiveWindow(self.ensemble.n_labels, **self.ensemble.options)
        self.window.range = ranges
        self.detector, self.subset, self.hamming, self.rows = SlowDetector(), 0.0, 0.0, 0.0

    def product(self):
        return self.subset / self.rows * self.hamming / self.rows if self.rows else math.nan

    def predict(self, x):
        return self.window.predict(x[self.features])

    def learn(self, x, y, weight, *, active):
        """Learn a row, and return whether the member has started again."""
        x, restarts = x[self.features], False
        for _ in range(2 if active and self.ensemble.faithful else 1):
            shares = self.window.predict(x)
            self.window.punish(x, y, weight)
        self.count(shares, y)
        if active and self.watch(shares, y):
            self.start(self.window.range)
            self.keep(x, y, weight)
            restarts = True
        times = self.rng.poisson(1.0)
        if times:
            self.keep(x, y, weight * times)
        return restarts

    def keep(self, x, y, weight):
        self.window.add(Row(x, y, weight))
        self.window.remove_misleading()
        self.window.adjust()

    def count(self, shares, y):
        decided = [self.ensemble.faithful if share is None else share >= 0.5 for share in shares]
        right = [d == (v == 1) for d, v in zip(decided, y, strict=True) if v != 2]
        self.subset = 0.995 * self.subset + all(right)
        self.hamming = 0.995 * self.hamming + sum(right) / len(right)
        self.rows = 0.995 * self.rows + 1

    def watch(self, shares, y):
        before = self.detector.mean()
        errors = [int((s is not None and s > 0.5) != (v == 1)) for s, v in zip(shares, y, strict=True) if v != 2]
        changed = [self.detector.add(error) for error in errors]
        return any(changed) and self.detector.mean() > before


class SlowEnsemble:
    """Members that vote, and members in the background."""

    def __init__(self, shape, n_members, subspace, phase, seed, **options):
        self.n_features, self.n_labels = shape
        self.n_members, self.subspace, self.phase, self.options = n_members, subspace, phase, options
        self.faithful = options["faithful"]
        self.rng = np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1))
        self.features = self.draw_features(self.rng) if self.faithful else None
        self.members, self.background = self.new_members(), self.new_members()
        self.t, self.begun = 0, 0
        self.n_restarts = self.n_exchanged = 0

    def new_members(self):
        return [SlowMember(self, seed) for seed in self.rng.randint(2**31 - 1, size=self.n_members)]

    def draw_features(self, rng):
        d, share = self.n_features, self.subspace
        size = math.floor(share * d + (1 - share) * d * 0.5 * rng.normal() + 0.5)
        return sorted(rng.permutation(d)[: min(max(size, 1), d)].tolist())

    def predict(self, x):
        by_member = [member.predict(x) for member in self.members]
        proba = []
        for label in range(self.n_labels):
            shares = [votes[label] for votes in by_member if votes[label] is not None]
            proba.append(sum(shares) / len(shares) if shares else 0.5 * self.faithful)
        return proba

    def learn(self, x, y, weight=1.0):
        self.t += 1
        for member in self.members:
            if member.learn(x, y, weight, active=True):
                self.n_restarts += 1
                if self.begun is None:
                    self.begun = self.t
                    self.background = None
        if self.begun is None:
            return
        if self.background is None:
            self.background = self.new_members()
        for member in self.background:
            member.learn(x, y, weight, active=False)
        if self.t - self.begun == self.phase:
            self.exchange()

    def exchange(self):
        for newcomer in self.background:
            worst, least = None, math.inf
            for j, member in enumerate(self.members):
                if member.product() < least:
                    worst, least = j, member.product()
            if newcomer.product() > least:
                newcomer.detector = SlowDetector()
                self.members[worst] = newcomer
                self.n_exchanged += 1
        self.begun = None
