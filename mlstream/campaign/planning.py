"""The runs of a campaign: every strategy on every stream, as often as it is repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
from pathlib import Path

from estimators.strategies import make_strategy
from mlstream._support.files import write_text_atomically
from mlstream.campaign.job import Job
from mlstream.campaign.search import Criterion, Search
from mlstream.evaluation.decisions import require_probabilities
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.generators import reordered_tasks, resplit_rows
from mlstream.records.paths import Repetition, remove_leftovers
from mlstream.records.run_record import save_card
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Stream


def plan_jobs(
    strategies: Sequence[str] | Mapping[str, object],
    streams: Sequence[Stream],
    directory: Path,
    options: CampaignOptions,
    settings: Settings,
) -> list[Job]:
    """List the runs of a campaign, by stream, then strategy, then repetition; see `run_campaign` for the arguments.

    Raises ValueError if there is nothing to run, two runs have the same name, a strategy is unknown, or a stream cannot
    be put in another order or split, or lacks the environments of the selection; TypeError if a learner is not an
    estimator, or estimates no probabilities that decisions need.
    """
    learners = _learners(strategies, options.n_configurations)
    criterion = Criterion(options.selection, options.query_budget, options.objective)
    _require_search(learners, streams, criterion)
    for learner in learners.values():
        one = learner.build(learner.draw(0)[0]) if isinstance(learner, Search) else learner
        require_probabilities(one, settings.decision)
    jobs = [job for stream in streams for job in _jobs_on(stream, learners, directory, options, settings)]
    if not jobs:
        raise ValueError("A campaign must have strategies, streams and seeds. Got an empty list of one of them.")
    path, times = Counter(job.path for job in jobs).most_common(1)[0]
    if times > 1:
        raise ValueError(f"Runs of a campaign must differ in stream, strategy or seed. Got {times} runs for {path}.")
    return jobs


def name_apart(streams: Sequence[Stream]) -> list[Stream]:
    """Give streams of one name, such as two that were made from one table, names of their own.

    The first keeps the name, and the others get "-2", "-3" and so on added to it. A ValueError is raised if a stream is
    there twice.
    """
    taken = {stream.card.name for stream in streams}
    named: dict[str, list[StreamCard]] = {}
    apart = []
    for stream in streams:
        earlier = named.setdefault(stream.card.name, [])
        card = stream.card.model_copy(update={"terms": None})
        if card in earlier:
            raise ValueError(f"Streams of a campaign must differ. Got {stream.card.name!r} twice, with equal cards.")
        apart.append(_rename(stream, taken) if earlier else stream)
        earlier.append(card)
    return apart


def prepare_folder(directory: Path, streams: Sequence[Stream], config: str | None) -> None:
    """Remove files that killed processes left, and write the cards and the campaign file."""
    remove_leftovers(directory)
    for card in {stream.card.name: stream.card for stream in streams}.values():
        save_card(card, directory)
    if config is not None:
        write_text_atomically(directory / "config.toml", config)


def _rename(stream: Stream, taken: set[str]) -> Stream:
    name = next(one for number in count(2) if (one := f"{stream.card.name}-{number}") not in taken)
    taken.add(name)
    return stream.with_card(stream.card.model_copy(update={"name": name}))


def _jobs_on(
    stream: Stream, learners: Mapping[str, object], directory: Path, options: CampaignOptions, settings: Settings
) -> Iterator[Job]:
    # Records hold plain integers, not those of NumPy.
    seeds = [int(seed) for seed in options.seeds]
    variants = [
        (order, split, _repeat(stream, order, split))
        for order, split in product(options.orders or (None,), options.splits or (None,))
    ]
    for (strategy, learner), seed, (order, split, varied) in product(learners.items(), seeds, variants):
        repetition = Repetition(seed, order, split)
        criterion = Criterion(options.selection, options.query_budget, options.objective)
        yield Job(strategy, learner, varied, stream.card.name, repetition, directory, settings, criterion)


def _repeat(stream: Stream, order: int | None, split: int | None) -> Stream:
    varied = stream if order is None else reordered_tasks(stream, seed=order)
    return varied if split is None else resplit_rows(varied, seed=split)


def _require_search(learners: Mapping[str, object], streams: Sequence[Stream], criterion: Criterion) -> None:
    searches = [learner for learner in learners.values() if isinstance(learner, Search)]
    if criterion.method != "first-experience" and learners and not searches:
        raise ValueError(
            f"selection (--selection) must be 'first-experience' unless configurations are searched (n_configurations, "
            f"--tune, or a grid). "
            f"Got {criterion.method!r} instead."
        )
    for stream, search in product(streams, searches):
        criterion.require(search, stream)


def _learners(strategies: Sequence[str] | Mapping[str, object], n_configurations: int) -> dict[str, object]:
    if isinstance(strategies, Mapping):
        learners = dict(strategies)
    elif isinstance(strategies, str):
        raise TypeError(f"strategies must be a list of names, or estimators by name. Got {strategies!r} instead.")
    else:
        learners = {name: name for name in strategies}
    return {name: _learner(one, n_configurations) for name, one in learners.items()}


def _learner(one: object, n_configurations: int) -> object:
    """Return the learner of a name: a strategy, or a search among its configurations."""
    if isinstance(one, Search):
        return one
    if not isinstance(one, str):
        fresh(one, 0)
        return one
    if n_configurations:
        return Search(one, n_configurations=n_configurations)
    return make_strategy(one)
