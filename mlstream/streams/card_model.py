"""The card: the description that travels with a stream, and from which the stream can be made again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from itertools import chain
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from mlstream._support import html as _html
from mlstream._support.files import read_bounded
from mlstream._support.reading import Categories, Dates, Missing, TableFormat
from mlstream._support.validation_errors import Model, describe_error
from mlstream.streams.categories import describe_sizes

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
SCHEMA_VERSION = 2
_IDENTITY = {"always": "always", "training": "in training", "never": "never"}
_MAX_BYTES = 64 * 2**20
TaskRole = Literal["train", "validation", "test", "unseen", "pre-training", "downstream"]
SharedRows = Literal["mask", "drop"]
KeyType = Annotated[str, Field(pattern=r"^(U[1-9][0-9]{0,7}|int64|float64|datetime64\[us\])$")]
DriftTarget = Literal["P(X)", "P(Y|X)", "dependence"]


class _Strict(Model):
    """Immutable; unknown fields are refused. Fields in `_if_set` are written only where they are not the default."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    _if_set: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _leave_out_unset(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = write(self)
        unset = {name for name in self._if_set if getattr(self, name) == type(self).model_fields[name].default}
        return {name: value for name, value in fields.items() if name not in unset}


class PersistenceCard(_Strict):
    """How often rows carry the label set of the row before: the subset accuracy of repeating the last labels."""

    repeated: Share = Field(description="Share of the rows that repeat the label set of the row before.")
    by_chance: Share = Field(description="Mean of that share over all orders of the same rows.")


class ReadingCard(_Strict):
    """How a table was read: which columns, and how they became features and labels."""

    missing: Missing = Field(
        default="error",
        description="What becomes of missing values of features: they are refused (error), their rows are left out "
        "(drop), they become the mean of their column, the most frequent value of a category (mean), beside a 0/1 "
        "feature that marks them (indicator), or NaN (keep).",
    )
    categories: Categories | None = Field(
        default=None,
        description="What becomes of columns of words, and of others whose values are declared: one 0/1 feature per "
        "value (one-hot) or a category, its number in the order of the values (ordinal). Null: one-hot where the file "
        "declares words, else refused.",
    )
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        default=None, description="What separates the cells of a CSV file; null where its first line shows it."
    )
    decimal: Literal[".", ","] = Field(
        default=".", description="The character between whole numbers and decimals in a CSV file."
    )
    ignore: tuple[str, ...] = Field(
        default=(), description="Columns that were left out; an empty name stands for columns without one."
    )
    keys: tuple[str, ...] = Field(default=(), description="Columns that are the keys of rows, not features.")
    dates: Dates | None = Field(
        default=None,
        description="What becomes of columns of dates: seconds since 1970 (epoch), or a feature each for year, month, "
        "day, weekday, hour, minute and second (parts). Null: refused.",
    )
    date_format: str | None = Field(
        default=None, description="How dates are written, in the codes of strptime; null for ISO 8601."
    )
    time: str | None = Field(
        default=None,
        description="The column of the times of rows, for streams in their order; dates there become no feature unless "
        "`dates` says so. Null for none.",
    )
    header: bool = Field(default=True, description="Whether the first line of a CSV file holds the names of columns.")
    present: str | None = Field(
        default=None, description="The word in label columns that marks a label as present; null for words of 1 and 0."
    )
    classes: bool = Field(default=False, description="Whether each value of a label column is a label of its own.")
    tags: str | None = Field(default=None, description="The column that lists the labels of a row; null for none.")
    tag_separator: Annotated[str, Field(min_length=1)] = Field(
        default=";", description="What separates the labels in the column of tags."
    )
    missing_words: tuple[str, ...] | None = Field(
        default=None, description="The words for a missing value, beside an empty cell; null for the usual ones."
    )
    n_features: Count | None = Field(default=None, description="Number of features of a LIBSVM file, if stated.")
    format: TableFormat | None = Field(default=None, description="Format of the file; null where its name says it.")
    n_dropped: Count | None = Field(default=None, description="Rows left out because a feature was missing (drop).")
    _if_set: ClassVar[frozenset[str]] = frozenset(
        {"categories", "separator", "decimal", "ignore", "dates", "date_format", "time", "header", "present", "classes"}
        | {"keys", "tags", "tag_separator", "missing_words", "n_features", "format", "n_dropped"}
    )

    @property
    def keeps_words(self) -> bool:
        """Whether labels are words as they are written: tags, classes, or those among which one marks a label."""
        return self.tags is not None or self.classes or self.present is not None

    def takes_dates(self, column: str) -> bool:
        """Tell whether a column may hold dates."""
        return self.dates is not None or column == self.time


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ORCID = re.compile(r"[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")
_ADDRESS = re.compile(r"https?://[^\s/<>\"\\][^\s<>\"\\]*")


def _require_line(text: str, info: ValidationInfo) -> str:
    if not text or _CONTROL.search(text):
        raise ValueError(f"{info.field_name} must be one line of text, without control characters. Got {text!r}")
    return text


def _require_paragraphs(text: str, info: ValidationInfo) -> str:
    found = _CONTROL.search(text.replace("\n", "").replace("\t", "")) if text else None
    if not text or found:
        got = f"the character {found.group()!r}" if found else "an empty text"
        raise ValueError(f"{info.field_name} must be text without control characters. Got {got}")
    return text


def _require_address(text: str, info: ValidationInfo) -> str:
    if not _ADDRESS.fullmatch(text) or _CONTROL.search(text):
        raise ValueError(f"{info.field_name} must be an address that begins with http:// or https://. Got {text!r}")
    return text


def _require_date(text: str, info: ValidationInfo) -> str:
    try:
        if date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise ValueError(f"{info.field_name} must be a date, YYYY-MM-DD. Got {text[:60]!r}")


def _require_orcid(text: str, info: ValidationInfo) -> str:
    digits = text.removeprefix("https://orcid.org/")
    if not _ORCID.fullmatch(digits) or _orcid_check(digits) != digits[-1]:
        rule = "an ORCID such as 0000-0002-1825-0097, whose last character checks the others"
        raise ValueError(f"{info.field_name} must be {rule}. Got {text!r}")
    return digits


def _orcid_check(digits: str) -> str:
    """Compute the last character of an ORCID from the others (ISO 7064, MOD 11-2)."""
    total = 0
    for digit in digits.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11]


_Line = Annotated[str, Field(max_length=300), AfterValidator(_require_line)]
_Paragraphs = Annotated[str, Field(max_length=50_000), AfterValidator(_require_paragraphs)]
_Date = Annotated[str, AfterValidator(_require_date)]
_Address = Annotated[str, Field(max_length=2_000), AfterValidator(_require_address)]
_Orcid = Annotated[str, Field(max_length=100), AfterValidator(_require_orcid)]


class CreatorCard(_Strict):
    """Someone who made a stream, as archives and search engines tell people apart."""

    name: _Line
    orcid: _Orcid | None = Field(default=None, description="ORCID: four times four digits, or the address with them.")
    affiliation: _Line | None = Field(default=None, description="Where they work.")
    _if_set: ClassVar[frozenset[str]] = frozenset({"orcid", "affiliation"})


class AboutCard(_Strict):
    """Facts that only those who made the data know, and that conferences and archives want to read."""

    data_biases: _Paragraphs | None = Field(
        default=None, description="Biases of the data: who or what occurs too often, too rarely or never, and why."
    )
    personal_sensitive_information: _Paragraphs | None = Field(
        default=None,
        description="Personal or sensitive information in the data, how it is protected, or that the data hold none.",
    )
    data_use_cases: _Paragraphs | None = Field(
        default=None,
        description="What the data are for, for which uses they were validated, and what not to use them for.",
    )
    data_social_impact: _Paragraphs | None = Field(
        default=None, description="Effects that the use of the data may have on people and society, good and bad."
    )
    has_synthetic_data: Annotated[bool, Field(strict=True)] | None = Field(
        default=None, description="Whether rows were drawn by a model or a simulation; those of our generators are."
    )
    creators: Annotated[list[CreatorCard], Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="The people and organisations that made the stream, with ORCID and affiliation."
    )
    _if_set: ClassVar[frozenset[str]] = frozenset(
        {
            "data_biases",
            "personal_sensitive_information",
            "data_use_cases",
            "data_social_impact",
            "has_synthetic_data",
            "creators",
        }
    )


class TermsCard(_Strict):
    """The terms of a stream, as its publisher states them; of what is left out, the terms of the source hold."""

    title: _Line | None = Field(default=None, description="Title of the stream, in one line; by default its name.")
    description: _Paragraphs | None = Field(
        default=None, description="What the data are, where they are from, and what they are for."
    )
    licence: _Line | None = Field(
        default=None, description="Licence of the stream: an SPDX identifier such as CC-BY-4.0, or other words."
    )
    citation: _Paragraphs | None = Field(default=None, description="What those who use the stream are to cite.")
    creators: Annotated[list[_Line], Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="The people and organisations that made the stream."
    )
    homepage: _Address | None = Field(
        default=None, description="Address of the stream's page, with http:// or https://."
    )
    published: _Date | None = Field(default=None, description="Date of publication, YYYY-MM-DD.")
    about: AboutCard | None = Field(
        default=None,
        description="What only those who made the data know: biases, personal information, uses, social impact, and "
        "more.",
    )
    _if_set: ClassVar[frozenset[str]] = frozenset(
        {"title", "description", "licence", "citation", "creators", "homepage", "published", "about"}
    )

    @model_validator(mode="after")
    def _require_known_creators(self) -> Self:
        described = [one.name for one in (self.about and self.about.creators) or ()]
        unknown = [name for name in described if self.creators and name not in self.creators]
        if unknown:
            way_out = "state them again in --about, or take them back there with creators = []"
            raise ValueError(
                f"about.creators must be among the creators that are stated; {way_out}. Got {unknown[0]!r}"
            )
        return self


class SourceCard(_Strict):
    """The table that the stream was made from."""

    name: str
    origin: str = Field(description="Name of a registered data set or of a file, or 'memory'.")
    licence: str = ""
    citation: str = ""
    sha256: Sha256 | None = Field(
        default=None, description="Hash of the file's content, unpacked; null for a table made in memory."
    )
    labels: int | list[str] | str | None = Field(
        default=None,
        description="The `labels` of load_dataset that name the label columns; null where the file names them.",
    )
    label_parents: dict[str, str] | None = Field(
        default=None,
        description="Label hierarchy, child -> parent, where another file than the table states it; else left out.",
    )
    reading: ReadingCard | None = Field(
        default=None, description="How columns became features; left out where all options have their defaults."
    )
    n_samples: Count
    persistence: PersistenceCard | None = Field(
        default=None, description="Of the labels in the order of the source, all rows; left out where not measured."
    )
    _if_set: ClassVar[frozenset[str]] = frozenset({"persistence", "label_parents", "reading"})


class GeneratorCard(_Strict):
    """The generator of the stream: called again with these parameters it returns the same stream."""

    name: str
    parameters: dict[str, JsonValue]
    seed: Count


class ScenarioCard(_Strict):
    """The rule by which tasks follow each other, and when learners may see the task of a row."""

    name: str
    boundary: Literal["abrupt", "gradual"]
    task_identity: Literal["always", "training", "never"] = Field(
        description="When a learner may see the task of a row: always, in training only, or never."
    )
    shared_rows: SharedRows | None = Field(
        default=None,
        description="Learning rows with labels of several tasks show in each the labels of that task only (mask), or "
        "are left out (drop); evaluation rows show all their labels. Null where tasks are not made by lists of labels.",
    )
    task_roles: list[TaskRole] | None = Field(
        default=None,
        description="Role of each task, where they have one: environments are to train on, for validation, for the "
        "test, or unseen; pre-training precedes the downstream tasks, and no score over tasks counts it.",
    )
    emergence: list[Count] | None = Field(
        default=None,
        description="Experience in which each label emerges, where labels do: before it, the label is truly absent.",
    )
    _if_set: ClassVar[frozenset[str]] = frozenset({"shared_rows", "task_roles", "emergence"})


class TaskCard(_Strict):
    """One task: its labels and how often they occur."""

    name: str
    signature: list[Count] = Field(description="Indices of the labels that can occur.")
    label_frequencies: list[Share] = Field(
        description="Share of the task's rows that carry each label, of those where it is known, all labels; with "
        "shared_rows 'mask', only labels of the signature are counted, here and in what follows."
    )
    cardinality: float = Field(
        ge=0, description="Mean number of labels per row; an unknown label counts as the label's frequency."
    )
    n_label_sets: Count = Field(
        description="Number of distinct label sets; that of a row with unknown labels is what is known to be present."
    )
    unknown_share: Share | None = Field(
        default=None,
        description="Share of the cells of the signature whose label is unknown; left out if all are known.",
    )
    _if_set: ClassVar[frozenset[str]] = frozenset({"unknown_share"})
    density: Share | None = Field(default=None, description="Labels per row, of the signature, divided by its size.")
    diversity: Share | None = Field(
        default=None, description="Distinct label sets divided by the most there could be: min(rows, 2 ** labels)."
    )
    imbalance: Annotated[float, Field(ge=1)] | None = Field(
        default=None, description="Count of the commonest label by that of each, mean over those that occur: 1 is even."
    )
    overlap: Share | None = Field(
        default=None, description="Jaccard index of the signature with that of another task, mean over the others."
    )
    n_learning: Count
    n_evaluation: Count


class ExperienceCard(_Strict):
    """One training segment."""

    tasks: list[Count] = Field(description="Indices of the tasks present.")
    n_samples: Count


class DriftCard(_Strict):
    """One drift, as it was made: the truth that a drift detector is to find.

    Rows are counted over all experiences, from 0. Until `start`, rows are of the task before; from `stop` on, of the
    task after. An abrupt drift has no rows between them.
    """

    what: list[DriftTarget] = Field(
        min_length=1,
        description="The distributions that change; dependence is that between labels, whatever the features.",
    )
    pattern: Literal["abrupt", "gradual", "incremental"] = Field(
        description="Between start and stop, rows are of either task (gradual), or of something between (incremental)."
    )
    start: Count
    stop: Count
    before: Count = Field(description="Index of the task before.")
    after: Count = Field(description="Index of the task after.")
    recurring: bool = Field(description="Whether the task after has been visited earlier.")


class DropCard(_Strict):
    """Something of the source that is not in the stream, and why."""

    what: Literal["rows", "features", "labels", "keys"]
    reason: str
    count: Count
    names: list[str] = Field(default_factory=list, description="Names of dropped columns.")


class FileCard(_Strict):
    """A published file."""

    name: str = Field(
        pattern=r"^[^/\\\x00-\x1f.][^/\\\x00-\x1f]*$", description="A plain file name: no folder, nothing hidden."
    )
    n_bytes: Count
    sha256: Sha256


class PartCard(_Strict):
    """The rows of one experience or evaluation set in the source, and the labels that count in them.

    Numbers are listed by runs: ``"3..5 9"`` is 3, 4, 5, 9 and ``"2*350 0*10"`` is 350 times 2, then 10 times 0. Parquet
    files hold what goes by row themselves; it is left out beside them.
    """

    row_ids: str | None = Field(default=None, description="Index of each row in the source, ranges joined by '..'.")
    task_ids: str | None = Field(default=None, description="Index of each row's task, runs joined by '*'.")
    mask: Count | str | None = Field(
        default=None,
        description="Index of the label mask in `masks`; where the mask goes by row, one index per row, as task_ids.",
    )
    _if_set: ClassVar[frozenset[str]] = frozenset({"row_ids", "task_ids", "mask"})


class RowsCard(_Strict):
    """Properties that plain rows cannot hold; only on the card beside ARFF, CSV or Parquet files."""

    dtype: Literal["float32", "float64"]
    sparse: bool = Field(description="Whether X is a CSR matrix.")
    has_unknown: bool | None = Field(
        default=None, description="Whether a label of any row is unknown, also outside of the signature of its task."
    )
    masks: list[list[Count]] = Field(description="The distinct label masks, as indices of the labels that count.")
    experiences: list[PartCard]
    evaluation_sets: list[PartCard]
    key_types: dict[str, KeyType] = Field(
        default={}, description="Types of the columns of keys: U12 is text of at most 12 characters."
    )
    _if_set: ClassVar[frozenset[str]] = frozenset({"has_unknown", "key_types"})


class StreamCard(_Strict):
    """The description of a stream.

    Unknown fields are refused, so that a card of a later version never passes for one of this version. A card of
    version 1, whose version was called `format_version`, is read as one of version 2.
    """

    schema_version: Literal[2] = Field(default=2, description="Version of these fields; it grows when they change.")
    name: str
    description: str
    terms: TermsCard | None = Field(
        default=None, description="What the publisher of the stream states; left out where nothing is stated."
    )
    source: SourceCard
    generator: GeneratorCard
    scenario: ScenarioCard
    versions: dict[str, str]
    feature_names: list[str]
    feature_values: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(
        default={},
        description="The features that are categories: the words of their codes 0, 1, ... in order; left out if none "
        "is.",
    )
    label_names: list[str]
    label_parents: dict[str, str] = Field(default_factory=dict, description="Label hierarchy: child -> parent.")
    tasks: list[TaskCard]
    experiences: list[ExperienceCard]
    drifts: list[DriftCard] = Field(default_factory=list, description="Known drifts, in order; empty if unknown.")
    drops: list[DropCard] = Field(default_factory=list)
    persistence: PersistenceCard | None = Field(
        default=None,
        description="Of the labels that count in learning rows, within experiences; left out where not measured.",
    )
    data_sha256: Sha256 = Field(description="Hash of the stream's arrays, keys aside, whatever file holds them.")
    files: list[FileCard] = Field(default_factory=list)
    rows: RowsCard | None = Field(
        default=None, description="Only on the card beside ARFF, CSV or Parquet files: where their rows belong."
    )
    keys: list[str] = Field(
        default=[],
        description="Names of the columns that say whose a row is, apart from features; left out without such columns.",
    )
    _if_set: ClassVar[frozenset[str]] = frozenset({"feature_values", "persistence", "terms", "keys"})

    def __repr__(self) -> str:
        n_rows = sum(experience.n_samples for experience in self.experiences)
        return (
            f"StreamCard({self.name!r}: {len(self.experiences)} experiences of {len(self.tasks)} tasks, {n_rows} rows, "
            f"{len(self.feature_names)} features, {len(self.label_names)} labels)"
        )

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return summarise(self, "Card of the stream")

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, fields: object) -> object:
        if not isinstance(fields, dict):
            return fields
        version = fields.get("schema_version")
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise ValueError(f"schema_version must be {SCHEMA_VERSION} at most. Got more; install a newer mlstream")
        if "schema_version" in fields or fields.get("format_version") != 1:
            return fields
        return {name: value for name, value in fields.items() if name != "format_version"}

    @model_validator(mode="after")
    def _require_consistent(self) -> Self:
        for what, got in chain(_repeated(self), _impossible(self), _misfitting(self), _dangling(self)):
            raise ValueError(f"{what} of the card must fit its lists. Got {got}")
        return self


def summarise(card: StreamCard, what: str) -> str:
    """Write what a card states in short as HTML: facts, the tasks and the schedule."""
    learning, held_out = (sum(getattr(task, name) for task in card.tasks) for name in ("n_learning", "n_evaluation"))
    facts = {
        "Description": card.description,
        "Source": f"{card.source.name} ({card.source.origin}), {card.source.n_samples:,} rows",
        "Licence of the source": card.source.licence or "not stated",
        "Scenario": f"{card.scenario.name}, {card.scenario.boundary} boundaries, tasks are shown "
        f"{_IDENTITY[card.scenario.task_identity]}",
        "Generator": f"{card.generator.name}, seed {card.generator.seed}",
        "Rows": f"{learning:,} to learn in {len(card.experiences)} experiences, {held_out:,} to evaluate",
        "Features": f"{len(card.feature_names):,}",
        "Categories": describe_sizes(card.feature_values),
        "Labels": f"{len(card.label_names):,}",
        "Keys": ", ".join(card.keys),
        "Drifts": len(card.drifts) or "",
    }
    heads = ("Task", "Labels", "Labels per row", "Rows to learn", "Rows to evaluate")
    tasks = [
        (task.name, len(task.signature), f"{task.cardinality:.2f}", f"{task.n_learning:,}", f"{task.n_evaluation:,}")
        for task in card.tasks
    ]
    sizes, visits = zip(*((one.n_samples, one.tasks) for one in card.experiences), strict=True)
    schedule = _html.schedule([task.name for task in card.tasks], sizes, visits)
    return _html.summary(f"{what} {card.name}", facts, _html.table(heads, tasks), schedule)


def _impossible(card: StreamCard) -> Iterator[tuple[str, object]]:
    """Find what no stream can have: nothing to learn, more label sets than rows, drifts outside."""
    for what in ("label_names", "tasks", "experiences"):
        if not getattr(card, what):
            yield what, "an empty list"
    for task in card.tasks:
        if task.n_label_sets > task.n_learning + task.n_evaluation or task.cardinality > len(card.label_names):
            yield "n_label_sets and cardinality", f"{task.n_label_sets} and {task.cardinality}"
    n_rows = sum(experience.n_samples for experience in card.experiences)
    for drift in card.drifts:
        if not drift.start <= drift.stop <= n_rows:
            yield "drifts", f"one from {drift.start} to {drift.stop} in {n_rows} rows"


def _misfitting(card: StreamCard) -> Iterator[tuple[str, object]]:
    """Find roles and times of emergence that are not one per task and label, values of no feature, and keys of one."""
    roles, emergence = card.scenario.task_roles, card.scenario.emergence
    if roles is not None and len(roles) != len(card.tasks):
        yield "task_roles", f"{len(roles)} for {len(card.tasks)} tasks"
    if emergence is not None and len(emergence) != len(card.label_names):
        yield "emergence", f"{len(emergence)} for {len(card.label_names)} labels"
    if max(emergence or [], default=-1) >= len(card.experiences):
        yield "emergence", f"experience {max(emergence or [])} of {len(card.experiences)}"
    if unknown := card.feature_values.keys() - {*card.feature_names}:
        yield "feature_values", f"unknown feature {min(unknown)!r}"
    if shared := {*card.keys} & {*card.feature_names, *card.label_names}:
        yield "keys", f"a feature or label, {min(shared)!r}"


def _repeated(card: StreamCard) -> Iterator[tuple[str, object]]:
    """Find entries that are listed twice."""
    lists: tuple[tuple[str, Sequence[object]], ...] = (
        ("feature_names", card.feature_names),
        *((f"feature_values of {name!r}", values) for name, values in card.feature_values.items()),
        ("label_names", card.label_names),
        ("keys", card.keys),
        ("names of tasks", [task.name for task in card.tasks]),
        *(("signatures", task.signature) for task in card.tasks),
        *(("tasks of experiences", experience.tasks) for experience in card.experiences),
    )
    for what, values in lists:
        if len(set(values)) < len(values):
            yield what, "an entry twice"


def _dangling(card: StreamCard) -> Iterator[tuple[str, object]]:
    """Find references to labels and tasks that are not on the card."""
    n_labels, n_tasks = len(card.label_names), len(card.tasks)
    for task in card.tasks:
        if max(task.signature, default=-1) >= n_labels:
            yield "signatures", f"label {max(task.signature)} of {n_labels}"
        if len(task.label_frequencies) != n_labels:
            yield "label_frequencies", f"{len(task.label_frequencies)} for {n_labels} labels"
    for visited in (
        *(experience.tasks for experience in card.experiences),
        *([drift.before, drift.after] for drift in card.drifts),
    ):
        if max(visited, default=-1) >= n_tasks:
            yield "tasks", f"task {max(visited)} of {n_tasks}"
    if unknown := {*card.label_parents, *card.label_parents.values()} - {*card.label_names}:
        yield "label_parents", f"unknown label {min(unknown)!r}"
    elif circle := _find_circle(card.label_parents):
        yield "label_parents", f"label {circle!r} above itself"


def _find_circle(parents: Mapping[str, str]) -> str | None:
    above: set[str] = set()
    for start in parents:
        path: set[str] = set()
        label: str | None = start
        while label is not None and label not in above:
            if label in path:
                return label
            path.add(label)
            label = parents.get(label)
        above |= path
    return None


def load_card(path: str | os.PathLike[str]) -> StreamCard:
    """Read a card from its JSON file, of 64 MiB at most.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    StreamCard
        The card.

    Raises
    ------
    ValueError
        If the file does not hold a card of this version; the message names the first field that is wrong.
    """
    try:
        content = read_bounded(path, _MAX_BYTES)
    except ValueError:
        raise ValueError(f"{path} must hold a StreamCard of {_MAX_BYTES} bytes at most. Got more.") from None
    return parse_card(content, str(path))


@cache
def card_schema() -> str:
    """Write the JSON Schema of cards, draft 2020-12, as UTF-8 text."""
    # It is written beside every published stream, and takes longer than all other texts there.
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | StreamCard.model_json_schema()
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def parse_card(content: bytes, where: str) -> StreamCard:
    """Read a card from JSON; errors call its place `where`."""
    if len(content) > _MAX_BYTES:
        raise ValueError(f"{where} must hold a StreamCard of {_MAX_BYTES} bytes at most. Got more.")
    try:
        return StreamCard.model_validate_json(content)
    except ValidationError as error:
        raise ValueError(f"{where} must hold a StreamCard of this version: {describe_error(error)}") from None
