"""MLSAMPkNN and MLSAkNN as loops over plain lists, written from the description of their steps."""

import math

import numpy as np


class Row:
    """A row of the window. Of two rows, only the same object is the same row."""

    def __init__(self, x, y, weight):
        self.x, self.y, self.weight, self.errors = np.array(x, dtype=float), list(y), weight, 0.0


class SlowWindow:
    """MLSAMPkNN: rows in a list, distances in a list of lists, histories by the position of their first row."""

    adaptive = False

    def __init__(self, n_labels, *, k=3, high=1000, low=50, penalty=1.0, reduction=0.5, hamming=False, faithful=False):
        self.n_labels, self.high, self.low, self.hamming, self.faithful = n_labels, high, low, hamming, faithful
        self.penalty, self.reduction = penalty, reduction
        self.ks = [k] * n_labels
        self.rows, self.distances, self.histories = [], [], {}
        self.votes = [[1] * n_labels for _ in range(high)]
        self.range = None

    # ------------------------------------------------------------------ steps
    def predict(self, x):
        """Return P(label = 1) for each label, None where nobody votes."""
        near = self.nearest([self.distance(x, row) for row in self.rows], 0)
        return [self.share_of(near, label) for label in range(self.n_labels)]

    def learn(self, x, y, weight=1.0):
        self.punish(x, y, weight)
        self.add(Row(x, y, weight if self.adaptive else 1.0))
        self.remove_misleading()
        self.adjust()

    def punish(self, x, y, weight):
        near = self.nearest([self.distance(x, row) for row in self.rows], 0)
        for label, value in enumerate(y):
            known = [p for p in near if value != 2 and self.rows[p].y[label] != 2]
            for p in known[: self.ks[label]]:
                self.rows[p].errors += self.rows[p].y[label] != value

    # ------------------------------------------------------------- neighbours
    def distance(self, x, row):
        if self.range is None:
            return 0.0
        span = self.range[1] - self.range[0]
        scale = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
        return math.sqrt(math.fsum(((row.x * scale - np.asarray(x) * scale) ** 2).tolist()))

    def nearest(self, distances, start):
        return sorted(range(start, len(distances)), key=lambda p: (distances[p], p))

    def voters(self, near, label):
        return [p for p in near if self.votes[p][label] and self.rows[p].y[label] != 2]

    def share_of(self, near, label):
        chosen = self.voters(near, label)[: self.ks[label]]
        if not chosen or (self.adaptive and self.faithful and len(chosen) < self.ks[label]):
            return None
        return self.share(chosen, label)

    def share(self, positions, label):
        total = sum(self.rows[p].weight for p in positions)
        return sum(self.rows[p].weight for p in positions if self.rows[p].y[label] == 1) / total

    # ----------------------------------------------------------------- window
    def add(self, row):
        zeros = np.zeros_like(row.x)
        low, high = self.range or (zeros, zeros)
        self.range = np.minimum(low, row.x), np.maximum(high, row.x)
        self.distances.append([self.distance(row.x, other) for other in self.rows])
        self.rows.append(row)
        self.votes[len(self.rows) - 1][:] = [1] * self.n_labels

    def remove_misleading(self):
        for row in [row for row in self.rows if row.errors > self.penalty * sum(v != 2 for v in row.y)]:
            self.remove(next(p for p, other in enumerate(self.rows) if other is row))

    def remove(self, p):
        old = self.distances
        # the authors leave the distances to rows before p in the place of the row that was there
        moved = [old[i if self.faithful else i + 1][:p] + old[i + 1][p + 1 :] for i in range(p, len(old) - 1)]
        self.distances = old[:p] + moved
        del self.rows[p]
        self.move_votes(p, len(self.rows), 1)
        if not self.faithful:
            self.histories = {
                start - (start > p): [score for i, score in enumerate(scores) if not (start <= p and start + i == p)]
                for start, scores in sorted(self.histories.items(), reverse=True)
            }

    def move_votes(self, first, size, by):
        """Move the votes of the rows behind those removed; the authors move references, so that some are shared."""
        if self.faithful:
            for p in range(first, size):
                self.votes[p] = self.votes[p + by]
        else:
            freed = self.votes[first : first + by]
            del self.votes[first : first + by]
            self.votes += freed

    def drop_oldest(self, n):
        self.rows = self.rows[n:]
        self.distances = [distances[n:] for distances in self.distances[n:]]
        self.move_votes(0, len(self.rows), n)

    # ------------------------------------------------------------------- size
    def adjust(self):
        sizes = [len(self.rows)]
        while sizes[-1] >= 2 * self.low:
            sizes.append(max(int(sizes[-1] * self.reduction), 1))
        size = self.best_of(sizes) if len(sizes) > 1 else sizes[0]
        surplus = len(self.rows) - size
        if surplus:
            self.histories = {start - surplus: h for start, h in self.histories.items() if start >= surplus}
            self.drop_oldest(surplus)
        if size == self.high:
            self.drop_oldest(1)
            if not self.faithful:
                self.histories = {max(start - 1, 0): h[start == 0 :] for start, h in self.histories.items()}

    def best_of(self, sizes):
        starts = [len(self.rows) - size for size in sizes]
        self.histories = {start: scores for start, scores in self.histories.items() if start in starts}
        means = []
        for start in starts:
            is_new = start not in self.histories
            scores = self.histories.setdefault(start, [])
            for p in range(start + len(scores), len(self.rows)):
                scores.append(self.score(start, p, is_new))
            means.append(sum(scores) / len(scores))
        return sizes[means.index(max(means))]

    def score(self, start, p, is_new):
        near, right, known = self.nearest(self.distances[p], start), 0, 0
        for label, value in enumerate(self.rows[p].y):
            if value == 2:
                continue
            known += 1
            k = self.ks[label] if self.faithful and not is_new else min(self.ks[label], p - start)
            chosen = self.voters(near, label)[:k]
            if self.faithful:
                chosen += [0] * (k - len(chosen))
            right += (bool(chosen) and self.share(chosen, label) >= 0.5) == (value == 1)
        return right / known if self.hamming else float(right == known)


class SlowAdaptiveWindow(SlowWindow):
    """MLSAkNN: in addition a k of each label, and rows that lose their votes and get them back."""

    adaptive = True

    def __init__(self, n_labels, *, history=1000, **options):
        super().__init__(n_labels, k=3, **options)
        self.history = history
        self.hits = [[[] for _ in range(4)] for _ in range(n_labels)]

    def nearest(self, distances, start):
        if start == 0 and len(distances) == len(self.rows):
            # predictions, not the scores of a window: the younger of equal ones first
            return sorted(range(len(distances)), key=lambda p: (distances[p], -p))
        return super().nearest(distances, start)

    def score(self, start, p, is_new):
        assert len(self.distances[p]) < len(self.rows)
        return super().score(start, p, is_new)

    def punish(self, x, y, weight):
        near = self.nearest([self.distance(x, row) for row in self.rows], 0)
        for label, value in enumerate(y):
            if value != 2:
                self.punish_votes(near, label, value, weight)

    def punish_votes(self, near, label, value, weight):
        seen, guesses, k = [], {}, self.ks[label]
        for p in near:
            if len(seen) == 7:
                break
            row = self.rows[p]
            if row.y[label] == 2:
                continue
            within = len(seen) < k
            if not self.votes[p][label]:
                if within and row.y[label] == value:
                    self.votes[p][label] = 1
                continue
            seen.append(p)
            if within and row.y[label] != value:
                self.votes[p][label] = 0
                row.errors = (int(row.errors) if self.faithful else row.errors) + weight
            guesses[len(seen)] = self.share(seen, label) >= 0.5
        by_all = guesses.get(len(seen), False) and not self.faithful
        for i, candidate in enumerate((1, 3, 5, 7)):
            hits = self.hits[label][i]
            hits.append(weight if guesses.get(candidate, by_all) == (value == 1) else 0.0)
            del hits[: -self.history]
        means = [sum(hits) / len(hits) for hits in self.hits[label]]
        self.ks[label] = 2 * means.index(max(means)) + 1
