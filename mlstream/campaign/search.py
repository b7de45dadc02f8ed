"""The choice of a configuration: some are drawn and tried, and the most frugal one, or the most general one, wins."""

from __future__ import annotations

import logging
import math
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import JsonValue
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from estimators.strategies import grid, make_strategy
from metrics import LabelCounts, ba_macro_from_counts, frug, label_counts
from mlstream.campaign.environment_selection import require_environments, score_on_environments
from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.provenance import to_json
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import collapsed_warnings, test_then_train
from mlstream.evaluation.settings import CampaignOptions, Objective, SelectionMethod, Settings, require_count
from mlstream.evaluation.warm_up import warm_up
from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_result import PhaseResources, Resources, sum_known, to_score
from mlstream.records.selection_record import Selection, Trial
from mlstream.streams.stream import Stream

_LOG = logging.getLogger("mlstream")

Configuration = dict[str, Any]
Grid = Mapping[str, Sequence[object]]


@dataclass(frozen=True)
class Search:
    """A learner whose configuration is chosen on each stream, by default on its first experience.

    Parameters
    ----------
    estimator : str or estimator
        A name of `estimators.strategies`, or an estimator.
    grid : mapping, or sequence of mappings, optional
        Parameter -> values, as for scikit-learn's `ParameterGrid`; by default that of the named strategy.
    n_configurations : int
        Number of configurations drawn without replacement; all where there are fewer.
    parameters : mapping
        Parameters that are fixed.

    Raises
    ------
    ValueError
        If there is no grid, `n_configurations` is not a positive integer, or a name or parameter is unknown.

    Examples
    --------
    >>> search = Search("BR_HT", n_configurations=2, parameters={"tau": 0.05})
    >>> search.draw(seed=0)
    [{'grace_period': 100, 'delta': 1e-07}, {'grace_period': 200, 'delta': 1e-07}]
    """

    estimator: Any
    grid: Grid | Sequence[Grid] | None = None
    n_configurations: int = 10
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_count(self.n_configurations, "n_configurations")
        if self.grid is None and not isinstance(self.estimator, str):
            raise ValueError("grid must be given where the estimator is not the name of a strategy. Got None instead.")
        for configuration in self.draw(0)[:1]:
            self.build(configuration)

    def draw(self, seed: int) -> list[Configuration]:
        """Draw configurations without replacement, in the order in which they are tried."""
        wanted = grid(self.estimator) if self.grid is None else self.grid
        parts = [wanted] if isinstance(wanted, Mapping) else wanted
        grids = [{name: list(part[name]) for name in sorted(part) if name not in self.parameters} for part in parts]
        n_drawn = min(self.n_configurations, len(ParameterGrid(grids)))
        return [dict(one) for one in ParameterSampler(grids, n_drawn, random_state=seed)]

    def build(self, configuration: Mapping[str, Any]) -> Any:
        """Return a fresh estimator with a configuration."""
        chosen = {**self.parameters, **configuration}
        if not isinstance(self.estimator, str):
            return clone(self.estimator).set_params(**chosen)
        return make_strategy(self.estimator, **chosen)


@dataclass(frozen=True)
class Criterion:
    """Rows on which configurations are scored, and how often validation environments may be asked."""

    method: SelectionMethod = CampaignOptions.selection
    # Largest number of configurations that may be scored on the validation environments.
    query_budget: int = CampaignOptions.query_budget
    # Score by which a configuration is chosen on the first experience.
    objective: Objective = CampaignOptions.objective

    @property
    def asks_validation(self) -> bool:
        """Whether each trial is a query of the validation environments."""
        return self.method == "validation-environment"

    @property
    def score(self) -> str:
        """Name of the score by which a trial is chosen."""
        return self.objective if self.method == "first-experience" else "nce"

    def as_json(self) -> dict[str, JsonValue]:
        """Return the rows that the outcome depends on; nothing for the first experience, as in older records."""
        if self.method == "first-experience":
            return {}
        return {"method": self.method} | ({"query_budget": self.query_budget} if self.asks_validation else {})

    def require(self, search: Search, stream: Stream) -> None:
        """Raise a ValueError if the stream lacks the environments, or objective or budget do not fit the search."""
        require_environments(stream, self.method)
        if self.method != "first-experience" and self.objective != CampaignOptions.objective:
            raise ValueError(
                f"objective (--objective) must be {CampaignOptions.objective!r}, or left out, where a configuration is "
                f"chosen on environments, by its cross-entropy. Got {self.objective!r} with {self.method!r} instead."
            )
        n_drawn = len(search.draw(0))
        if self.asks_validation and n_drawn > self.query_budget:
            raise ValueError(
                f"n_configurations (--tune) must be at most query_budget (--query-budget), the {self.query_budget} "
                f"queries of the validation environments. Got {n_drawn} configurations instead."
            )


def choose(
    search: Search, stream: Stream, seed: int, settings: Settings, criterion: Criterion | None = None
) -> Selection:
    """Try configurations, and choose the best one, by default on the rows of the first experience.

    Only the rows that the criterion names are used; the time cap holds for the whole search. `seed` is that of the
    draw, of every learner, and of the rows that are held out.

    On the first experience the greatest frugality wins: BA_macro - C / (1 + C), where C is the energy of the trial in
    the unit of the objective. In kWh, the unit of the literature and the default, a trial takes a thousandth or less:
    the most accurate configuration wins, and energy decides between equals. In kJ energy weighs as much as accuracy, so
    that the choice depends on the machine and on how energy was measured there. Energy below the meter's resolution is
    noise and counts as zero.

    On environments the lowest normalised cross-entropy wins, mean over environments: the three methods of selection of
    Gulrajani, Lopez-Paz, "In search of lost domain generalization", ICLR 2021, section 3. A trial on the validation
    environments is a query; the record counts them.

    Ties go to the configuration drawn first. A trial that the cap cut short is chosen only if no trial was complete. A
    single configuration is not tried. Raises ValueError if the stream lacks environments, or there are more
    configurations than queries; RuntimeError, with the traceback of the first, if every configuration failed.
    """
    criterion = criterion or Criterion()
    criterion.require(search, stream)
    drawn = search.draw(seed)
    if len(drawn) == 1:
        return _select([_untried(drawn[0])], 0, criterion)
    deadline = math.inf if settings.time_cap_s is None else time.perf_counter() + settings.time_cap_s
    trials: list[Trial] = []
    for configuration in drawn:
        is_late = trials and time.perf_counter() > deadline
        trials.append(
            _untried(configuration)
            if is_late
            else _try(search, configuration, stream, seed, settings, criterion, deadline)
        )
        tried = len(trials), len(drawn), stream.card.name, dict(configuration), trials[-1].status, criterion.score
        _LOG.debug("Configuration %d of %d on %s, %s: %s, %s %s", *tried, _score(trials[-1]))
    return _select(trials, _best(trials), criterion)


def _select(trials: list[Trial], chosen: int, criterion: Criterion) -> Selection:
    return Selection(
        trials=trials,
        chosen=chosen,
        method=criterion.method,
        objective=criterion.score,
        n_queries=sum(trial.status == "done" for trial in trials) if criterion.asks_validation else 0,
        query_budget=criterion.query_budget if criterion.asks_validation else None,
    )


def select_cost(selection: Selection) -> PhaseResources:
    """Add up the costs of the trials of a selection."""
    return PhaseResources(
        wall_time_s=sum(trial.wall_time_s for trial in selection.trials),
        cpu_time_s=sum(trial.cpu_time_s for trial in selection.trials),
        peak_memory_bytes=None,
        energy_kwh=sum_known(trial.energy_kwh for trial in selection.trials),
    )


def _try(
    search: Search,
    configuration: Configuration,
    stream: Stream,
    seed: int,
    settings: Settings,
    criterion: Criterion,
    deadline: float,
) -> Trial:
    ba_macro = nce = None
    try:
        estimator = search.build(configuration)
        if criterion.method == "first-experience":
            ba_macro, is_complete, used = _test_on_first_experience(estimator, stream, seed, settings, deadline)
        else:
            nce, is_complete, used = score_on_environments(
                estimator, stream, seed, settings, criterion.method, deadline
            )
    except Exception:
        return Trial(parameters=_as_json(configuration), status="failed", error=traceback.format_exc())
    phases = used.phases.values()
    energy_kwh = sum_known(phase.energy_kwh for phase in phases)
    counted = 0.0 if energy_kwh is None or used.energy_below_resolution else energy_kwh
    return Trial(
        parameters=_as_json(configuration),
        status="done" if is_complete else "capped",
        ba_macro=ba_macro,
        frugality=None if ba_macro is None else frug(ba_macro, counted, scale=FRUGALITIES[criterion.objective]),
        nce=nce,
        wall_time_s=sum(phase.wall_time_s for phase in phases),
        cpu_time_s=sum(phase.cpu_time_s for phase in phases),
        energy_kwh=energy_kwh,
        energy_below_resolution=used.energy_below_resolution,
    )


def _test_on_first_experience(
    estimator: object, stream: Stream, seed: int, settings: Settings, deadline: float
) -> tuple[float | None, bool, Resources]:
    first, mask = learning_view(stream).experiences[0], next(CountedLabels(stream, settings.label_space).online())
    heads = labels_at_prediction(stream, first.task_ids)
    warm_up(estimator, stream, settings)
    copy = fresh(estimator, seed, stream, label_budget=settings.label_budget)
    nothing = np.zeros(stream.n_labels, dtype=np.int64)
    counts, n_rows = LabelCounts(nothing, nothing, nothing, nothing), 0
    warned, energy = collapsed_warnings(type(estimator).__name__), (settings.energy, settings.cpu_power_w)
    with cpu_part("scores"), ResourceMeter(*energy) as meter, warned:
        learner = adapt_to_stream(copy, stream, meter, settings)
        learner.begin(first.X, first.Y)
        for scored in test_then_train(learner, first, mask, settings.chunk_size, heads):
            if scored.mask.any():
                counts += label_counts(scored.Y, scored.predictions.decided, label_mask=scored.mask)
            n_rows += len(scored.Y)
            if time.perf_counter() > deadline:
                break
        else:
            learner.first_rows.require_closed()
        used = meter.report(None)
    return to_score(ba_macro_from_counts(counts, one_class=settings.one_class)), n_rows == len(first), used


def _best(trials: Sequence[Trial]) -> int:
    """Return the index of the first trial with the best score, complete trials before those cut short."""
    failed = [trial.error for trial in trials if trial.status == "failed"]
    if len(failed) == len(trials):
        raise RuntimeError(
            f"At least one configuration must learn the rows that it is tried on. Got this from the first:\n{failed[0]}"
        )
    ranks = {"done": 2, "capped": 1, "untried": 0, "failed": -1}
    worth = [(ranks[trial.status], _score(trial)) for trial in trials]
    return worth.index(max(worth))


def _score(trial: Trial) -> float:
    """Return the score of a trial, of which the greatest wins; that of an undefined one is the lowest."""
    if trial.nce is not None:
        return -trial.nce
    return -math.inf if trial.frugality is None else trial.frugality


def _untried(configuration: Configuration) -> Trial:
    return Trial(parameters=_as_json(configuration), status="untried")


def _as_json(configuration: Configuration) -> dict[str, JsonValue]:
    return {name: to_json(value) for name, value in configuration.items()}
