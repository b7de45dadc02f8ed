"""The readable page of a card, in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from mlstream.card_model import StreamCard, TaskCard
from mlstream.cards.front_matter import front_matter
from mlstream.cards.limits import known_limits

SIGNATURES = "signatures.svg"
SCHEDULE = "schedule.svg"

_TOLD = {
    "always": "a learner may be told the task of each row, in training and when it predicts",
    "training": "a learner may be told the task of each row in training only",
    "never": "a learner is never told the task of a row",
}
_LIST = re.compile(r"^([0-9]*)([-+=.)])")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&])")


def card_page(card: StreamCard, *, prefix: str = "") -> str:
    """Write the page that people read.

    Parameters
    ----------
    card : StreamCard
        The card.
    prefix : str
        What the names of its pictures, which lie beside it, begin with.

    Returns
    -------
    str
        Markdown, after the YAML that dataset hubs read: statistics, tasks, signatures, schedule, what was dropped, how
        the stream was made and how to load it, known limits, files, licence and citation.
    """
    pictured = (_signatures, f"{prefix}{SIGNATURES}"), (_schedule, f"{prefix}{SCHEDULE}")
    sections = [_summary(card), _tasks(card), *(write(card, picture) for write, picture in pictured)]
    sections += [write(card) for write in (_drifts, _drops, _limits, _making, _loading, _files, _source)]
    return front_matter(card) + "\n" + "\n\n".join(text for lines in sections if (text := "\n".join(lines))) + "\n"


def _summary(card: StreamCard) -> Iterator[str]:
    # A paragraph that begins like a list or a line would become one.
    yield from (f"# {_plain(card.name)}", "", _LIST.sub(r"\1\\\2", _plain(card.description)), "")
    facts = {
        "rows to learn from": f"{sum(task.n_learning for task in card.tasks):,}",
        "rows held out for evaluation": f"{sum(task.n_evaluation for task in card.tasks):,}",
        "features": f"{len(card.feature_names):,}",
        "labels": f"{len(card.label_names):,}",
        **_label_facts(card),
        "tasks": f"{len(card.tasks):,}",
        "experiences": f"{len(card.experiences):,}",
        "scenario": f"{_plain(card.scenario.name)}: boundaries are {card.scenario.boundary}; "
        f"{_TOLD[card.scenario.task_identity]}",
        "made from": _plain(card.source.name),
        "hash of the data": f"`{card.data_sha256}`",
    }
    yield from _table(("what", "value"), facts.items())


def _label_facts(card: StreamCard) -> dict[str, str]:
    """Cardinality, density and the frequencies of labels, over all rows."""
    sizes = [task.n_learning + task.n_evaluation for task in card.tasks]
    n_rows, n_labels = max(sum(sizes), 1), len(card.label_names)
    cardinality = sum(size * task.cardinality for size, task in zip(sizes, card.tasks, strict=True)) / n_rows
    shares = [
        sum(size * task.label_frequencies[label] for size, task in zip(sizes, card.tasks, strict=True)) / n_rows
        for label in range(n_labels)
    ]
    return {
        "labels of a row (cardinality)": f"{cardinality:.3f}",
        "of all labels (density)": f"{cardinality / n_labels:.3f}",
        "share of rows with the rarest and the most frequent label": f"{min(shares):.2%} and {max(shares):.2%}",
    }


def _tasks(card: StreamCard) -> Iterator[str]:
    yield from ("## Tasks", "")
    yield "Cardinality is the mean number of labels of a row; a label set is one combination of labels. Of the labels"
    yield "of a task: density is the share of them that a row has; diversity, the label sets among all there could be;"
    yield "imbalance, how many times more frequent the commonest is, on average (1 is even). Overlap is the share of"
    yield "labels in common with another task, on average (Jaccard index)."
    yield ""
    statistics = ("density", "diversity", "imbalance", "overlap")
    head = ("task", "labels", "rows to learn from", "rows held out", "cardinality", "label sets", *statistics)
    yield from _table(
        head,
        (
            (
                _plain(task.name),
                len(task.signature),
                f"{task.n_learning:,}",
                f"{task.n_evaluation:,}",
                f"{task.cardinality:.3f}",
                f"{task.n_label_sets:,}",
                *(_number(getattr(task, name)) for name in statistics),
            )
            for task in card.tasks
        ),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _signatures(card: StreamCard, picture: str) -> Iterator[str]:
    yield from ("## Signatures", "", f"![Which label occurs in which task]({picture})", "")
    yield "Percent of a task's rows that carry a label. An empty cell: the label cannot occur in the task."
    yield ""
    has_parents = bool(card.label_parents)
    yield from _table(
        ("label", *(["part of"] if has_parents else []), *(_plain(task.name) for task in card.tasks)),
        (
            (
                _plain(name),
                *([_plain(card.label_parents.get(name, ""))] if has_parents else []),
                *(_percent(task, label) for task in card.tasks),
            )
            for label, name in enumerate(card.label_names)
        ),
    )


def _percent(task: TaskCard, label: int) -> str:
    return f"{100 * task.label_frequencies[label]:.1f}" if label in task.signature else ""


def _schedule(card: StreamCard, picture: str) -> Iterator[str]:
    yield from ("## Schedule", "", f"![When each task is visited]({picture})", "")
    yield from ("The experiences, in the order in which they arrive.", "")
    stop, rows = 0, []
    for number, experience in enumerate(card.experiences, 1):
        start, stop = stop, stop + experience.n_samples
        tasks = " + ".join(_plain(card.tasks[task].name) for task in experience.tasks)
        span = f"{start + 1:,} to {stop:,}" if experience.n_samples else ""
        rows.append((number, tasks, f"{experience.n_samples:,}", span))
    yield from _table(("experience", "tasks", "rows", "from row to row"), rows)


def _drifts(card: StreamCard) -> Iterator[str]:
    if card.drifts:
        yield from (
            "## Drifts",
            "",
            "Rows are counted from 1; between the last row before and the first row after, the change is under way.",
            "",
        )
        yield from _table(
            ("what changes", "how", "from", "to", "last row before", "first row after", "recurring"),
            (
                (
                    _plain(", ".join(drift.what)),
                    drift.pattern,
                    _plain(card.tasks[drift.before].name),
                    _plain(card.tasks[drift.after].name),
                    f"{drift.start:,}",
                    f"{drift.stop + 1:,}",
                    "yes" if drift.recurring else "no",
                )
                for drift in card.drifts
            ),
        )


def _drops(card: StreamCard) -> Iterator[str]:
    if card.drops:
        yield from ("## Left out of the source", "")
        yield from _table(
            ("what", "how many", "why", "names"),
            (
                (drop.what, f"{drop.count:,}", _plain(drop.reason), ", ".join(map(_plain, drop.names)))
                for drop in card.drops
            ),
        )


def _limits(card: StreamCard) -> Iterator[str]:
    yield from ("## Known limits", "")
    yield from (f"- {_plain(limit)}" for limit in known_limits(card) or ["None that the card tells."])


def _making(card: StreamCard) -> Iterator[str]:
    yield from ("## How it was made", "")
    yield f"By {_code(card.generator.name)} with the seed {card.generator.seed} and the parameters"
    yield from ("", "```json", json.dumps(card.generator.parameters, indent=1, ensure_ascii=False), "```", "")
    versions = ", ".join(f"{_plain(package)} {_plain(version)}" for package, version in card.versions.items())
    yield f"with {versions}. The card alone makes"
    yield "the same stream again: `mlstream regenerate CARD.json --output again.npz`."


def _loading(card: StreamCard) -> Iterator[str]:
    yield from ("## How to load it", "", "```python", "from mlstream import load", "")
    yield from ('stream = load("stream.npz")', "for experience in stream:")
    yield from ("    experience.X, experience.Y, experience.task_ids, experience.label_mask", "```", "")
    yield f"Any reader of ARFF takes the plain rows: the first {len(card.label_names)} columns are the labels, 0 or 1"
    yield f"(MEKA: `-C {len(card.label_names)}`), the others are features. The schedule above says which rows are which"
    yield 'experience. NumPy alone reads the arrays: `numpy.load("stream.npz")`.'


def _files(card: StreamCard) -> Iterator[str]:
    if card.files:
        yield from ("## Files", "")
        yield from _table(
            ("file", "bytes", "SHA-256"),
            ((_code(file.name).replace("|", "\\|"), f"{file.n_bytes:,}", f"`{file.sha256}`") for file in card.files),
        )


def _source(card: StreamCard) -> Iterator[str]:
    source = card.source
    yield from ("## Source, licence, citation", "")
    yield f"- Source: {_plain(source.name)} ({_plain(source.origin)}), {source.n_samples:,} rows."
    if source.sha256:
        yield f"- SHA-256 of the source's content: `{source.sha256}`."
    yield f"- Licence: {_plain(source.licence) or 'not stated'}"
    yield f"- To be cited: {_plain(source.citation) or 'not stated'}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def _code(text: str) -> str:
    """Write a name as code; backticks in it need a longer run of them around it."""
    text = " ".join(text.split())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _plain(text: str) -> str:
    """Keep what a name holds from being read as Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
