"""Hierarchies of labels are read once, from the top to the bottom."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import metrics
from metrics.hierarchy import edges


class CountedLookUps(Mapping[int, int]):
    """A mapping that counts how often a superclass is looked up."""

    def __init__(self, parents: dict[int, int]) -> None:
        self.parents, self.n_lookups = parents, 0

    def __getitem__(self, child: int) -> int:
        self.n_lookups += 1
        return self.parents[child]

    def __iter__(self) -> Iterator[int]:
        return iter(self.parents)

    def __len__(self) -> int:
        return len(self.parents)


def test_a_long_chain_is_walked_once() -> None:
    n_labels = 500
    for order in (range(1, n_labels), reversed(range(1, n_labels))):
        chain = CountedLookUps({child: child - 1 for child in order})
        assert metrics.hierarchy_consistency([[1] * n_labels], chain) == 1.0
        assert chain.n_lookups <= 5 * n_labels


def test_a_superclass_comes_before_its_subclasses() -> None:
    children, superclasses = edges({4: 3, 2: 0, 3: 2, 1: 0}, 5)
    assert dict(zip(children.tolist(), superclasses.tolist(), strict=True)) == {4: 3, 2: 0, 3: 2, 1: 0}
    place = {child: place for place, child in enumerate(children.tolist())}
    assert all(place[upper] < place[lower] for upper, lower in pairwise([2, 3, 4]))
