"""The options that state the terms of a stream: name, title, licence, citation and more."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from mlstream.cli.arguments import file_option

_PANEL = "Terms of the stream"
# By parameter of `mlstream.with_terms`: the flags, and the help, which is that of the field on the card.
_OPTIONS = {
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
_KINDS: dict[str, Any] = {"creators": list[str] | None, "about": Path | None}
_MORE = {"about": " A TOML file; `mlstream publish --about-template` prints one."}
FLAGS = {term: flags[0] for term, (flags, _) in _OPTIONS.items()}


def term_parameters() -> list[Parameter]:
    """List the options as parameters of a command."""
    return [_parameter(term, flags, help_text) for term, (flags, help_text) in _OPTIONS.items()]


def _parameter(term: str, flags: tuple[str, ...], help_text: str) -> Parameter:
    kind = _KINDS.get(term, str | None)
    option = (file_option if term == "about" else typer.Option)(
        *flags, help=f"{help_text}{_MORE.get(term, '')}", rich_help_panel=_PANEL
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
