"""Options that are parameters of a function: those of `load_dataset`, and the terms of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

import mlstream
from mlstream._support.reading import ReadingOptions
from mlstream.cli.arguments import file_option, parse_columns

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
_PANEL_OF_TERMS = "Terms of the stream"
# By parameter of `mlstream.with_terms`: the flags, and the help, which is that of the field on the card.
_TERMS = {
    "name": (("--name",), "Short name of the stream, which files can bear."),
    "title": (("--title",), "Title of the stream, in one line; by default its name."),
    "description": (("--description",), "What the data are, where they are from, and what they are for."),
    "licence": (
        ("--licence", "--license"),
        "Licence of the stream: an SPDX identifier such as CC-BY-4.0, or other words.",
    ),
    "citation": (("--citation",), "What those who use the stream are to cite."),
    "creators": (("--creator",), "The people and organisations that made the stream. May be repeated."),
    "homepage": (("--homepage",), "Address of the stream's page, with http:// or https://."),
    "published": (("--published",), "Date of publication, YYYY-MM-DD."),
    "about": (
        ("--about",),
        "What only those who made the data know: biases, personal information, uses, social impact, and more.",
    ),
}
_KINDS_OF_TERMS: dict[str, Any] = {"creators": list[str] | None, "about": Path | None}
_MORE_OF_TERMS = {"about": " A TOML file; `mlstream publish --about-template` prints one."}
FLAGS = {term: flags[0] for term, (flags, _) in _TERMS.items()}


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


def term_parameters() -> list[Parameter]:
    """List the options as parameters of a command."""
    return [_parameter(term, flags, help_text) for term, (flags, help_text) in _TERMS.items()]


def _parameter(term: str, flags: tuple[str, ...], help_text: str) -> Parameter:
    kind = _KINDS_OF_TERMS.get(term, str | None)
    option = (file_option if term == "about" else typer.Option)(
        *flags, help=f"{help_text}{_MORE_OF_TERMS.get(term, '')}", rich_help_panel=_PANEL_OF_TERMS
    )
    return Parameter(term, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option])


def read_terms(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Check the terms that were typed, and return them as arguments of `mlstream.with_terms`."""
    from mlstream.cards.about import read_about
    from mlstream.cards.terms import change_terms, require_name

    given = {term: typed[term] for term in FLAGS if typed.get(term) is not None}
    if "about" in given:
        given["about"] = read_about(given["about"])
    if "name" in given:
        require_name(given["name"])
    change_terms(None, {term: value for term, value in given.items() if term != "name"})
    return given
