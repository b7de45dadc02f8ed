"""Streams for trees, and compiled trees compared with trees of objects, place by place."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import SKIP, TreeParams
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, NONE, PRECISION, SQUARES

N_CLASSES = 3
# parts of a quarter: weights of rows are multiples of a half, and never add up to it
GRACE_PERIODS = (2.25, 9.25, 20.25)
DEPTHS = st.sampled_from((100, 100, 100, 0, 1, 2))


def params_of(max_bytes):
    """Draw parameters of growth."""
    grace, delta = st.sampled_from(GRACE_PERIODS), st.sampled_from((0.9, 0.3, 1e-3))
    return st.builds(TreeParams, grace, delta, st.sampled_from((0.3, 0.0, 0.8)), DEPTHS, max_bytes)


@st.composite
def rows(draw, n_columns, max_rows=160, widths=(3, 1, 2, 10), *, min_rows=1):
    """Draw features, codes of which the first column changes its sides in the middle, and weights or none."""
    n, d = draw(st.integers(min_rows, max_rows)), draw(st.sampled_from(widths))
    rng = np.random.default_rng(draw(st.integers(0)))
    X = rng.random((n, d)) + draw(st.sampled_from((0.0, -0.5)))
    noise, edge = draw(st.sampled_from((0.05, 0.5))), draw(st.sampled_from((0.5, 0.995)))
    codes = np.empty((n, n_columns), np.int64)
    for k in range(n_columns):
        seen = X[:, k % d] - X.min() + noise * (rng.random(n) - 0.5)
        codes[:, k] = (seen > edge) + (rng.random(n) < 0.1) * (edge < 0.9)
    codes[n // 2 :, 0] = (codes[n // 2 :, 0] + 1) % draw(st.integers(2, N_CLASSES))
    codes[rng.random(codes.shape) < draw(st.sampled_from((0.0, 0.2)))] = SKIP
    # columns that never vary, that are tiny or huge, that equal others
    X = X * rng.choice(draw(st.sampled_from(((1.0,), (1.0, 0.0), (1.0, 1e-30, 1e30, 1e10)))), d)
    X = X[:, rng.integers(0, d, d)] if draw(st.booleans()) else X
    weights = rng.choice((1.0, 0.0, 2.5, 0.5), n if draw(st.booleans()) else 0)
    return np.ascontiguousarray(X), codes, weights


def chunks(n, size):
    """Return slices of so many rows."""
    return [slice(start, stop) for start, stop in pairwise([*range(0, n, size), n])]


def expected_votes(votes):
    """Return the votes of a slow tree as a row."""
    return [votes.get(code, 0.0) for code in range(N_CLASSES)]


def chain(links, place):
    """Return the places of a list, from each of which a link leads to the next one."""
    places = []
    while place != NONE:
        places.append(int(place))
        place = links[place]
    return places


def assert_same_observer(arrays, o, observer):
    moments, varies = arrays.moments[o], observer.variance > 0
    assert arrays.observers[o]["weight"] == observer.weight
    assert moments[LOWEST].tolist() == observer.low.tolist()
    assert moments[HIGHEST].tolist() == observer.high.tolist()
    np.testing.assert_allclose(moments[MEAN], observer.mean, rtol=1e-9, atol=1e-12 * np.abs(observer.high).max())
    assert (moments[PRECISION] > 0).tolist() == varies.tolist()
    np.testing.assert_allclose(moments[PRECISION][varies], 0.5 / observer.variance[varies], rtol=1e-6)
    expected = observer.variance * (observer.weight - 1)
    np.testing.assert_allclose(moments[SQUARES][varies], expected[varies], rtol=1e-6)


def assert_same_node(arrays, i, node, used, same_observer=assert_same_observer):
    """Compare a node with its twin, and what is below; note the places in use."""
    ours = arrays.nodes[i]
    stats = chain(arrays.stats["next"], ours["stats"])
    observers = chain(arrays.observers["next"], ours["observers"])
    used.append((int(i), stats, observers))
    assert arrays.stats["code"][stats].tolist() == list(node.counts)
    np.testing.assert_allclose(arrays.stats["weight"][stats], list(node.counts.values()), atol=1e-9)
    assert arrays.observers["code"][observers].tolist() == list(node.observers)
    for o, observer in zip(observers, node.observers.values(), strict=True):
        same_observer(arrays, o, observer)
    if len(arrays.subsets):
        assert arrays.subsets[i].tolist() == node.features
    assert ours["depth"] == node.depth
    assert (ours["feature"] == NONE) == (not node.children)
    if node.children:
        assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
        for side, child in zip(("left", "right"), node.children, strict=True):
            assert_same_node(arrays, ours[side], child, used, same_observer)
    else:
        assert (ours["majority_hits"], ours["bayes_hits"]) == (node.majority_hits, node.bayes_hits)
        assert ours["active"] == node.active
        np.testing.assert_allclose([ours["weight"], ours["last_attempt"]], [node.weight, node.last_attempt], atol=1e-9)


def assert_every_place_is_used_once(arrays, used_by_tree):
    """Compare the numbers of places in each tree, and see that the others are free."""
    for t, used in enumerate(used_by_tree):
        counts = [len(used), sum(len(stats) for _, stats, _ in used), sum(len(seen) for _, _, seen in used)]
        assert counts == [arrays.trees[t][name] for name in ("n_nodes", "n_stats", "n_observers")]
    free, used = arrays.free[0], [place for tree in used_by_tree for place in tree]
    in_use = [i for i, _, _ in used], [s for _, stats, _ in used for s in stats], [o for *_, seen in used for o in seen]
    kinds = (("node", arrays.nodes, "left"), ("stat", arrays.stats, "next"), ("observer", arrays.observers, "next"))
    for (name, places, link), those in zip(kinds, in_use, strict=True):
        unused = chain(places[link], free[name])
        assert sorted(those + unused) == list(range(len(places)))
        assert len(unused) == free[f"n_{name}s"]


def assert_same_trees(arrays, slow, same_observer=assert_same_observer):
    """Compare trees with their twins; None has no root."""
    used_by_tree = [[] for _ in slow]
    for t, (tree, used) in enumerate(zip(slow, used_by_tree, strict=True)):
        root = arrays.trees[t]["root"]
        assert (root == NONE) == (tree is None)
        if tree is not None:
            assert_same_node(arrays, root, tree.root, used, same_observer)
            assert arrays.trees[t]["n_inactive"] == sum(not leaf.active for leaf in tree.leaves())
    assert_every_place_is_used_once(arrays, used_by_tree)
