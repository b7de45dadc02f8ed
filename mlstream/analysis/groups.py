"""Runs put together by stream and strategy, and averaged over seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.records.frugality import is_frugality
from mlstream.records.run_result import RunResult, Score

# Classes of estimators/baselines.py, by which a record names its learner.
BASELINES = {
    "LastLabelsClassifier",
    "MeanLabelsClassifier",
    "NearestRowClassifier",
    "PrevalenceClassifier",
    "PriorLabelsClassifier",
}

Runs = RunResult | Sequence[RunResult] | Mapping[str, RunResult]


class Spread(NamedTuple):
    """Mean and standard deviation of `n` values; None where there are too few."""

    mean: float | None
    deviation: float | None
    n: int


@dataclass(frozen=True)
class Group:
    """All runs of one strategy on one stream."""

    strategy: str
    style: int  # Place among all strategies of the campaign: same colour and dash on every stream.
    runs: tuple[RunResult, ...]  # One per seed, at least one.

    @property
    def measured(self) -> tuple[RunResult, ...]:
        """Runs to average: those that finished or, where none did, those that reached the cap."""
        done = tuple(run for run in self.runs if run.status == "done")
        return done or tuple(run for run in self.runs if run.status == "capped")

    @property
    def status(self) -> Literal["done", "capped", "failed"]:
        """Status of the best run: 'done' if any run finished, else 'capped' if any was measured."""
        return self.measured[0].status if self.measured else "failed"

    @property
    def label(self) -> str:
        """Its name in legends, with a warning if what was measured covers a part of the stream only."""
        return f"{self.strategy} (capped)" if self.status == "capped" else self.strategy

    @property
    def tuning(self) -> str:
        """Choice of its parameters, see `describe_tuning`."""
        return _join_distinct(describe_tuning(run) for run in self.runs)

    @property
    def is_baseline(self) -> bool:
        """Whether its learner is one that others are measured against, whatever the strategy is called."""
        return self.runs[0].estimator.partition("(")[0] in BASELINES

    @property
    def badge(self) -> str:
        """Qualification of its name: a baseline, or a strategy of which no run finished."""
        return ", ".join(["baseline"] * self.is_baseline + [self.status] * (self.status != "done"))

    @property
    def is_deterministic(self) -> bool:
        """Whether several seeds of the learner gave one value of every score; frugality depends on the energy."""
        names = dict.fromkeys(name for run in self.measured for name in run.scores if not is_frugality(name))
        seeds_only = len({(run.order_seed, run.split_seed) for run in self.measured}) == 1
        values = ({run.scores.get(name) for run in self.measured} for name in names)
        return len(self.measured) > 1 and seeds_only and bool(names) and all(len(one) == 1 for one in values)

    def score(self, metric: str) -> Spread:
        """Average a score over seeds."""
        return self.mean(lambda run: run.scores.get(metric))

    def mean(self, amount: Callable[[RunResult], float | None]) -> Spread:
        """Average an amount over seeds."""
        return spread(amount(run) for run in self.measured)


def describe_tuning(run: RunResult) -> str:
    """Describe how the parameters of a run were chosen.

    "tuned (10)" if they were searched among 10 configurations on the first experience, "tuned (10, METHOD)" if on
    environments, otherwise "defaults".
    """
    # With a single configuration there was nothing to search.
    return run.selection.tuning if run.selection is not None and len(run.selection.trials) > 1 else "defaults"


def describe_tunings(streams: Mapping[str, Sequence[Group]]) -> dict[str, str]:
    """Describe how the parameters of each strategy were chosen, over all streams."""
    tunings: dict[str, list[str]] = {}
    for groups in streams.values():
        for group in groups:
            tunings.setdefault(group.strategy, []).append(group.tuning)
    return {strategy: _join_distinct(texts) for strategy, texts in tunings.items()}


def score_names(groups: Iterable[Group]) -> list[str]:
    """List the scores that at least one run has, in the order of the records."""
    return list(dict.fromkeys(name for group in groups for run in group.runs for name in run.scores))


def group_runs(runs: Sequence[RunResult]) -> dict[str, list[Group]]:
    """Group runs by stream and strategy, both in the order of first appearance.

    Runs on one stream must share a label space and, if they are scored by their energy, a meter; otherwise their scores
    measure different things, and a ValueError is raised.
    """
    _require_shared(runs, "a label space", lambda run: run.label_space_rule)
    _require_shared(filter(_is_measured, runs), "a meter of energy", _meter_of)
    styles = {name: place for place, name in enumerate(dict.fromkeys(run.strategy for run in runs))}
    sorted_runs: dict[str, dict[str, list[RunResult]]] = {}
    for run in runs:
        sorted_runs.setdefault(run.stream, {}).setdefault(run.strategy, []).append(run)
    return {
        stream: [Group(name, styles[name], tuple(members)) for name, members in strategies.items()]
        for stream, strategies in sorted_runs.items()
    }


def group_named(runs: Runs) -> dict[str, list[Group]]:
    """Group runs by stream and strategy; those of a mapping go under its names.

    A ValueError is raised if two runs have the same strategy, stream and seeds: they are not repetitions to average.
    """
    if isinstance(runs, RunResult):
        return group_runs([runs])
    if isinstance(runs, Mapping):
        return group_runs([run.model_copy(update={"strategy": name}) for name, run in runs.items()])
    same = Counter((run.strategy, run.stream, run.seed, run.order_seed, run.split_seed) for run in runs)
    for (strategy, stream, seed, *_), count in same.items():
        if count > 1:
            raise ValueError(
                f"Runs of one strategy on one stream must differ in their seeds. To compare estimators of one class, "
                f"pass a mapping: {{'name': result, ...}}. Got {count} runs of {strategy} on {stream} with seed {seed}."
            )
    return group_runs(runs)


def _join_distinct(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _require_shared(runs: Iterable[RunResult], what: str, rule_of: Callable[[RunResult], str]) -> None:
    chosen: dict[str, dict[str, None]] = {}
    for run in runs:
        chosen.setdefault(run.stream, {})[rule_of(run)] = None
    for stream, rules in chosen.items():
        if len(rules) > 1:
            raise ValueError(
                f"Runs on one stream must share {what} to be compared: run each in a folder of its own. "
                f"Got {' and '.join(rules)} on {stream!r}."
            )


def _is_measured(run: RunResult) -> bool:
    return any(is_frugality(name) and value is not None for name, value in run.scores.items())


def _meter_of(run: RunResult) -> str:
    """Return the first word of a record's method: versions and processors may differ."""
    return "none" if run.resources is None else run.resources.energy_method.partition(" ")[0]


def spread(values: Iterable[float | None]) -> Spread:
    """Return mean and sample standard deviation, undefined values left out."""
    known = [value for value in values if value is not None]
    if not known:
        return Spread(None, None, 0)
    if len(known) == 1:
        return Spread(float(known[0]), None, 1)
    # The mean of equal numbers may differ from them by a rounding error.
    alike = min(known) == max(known)
    mean, deviation = (known[0], 0.0) if alike else (np.mean(known), np.std(known, ddof=1))
    return Spread(float(mean), float(deviation), len(known))


def mean_scores(arrays: Sequence[Sequence[Score]] | Sequence[Sequence[Sequence[Score]]]) -> npt.NDArray[np.float64]:
    """Average arrays of scores of one shape cell by cell, undefined cells left out; NaN where no array has a score."""
    stack = np.asarray(arrays, dtype=np.float64)
    known = np.count_nonzero(~np.isnan(stack), axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(stack, axis=0) / known)


def layout(run: RunResult) -> tuple[list[list[int]], list[int]]:
    """Return the tasks that a run visits and the sizes of experiences; runs are averaged only where both are equal."""
    return run.order, run.experience_sizes


def same_as_first(runs: Sequence[RunResult], key: Callable[[RunResult], object]) -> list[RunResult]:
    """Keep the runs whose key is that of the first one."""
    return [run for run in runs if key(run) == key(runs[0])]
