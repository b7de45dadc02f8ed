"""A run of a campaign before it is made: its inputs, and whether its record exists already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from mlstream._support.files import write_text_atomically
from mlstream.campaign.search import Criterion, Search, choose
from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.provenance import describe_run, to_json
from mlstream.evaluation.settings import Settings
from mlstream.records.paths import Repetition, progress_path, run_path, selection_path
from mlstream.records.run_record import load_run_at, load_selection
from mlstream.records.run_result import RunResult
from mlstream.records.selection_record import Selection, SelectionRecord
from mlstream.streams.stream import Stream

Repeat = Callable[[Stream, int | None, int | None], Stream]

# Fields that are equal if a record is that of the requested run.
_IDENTITY = ("stream_sha256", "parameters", "label_space", "settings")


@dataclass(frozen=True)
class Job:
    """One run to do."""

    strategy: str
    learner: Any  # An estimator (cloned, never changed), or the search that chooses it.
    given: Stream  # As the campaign was given it.
    stream_name: str  # Whatever the order and split.
    repetition: Repetition
    directory: Path  # The folder of the campaign.
    settings: Settings
    criterion: Criterion = field(default_factory=Criterion)  # Rows on which a search chooses.
    repeat: Repeat | None = None  # Makes `stream` of `given`; None if these are the same.

    @property
    def stream(self) -> Stream:
        """Its stream, in the order and split of the repetition."""
        return self.given if self.repeat is None else self.repeat(self.given, *self.repetition[1:])

    @property
    def stream_key(self) -> tuple[str, int | None, int | None]:
        """Key that jobs on the same stream share."""
        return self.stream_name, *self.repetition[1:]

    @property
    def path(self) -> Path:
        """The file of its record."""
        return run_path(self.directory, self.stream_name, self.strategy, self.repetition)

    @property
    def progress_path(self) -> Path:
        """The file that exists while it runs."""
        return progress_path(self.directory, self.stream_name, self.strategy, self.repetition)

    @property
    def labels(self) -> dict[str, str | int | None]:
        """Fields of its record that the campaign sets."""
        return {"strategy": self.strategy, "stream": self.stream_name} | {
            f"{name}_seed": getattr(self.repetition, f"{name}_seed") for name in ("order", "split")
        }

    def select(self) -> Selection | None:
        """Choose its configuration, if there is a choice; an earlier choice is kept.

        Raises ValueError if the file holds the choice of another run, RuntimeError if every configuration failed.
        """
        if not isinstance(self.learner, Search):
            return None
        with cpu_part("records"):
            kept = self.find_selection()
        if kept is not None:
            return kept
        selection = choose(self.learner, self.stream, self.repetition.seed, self.settings, self.criterion)
        with cpu_part("records"):
            return self.keep(selection)

    def keep(self, selection: Selection) -> Selection | None:
        """Record the choice of its configuration; return the one that counts: another process may have been first."""
        path = self._selection_path
        path.parent.mkdir(parents=True, exist_ok=True)
        record = SelectionRecord(run=self._origin(), selection=selection)
        try:
            write_text_atomically(path, record.model_dump_json(indent=1), replace=False)
        except FileExistsError:
            # Another process that works in the same folder chose first: both must run the same configuration.
            return self.find_selection()
        return selection

    def configure(self, selection: Selection | None) -> Any:
        """Return the learner in the chosen configuration."""
        if selection is None:
            return self.learner
        return self.learner.build(self.learner.draw(self.repetition.seed)[selection.chosen])

    def describe(self, selection: Selection | None = None) -> dict[str, Any]:
        """Return the fields of its record that are known before it runs."""
        configuration = selection
        if configuration is None and isinstance(self.learner, Search):
            configuration = Selection.model_construct(trials=[], chosen=0)
        learner = self.configure(configuration)
        fields = describe_run(learner, self.stream, self.repetition.seed, self.settings)
        return fields | self.labels | {"selection": selection}

    def find_record(self) -> RunResult | None:
        """Return its record, if there is one and it is not that of a failure; None if the run must be made.

        A ValueError is raised if the file holds the record of another run, contradicts itself, or is not of this
        version.
        """
        if not self.path.exists():
            return None
        record = load_run_at(self.path, self.directory)
        self._require_same_search(self.path, record)
        # A search that failed chose nothing, and so had no parameters.
        names = [name for name in _IDENTITY if name != "parameters" or not self._is_undecided(record)]
        expected = self.describe(record.selection)
        # The record of an older version may be that of another rule of the same name.
        got = {name: getattr(record, name) for name in names} | {"label_space": record.label_space_rule}
        require_same(self.path, {name: (got[name], expected[name]) for name in names})
        return None if record.status == "failed" else record

    def find_selection(self) -> Selection | None:
        """Return the earlier choice of its configuration, if there is one.

        A ValueError is raised if the file holds the choice of another run, or is not of this version.
        """
        path = self._selection_path
        if not isinstance(self.learner, Search) or not path.exists():
            return None
        record, expected = load_selection(path), self._origin()
        require_same(path, {name: (record.run.get(name), value) for name, value in expected.items()})
        require_same(path, {"objective": (record.selection.objective, self.criterion.score)})
        return record.selection

    @property
    def _selection_path(self) -> Path:
        return selection_path(self.directory, self.stream_name, self.strategy, self.repetition)

    def _origin(self) -> dict[str, JsonValue]:
        """Return everything that the outcome of a selection depends on."""
        fields = self.describe()
        origin = {name: fields[name] for name in ("stream_sha256", "label_space", "settings")}
        tried = None
        if isinstance(self.learner, Search):
            tried = to_json([self.learner.draw(self.repetition.seed), dict(self.learner.parameters)])
        return origin | {"tried": tried} | self.criterion.as_json()

    def _is_undecided(self, record: RunResult) -> bool:
        return isinstance(self.learner, Search) and record.selection is None and record.status == "failed"

    def _require_same_search(self, path: Path, record: RunResult) -> None:
        if self._is_undecided(record):
            return
        drawn = to_json(self.learner.draw(self.repetition.seed)) if isinstance(self.learner, Search) else None
        tried = None if record.selection is None else [dict(trial.parameters) for trial in record.selection.trials]
        require_same(path, {"configurations tried": (tried, drawn)})
        if record.selection is not None:
            require_same(path, {"selection": (record.selection.method, self.criterion.method)})
            require_same(path, {"objective": (record.selection.objective, self.criterion.score)})


def require_same(path: Path, pairs: Mapping[str, tuple[object, object]]) -> None:
    """Raise a ValueError that names the first field of a record that differs from what was requested.

    `pairs` maps a field to its value in the record, and the requested one.
    """
    for name, (got, expected) in pairs.items():
        if got != expected:
            found, wanted = _differing(got, expected)
            given = found.items() if name == "settings" and isinstance(found, Mapping) else ()
            choices = [(option, value) for option, value in given if isinstance(value, str)]
            options = ", ".join(f"{one} = {value!r}, or --{one.replace('_', '-')} {value}" for one, value in choices)
            go_on = f"go on with its options ({options}), " if options else ""
            raise ValueError(
                f"{path} must be the record of the requested run: {go_on}use another folder, or remove the file. "
                f"Got {name} = {found!r} instead of {wanted!r}."
            )


def _differing(got: object, expected: object) -> tuple[object, object]:
    """Return both without the entries that are the same, so that an error shows what differs."""
    if not isinstance(got, Mapping) or not isinstance(expected, Mapping):
        return got, expected
    absent = object()
    return (
        {name: value for name, value in got.items() if value != expected.get(name, absent)},
        {name: value for name, value in expected.items() if value != got.get(name, absent)},
    )
