"""A campaign as a TOML file: what is run, on what, how often, and how it is judged."""

from __future__ import annotations

import importlib
import math
import os
import tomllib
from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mlstream._validation_errors import explain_rule, shorten
from mlstream.campaign.search import Search
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.settings import EnergyMethod, LabelSpace, OneClass, Settings
from mlstream.formats import load
from mlstream.publishing.presets import list_presets, make_preset
from mlstream.stream import Stream

Seeds = list[Annotated[int, Field(ge=0, strict=True)]]
Grid = dict[str, Annotated[list[Any], Field(min_length=1)]]


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)


class StrategyConfig(_Config):
    """One strategy, under a name of the user's own."""

    strategy: str | None = Field(default=None, description="A name of ours; by default, the user's own name is one.")
    class_: str | None = Field(default=None, alias="class", description="Any estimator: package.module:Class.")
    parameters: dict[str, Any] = Field(default={}, description="Fixed parameters.")
    grid: Grid | list[Grid] | None = Field(default=None, description="Parameter -> values to search.")


class CampaignConfig(_Config):
    """All that a campaign file can say; what it leaves out is as in the protocol."""

    streams: list[str] = Field(min_length=1, description="Files, published folders, or names of our own streams.")
    strategies: list[str] | dict[str, StrategyConfig] = Field(min_length=1)
    seeds: Seeds = [0]
    orders: Seeds = []
    splits: Seeds = []
    n_configurations: int = Field(default=10, ge=0, description="Tried per strategy; 0: default parameters.")
    directory: str | None = Field(default=None, description="The folder of the records.")
    jobs: int = Field(default=1, description="Processes; -1: as many as cores.")
    dask: str | None = Field(default=None, description="Address of a Dask scheduler, instead of processes here.")
    label_space: LabelSpace = "task"
    references: bool = False
    one_class: OneClass = "skip"
    energy: EnergyMethod = "codecarbon"
    energy_unit: str = "kWh"
    cpu_power_w: float = 15.0
    time_cap_s: float = Field(default=10_800.0, description="Of a search, and of a run; inf: never.")
    n_checkpoints: int = 100
    window: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of `evaluate`."""
        said = {one.name: getattr(self, one.name) for one in fields(Settings) if one.name in type(self).model_fields}
        return said | {"time_cap_s": None if self.time_cap_s == math.inf else self.time_cap_s}

    def learners(self) -> dict[str, Any]:
        """Give what each strategy stands for: an estimator, or a search among its configurations.

        Raises
        ------
        ValueError
            If a strategy, a parameter or a class is unknown.
        """
        if isinstance(self.strategies, list):
            return {name: _learner(name, StrategyConfig(), self.n_configurations) for name in self.strategies}
        return {name: _learner(name, one, self.n_configurations) for name, one in self.strategies.items()}


def load_config(path: str | os.PathLike[str]) -> CampaignConfig:
    """Read a campaign file.

    Parameters
    ----------
    path : path
        A TOML file.

    Returns
    -------
    CampaignConfig
        Checked; a key that is unknown, misspelt or of the wrong kind is refused.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no TOML, or says what cannot be. The message names the file, the key and, if there is one, the nearest.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be TOML. Got this: {error}.") from None
    try:
        config = CampaignConfig.model_validate(content)
        Settings(**config.options)
        _require_jobs(config.jobs)
    except ValidationError as error:
        raise ValueError(f"{path}: {_explain(error)}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return config


def open_named(name: str, folder: str | os.PathLike[str] = ".") -> Stream:
    """Load a stream from a file or a published folder, or make one of those that this project publishes.

    Parameters
    ----------
    name : str
        A path, or a name of `mlstream.publishing.presets.list_presets`.
    folder : path
        What paths are relative to.

    Returns
    -------
    Stream
        The stream.

    Raises
    ------
    FileNotFoundError
        If it is neither; the message names the nearest.
    ValueError
        If the file holds no stream.
    """
    path = Path(folder) / name
    if path.is_dir():
        path = path / "stream.npz"
    if path.is_file():
        return load(path)
    if name in list_presets():
        return make_preset(name)
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    hint, names = _nearest(Path(name).name, [*list_presets(), *beside]), ", ".join(list_presets())
    raise FileNotFoundError(
        f"A stream must be a file, a published folder, or one of {names}. Got {name!r} instead{hint}"
    )


def _learner(name: str, wanted: StrategyConfig, n_configurations: int) -> Any:
    from estimators.strategies import make_strategy

    if wanted.class_ is not None:
        estimator = _own_estimator(name, wanted)
        return estimator if wanted.grid is None else Search(estimator, wanted.grid, n_configurations or 10)
    known = wanted.strategy or name
    if wanted.grid is not None or (n_configurations and not wanted.parameters):
        return Search(known, wanted.grid, n_configurations or 10, wanted.parameters)
    return make_strategy(known, **wanted.parameters)


def _own_estimator(name: str, wanted: StrategyConfig) -> Any:
    home, _, attribute = str(wanted.class_).partition(":")
    if wanted.strategy is not None or not attribute:
        raise ValueError(
            f"strategies.{name} must have a class such as 'package.module:Class', or a strategy. "
            f"Got class {wanted.class_!r} and strategy {wanted.strategy!r} instead."
        )
    try:
        estimator = getattr(importlib.import_module(home), attribute)(**wanted.parameters)
        fresh(estimator, 0)
    except Exception as error:
        # The user's own code may raise anything.
        raise ValueError(
            f"strategies.{name}: {wanted.class_} must be a class of estimators that can be imported, made and cloned. "
            f"Got {type(error).__name__}: {error}"
        ) from error
    return estimator


def _require_jobs(jobs: int) -> None:
    if jobs == 0:
        raise ValueError("jobs must be a number of processes, or -1 for as many as cores. Got 0 instead.")


def _explain(error: ValidationError) -> str:
    """Say in words of the file what is wrong: an unknown key if there is one, else what is deepest inside."""
    errors = error.errors()
    worst = max(errors, key=lambda one: (one["type"] == "extra_forbidden", len(one["loc"])))
    where = _keys(worst["loc"])
    key = ".".join(where)
    if worst["type"] == "missing":
        return f"{key} must be given. Got no such key."
    if worst["type"] != "extra_forbidden":
        rule = explain_rule([one for one in errors if _keys(one["loc"]) == where])
        return f"{key} must {rule}. Got {shorten(worst['input'])} instead."
    model: type[BaseModel] = StrategyConfig if len(where) > 2 else CampaignConfig
    known = [field.alias or name for name, field in model.model_fields.items()]
    return f"every key must be one of {', '.join(known)}. Got {key!r} instead{_nearest(where[-1], known)}"


def _keys(location: Iterable[str | int]) -> list[str]:
    # The kinds that a value may have stand among the keys: they are no keys.
    return [str(part) for part in location if not str(part).startswith(("list[", "dict["))]


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else "."
