"""Hoeffding adaptive trees as objects: each node has a window of River over its errors, and perhaps an alternate."""

import math
import random
from itertools import pairwise

from river.drift import ADWIN
from river.utils.random import poisson

from estimators.trees._kernels.adaptive_arrays import LEVEL_BYTES, MONITOR_BYTES
from estimators.trees._kernels.leaf_budget import NODE_BYTES
from tests.estimators.trees.kernels.slow_hoeffding import Node, SlowTree
from tests.estimators.trees.kernels.slow_observers import is_more

# rows from which on windows have room for so many levels: one has reached the last but two
ROOM_FOR_LEVELS = ((636, 10), (156, 8), (36, 6), (0, 4))


class MonitoredNode(Node):
    """A node with the mean of its errors and a window over them."""

    def __init__(self, delta, *rest):
        super().__init__(*rest)
        self.delta = delta
        self.start()

    def start(self):
        self.n_rows, self.error, self.alternate, self.window = 0, 0.0, None, ADWIN(delta=self.delta)

    def restart_error(self):
        self.n_rows, self.error = 0, 0.0

    def measure(self, wrong):
        """Add an error, and return 'falling' or 'rising' if the mean of the window has changed."""
        before = self.error
        self.n_rows += 1
        self.error += (wrong - self.error) / self.n_rows
        self.window.update(wrong)
        if not self.window.drift_detected:
            return None
        return "falling" if before > self.error else "rising"

    def is_wrong(self, code, guess):
        decides_by_bayes = self.active and self.bayes_hits >= self.majority_hits
        return int((guess if decides_by_bayes else self.majority()) != code)

    def scaled_votes(self, x):
        """Return the votes, over the square of the mean error where there is one."""
        votes = self.votes(x)
        factor = sum(votes.values()) * self.error**2
        return {code: vote / factor if factor > 0 else vote for code, vote in votes.items()}


class SlowAdaptiveTree(SlowTree):
    """A tree whose branches are replaced where an alternate leaf errs less."""

    def __init__(self, d, params, seed=None):
        self.all_params, self.rng = params, None if seed is None else random.Random(seed)  # noqa: S311 - as River
        self.replaced, self.longest, self.longest_before = [], 0, 0
        self.n_alternate = self.n_pruned = self.n_switched = 0
        super().__init__(d, params.tree)

    def new_leaf(self, depth, counts=()):
        return MonitoredNode(self.all_params.drift_delta, depth, self.draw_features(), counts)

    def votes(self, x):
        total, node = {}, self.root
        while node:
            voter, children = (node.alternate, node.children) if node.children else (node, None)
            for code, vote in voter.scaled_votes(x).items() if voter else ():
                total[code] = total.get(code, 0.0) + vote
            node = children[self.side(node, x)] if children else None
        whole = sum(total.values())
        return {code: vote / whole if whole > 0 else vote for code, vote in total.items()}

    def side(self, node, x):
        return 0 if x[node.feature] <= node.threshold else 1

    # ------------------------------------------------------------- learning
    def learn(self, x, code, weight):
        """Learn a row in all branches on its way, in their alternates, and in its leaf."""
        # Windows get room for more levels between two rows.
        leaf, above, node, self.longest_before = self.find(x), None, self.root, self.longest
        guess = leaf.guess(x)
        wrong = leaf.is_wrong(code, guess)
        while node.children:
            node.counts[code] = node.counts.get(code, 0.0) + weight
            self.watch(node, above, wrong)
            if node.alternate and self.learn_alternate(node, above, x, code, weight):
                guess = leaf.guess(x)
                wrong = leaf.is_wrong(code, guess)
            above, node = node, node.children[self.side(node, x)]
        if self.learn_leaf(leaf, x, code, weight, guess):
            self.keep_promising()
        self.replaced = []

    def measure(self, node, wrong):
        change = node.measure(wrong)
        if not change:
            self.longest = max(self.longest, node.window.width)
        return change

    def watch(self, branch, above, wrong):
        """Begin an alternate where errors rise, or compare the two."""
        change = self.measure(branch, wrong)
        if change:
            branch.restart_error()
        if change == "rising":
            branch.alternate = self.new_leaf(branch.depth)
            self.n_alternate += 1
        elif branch.alternate and min(branch.alternate.n_rows, branch.n_rows) > self.all_params.window:
            self.compare(branch, above)

    def compare(self, branch, above):
        alternate, error = branch.alternate, branch.error
        parts = 1 / alternate.n_rows + 1 / branch.n_rows
        bound = math.sqrt(2 * error * (1 - error) * self.all_params.log_significance * parts)
        if error - alternate.error > bound:
            self.n_switched += 1
            for node in self.below(branch):
                self.n_pruned += node.alternate is not None
                node.alternate = None
            self.replace(branch, above, alternate)
            # the alternate of the root, only, learns the row that puts it in its place
            branch.alternate = None if above else alternate
        elif alternate.error - error > bound:
            branch.alternate = None
            self.n_pruned += 1

    def below(self, branch):
        for child in branch.children:
            yield child
            yield from self.below(child)

    def replace(self, branch, above, node):
        """Put a node in the place of a branch, which learns the row to the end."""
        self.replaced.append(branch)
        if above is None:
            self.root = node
        else:
            above.children = [node if child is branch else child for child in above.children]

    def learn_alternate(self, branch, above, x, code, weight):
        """Learn in the alternate, which replaces the branch as soon as it splits; return whether it was ready."""
        alternate = branch.alternate
        ready = self.learn_leaf(alternate, x, code, weight, alternate.guess(x))
        if alternate.children and self.root is not alternate:
            self.replace(branch, above, alternate)
        if alternate.children or self.root is alternate:
            branch.alternate = None
        if ready:
            self.keep_promising()
        return ready

    def learn_leaf(self, leaf, x, code, weight, guess):
        """Learn a row as often as is drawn, and return whether the leaf was ready for a decision."""
        times = 1 if self.rng is None else max(poisson(1, rng=self.rng), 1)
        if self.measure(leaf, leaf.is_wrong(code, guess)) == "falling":
            leaf.restart_error()
        self.learn_in(leaf, x, code, weight * times, guess)
        if not leaf.active or leaf.weight - leaf.last_attempt < self.params.grace_period:
            return False
        if leaf.depth >= self.params.max_depth:
            leaf.stop()
            return False
        leaf.last_attempt = leaf.weight
        ready, feature, threshold = self.choose(leaf)
        if ready and feature is None:
            leaf.stop()
        elif ready:
            self.split(leaf, feature, threshold)
            leaf.observers = {}
            leaf.start()
        return ready

    # --------------------------------------------------------------- memory
    def nodes(self):
        """Yield all nodes, alternates and those that are replaced by this row too, each once."""
        waiting, seen = [self.root, *self.replaced], set()
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                waiting += [*node.children, *([node.alternate] if node.alternate else [])]

    def node_bytes(self):
        n_levels = next(levels for rows, levels in ROOM_FOR_LEVELS if self.longest_before >= rows)
        return NODE_BYTES + MONITOR_BYTES + n_levels * LEVEL_BYTES

    def keep_promising(self):
        allowed = self.allowed()
        if any(not leaf.active for leaf in self.leaves()) or self.n_observers() > allowed:
            self.keep(self.candidates(self.root), allowed)

    def keep(self, leaves, allowed):
        """Let leaves observe by promise, unless only the rounding decides between two."""
        for less, more in pairwise(sorted({leaf.promise for leaf in leaves})):
            is_more(more, less)
        super().keep(leaves, allowed)

    def candidates(self, branch):
        """Return leaves from the top down, without the alternate of the root if it has stopped."""
        if not branch.children:
            return [branch]
        found = [branch.alternate] if branch.alternate and (branch is not self.root or branch.alternate.active) else []
        found += [child for child in branch.children if not child.children]
        return found + [leaf for child in branch.children if child.children for leaf in self.candidates(child)]
