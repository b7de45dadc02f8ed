"""The methods of a campaign in words, from its records and cards: paragraphs that a paper can take over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from metrics.named import NAMED_METRICS
from mlstream.analysis.comparison import ALPHA, ROPE
from mlstream.analysis.costs import energy_shares
from mlstream.analysis.groups import BASELINES, Group, describe_tuning, group_runs
from mlstream.analysis.score_info import score_heading
from mlstream.records.detection_record import Detection
from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_result import Resources, RunResult
from mlstream.streams.card_model import StreamCard

Cards = Mapping[str, StreamCard]

_MAX_STREAMS = 6
_NOTHING = "nothing"
_LABEL_SPACES = {
    "task": "the labels of the task of the row",
    "seen": "the labels of all tasks seen so far",
    "all": "all labels",
}
_ONE_CLASS = {
    "skip": "was left out of balanced accuracy",
    "recall": "counted in balanced accuracy with the recall of its only class",
    "river": "counted as in River up to 0.21: with that recall, divided by the number of classes among truths and "
    "predictions",
}
_TIES = {
    "expected": "Where scores tie, scores of the best labels are means over all orders of the tied labels",
    "order": "Where scores tie, the label that comes first in the table counts as the better one",
}
_DECISIONS = {
    "own": "Labels were decided by each learner itself",
    "half": "Labels were decided at a probability of one half",
    "prevalence": "Labels were decided where their probability is at least their prevalence among the rows learnt "
    "before, or a lower threshold where a label has been more frequent of late, whatever the learner itself decides",
}
# CodeCarbon's own words, in the method of a record.
_MODEL_OF_MEMORY = "RAM (power model)"
# None: records of version 1 do not state it.
_GIVEN = {
    "none": "learnt without the labels of the task",
    "task": "learnt with the labels of the task of each row",
    "all": "learnt with all labels as those of the task, which the scenario hides",
}
_MAIN_SCORES = ("ba_macro", "precision_at_k", "rmse", "acc", "bwt", "fwt", "fm", *FRUGALITIES, *NAMED_METRICS)


class Paragraph(NamedTuple):
    """A heading, and sentences."""

    title: str
    text: str


def methods_text(runs: Sequence[RunResult], cards: Cards, *, is_compared: bool) -> list[Paragraph]:
    """Describe how runs were made, in paragraphs of plain text, which whoever writes a page must escape.

    The paragraphs are data, protocol, strategies, scores, comparison, cost and software, each where there is anything
    to state.
    """
    paragraphs = [
        Paragraph("Data", data_text(runs, cards)),
        Paragraph("Protocol", _protocol(runs)),
        Paragraph("Strategies", _strategies(runs)),
        Paragraph("Scores", _scores(runs)),
        Paragraph("Comparison", _comparison() if is_compared else ""),
        Paragraph("Cost", _cost(runs)),
        Paragraph("Software", software_text(runs)),
    ]
    return [one for one in paragraphs if one.text]


def data_text(runs: Sequence[RunResult | Detection], cards: Cards) -> str:
    """Describe the streams of records."""
    names = list(dict.fromkeys(run.stream for run in runs))
    if len(names) > _MAX_STREAMS:
        return f"{len(names)} streams were used; their cards describe each of them: {join_words(names)}."
    return " ".join(_stream(cards[name]) if name in cards else _live_source(name) for name in names)


def _stream(card: StreamCard) -> str:
    licence = f" (licence: {card.source.licence.rstrip('.')})" if card.source.licence else ""
    n_learning = sum(experience.n_samples for experience in card.experiences)
    n_held_out = sum(task.n_evaluation for task in card.tasks)
    return (
        f"The stream {card.name} was made from {card.source.name}{licence} by {card.generator.name} of mlstream "
        f"(seed {card.generator.seed}; SHA-256 of the stream {card.data_sha256[:12]}). It has {n_learning:,} rows to "
        f"learn from in {_count(len(card.experiences), 'experience')} of {_count(len(card.tasks), 'task')}, "
        f"{n_held_out:,} held-out rows, {_count(len(card.feature_names), 'feature')} and "
        f"{_count(len(card.label_names), 'label')}; boundaries between tasks are {card.scenario.boundary}."
    )


def _live_source(name: str) -> str:
    return (
        f"The rows of {name} came from a live source, of one task, until it ended; nothing but their scores was kept, "
        "and no rows were held out."
    )


def _protocol(runs: Sequence[RunResult]) -> str:
    spaces = by_value(runs, lambda run: run.label_space, lambda run: run.stream)
    label_spaces = _each(spaces, lambda space: f"A score counts {_LABEL_SPACES[space]}", "on")
    unfinished = sum(run.status != "done" for run in runs)
    ended = f" {unfinished} of {len(runs)} runs did not finish." if unfinished else ""
    frozen = (
        "Before the first row and after each experience, the model was frozen and scored on the held-out rows of every "
        "task. "
    )
    held_out = frozen if any(run.scenario != "live" for run in runs) else ""
    return (
        "Streams were processed test-then-train: every row of every experience was predicted and scored before it was "
        f"learnt, in order. {held_out}{label_spaces} {_repetitions(runs)}{ended}{_time_cap(runs)}"
    )


def _repetitions(runs: Sequence[RunResult]) -> str:
    ways = seed_ways(runs)
    kinds = [("of the learner", distinct_seeds(run.seed for run in runs))]
    if not ways:
        kinds += [
            ("of the order of tasks", distinct_seeds(run.order_seed for run in runs)),
            ("of the split of rows", distinct_seeds(run.split_seed for run in runs)),
        ]
    parts = [f"{describe_seeds(seeds)} {what}" for what, seeds in kinds if seeds]
    repeated = any(len(seeds) > 1 for _, seeds in kinds)
    means = "; scores are means, with the standard deviation where they differ" if repeated else ""
    return f"Runs were made with {join_words(parts)}{means}.{_seeds_set(ways)}{_seeds_without_effect(runs)}"


def distinct_seeds(seeds: Iterable[int | None]) -> list[int]:
    """Return the different seeds in ascending order, without None."""
    return sorted({seed for seed in seeds if seed is not None})


def describe_seeds(seeds: Sequence[int]) -> str:
    """Write seeds in words: "seed 0", or "seeds 0 and 1"."""
    return f"seed{'s' if len(seeds) > 1 else ''} {join_words(map(str, seeds))}"


def _seeds_set(ways: Mapping[str, Sequence[str]]) -> str:
    sentences = _each(ways, lambda way: f"For all strategies alike, each seed also set {way}", "on")
    return f" {sentences}" if sentences else ""


def _seeds_without_effect(runs: Sequence[RunResult]) -> str:
    names = _draw_nothing(chain.from_iterable(group_runs(runs).values()))
    return (
        f" The seed alone changed no score of {join_words(names)}: nothing is drawn at random there." if names else ""
    )


def seed_ways(runs: Sequence[RunResult]) -> dict[str, list[str]]:
    """Return what each seed set beside the choices of the learner, with the streams on which it did.

    Nothing is returned unless every run has one seed for all that varies, and all runs on a stream vary in the same.
    """
    ways = by_value(runs, _seed_way, lambda run: run.stream)
    streams = [name for names in ways.values() for name in names]
    is_one_seed = all(_seed_way(run) is not None for run in runs) and len(streams) == len(set(streams))
    return ways if is_one_seed and set(ways) != {_NOTHING} else {}


def _seed_way(run: RunResult) -> str | None:
    seeds = {"the order of tasks": run.order_seed, "the split of rows": run.split_seed}
    varied = [what for what, seed in seeds.items() if seed is not None]
    if not varied:
        return _NOTHING
    return join_words(varied) if run.repetition.is_varied else None


def _time_cap(runs: Sequence[RunResult]) -> str:
    caps = {run.settings["time_cap_s"] for run in runs if run.settings.get("time_cap_s")}
    return f" The time of a run was limited to {join_words(sorted(f'{cap:g}' for cap in caps))} s." if caps else ""


def _strategies(runs: Sequence[RunResult]) -> str:
    classes = dict.fromkeys(f"{run.strategy} ({_class_of(run)})" for run in runs)
    tuned = by_value(runs, describe_tuning, lambda run: run.strategy)
    given = by_value(runs, lambda run: _GIVEN.get(run.given_labels or ""), lambda run: run.strategy)
    views = "; ".join(f"{join_words(names)} {what}" for what, names in given.items())
    told = dict.fromkeys(run.strategy for run in runs if run.given_environment)
    searched = [_tuning(runs, how, names) for how, names in tuned.items()]
    sentences = [
        f"With the class of each estimator: {join_words(classes)}.",
        *(["No parameters were searched."] if list(tuned) == ["defaults"] else searched),
        *([f"{views}."] if views else []),
        *([f"The environment of each row was given to {join_words(told)} for learning."] if told else []),
    ]
    return " ".join(sentences)


def _class_of(run: RunResult) -> str:
    name = run.estimator.partition("(")[0].strip()
    return f"{name}, a baseline" if name in BASELINES else name


def _tuning(runs: Sequence[RunResult], how: str, strategies: Iterable[str]) -> str:
    if how == "defaults":
        return f"The parameters of {join_words(strategies)} were not searched."
    tried = f"The parameters of {join_words(strategies)} were {how}: configurations were drawn at random and tried on"
    if "environment" in how:
        return f"{tried} environments, and the one with the lowest mean normalised cross-entropy was chosen."
    units = {FRUGALITIES.get(run.selection.objective, "the unit recorded") for run in runs if run.selection is not None}
    return (
        f"{tried} the first experience, and the one with the greatest BA_macro minus C / (1 + C), C its energy in "
        f"{join_words(sorted(units))}, was chosen."
    )


def _scores(runs: Sequence[RunResult]) -> str:
    names = dict.fromkeys(name for run in runs for name in run.scores if name in _MAIN_SCORES)
    meanings = "; ".join(f"{one.title}: {_within_sentence(one.meaning)}" for one in map(score_heading, names))
    defined = f"The main scores are {meanings}." if meanings else ""
    stated = [run for run in runs if run.settings.get("one_class") is not None]
    rules = by_value(stated, lambda run: _ONE_CLASS[str(run.settings["one_class"])], lambda run: run.strategy)
    one_class = _each(rules, lambda rule: f"A label whose true values are all the same {rule}", "for")
    ties = _each(by_value(runs, lambda run: _TIES[str(run.settings["ties"])], lambda run: run.strategy), str, "for")
    left_out = "Undefined values are left out of means." if any(run.left_out for run in runs) else ""
    return " ".join(part for part in (defined, one_class, ties, decisions_text(runs), left_out) if part)


def decisions_text(runs: Sequence[RunResult]) -> str:
    """Describe the rules by which labels were decided; nothing if every learner decided them itself."""
    decided = by_value(runs, lambda run: str(run.settings.get("decision", "own")), lambda run: run.strategy)
    stated = (run.settings.get("also_decide") for run in runs)
    further = dict.fromkeys(str(rule) for rules in stated if isinstance(rules, list) for rule in rules)
    if set(decided) <= {"own"} and not further:
        return ""
    also = (f"In scores of the rule {rule}, {_within_sentence(_DECISIONS[rule])}." for rule in further)
    return " ".join([_each(decided, _DECISIONS.__getitem__, "for"), *also])


def same_scores_note(groups: Iterable[Group]) -> str:
    """Return why repeated runs have no spread, where a learner draws nothing at random and its seed alone varied."""
    names = _draw_nothing(groups)
    if not names:
        return ""
    draws = "this learner draws" if len(names) == 1 else "these learners draw"
    return (
        f"Runs of {join_words(names)} have the same scores where only their seed differs: {draws} nothing at random. "
        "With --vary (vary=True in Python), each seed varies the stream, too."
    )


def _draw_nothing(groups: Iterable[Group]) -> list[str]:
    return list(dict.fromkeys(group.strategy for group in groups if group.is_deterministic))


def _within_sentence(text: str) -> str:
    """Write a sentence as a part of another; names such as BA_macro keep their capitals."""
    first, rest = text[:1], text[1:].rstrip(".")
    return f"{first.lower() if rest[:1].islower() else first}{rest}"


def _comparison() -> str:
    return (
        "Strategies were compared over streams, repetitions averaged first: by mean ranks, the Friedman test and the "
        f"Nemenyi test at level {ALPHA:g} (Demšar, 2006), and pair by pair by the Bayesian signed-rank test with a "
        f"region of practical equivalence of {ROPE:g} to either side (Benavoli et al., 2017)."
    )


def _cost(runs: Sequence[RunResult]) -> str:
    used = [run.resources for run in runs if run.resources is not None]
    if not used:
        return ""
    methods = {one.memory_method for one in used if one.memory_method}
    memory = f" Memory: {join_words(sorted(methods))}." if methods else ""
    shares = f" {text}" if (text := describe_shares(runs)) else ""
    return f"Time and energy were taken around the calls of the learner only. {_energy(used)}{shares}{memory}"


def _energy(used: Iterable[Resources]) -> str:
    kinds = {(one.energy_method, one.energy_is_estimate) for one in used}
    if all(method == "none" for method, _ in kinds):
        return "Energy was not measured."
    ways = [
        f"{'estimated' if is_estimate else 'measured'} by {method}"
        for method, is_estimate in sorted(kinds)
        if method != "none"
    ]
    return f"Energy was {join_words(ways)}."


def describe_shares(runs: Sequence[RunResult]) -> str:
    """Describe what the energy consists of; the text is empty where records do not hold its parts."""
    shares = energy_shares(runs)
    if not shares:
        return ""
    parts = ", ".join(f"{part} {share:.0%}" for part, share in shares.items())
    methods = [run.resources.energy_method for run in runs if run.resources is not None]
    if "memory" not in shares or not any(_MODEL_OF_MEMORY in method for method in methods):
        return f"Shares of the energy: {parts}."
    return (
        f"Shares of the energy: {parts}. That of memory is not measured but a constant power times wall time, so that "
        "whatever makes a run wait, such as other work on the machine, counts as energy."
    )


def software_text(runs: Sequence[RunResult | Detection]) -> str:
    """State versions and machines of records."""
    versions = _joined(run.versions for run in runs)
    machine = _joined(run.machine for run in runs)
    packages = join_words(f"{name} {version}" for name, version in versions.items())
    return f"The runs used {packages}. Machine: {', '.join(f'{name} {value}' for name, value in machine.items())}."


def _joined(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    values: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            values.setdefault(name, {})[value] = None
    return {name: " and ".join(found) for name, found in values.items()}


def by_value(
    runs: Iterable[RunResult], value: Callable[[RunResult], str | None], name: Callable[[RunResult], str]
) -> dict[str, list[str]]:
    """Return the values, and the names of those that have each; None is no value."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        if (each := value(run)) is not None:
            found.setdefault(each, {})[name(run)] = None
    return {each: list(names) for each, names in found.items()}


def _each(found: Mapping[str, Sequence[str]], sentence: Callable[[str], str], preposition: str) -> str:
    """Write one sentence, or one for each value with the names that have it."""
    if len(found) <= 1:
        return "".join(f"{sentence(value)}." for value in found)
    return " ".join(f"{sentence(value)} {preposition} {join_words(names)}." for value, names in found.items())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def join_words(words: Iterable[str]) -> str:
    """Join words as a sentence does."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last
