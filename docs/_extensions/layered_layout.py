"""Places for boxes in rows, and routes for the arrows between them, after Sugiyama.

An arrow that passes a row takes a place of its own in it, so that it runs between the boxes. The order within rows is
the best that sweeps by barycentre find; places are then those at which all lines together bend least.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

BOX_HEIGHT = 30
_ROW_GAP, _BOX_GAP = 38, 18
_SWEEPS = 24
# Weight of a bend, by the number of boxes that a link joins.
_STRAIGHT = {0: 8.0, 1: 2.0, 2: 1.0}

Node = Hashable
Rows = list[list[Node]]
Links = list[tuple[Node, Node]]


class Place(NamedTuple):
    """A box: its middle, the upper edge and the width."""

    x: float
    top: float
    width: float


class Layout(NamedTuple):
    """Places of the boxes, the points of each arrow, the upper edge of each row, and the size of it all."""

    places: dict[Node, Place]
    routes: dict[tuple[Node, Node], list[tuple[float, float]]]
    tops: list[float]
    width: float
    height: float


def lay_out(
    rows: Sequence[Sequence[Node]],
    graph: Mapping[Node, Collection[Node]],
    widths: Mapping[Node, float],
    gaps: Sequence[float],
) -> Layout:
    """Find a place for every node and a route for every arrow.

    Parameters
    ----------
    rows : sequence of sequences
        The nodes of each row, top first.
    graph : mapping
        Node -> the nodes that its arrows point to, all in lower rows.
    widths : mapping
        Width of each node.
    gaps : sequence of float
        More room above each row.
    """
    chains = _chains(rows, graph)
    links = [link for chain in chains.values() for link in pairwise(chain)]
    full = [[*row, *sorted({n for c in chains.values() for n in c[1:-1] if n[1] == i})] for i, row in enumerate(rows)]
    ordered = _order(full, links)
    x = _spread(ordered, links, widths)
    tops = [float(top) for top in np.cumsum(gaps) + np.arange(len(rows)) * (BOX_HEIGHT + _ROW_GAP)]
    top_of = {node: top for row, top in zip(ordered, tops, strict=True) for node in row}
    places = {node: Place(x[node], top_of[node], widths[node]) for row in rows for node in row}
    routes = {ends: _route([(x[node], top_of[node]) for node in chain]) for ends, chain in chains.items()}
    width = max(place.x + place.width / 2 for place in places.values())
    return Layout(places, routes, tops, max(width, *x.values()), tops[-1] + BOX_HEIGHT)


def _chains(
    rows: Sequence[Sequence[Node]], graph: Mapping[Node, Collection[Node]]
) -> dict[tuple[Node, Node], list[Node]]:
    """Return every arrow as a chain of nodes, one a row; those between its ends are (its name, row)."""
    row_of = {node: i for i, row in enumerate(rows) for node in row}
    return {
        (start, end): [start, *((f"{start} {end}", i) for i in range(row_of[start] + 1, row_of[end])), end]
        for start in sorted(graph)
        for end in sorted(graph[start])
    }


def _order(rows: Rows, links: Links) -> Rows:
    """Return the rows in the order with the fewest crossings that sweeps down and up find."""
    above = _neighbours((end, start) for start, end in links)
    below = _neighbours(links)
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = list(rows) if down else rows[::-1]
        for i in range(1, len(order)):
            order[i] = _by_barycentre(order[i], order[i - 1], above if down else below)
        rows = order if down else order[::-1]
        if (number := _crossings(rows, below)) < fewest:
            best, fewest = rows, number
    return best


def _by_barycentre(row: list[Node], fixed: list[Node], neighbours: Mapping[Node, list[Node]]) -> list[Node]:
    # A place is a share of its row, so that rows of different lengths can be compared.
    at = {node: (i + 0.5) / len(fixed) for i, node in enumerate(fixed)}
    own = {node: (i + 0.5) / len(row) for i, node in enumerate(row)}
    keys = {node: float(np.mean([at[other] for other in neighbours.get(node, ())] or own[node])) for node in row}
    return sorted(row, key=keys.__getitem__)


def _crossings(rows: Rows, below: Mapping[Node, list[Node]]) -> int:
    number = 0
    for upper, lower in pairwise(rows):
        at = {node: i for i, node in enumerate(lower)}
        ends = [[at[other] for other in below.get(node, [])] for node in upper]
        number += sum(a > b for left, right in combinations(ends, 2) for a in left for b in right)
    return number


def _spread(rows: Rows, links: Links, widths: Mapping[Node, float]) -> dict[Node, float]:
    """Return a place across the page for every node: the order is kept, and all lines together bend least."""
    index = {node: i for i, node in enumerate(node for row in rows for node in row)}
    n_nodes, n_links = len(index), len(links)
    # Nodes keep their distance: x[left] - x[right] <= -distance.
    pairs = [pair for row in rows for pair in pairwise(row)]
    apart = _differences(pairs, index)
    distances = [(widths.get(left, 0.0) + widths.get(right, 0.0)) / 2 + _BOX_GAP for left, right in pairs]
    # The bend of a link is at least the difference of its ends, in either direction.
    moved, bends = _differences(links, index), sparse.identity(n_links)
    limits = sparse.block_array([[apart, None], [moved, -bends], [-moved, -bends]])
    # Lines that pass rows stay straight at the cost of those between boxes.
    weights = [_STRAIGHT[sum(node in widths for node in link)] for link in links]
    solved = linprog(
        [*np.zeros(n_nodes), *weights],
        A_ub=limits,
        b_ub=[*(-np.array(distances)), *np.zeros(2 * n_links)],
        bounds=[(widths.get(node, 0.0) / 2, None) for node in index] + [(0, None)] * n_links,
    )
    return {node: float(solved.x[i]) for node, i in index.items()}


def _differences(pairs: Sequence[tuple[Node, Node]], index: Mapping[Node, int]) -> sparse.csr_array:
    """Return the matrix that takes places to the first minus the second of each pair."""
    rows = np.repeat(np.arange(len(pairs)), 2)
    columns = [index[node] for pair in pairs for node in pair]
    return sparse.csr_array((np.tile([1.0, -1.0], len(pairs)), (rows, columns)), shape=(len(pairs), len(index)))


def _route(chain: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of an arrow: from the lower edge of a box, along passed rows, to the upper edge of a box."""
    (x, top), *passed, (x_end, top_end) = chain
    beside = [point for x_row, y in passed for point in ((x_row, y), (x_row, y + BOX_HEIGHT))]
    return [(x, top + BOX_HEIGHT), *beside, (x_end, top_end - 2.0)]


def _neighbours(links: Iterable[tuple[Node, Node]]) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = {}
    for start, end in links:
        found.setdefault(start, []).append(end)
    return found
