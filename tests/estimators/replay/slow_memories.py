"""Memories balanced by label, by task and by label set, as slow loops, written from the papers."""

from collections import Counter

import numpy as np

from estimators import PRSMemory
from estimators._kernels.randomness import advance, uniform
from estimators.replay.memories import chances


def label_sets(Y, *, count_empty):
    sets = [frozenset(np.flatnonzero(y == 1).tolist()) for y in Y]
    return [one or frozenset({-1} if count_empty else ()) for one in sets]


def softmax(values):
    weights = np.exp(np.array(values, dtype=float) - max(values))
    return weights / weights.sum()


def of_least(scores, chance, tolerance):
    """Return one of the keys with the least score: the first, or the one that the chance names."""
    ties = [key for key, score in scores.items() if score <= min(scores.values()) + tolerance]
    return ties[int((chance or 0) * len(ties))]


def shares(counts, rho):
    total = sum(n**rho for n in counts.values())
    return {c: n**rho / total for c, n in counts.items()}


def kullback_leibler(counts, p):
    total = sum(counts.values())
    return sum(n / total * np.log(n / total / p[c]) for c, n in counts.items() if n)


class Slow:
    """Slots with sets of labels, and rows of the stream by label."""

    def __init__(self, memory, n_chances):
        self.memory, self.slots, self.n_chances = memory, [], n_chances
        self.seen, self.p = {}, {}

    def plan(self, sets):
        planned = []
        for i, own in enumerate(sets):
            draws = self.memory.draws
            chance = chances(self.memory.seed_, np.array([i]), draws + self.n_chances)[0]
            n_held = len(self.slots)
            drawn = [int(c * n_held) if n_held > draws else -1 for c in chance[:draws]]
            slot = self.place(own, chance[draws:]) if own else -1
            planned.append((drawn, slot))
        return planned

    def keep(self, slot, own):
        if slot == len(self.slots):
            self.slots.append(own)
        elif slot >= 0:
            self.slots[slot] = own

    def held(self, slots=None):
        slots = self.slots if slots is None else slots
        return {c: sum(c in one for one in slots) for c in sorted(self.seen.keys() | frozenset().union(*slots))}

    def count(self, own):
        for c in own:
            self.seen[c] = self.seen.get(c, 0) + 1


class SlowPRS(Slow):
    def place(self, own, chance):
        slot = self._slot(own, chance)
        self.keep(slot, own)
        self.count(own)
        inside = {c: n for c, n in self.held().items() if n}
        self.p |= shares({c: self.seen[c] for c in inside}, self.memory.rho)
        return slot

    def _slot(self, own, chance):
        size = self.memory.size
        if len(self.slots) < size:
            return len(self.slots)
        labels = sorted(own)
        n = [self.seen.get(c, 0) for c in labels]
        enters = [min(1, self.p[c] * size / k) if k else 1 for c, k in zip(labels, n, strict=True)]
        if chance[0] >= softmax([-k for k in n]) @ enters:
            return -1
        inside = self.held()
        delta = {c: inside[c] - self.p[c] * sum(inside.values()) for c in inside}
        present = [c for c in inside if inside[c]]
        weights = np.cumsum(softmax([delta[c] for c in present]))
        y = present[min(int(np.searchsorted(weights, chance[1], side="right")), len(present) - 1)]
        wanted = {c for c in inside if delta[c] <= 0}
        with_y = [slot for slot, one in enumerate(self.slots) if y in one]
        most = max(len(wanted - self.slots[slot]) for slot in with_y)
        candidates = [slot for slot in with_y if len(wanted - self.slots[slot]) == most]
        distances = {slot: self._distance(slot) for slot in candidates}
        return of_least(distances, chance[2] if self.memory.ties == "random" else None, 1e-9)

    def _distance(self, removed):
        left = self.held([one for slot, one in enumerate(self.slots) if slot != removed])
        return sum(abs(n - self.p[c] * sum(left.values())) for c, n in left.items())


class SlowOCDM(Slow):
    def place(self, own, chance):
        self.count(own)
        self.p = shares(self.seen, self.memory.rho)
        size = self.memory.size
        slot = len(self.slots)
        if slot == size:
            divergences = {s: self.divergence(s, own) for s in range(size + 1)}
            slot = of_least(divergences, chance[0] if self.memory.ties == "random" else None, 1e-12)
        slot = -1 if slot == size else slot
        self.keep(slot, own)
        return slot

    def divergence(self, removed, own):
        left = self.held([one for slot, one in enumerate([*self.slots, own]) if slot != removed])
        return kullback_leibler(left, self.p)


def slow(memory):
    return SlowPRS(memory, 3) if isinstance(memory, PRSMemory) else SlowOCDM(memory, 1)


def task_loop(memory, tasks):
    """Return draws and slots of rows, with the rows of each task in a dictionary of its own."""
    slots, owner, planned = {}, {}, []
    task, n_rows, n_tasks = None, 0, 0
    for i, name in enumerate(tasks):
        *drawn, begins, place = chances(memory.seed_, np.array([i]), memory.draws + 2)[0]
        if name != task or n_rows == memory.task_rows:
            task, n_rows, n_tasks = name, 0, n_tasks + 1
            wanted = memory.size // n_tasks or int(begins < memory.size / n_tasks)
            state = np.uint64(begins * 2.0**53)
            while memory.size - len(owner) < wanted:
                state = np.uint64(advance(state))
                sizes = Counter(owner.values())
                largest = [s for s in sorted(owner) if sizes[owner[s]] == max(sizes.values())]
                del owner[largest[int(uniform(state) * len(largest))]]
            ready = sorted(owner)
            reserved = [s for s in range(memory.size) if s not in owner][:wanted]
        draws = [ready[int(c * len(ready))] if ready else -1 for c in drawn]
        nth = n_rows if n_rows < len(reserved) else int(place * (n_rows + 1))
        slot = reserved[nth] if nth < len(reserved) else -1
        if slot >= 0:
            slots[slot], owner[slot] = i, n_tasks
        n_rows += 1
        planned.append((draws, slot))
    return planned, slots, owner


def balanced_loop(learner, groups):
    """Return the rows in each slot after all rows, and after which rows the memory was learnt."""
    slots, learnt, n_new = [], [], 0
    tasks = [tuple(code > 1 for code in group) for group in groups]
    for i, group in enumerate(groups):
        if len(slots) < learner.size:
            slots.append(i)
        else:
            sizes, counts = Counter(tasks[row] for row in slots), Counter(groups[row] for row in slots)
            which, entry = chances(learner._seed, np.array([i]), 2)[0]
            enters = entry < learner.size / (i + 1)
            if not sizes[tasks[i]] and max(sizes.values()) == 1:
                # every row held is a task of its own: a reservoir
                if not enters:
                    continue
                largest = list(range(len(slots)))
            else:
                task = min(sizes, key=lambda name: (-sizes[name], name))
                even = sizes[tasks[i]] + 1 >= sizes[task]
                task = tasks[i] if even else task
                most = max(counts[groups[row]] for row in slots if tasks[row] == task)
                if even and counts[group] + 1 >= most and not (counts[group] == 0 and enters):
                    continue
                largest = [slot for slot, row in enumerate(slots) if tasks[row] == task and counts[groups[row]] == most]
            slots[largest[int(which * len(largest))]] = i
        n_new += 1
        if n_new >= learner.share * len(slots):
            learnt.append((i, list(slots)))
            n_new = 0
    return slots, learnt
