"""The runs of a campaign: every strategy on every stream, as often as it is repeated."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count, product
from math import factorial
from pathlib import Path

from estimators.strategies import make_strategy
from mlstream._support.files import write_text_atomically
from mlstream.campaign.executors import n_cells
from mlstream.campaign.job import Job, Repeat
from mlstream.campaign.search import Criterion, Search
from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.predictions import require_probabilities
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.generators.perturb.repetitions import list_visits, reordered_tasks, require_resplittable, resplit_rows
from mlstream.records.paths import Repetition, list_repetitions, remove_leftovers
from mlstream.records.run_record import save_card
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Stream

# Of more tasks, ten seeds have ten orders in 15 of 16 cases.
_FEW_TASKS = 5
# 1 GiB, if each takes 8 bytes.
_KEPT_CELLS = 2**27


def plan_jobs(
    strategies: Sequence[str] | Mapping[str, object],
    streams: Sequence[Stream],
    directory: Path,
    options: CampaignOptions,
    settings: Settings,
) -> list[Job]:
    """List the runs of a campaign, by stream, then strategy, then repetition; see `run_campaign` for the arguments.

    Raises ValueError if there is nothing to run, two runs have the same name, a strategy is unknown, a stream cannot be
    put in another order or split, or lacks the environments of the selection, or the folder holds runs on it that vary
    in another way; TypeError if a learner is not an estimator, or estimates no probabilities that decisions need. Warns
    of streams of which order or split cannot vary.
    """
    learners = _learners(strategies, options.n_configurations)
    criterion = Criterion(options.selection, options.query_budget, options.objective)
    _require_search(learners, streams, criterion)
    for learner in learners.values():
        one = learner.build(learner.draw(0)[0]) if isinstance(learner, Search) else learner
        require_probabilities(one, settings)
        fresh(one, 0, label_budget=settings.label_budget)
    repeat = _make_repeat(options)
    jobs = []
    for stream in streams:
        varied = _find_varied(stream) if options.vary else []
        _require_same_way(stream, directory, options, varied)
        _require_repeatable(stream, options)
        repetitions = _repetitions(options, varied)
        jobs += [
            Job(name, learner, stream, stream.card.name, repetition, directory, settings, criterion, repeat)
            for (name, learner), repetition in product(learners.items(), repetitions)
        ]
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


def prepare_folder(directory: Path, cards: Iterable[StreamCard], config: str | None) -> None:
    """Remove files that killed processes left, and write the cards and the campaign file."""
    remove_leftovers(directory)
    for card in {card.name: card for card in cards}.values():
        save_card(card, directory)
    if config is not None:
        write_text_atomically(directory / "config.toml", config)


def _rename(stream: Stream, taken: set[str]) -> Stream:
    name = next(one for number in count(2) if (one := f"{stream.card.name}-{number}") not in taken)
    taken.add(name)
    return stream.with_card(stream.card.model_copy(update={"name": name}))


def _find_varied(stream: Stream) -> list[str]:
    """Return which of "order" and "split" can vary; warn of the other, and raise a ValueError where neither can."""
    reasons = {}
    for what, require in (("order", _require_orders), ("split", require_resplittable)):
        try:
            require(stream)
        except ValueError as error:
            reasons[what] = str(error)
    if len(reasons) > 1:
        raise ValueError(
            f"vary (--vary) must have streams whose tasks can change places, or whose rows can be split again: run "
            f"{stream.card.name} in a campaign without it. {' '.join(reasons.values())}"
        )
    for what, reason in reasons.items():
        left = "the split of rows only" if what == "order" else f"the order of tasks only{_count_orders(stream)}"
        # The line that is shown is that of the caller of run_campaign.
        warnings.warn(f"On {stream.card.name}, seeds vary {left}. {reason}", stacklevel=4)
    return [what for what in ("order", "split") if what not in reasons]


def _count_orders(stream: Stream) -> str:
    """Return how many orders the tasks have where seeds are likely to share one, and so the stream."""
    n_visited = len(set(list_visits(stream)))
    return f", of which there are {factorial(n_visited)}" if n_visited <= _FEW_TASKS else ""


def _require_same_way(stream: Stream, directory: Path, options: CampaignOptions, varied: Collection[str]) -> None:
    """Raise a ValueError if seeds vary a stream, and did not in the runs on it that the folder holds, or vice versa.

    A mean over both would be of two things.
    """
    recorded, others, rule = list_repetitions(directory, stream.card.name), [], ""
    if options.vary:
        others = [path for path, found in recorded.items() if found != _vary(found.seed, varied)]
        rule = "without vary (--vary): name another folder, or leave vary out"
    elif all(found.is_varied for found in recorded.values()) and (
        # One seed alone may also be that of one order and one split that were asked for.
        not (options.orders or options.splits) or len({found.seed for found in recorded.values()}) > 1
    ):
        others, rule = list(recorded), "with vary (--vary): name another folder, or add vary"
    if others:
        raise ValueError(f"{directory} must hold no runs on {stream.card.name} {rule}, as before. Got {others[0]}.")


def _repetitions(options: CampaignOptions, varied: Collection[str]) -> list[Repetition]:
    # Records hold plain integers, not those of NumPy.
    seeds = [int(seed) for seed in options.seeds]
    if options.vary:
        return [_vary(seed, varied) for seed in seeds]
    return [Repetition(*numbers) for numbers in product(seeds, options.orders or (None,), options.splits or (None,))]


def _vary(seed: int, varied: Collection[str]) -> Repetition:
    return Repetition(seed, *(seed if what in varied else None for what in ("order", "split")))


def _require_orders(stream: Stream) -> None:
    if len(set(list_visits(stream))) < 2:
        raise ValueError("A stream must visit several tasks to be reordered. Got one.")


def _require_repeatable(stream: Stream, options: CampaignOptions) -> None:
    """Raise a ValueError before any run where a stream cannot be put in another order, or split again."""
    if options.orders:
        list_visits(stream)
    if options.splits:
        require_resplittable(stream)


def _make_repeat(options: CampaignOptions) -> Repeat | None:
    return _Repeater().make if options.vary or options.orders or options.splits else None


class _Repeater:
    """Makes repetitions of streams; those that were asked for last are kept, as many as `_KEPT_CELLS` allows.

    Another process is sent none of them: it makes its own from the stream that all share.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int | None, int | None], Stream] = {}

    def __reduce__(self) -> tuple[type[_Repeater], tuple[()]]:
        return _Repeater, ()

    def make(self, stream: Stream, order: int | None, split: int | None) -> Stream:
        """Return the stream in the order, and with the split, of these seeds; None leaves what it has."""
        key = stream.card.name, order, split
        made = self._kept.pop(key, None)
        if made is None:
            with cpu_part("streams"):
                made = stream if order is None else reordered_tasks(stream, seed=order)
                made = made if split is None else resplit_rows(made, seed=split)
        self._kept[key] = made
        while len(self._kept) > 1 and sum(map(n_cells, self._kept.values())) > _KEPT_CELLS:
            del self._kept[next(iter(self._kept))]
        return made


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
