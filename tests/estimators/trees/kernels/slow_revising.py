"""Extremely fast decision trees as objects: branches keep every row that passes, too, and look for better splits."""

import math
from enum import Enum, auto

from tests.estimators.trees.kernels.slow_hoeffding import Node, SlowTree, best_of
from tests.estimators.trees.kernels.slow_observers import Observer, is_due, is_more


class Change(Enum):
    """Change that a branch needs."""

    NOTHING = auto()
    NEW_THRESHOLD = auto()
    NEW_FEATURE = auto()
    NO_SPLIT = auto()
    # no feature can be split, so nothing can be said
    UNKNOWN = auto()


class RevisedNode(Node):
    """A node that ranks the splits of its features; it was born with the weights of the classes that it starts with."""

    def ranked(self):
        """Return the best feature, None without any, its split, and the best merit of each feature."""
        splits = [self.splits(f) for f in range(len(self.features))]
        merits = [max(split.merit for split in own) for own in splits]
        best = best_of([split for own in splits for split in own]).merit
        feature = max(f for f, merit in enumerate(merits) if merit == best)
        first = next(split for split in splits[feature] if split.merit == best)
        return (None if best == -math.inf else feature), first, merits

    def start_as_leaf(self):
        """Forget the split and the right guesses; the classes and the observers stay."""
        self.feature, self.threshold, self.children = None, None, ()
        self.last_attempt = self.majority_hits = self.bayes_hits = 0.0


class SlowRevisingTree(SlowTree):
    """A tree that splits as soon as a split helps, and revises the splits on the way of each row."""

    def new_leaf(self, depth, counts=()):
        return RevisedNode(depth, self.draw_features(), counts)

    def branches(self, x):
        """List the branches on the way of a row, from the root down."""
        found, node = [], self.root
        while node.children:
            found.append(node)
            node = node.children[0 if x[node.feature] <= node.threshold else 1]
        return found

    # ------------------------------------------------------------- learning
    def learn(self, x, code, weight):
        """Learn a row in its leaf and in the branches above; change the first that needs it, or what is below."""
        branches, leaf = self.branches(x), self.find(x)
        self.learn_in(leaf, x, code, weight, leaf.guess(x))
        # the change of the node below a threshold that has just moved is lost
        lost = False
        for branch in branches:
            change, threshold = Change.NOTHING, None
            if self.observe(branch, x, code, weight):
                change, threshold = self.needed(branch)
            if change == Change.UNKNOWN:
                return
            if change in (Change.NEW_FEATURE, Change.NO_SPLIT):
                self.rebuild(branch, None if lost else change)
                return
            lost = change == Change.NEW_THRESHOLD and not lost
            if lost:
                branch.threshold, branch.last_attempt = threshold, branch.weight
        self.grow_leaf(leaf, lost=lost)

    def observe(self, branch, x, code, weight):
        """Count and observe a row in a branch, unless memory did not suffice before; return whether to revise it."""
        if not branch.active:
            return False
        branch.counts[code] = branch.counts.get(code, 0.0) + weight
        if code not in branch.observers:
            if self.n_observers() + 1 > self.allowed():
                branch.stop()
                return False
            branch.observers[code] = Observer()
        branch.observers[code].add(x, weight)
        return is_due(branch.weight, branch.last_attempt, self.params.min_samples_reevaluate, born=branch.depth)

    def needed(self, branch):
        """Compare the split of a branch with the best one, and that with none; return the change, and the threshold."""
        if sum(weight > 0 for weight in branch.counts.values()) < 2:
            return Change.NOTHING, None
        bound = self.bound(branch)
        feature, split, merits = branch.ranked()
        own, change = merits[branch.feature], Change.NOTHING
        if feature is None:
            change = Change.UNKNOWN
        elif is_more(-split.merit, bound):
            change = Change.NO_SPLIT
        elif own > -math.inf and (is_more(split.merit - own, bound) or bound < self.params.tau):
            change = Change.NEW_THRESHOLD if feature == branch.feature else Change.NEW_FEATURE
        return change, split.threshold

    def rebuild(self, branch, change):
        """Make a leaf of a branch, and a branch with new leaves of that if another feature is better."""
        if change:
            branch.start_as_leaf()
        if change == Change.NEW_FEATURE:
            self.split_best(branch)
        self.keep_promising()

    def split_best(self, leaf):
        feature, split, _ = leaf.ranked()
        self.split(leaf, feature, split.threshold)
        leaf.last_attempt = leaf.weight

    def grow_leaf(self, leaf, *, lost):
        """Split a leaf if its best split gains more than Hoeffding's bound, once in a grace period."""
        if not leaf.active:
            return
        if leaf.depth >= self.params.max_depth:
            leaf.stop()
        elif is_due(leaf.weight, leaf.last_attempt, self.params.grace_period, born=leaf.depth):
            leaf.last_attempt = leaf.weight
            self.try_to_split(leaf, lost=lost)

    def try_to_split(self, leaf, *, lost):
        present = [weight for weight in leaf.counts.values() if weight > 0]
        if len(present) < 2:
            return
        pure = is_more(max(present) / leaf.weight, self.params.max_share_to_split)
        feature, split, _ = (None, None, None) if pure else leaf.ranked()
        bound = self.bound(leaf)
        if feature is None:
            leaf.stop()
        elif is_more(split.merit, bound) or bound < self.params.tau:
            if not lost:
                self.split_best(leaf)
            self.keep_promising()

    # --------------------------------------------------------------- memory
    def keep(self, leaves, allowed):
        """Share what memory is left beside the observers of branches."""
        super().keep(leaves, allowed - sum(len(node.observers) for node in self.nodes() if node.children))
