"""Options of ``mlstream run`` and ``mlstream detect``, made from the definitions that Python and campaign files use."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

import typer

from mlstream.cli.arguments import parse_integers, parse_names
from mlstream.evaluation.settings import CampaignOptions, DetectionOptions, Option, Settings, list_options

Panels = Mapping[type[CampaignOptions | DetectionOptions | Settings], str]

OPTIONS = {one.name: one for kind in (DetectionOptions, CampaignOptions, Settings) for one in list_options(kind)}
OF_RUNS: Panels = {CampaignOptions: "Campaign", Settings: "Evaluation"}
OF_DETECTIONS: Panels = {DetectionOptions: "Detection"}
# Lists are typed as text, split by commas.
_LISTS: dict[Any, str] = {tuple[int, ...]: "SEED,...", tuple[str, ...]: "NAME,..."}

Command = TypeVar("Command", bound=Callable[..., object])


def with_options(command: Command, panels: Panels = OF_RUNS) -> Command:
    """Replace the ``**options`` in the signature of a command by those of some classes, each under a heading."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    added = [_parameter(one, panel) for kind, panel in panels.items() for one in list_options(kind)]
    # Typer reads both.
    command.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in [*own, *added]}
    return command


def read_options(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the values of options, lists read from text; an error names the option as it was typed."""
    values = {}
    for name, value in typed.items():
        one = OPTIONS[name]
        values[name] = _read_list(value, one) if one.type in _LISTS else value
        one.check(values[name], one.flags[0])
    return values


def _read_list(text: str | None, one: Option) -> tuple[int, ...] | tuple[str, ...]:
    if text is None:
        return ()
    if one.type == tuple[str, ...]:
        return tuple(name.strip() for name in parse_names(text))
    return tuple(parse_integers(text, one.flags[0]))


def _parameter(one: Option, panel: str) -> inspect.Parameter:
    kind, default, metavar = one.type, one.default, None
    if kind in _LISTS:
        kind, default, metavar = str | None, ",".join(map(str, default)) or None, _LISTS[kind]
    info = typer.Option(*one.flags, help=one.help, metavar=metavar, rich_help_panel=panel)
    return inspect.Parameter(
        one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )
