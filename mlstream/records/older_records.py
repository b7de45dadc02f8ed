"""Older records of runs and searches, in the terms of today."""

from __future__ import annotations

from collections.abc import Mapping

# The score of frugality without a unit in its name; the setting that then states the unit, and that of records without.
_OLD_NAME, _SETTING, _OLD_DEFAULT = "frug", "energy_unit", "kWh"
# Rules that older records followed and do not state.
_UNSTATED_RULES = {"ties": "order"}


def rename_in_run(content: object) -> object:
    """Return the fields of a run's record with its rules, and the unit in the name of the score, not in settings."""
    if not isinstance(content, dict):
        return content
    score = _score_of(content)
    renamed = {name: _renamed(content[name], score) for name in ("scores", "undefined") if name in content}
    chosen = {"selection": _with_objective(content["selection"], score)} if "selection" in content else {}
    return content | renamed | chosen | _state_rules(content)


def rename_in_search(content: object) -> object:
    """Return the fields of a search's record with its objective and all rules; older ones state a unit as a setting."""
    if not isinstance(content, dict) or not isinstance(run := content.get("run"), dict):
        return content
    selection = _with_objective(content.get("selection"), _score_of(run))
    return content | {"run": run | _state_rules(run), "selection": selection}


def _score_of(run: Mapping[str, object]) -> str:
    settings = run.get("settings")
    unit = settings.get(_SETTING, _OLD_DEFAULT) if isinstance(settings, dict) else _OLD_DEFAULT
    return f"{_OLD_NAME}_{unit}".lower()


def _with_objective(selection: object, score: str) -> object:
    if not isinstance(selection, dict):
        return selection
    on_rows = selection.get("method", "first-experience") == "first-experience"
    return {"objective": score if on_rows else "nce"} | selection


def _renamed(values: object, score: str) -> object:
    if not isinstance(values, dict):
        return values
    return {score if name == _OLD_NAME else name: value for name, value in values.items()}


def _state_rules(content: Mapping[str, object]) -> dict[str, object]:
    settings = content.get("settings", {})
    if not isinstance(settings, dict):
        return {}
    return {"settings": _UNSTATED_RULES | {name: value for name, value in settings.items() if name != _SETTING}}
