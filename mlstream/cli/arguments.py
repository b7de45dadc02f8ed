"""Arguments that several commands share, and parsers of what was typed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import estimators
import mlstream
from estimators.detectors import DETECTORS
from mlstream import generators
from mlstream._support.files import ends_as_folder, read_bounded
from mlstream.cli import console
from mlstream.publishing.presets import PRESETS

if TYPE_CHECKING:
    from mlstream.generators.schedule.visit_plan import OrderName
    from mlstream.streams.card_model import StreamCard
    from mlstream.streams.stream import Stream

# Of a JSON file: more than the names of a million labels.
_MAX_BYTES = 64 * 2**20

_MAX_VISITS = 1_000_000

Number = TypeVar("Number", bound=float | str)
Command = TypeVar("Command", bound=Callable[..., object])


def parse_file(text: str) -> Path:
    """Return the path of a file."""
    if ends_as_folder(text) and not Path(text).is_dir():
        raise typer.BadParameter(f"must be a file, whose name does not end in '/'. Got {text!r} instead.")
    return Path(text)


def file_option(*flags: str, **options: Any) -> Any:
    """Describe an option that is the path of a file."""
    return typer.Option(*flags, **{"parser": parse_file, "metavar": "FILE", **options})


def complete_tables(incomplete: str) -> list[tuple[str, str]]:
    """Return the data sets whose names begin so, with their size."""
    rows = {one.name: f"{one.n_samples:,} rows, " if one.n_samples else "" for one in mlstream.list_datasets()}
    return _starting(
        incomplete, ((one.name, f"{rows[one.name]}{one.n_labels} labels") for one in mlstream.list_datasets())
    )


def complete_streams(incomplete: str) -> list[tuple[str, str]]:
    """Return the published streams whose names begin so, with what they are."""
    return _starting(incomplete, ((name, one.summary) for name, one in PRESETS.items()))


def complete_strategies(incomplete: str) -> list[tuple[str, str]]:
    """Return the strategies whose names begin so; of names split by commas, the last is completed."""
    before, comma, last = incomplete.rpartition(",")
    found = _starting(last, ((name, one.summary) for name, one in estimators.STRATEGIES.items()))
    return [(f"{before}{comma}{name}", text) for name, text in found]


def complete_detectors(incomplete: str) -> list[tuple[str, str]]:
    """Return the drift detectors whose names begin so; of names split by commas, the last is completed."""
    before, comma, last = incomplete.rpartition(",")
    found = _starting(last, DETECTORS.items())
    return [(f"{before}{comma}{name}", text) for name, text in found]


def complete_strategy(incomplete: str) -> list[tuple[str, str]]:
    """Return the strategies whose names begin so."""
    return [] if "," in incomplete else complete_strategies(incomplete)


def _starting(incomplete: str, names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in names if name.startswith(incomplete)]


# No path: ./NAME would lose what distinguishes it from NAME.
StreamPath = Annotated[
    str,
    typer.Argument(
        help="A stream: .npz, .arff, .train.csv, .train.parquet, a published folder, or a name that `mlstream streams` "
        "lists.",
        autocompletion=complete_streams,
    ),
]
SourceName = Annotated[
    str,
    typer.Argument(
        help="A name that `mlstream datasets` lists, or the path of a table: ARFF, CSV, KEEL, Parquet or LIBSVM.",
        autocompletion=complete_tables,
    ),
]
OutputFile = Annotated[
    Path, file_option("--output", "-o", help="File to write: .npz, .arff, .train.csv or .train.parquet.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs, in place of text.")]


def with_parameters(added: Sequence[Parameter]) -> Callable[[Command], Command]:
    """Replace the ``**name`` in the signature of a command by parameters."""

    def replace(command: Command) -> Command:
        found = signature(command, eval_str=True)
        own = [parameter for parameter in found.parameters.values() if parameter.kind is not Parameter.VAR_KEYWORD]
        # Typer reads both.
        command.__signature__ = found.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
        return command

    return replace


def open_stream(name: str, folder: Path = Path()) -> Stream:
    """Load a stream from a file or folder, below `folder` if relative, or make one that this project publishes."""
    from mlstream.publishing.named_streams import open_named

    return open_named(name, folder)


def card_document(card: StreamCard) -> dict[str, object]:
    """Describe a stream for programs: its size, and its card."""
    return {
        "name": card.name,
        "n_experiences": len(card.experiences),
        "n_tasks": len(card.tasks),
        "n_samples": sum(visit.n_samples for visit in card.experiences),
        "n_features": len(card.feature_names),
        "n_labels": len(card.label_names),
        "card": card,
    }


def save_new(stream: Stream, path: Path, text: str, *, as_json: bool) -> None:
    """Save a new stream, and print that, or a document that describes it."""
    mlstream.save(stream, path)
    document = {"files": _files_of(path, with_keys=bool(stream.card.keys))} | card_document(stream.card)
    console.print_outcome(f"Wrote {path}{text}", document, as_json=as_json)


def require_output(path: Path, force: bool, source: str | Path | None = None) -> None:
    """Raise an error, before any work, if a file cannot be written, exists without --force, or is the source itself."""
    require_new(_files_of(path), force, source)


def _files_of(path: Path, *, with_keys: bool = True) -> tuple[Path, ...]:
    from mlstream.formats.io import files_of

    return files_of(path, with_keys=with_keys)


def require_new(paths: Sequence[Path], force: bool, source: str | Path | None = None) -> None:
    """Raise an error if one of the files to write, of one folder, exists without --force, or is the source itself."""
    path, files = paths[0], [file for file in paths if file.exists()]
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{path.parent} must be a folder that exists, to write {path.name} in it.")
    if files and not force:
        raise FileExistsError(f"{files[0]} must not exist yet: --force replaces it.")
    if source is not None and Path(source).is_file() and any(file.samefile(source) for file in files):
        raise ValueError(f"--output must not be the source. Got {path} twice.")


def require_folder(folder: Path, name: str) -> None:
    """Raise an error, before any work, if a folder cannot be made because there is a file in its place."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{name} must be a folder, or a name for a new one. Got {folder}: {there} is a file.")


def parse_columns(text: str, option: str) -> list[str]:
    """Parse names split by commas, which may hold commas themselves, in quotes as in a CSV file."""
    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise ValueError(f"{option} must be names split by commas, each on one line. Got: {error}.") from None


def parse_order(text: str | None) -> list[int] | OrderName | None:
    """Parse the name of an order, or the task of each visit."""
    from mlstream.generators.schedule.visit_plan import ORDERS

    named = next((order for order in ORDERS if order == text), None)
    if named or text is None:
        return named
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--order must be one of {', '.join(ORDERS)}, or the task of each visit, such as 1,0,1,0. "
            f"Got {text!r} instead."
        ) from None


def parse_visits(text: str | None, evaluation: float) -> tuple[float, ...] | None:
    """Parse the share of each visit; a number of visits divides the rows that are not held out evenly."""
    if text is None:
        return None
    if text.isdecimal() and int(text):
        if int(text) > _MAX_VISITS:
            raise ValueError(f"--visits must be at most {_MAX_VISITS:,}. Got {text!r} instead.")
        return ((1 - evaluation) / int(text),) * int(text)
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--visits must be a number of visits, or shares split by commas. Got {text!r}.") from None


def parse_label_lists(text: str | None) -> list[list[str]] | None:
    """Parse the labels of each task: names split by commas, tasks split by semicolons."""
    return None if text is None else [[name.strip() for name in part.split(",")] for part in text.split(";")]


def parse_names(text: str) -> list[str]:
    """Read names split by commas."""
    return text.split(",")


def parse_shares(text: str) -> dict[str, float]:
    """Read the share of rows that each label keeps."""
    return parse_numbers_by_name(text, "--keep", float)


def parse_delay(text: str) -> int | str | dict[str, int | str]:
    """Read one delay for all labels, or delays by label."""
    if "=" not in text:
        return parse_rows_or_time(text)
    return parse_numbers_by_name(text, "--delay", _begin_with_digit, "a whole number, a time such as 2h, or ")


def parse_rows_or_time(text: str) -> int | str:
    """Read a number of rows; the generator reads times, such as 2h."""
    return int(text) if text.isdecimal() else text


def _begin_with_digit(text: str) -> int | str:
    if not text[:1].isdecimal():
        raise ValueError(text)
    return parse_rows_or_time(text)


@contextmanager
def named_options(options: Mapping[str, str]) -> Iterator[None]:
    """Let errors name the options that were typed instead of the parameters, the keys."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        for name, option in options.items():
            # Names of one word are also words: they are replaced only as the subject of the message.
            pattern = rf"\b{name}\b" if "_" in name else rf"^{name}(?= must\b)"
            message = re.sub(pattern, option, message)
        raise ValueError(message) from error


def parse_introductions(text: str) -> list[list[str]] | dict[str, object]:
    """Read the labels that each task introduces; a published order also has a hierarchy and shares."""
    if text.endswith(".json"):
        return read_lists(Path(text))
    name, _, number = text.partition(":")
    if number and not number.isdecimal():
        raise ValueError(f"--introductions must be a .json file, or NAME:NUMBER. Got {text!r} instead.")
    with named_options({"name": "--introductions", "configuration": "the number in --introductions"}):
        return generators.published_order(name, int(number or 0))


def parse_numbers(text: str, option: str) -> list[float]:
    """Read numbers split by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers split by commas. Got {text!r} instead.") from None


def parse_integers(text: str, option: str) -> list[int]:
    """Parse whole numbers split by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be whole numbers split by commas. Got {text!r} instead.") from None


def parse_numbers_by_name(
    text: str, option: str, number: Callable[[str], Number], other: str = ""
) -> dict[str, Number]:
    """Parse numbers by name: a=1,b=2; `other` is what else the option may be, for the error."""
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        if all(name for name, _, _ in pairs):
            return {name: number(value) for name, _, value in pairs}
    except ValueError:
        pass
    raise ValueError(f"{option} must be {other}numbers by name, such as a=1,b=2. Got {text!r} instead.")


def read_hierarchy(text: str | None) -> dict[str, str] | str | None:
    """Read parents from a JSON file; any other text is the name of a rule."""
    if text is None or not text.endswith(".json"):
        return text
    parents = _read_json(Path(text))
    if not isinstance(parents, dict) or not all(isinstance(parent, str) for parent in parents.values()):
        raise ValueError(f"{text} must hold a JSON object of names, child to parent. Got {type(parents).__name__}.")
    return parents


def read_lists(path: Path) -> list[list[str]]:
    """Read lists of names from a JSON file."""
    lists = _read_json(path)
    if not isinstance(lists, list) or not all(isinstance(names, list) for names in lists):
        raise ValueError(f"{path} must hold a JSON list of lists of names. Got another value instead.")
    return lists


def _read_json(path: Path) -> object:
    content = read_bounded(path, _MAX_BYTES)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} must be a JSON file. Got this error: {error}.") from None
