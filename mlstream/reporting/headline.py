"""The sentence that opens a report: which strategy is best, by how much, and whether that is beyond chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlstream.analysis.comparison import ALPHA, Comparison
from mlstream.analysis.groups import Group
from mlstream.analysis.score_info import score_heading

Streams = Mapping[str, Sequence[Group]]


def headline(streams: Streams, comparison: Comparison | None, metric: str) -> str:
    """Write the sentence at the top of a report, about strategies that finished only.

    Higher must be better for `metric`. `comparison` is None where there is too little to compare. On one stream nothing
    is tested: seeds are not a sample of streams.
    """
    baselines = {group.strategy for groups in streams.values() for group in groups if group.is_baseline}
    if comparison is not None:
        return _over_streams(comparison, baselines)
    if len(streams) > 1:
        return f"No two strategies have a {score_heading(metric).title} on the same two streams: nothing is compared."
    (groups,) = streams.values()
    return _on_one_stream(groups, metric, baselines)


def _over_streams(one: Comparison, baselines: set[str]) -> str:
    best, second = one.by_rank[:2]
    title, n_streams = score_heading(one.metric).title, len(one.streams)
    names = [_named(one.strategies[place], baselines) for place in (best, second)]
    difference = float((one.scores[:, best] - one.scores[:, second]).mean())
    if one.ranks[best] == one.ranks[second]:
        return f"{names[0]} and {names[1]} share the best mean rank by {title} over {n_streams} streams."
    return (
        f"{names[0]} has the best mean rank by {title} over {n_streams} streams "
        f"({one.ranks[best]:.2f}; next is {names[1]}, {one.ranks[second]:.2f}, whose {title} is on average "
        f"{_distance(difference)}); {_chance(one, best, second)}."
    )


def _chance(one: Comparison, best: int, second: int) -> str:
    p_value = next(pair.p_value for pair in one.pairs if {pair.first, pair.second} == {best, second})
    # The post-hoc test counts only where the test over all strategies finds a difference; NaN: two have none.
    if one.p_value >= ALPHA:
        return f"this may be chance (Friedman test over all strategies: p = {one.p_value:.2g})"
    verdict = "this is beyond chance" if p_value < ALPHA else "between these two it may be chance"
    return f"{verdict} (Nemenyi test: p = {p_value:.2g}, level {ALPHA:g})"


def _on_one_stream(groups: Sequence[Group], metric: str, baselines: set[str]) -> str:
    title = score_heading(metric).title
    means = {group.strategy: group.score(metric) for group in groups if group.status == "done"}
    known = sorted(
        ((one.mean, one.n, name) for name, one in means.items() if one.mean is not None),
        key=lambda found: -found[0],
    )
    if not known:
        return f"No strategy finished with a {title}."
    (mean, _, name), *others = known
    counts = sorted({n for _, n, _ in known})
    repeated = " to ".join(str(n) for n in counts[:: max(len(counts) - 1, 1)])
    plural = "run" if counts[-1] == 1 else "runs"
    first = f"{_named(name, baselines)} has the highest {title}, {mean:.3f}"
    if not others:
        return f"Only {_named(name, baselines)} finished, with a {title} of {mean:.3f}: nothing is compared."
    second, _, runner_up = others[0]
    next_one = f"{_named(runner_up, baselines)} is next, {_distance(mean - second)}"
    return f"{first}; {next_one}; one stream, {repeated} {plural} each: no test of chance."


def _distance(difference: float) -> str:
    if abs(difference) < 0.0005:
        return "less than 0.001 away"
    return f"{abs(difference):.3f} {'lower' if difference > 0 else 'higher'}"


def _named(strategy: str, baselines: set[str]) -> str:
    return f"{strategy} (a baseline)" if strategy in baselines else strategy
