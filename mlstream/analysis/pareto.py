"""Scores against costs over all streams that strategies can be compared on, for the main figure of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from mlstream.analysis.complete_blocks import Block, choose_block
from mlstream.analysis.costs import COSTS, SCORE, CostPoint, CostPoints, cost_points, cost_title, energy_marks
from mlstream.analysis.groups import Group

Streams = Mapping[str, Sequence[Group]]


def pareto_points(streams: Streams, cost: str = "energy", score: str = SCORE) -> CostPoints | None:
    """Return a point per strategy: on one stream, or over those on which all strategies compared have a score.

    `cost` is "time" or "energy". The score is a mean over streams, the cost a total. See `choose_block` for the streams
    and strategies that count; among several streams, only strategies that finished do. None if nothing was measured, or
    nothing can be compared.
    """
    if len(streams) == 1:
        (groups,) = streams.values()
        return next((one for one in cost_points(groups, score) if one.name == cost), None)
    block = choose_block(streams, score)
    if block is None:
        return None
    points = [point for place in range(len(block.strategies)) if (point := _point(streams, block, place, cost))]
    compared = [group for name in block.streams for group in streams[name] if group.strategy in block.strategies]
    title = cost_title(cost, compared, n_streams=len(block.streams))
    return CostPoints(cost, title, points) if points else None


def front_of(points: Sequence[CostPoint]) -> list[CostPoint]:
    """Return the points that finished and that no other such point beats in both cost and score, by cost."""
    finished = [one for one in points if one.is_finished]
    return [finished[place] for place in pareto_front([(one.cost, one.score) for one in finished])]


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Find the points (cost, score) that no other one beats in both cost (less is better) and score (more is better).

    Returns their places, in the order of cost.
    """
    front: list[int] = []
    for place in sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1])):
        if not front or points[place][1] > points[front[-1]][1]:
            front.append(place)
    return front


def _point(streams: Streams, block: Block, place: int, cost: str) -> CostPoint | None:
    """Return the point of a strategy; None if its cost was not measured on some stream."""
    name = block.strategies[place]
    groups = [next(group for group in streams[stream] if group.strategy == name) for stream in block.streams]
    costs = [group.mean(COSTS[cost].amount).mean for group in groups]
    known = [one for one in costs if one is not None]
    if len(known) < len(costs):
        return None
    score = fmean(row[place] for row in block.scores)
    is_uncertain = any("†" in energy_marks(group) for group in groups)
    label, style = groups[0].label, groups[0].style
    return CostPoint(label, style, sum(known), score, None, is_finished=True, is_uncertain=is_uncertain)
