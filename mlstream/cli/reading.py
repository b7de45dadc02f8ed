"""The options that say how a table is read: those of `load_dataset`, whose defaults they leave alone."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

import mlstream
from mlstream._support.reading import ReadingOptions
from mlstream.cli.arguments import parse_columns

if TYPE_CHECKING:
    from mlstream.streams.stream import Dataset

_PANEL = "How the table is read"
_LABELS = (
    "Label columns: N (first N), -N (last N), names split by commas (in double quotes if they hold one), or a MULAN "
    ".xml file. By default those of a card or an .xml file (MULAN) beside the table, or of -C in its title (MEKA)."
)
# By option of `load_dataset`; `time` follows from those of a scenario.
HELP = {
    "missing": "Missing features are an error, as by default; their rows are left out (drop); they become the mean of "
    "the column, or a category's commonest value (mean), also beside a 0/1 feature (indicator), or NaN (keep).",
    "categories": "Columns of words become a 0/1 feature per value (one-hot), or a category: the number of the value "
    "(ordinal); so do columns of numbers whose values are declared. By default one-hot of words in ARFF and KEEL, else "
    "an error.",
    "separator": "Character between the cells of a CSV file, or its name: comma, semicolon, tab, bar. By default that "
    "in the line of names.",
    "decimal": "Character before the decimals of numbers in a CSV file, or its name: point, as by default, or comma.",
    "ignore": "Columns to leave out, such as free text: names split by commas, as in --labels; '' stands for "
    "columns without a name.",
    "keys": "Columns that say whose a row is, such as host,start: names split by commas, as in --labels. They travel "
    "with the rows and are never features.",
    "dates": "Columns of dates become seconds since 1970 (epoch), or a feature each for year, month, day, weekday, "
    "hour, minute and second (parts). By default an error.",
    "date_format": "How dates are written where that is not ISO 8601, in the codes of strptime, such as "
    "'%d/%m/%Y %H:%M'.",
    "header": "Whether the first line of a CSV file names the columns, as by default; else they are x0, x1, ...",
    "present": "Value that marks a label, such as x; any other is 0. By default labels are 0 and 1, -1 and 1, or words "
    "for them such as true and false.",
    "classes": "Make a label NAME=VALUE of each value of a label column.",
    "tags": "Column that lists the labels of each row; --labels names those that are wanted, by default all.",
    "tag_separator": "Text between the labels in the column of tags, or its name, as in --separator. By default a "
    "semicolon.",
    "missing_words": "Words for a missing value, beside an empty cell, split by commas. By default NA, NaN, null, ? "
    "and the like.",
    "n_features": "Number of features of a LIBSVM file; with that of its labels (--labels), the parts of a table fit "
    "together.",
    "format": "Format of the file, where the ending of its name does not say it.",
}
_KINDS: dict[str, object] = {
    "ignore": str,
    "keys": str,
    "missing_words": str,
    "header": Literal["yes", "no"],
    "decimal": Literal["point", "comma"],
}


def reading_parameters() -> list[Parameter]:
    """List the options as parameters of a command; those that are not typed are None."""
    kinds = get_type_hints(ReadingOptions) | _KINDS
    options = {"labels": (str, typer.Option("--labels", help=_LABELS))}
    for name, text in HELP.items():
        flag = f"--{name.replace('_', '-')}"
        options[name] = kinds[name], typer.Option(flag, help=text, rich_help_panel=_PANEL)
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind | None, option], default=None)
        for name, (kind, option) in options.items()
    ]


def open_table(source: str, typed: Mapping[str, Any], time: str | None = None) -> Dataset:
    """Read a table as the options say; `time` is the column by which rows are sorted."""
    options = {name: parse_option(name, typed[name]) for name in HELP if typed.get(name) is not None}
    return mlstream.load_dataset(source, parse_labels(typed["labels"]), time=time, **options)


def parse_labels(text: str | None) -> int | list[str] | str | None:
    """Parse the label columns: a number, names, or a MULAN file."""
    if text is None or text.lower().endswith(".xml"):
        return text
    return int(text) if text.removeprefix("-").isdecimal() else parse_columns(text, "--labels")


def parse_option(name: str, value: Any) -> Any:
    """Turn what is typed for an option into its value."""
    from mlstream.formats.csv_dialects import SEPARATORS

    if name in {"ignore", "keys", "missing_words"}:
        names = parse_columns(value, f"--{name.replace('_', '-')}")
        # An empty name stands for columns without one.
        return names or [""] if name == "ignore" else names
    if name in {"separator", "tag_separator"}:
        return {sign: mark for mark, sign in SEPARATORS.items()}.get(value, value)
    if name == "decimal":
        return {"point": ".", "comma": ","}[value]
    return value == "yes" if name == "header" else value
