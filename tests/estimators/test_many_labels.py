"""Memory grows in proportion to labels, for every strategy: counted in bytes, not in time."""

import gc
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from estimators import ClassifierChain, HoeffdingTreeClassifier, make_strategy
from tests.estimators.instances import HERE
from tests.loops import check_all, in_two_tiers

# a chain has all labels before one as its features
QUADRATIC = {"CC_HT"}
# the memory of regressions over environments does not depend on the number of steps
FEWER = {key: {"max_iter": 1} for key in ("ERM", "IRM", "V-REx", "GroupDRO")}
# thousands of models of other packages: a minute each, for memory that is theirs
OF_OTHERS = {"BR_PA", "BR_SGD", "River_ARF", "River_HT"}
# these take half a second or more for a thousand labels
COSTLY = ("AESAKNNS", "BR_HAT", "ContextWindow", "GDumb", *FEWER)
N_ROWS = 8
N_LABELS = 1000


def table(n_labels, n_features=4):
    """Draw rows of three labels each."""
    rng = np.random.default_rng(0)
    Y = np.zeros((N_ROWS, n_labels), dtype=np.uint8)
    for row in Y:
        row[rng.choice(n_labels, 3, replace=False)] = 1
    return rng.random((N_ROWS, n_features)), Y


def learnt(name, n_labels):
    """Return a learner that has learnt some rows, tested first, and predicts."""
    X, Y = table(n_labels)
    learner = make_strategy(name, random_state=0, **FEWER.get(name, {})).partial_fit(X[:2], Y[:2])
    learner.predict_then_fit(X[2:], Y[2:])
    learner.predict_proba(X)
    return learner


def bytes_for(name, n_labels):
    """Return the size of a learner that has learnt some rows, and the peak of memory on the way."""
    tracemalloc.start()
    learner = learnt(name, n_labels)
    gc.collect()  # errors and their tracebacks stay until a collection, which comes by chance
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert learner.n_labels_ == n_labels
    return size, peak


@in_two_tiers([*sorted(set(HERE) - QUADRATIC - OF_OTHERS - set(COSTLY)), *COSTLY], n_fast=5)
def test_twice_the_labels_take_twice_the_memory(cases):
    def check(name):
        # what is compiled, or imported, at the first call does not count
        learnt(name, 10)
        size, peak = bytes_for(name, N_LABELS)
        # what else the process takes meanwhile counts, too: the least of some measurements is nearest to the learner's
        larger = np.full(2, np.inf)
        for _ in range(3):
            larger = np.minimum(larger, bytes_for(name, 2 * N_LABELS))
            if (larger <= [2.2 * size, 2.2 * peak]).all():
                return
        pytest.fail(f"{name} grows from {size} and {peak} bytes to {larger}")

    check_all(cases, check)


def test_a_chain_that_is_too_large_is_refused_before_it_is_made():
    X, Y = table(10_000)
    learner = make_strategy("CC_HT")
    tracemalloc.start()
    message = (
        r"max_bytes must be at least 8,\d{3},\d{3},\d{3} for chains of 10,000 labels\. Got 4,294,967,296 instead; Bin"
    )
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(X, Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * 2**20


def test_the_bound_of_a_chain_is_the_size_of_its_trees():
    X, Y = table(30)
    learner = ClassifierChain(HoeffdingTreeClassifier(), n_chains=2).partial_fit(X[:1], Y[:1])
    size = sum(member.bank.size_bytes for chain in learner._chains for member in chain)
    assert ClassifierChain(HoeffdingTreeClassifier(), n_chains=2, max_bytes=size).fit(X, Y).n_labels_ == 30
    with pytest.raises(ValueError, match=rf"max_bytes must be at least {size:,} "):
        ClassifierChain(HoeffdingTreeClassifier(), n_chains=2, max_bytes=size - 1).fit(X, Y)


def test_a_chain_that_grows_too_large_is_refused_and_stays_as_it_was():
    X, Y = table(30)
    tree = HoeffdingTreeClassifier()
    learner = ClassifierChain(tree, max_bytes=50_000, on_new_labels="grow").partial_fit(X, Y[:, :5])
    before = learner.predict_proba(X)
    with pytest.raises(ValueError, match="max_bytes must be at least"):
        learner.partial_fit(X, Y)
    np.testing.assert_array_equal(learner.predict_proba(X), before)


def test_long_indices_of_sparse_rows_reach_no_learner():
    X, Y = table(5)
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    learner = make_strategy("ContextWindow", random_state=0, context_size=6)
    expected = make_strategy("ContextWindow", random_state=0, context_size=6).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(learner.fit(rows, Y).predict_proba(rows), expected)
