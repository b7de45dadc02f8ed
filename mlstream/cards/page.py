"""The readable page of a card, in Markdown."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mlstream.cards.front_matter import PARQUET, front_matter
from mlstream.cards.licences import licence_page, spdx_identifier
from mlstream.cards.limits import has_unknown_labels, known_limits
from mlstream.cards.markdown import code, code_block, escape_markdown, table_lines
from mlstream.cards.reading import describe_reading
from mlstream.cards.terms import is_drawn, stated_terms
from mlstream.streams.card_model import CreatorCard, StreamCard
from mlstream.streams.categories import describe_sizes

SIGNATURES = "signatures.svg"
SCHEDULE = "schedule.svg"

_TASK_IDENTITY = {
    "always": "a learner may see the task of each row, in training and when it predicts",
    "training": "a learner may see the task of each row in training only",
    "never": "a learner never sees the task of a row",
}
_RESPONSIBLE = {
    "data_use_cases": "Uses",
    "data_biases": "Biases",
    "personal_sensitive_information": "Personal and sensitive information",
    "data_social_impact": "Social impact",
}
_LIST = re.compile(r"^([0-9]*)([-+=.)])")


def card_page(card: StreamCard, *, prefix: str = "") -> str:
    """Write the readable page of a card: Markdown, after the YAML that dataset hubs read.

    `prefix` begins the names of its pictures, which lie beside it.
    """
    pictured = (_signatures, f"{prefix}{SIGNATURES}"), (_schedule, f"{prefix}{SCHEDULE}")
    sections = [_summary(card), _tasks(card), *(write(card, picture) for write, picture in pictured)]
    sections += [
        write(card) for write in (_drifts, _drops, _limits, _responsibility, _making, _loading, _files, _source)
    ]
    texts = ("\n".join(lines).rstrip() for lines in sections)
    return front_matter(card) + "\n" + "\n\n".join(filter(None, texts)) + "\n"


def _summary(card: StreamCard) -> Iterator[str]:
    terms = stated_terms(card)
    yield from (f"# {escape_markdown(terms.title)}", "")
    yield from _paragraphs(terms.description)
    facts = {
        **({"name": escape_markdown(card.name)} if terms.title != card.name else {}),
        "rows to learn from": f"{sum(task.n_learning for task in card.tasks):,}",
        "rows held out for evaluation": f"{sum(task.n_evaluation for task in card.tasks):,}",
        "features": f"{len(card.feature_names):,}",
        **_category_facts(card),
        **({"keys of rows": ", ".join(map(escape_markdown, card.keys))} if card.keys else {}),
        "labels": f"{len(card.label_names):,}",
        **_label_facts(card),
        **_persistence_facts(card),
        **_unknown_labels(card),
        "tasks": f"{len(card.tasks):,}",
        "experiences": f"{len(card.experiences):,}",
        "scenario": f"{escape_markdown(card.scenario.name)}: boundaries are {card.scenario.boundary}; "
        f"{_TASK_IDENTITY[card.scenario.task_identity]}",
        **_scenario_facts(card),
        "made from": escape_markdown(card.source.name),
        "hash of the data": f"`{card.data_sha256}`",
    }
    yield from table_lines(("what", "value"), facts.items())


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        # A paragraph that begins like a list or a line would become one.
        yield from (_LIST.sub(r"\1\\\2", escape_markdown(paragraph)), "")


def _scenario_facts(card: StreamCard) -> dict[str, str]:
    """Roles of tasks, and the times at which labels emerge, where a scenario has them."""
    counts = Counter(card.scenario.task_roles or ())
    emerging = sorted(Counter(card.scenario.emergence or ()).items())
    facts = {
        "roles of tasks": ", ".join(f"{role} ({count})" for role, count in counts.items()),
        "labels that emerge, by experience": ", ".join(f"{count} in {place}" for place, count in emerging),
    }
    return {fact: text for fact, text in facts.items() if text}


def _category_facts(card: StreamCard) -> dict[str, str]:
    if not card.feature_values:
        return {}
    where = "their codes 0, 1, ... stand for the words at `feature_values` of the card, in that order"
    return {"features that are categories": f"{describe_sizes(card.feature_values)}: {where}"}


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


def _persistence_facts(card: StreamCard) -> dict[str, str]:
    """Shares of the rows that repeat the labels before them, of cards that hold them."""
    measured = {"within experiences": card.persistence, "in the source": card.source.persistence}
    return {
        f"rows that repeat the label set of the row before, {where}": (
            f"{found.repeated:.1%} ({found.by_chance:.1%} in random order)"
        )
        for where, found in measured.items()
        if found is not None
    }


def _unknown_labels(card: StreamCard) -> dict[str, str]:
    found = [f"{escape_markdown(task.name)} {task.unknown_share:.2%}" for task in card.tasks if task.unknown_share]
    return {"labels of the task that are unknown": ", ".join(found)} if found else {}


def _tasks(card: StreamCard) -> Iterator[str]:
    yield from ("## Tasks", "")
    yield "Cardinality is the mean number of labels of a row; a label set is one combination of labels. Density is the"
    yield "share of the task's labels that a row carries, on average. Diversity is the share of the possible label sets"
    yield "that occur. Imbalance is how many times more frequent the most frequent label is than another, on average"
    yield "(1 is even). Overlap is the share of labels in common with another task, on average (Jaccard index)."
    yield ""
    statistics = ("density", "diversity", "imbalance", "overlap")
    head = ("task", "labels", "rows to learn from", "rows held out", "cardinality", "label sets", *statistics)
    yield from table_lines(
        head,
        (
            (
                escape_markdown(task.name),
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
    yield from table_lines(
        ("label", *(["part of"] if has_parents else []), *(escape_markdown(task.name) for task in card.tasks)),
        (
            (
                escape_markdown(name),
                *([escape_markdown(card.label_parents.get(name, ""))] if has_parents else []),
                *(
                    f"{100 * task.label_frequencies[label]:.1f}" if label in task.signature else ""
                    for task in card.tasks
                ),
            )
            for label, name in enumerate(card.label_names)
        ),
    )


def _schedule(card: StreamCard, picture: str) -> Iterator[str]:
    yield from ("## Schedule", "", f"![When each task is visited]({picture})", "")
    yield from ("The experiences, in the order in which they arrive.", "")
    stop, rows = 0, []
    for number, experience in enumerate(card.experiences, 1):
        start, stop = stop, stop + experience.n_samples
        tasks = " + ".join(escape_markdown(card.tasks[task].name) for task in experience.tasks)
        span = f"{start + 1:,} to {stop:,}" if experience.n_samples else ""
        rows.append((number, tasks, f"{experience.n_samples:,}", span))
    yield from table_lines(("experience", "tasks", "rows", "from row to row"), rows)


def _drifts(card: StreamCard) -> Iterator[str]:
    if card.drifts:
        yield from (
            "## Drifts",
            "",
            "Rows are counted from 1; between the last row before and the first row after, the change is under way.",
            "",
        )
        yield from table_lines(
            ("what changes", "how", "from", "to", "last row before", "first row after", "recurring"),
            (
                (
                    escape_markdown(", ".join(drift.what)),
                    drift.pattern,
                    escape_markdown(card.tasks[drift.before].name),
                    escape_markdown(card.tasks[drift.after].name),
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
        yield from table_lines(
            ("what", "how many", "why", "names"),
            (
                (
                    drop.what,
                    f"{drop.count:,}",
                    escape_markdown(drop.reason),
                    ", ".join(map(escape_markdown, drop.names)),
                )
                for drop in card.drops
            ),
        )


def _limits(card: StreamCard) -> Iterator[str]:
    yield from ("## Known limits", "")
    yield from (f"- {escape_markdown(limit)}" for limit in known_limits(card) or ["None that follow from the card."])


def _responsibility(card: StreamCard) -> Iterator[str]:
    """State what only the authors know, where they do."""
    about = stated_terms(card).about
    texts = {title: text for name, title in _RESPONSIBLE.items() if (text := getattr(about, name))}
    if about.has_synthetic_data is not None and not is_drawn(card):
        texts["Synthetic rows"] = (
            "Rows were drawn by a model or a simulation, in the source already."
            if about.has_synthetic_data
            else "No row is synthetic."
        )
    if texts:
        yield from ("## Responsible use", "", "As those who made the data state it.", "")
    for title, text in texts.items():
        yield from (f"### {title}", "", *_paragraphs(text))


def _making(card: StreamCard) -> Iterator[str]:
    yield from ("## How it was made", "")
    yield f"By {code(card.generator.name)} with the seed {card.generator.seed} and the parameters"
    yield from ("", "```json", json.dumps(card.generator.parameters, indent=1, ensure_ascii=False), "```", "")
    versions = ", ".join(
        f"{escape_markdown(package)} {escape_markdown(version)}" for package, version in card.versions.items()
    )
    # Formats are told by the ending of a file's name; names of registered tables have none.
    is_own = card.source.sha256 is not None and Path(card.source.origin).suffix
    subject, option = ("card and the table make", " --table FILE") if is_own else ("card alone makes", "")
    yield f"with {versions}. The {subject}"
    yield f"the same stream again: `mlstream regenerate CARD.json{option} --output again.npz`."


def _loading(card: StreamCard) -> Iterator[str]:
    yield from ("## How to load it", "", "```python", "from mlstream import load", "")
    yield from ('stream = load("stream.npz")', "for experience in stream:")
    keys = ", experience.keys" * bool(card.keys)
    yield from (f"    experience.X, experience.Y, experience.task_ids, experience.label_mask{keys}", "```", "")
    if any(file.name == PARQUET["default"]["train"] for file in card.files):
        yield from _parquet_rows(card)
    if any(file.name.endswith(".arff") for file in card.files) or not card.files:
        yield from _plain_rows(card)
    yield 'NumPy alone reads the arrays: `numpy.load("stream.npz")`.'


def _parquet_rows(card: StreamCard) -> Iterator[str]:
    yield "The library `datasets` loads the rows of the Parquet files: `train` to learn from and `test` held out, each"
    yield "with its experience, its task and its row in the source. Three lines make the stream of them again:"
    yield from ("", "```python", "from datasets import load_dataset", "from mlstream.interop import from_datasets", "")
    yield from ('stream = from_datasets(load_dataset("FOLDER"), "FOLDER/stream.card.json")', "```", "")
    if card.rows is not None and card.rows.sparse:
        yield "A row holds lists: `labels` (the numbers of those present), `indices` (of the features stored, from 0 in"
        yield "the order of `feature_names` on the card) and `values`."
        if any(file.name in PARQUET["columns"].values() for file in card.files):
            yield '`load_dataset("FOLDER", "columns")` has a column per label and feature instead.'
        yield ""


def _plain_rows(card: StreamCard) -> Iterator[str]:
    values = "0, 1 or ? (unknown)" if has_unknown_labels(card) else "0 or 1"
    yield f"Any reader of ARFF takes the plain rows: the first {len(card.label_names)} columns are the labels, {values}"
    yield f"(MEKA: `-C {len(card.label_names)}`), the others are features. The schedule above lists the rows of each"
    yield "experience." + " Features that are categories are nominal, with their words." * bool(card.feature_values)
    if card.keys:
        yield "The keys of the rows lie beside them, in `stream.keys.csv` and `stream.evaluation.keys.csv`."


def _files(card: StreamCard) -> Iterator[str]:
    if card.files:
        yield from ("## Files", "")
        yield from table_lines(
            ("file", "bytes", "SHA-256"),
            ((code(file.name).replace("|", "\\|"), f"{file.n_bytes:,}", f"`{file.sha256}`") for file in card.files),
        )


def _source(card: StreamCard) -> Iterator[str]:
    source, terms = card.source, stated_terms(card)
    yield from ("## Source, licence, citation", "")
    if terms.people:
        yield f"- Made by: {', '.join(map(_creator, terms.people))}"
    if terms.homepage:
        yield f"- Homepage: <{terms.homepage}>"
    if terms.published:
        yield f"- Published: {terms.published}"
    yield f"- Source: {escape_markdown(source.name)} ({escape_markdown(source.origin)}), {source.n_samples:,} rows."
    if source.sha256:
        yield f"- SHA-256 of the source's content: `{source.sha256}`."
    if source.reading:
        yield f"- How it was read: {' '.join(describe_reading(source.reading, code))}"
    yield f"- Licence: {_licence(terms.licence) or 'not stated'}"
    if source.licence != terms.licence and source.licence:
        yield f"- Licence of the source: {escape_markdown(source.licence)}"
    yield from _citation("To be cited", terms.citation)
    if source.citation != terms.citation and source.citation:
        yield from _citation("To be cited for the source", source.citation)


def _creator(creator: CreatorCard) -> str:
    orcid = f"[ORCID](https://orcid.org/{creator.orcid})" if creator.orcid else ""
    more = ", ".join(filter(None, (escape_markdown(creator.affiliation or ""), orcid)))
    return escape_markdown(creator.name) + (f" ({more})" if more else "")


def _licence(stated: str) -> str:
    """Link an SPDX identifier to the text of the licence."""
    return f"[{stated}]({licence_page(stated)})" if stated == spdx_identifier(stated) else escape_markdown(stated)


def _citation(what: str, text: str) -> Iterator[str]:
    """Write a citation; one of several lines, such as BibTeX, stays as it is."""
    if "\n" in text:
        yield from (f"- {what}:", "", code_block(text))
    else:
        yield f"- {what}: {escape_markdown(text) or 'not stated'}"
