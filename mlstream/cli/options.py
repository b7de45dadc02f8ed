"""Options of ``mlstream run`` and ``mlstream detect``, and strategies and detectors as they are typed.

The options are made from the definitions that Python and campaign files use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

import estimators
from estimators.detectors import make_detector
from mlstream.campaign.calls import parse_call
from mlstream.cli.arguments import parse_integers, parse_names
from mlstream.evaluation.settings import (
    CampaignOptions,
    Decision,
    DetectionOptions,
    Option,
    Settings,
    check_options,
    list_options,
)

if TYPE_CHECKING:
    from estimators.contract.base import StreamClassifier

Panels = Mapping[type[CampaignOptions | DetectionOptions | Settings], str]

OPTIONS = {one.name: one for kind in (DetectionOptions, CampaignOptions, Settings) for one in list_options(kind)}
OF_RUNS: Panels = {CampaignOptions: "Campaign", Settings: "Evaluation"}
OF_DETECTIONS: Panels = {DetectionOptions: "Detection"}
# Lists are typed as text, split by commas.
_LISTS: dict[object, str] = {tuple[int, ...]: "SEED,...", tuple[str, ...]: "NAME,...", tuple[Decision, ...]: "RULE,..."}

# A comma outside brackets; the brackets of values are round or square, and one level deep.
_COMMA = re.compile(r",(?![^(]*\))")

Parameters: TypeAlias = dict[str, Any]


def option_parameters(panels: Panels = OF_RUNS) -> list[Parameter]:
    """List the options of some classes as parameters of a command, each under a heading."""
    return [_parameter(option, panel) for kind, panel in panels.items() for option in list_options(kind)]


def read_options(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the values of options, lists read from text; an error names the option as it was typed."""
    options = [OPTIONS[name] for name in typed]
    values = {
        option.name: _read_list(typed[option.name], option) if option.type in _LISTS else typed[option.name]
        for option in options
    }
    check_options(options, values, lambda option: option.flags[0])
    return values


def _read_list(text: str | None, one: Option) -> tuple[int, ...] | tuple[str, ...]:
    if text is None:
        return ()
    if one.type == tuple[int, ...]:
        return tuple(parse_integers(text, one.flags[0]))
    return tuple(name.strip() for name in parse_names(text))


def _parameter(one: Option, panel: str) -> Parameter:
    kind, default, metavar = one.type, one.default, None
    if kind in _LISTS:
        kind, default, metavar = str | None, ",".join(map(str, default)) or None, _LISTS[kind]
    info = typer.Option(*one.flags, help=one.help, metavar=metavar, rich_help_panel=panel)
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def parse_strategies(texts: Iterable[str], option: str = "--strategies") -> dict[str, str | StreamClassifier]:
    """Return, by what was typed, the name of a strategy, or an estimator where parameters are given.

    A ValueError is raised if a strategy or parameter is unknown, or parameters are not NAME=VALUE.
    """
    typed = _split(texts, option)
    for name, arguments in typed.values():
        if arguments is None:
            # An unknown name is an error before anything slow is imported.
            estimators.grid(name)
    return {
        text: name if arguments is None else estimators.make_strategy(name, **arguments)
        for text, (name, arguments) in typed.items()
    }


def parse_detectors(texts: Iterable[str], option: str = "--detector") -> dict[str, Any]:
    """Return each detector by what was typed; the errors are those of `parse_strategies`."""
    return {text: make_detector(name, **arguments or {}) for text, (name, arguments) in _split(texts, option).items()}


def _split(texts: Iterable[str], option: str) -> dict[str, tuple[str, Parameters | None]]:
    """Return, by what was typed, each name, and its parameters if there are brackets."""
    typed = [text.strip() for given in texts for text in _COMMA.split(given)]
    return {text: parse_call(text, option) for text in typed}
