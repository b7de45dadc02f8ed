"""Campaigns as TOML files: strategies or detectors, streams, repetitions and the options."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, create_model

from estimators.detectors import make_detector
from estimators.strategies import make_strategy
from mlstream._support.files import did_you_mean
from mlstream._support.toml import read_toml
from mlstream._support.validation_errors import Model, find_problem
from mlstream.campaign.search import Search
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.settings import (
    CampaignOptions,
    Decision,
    DetectionOptions,
    Option,
    Settings,
    check_options,
    list_options,
)

Seeds = list[Annotated[int, Field(ge=0, strict=True)]]
Names = list[Annotated[str, Strict()]]
Grid = dict[str, Annotated[list[Any], Field(min_length=1)]]
# Methods of which a class of learners has one; `fresh` says what to do about one that cannot learn from a stream.
_LEARNING = ("partial_fit", "predict_then_fit", "fit", "learn_one", "learn_many")
Config = TypeVar("Config", bound="_Config")


class _Config(Model):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)


class LearnerConfig(_Config):
    """One learner, under a name that the user chooses."""

    strategy: str | None = Field(default=None, description="A name of a strategy; by default, the key itself.")
    class_: str | None = Field(default=None, alias="class", description="Any estimator: package.module:Class.")
    parameters: dict[str, Any] = Field(default={}, description="Fixed parameters.")


class StrategyConfig(LearnerConfig):
    """A learner whose parameters may be searched."""

    grid: Grid | list[Grid] | None = Field(default=None, description="Parameter -> values to search.")


class CampaignConfig(_Config):
    """The content of a campaign file; options that it leaves out have the defaults of Python."""

    streams: list[str] = Field(min_length=1, description="Files, published folders, or names of our own streams.")
    strategies: list[str] | dict[str, StrategyConfig] = Field(min_length=1)
    directory: str | None = Field(default=None, description="The folder of the records.")

    @property
    def options(self) -> dict[str, Any]:
        """Options of `run_campaign`, those of `evaluate` included."""
        return {one.name: getattr(self, one.name) for one in _OPTIONS}

    def learners(self, *, trust: bool = False) -> dict[str, object]:
        """Return the learner of each strategy: an estimator, or a search among its configurations.

        Classes that are not of `estimators` are imported and called if the file is trusted. A ValueError is raised if
        it is not, or a strategy, a parameter or a class is unknown.
        """
        strategies = _by_name(self.strategies, StrategyConfig)
        n_configurations = self.options["n_configurations"]
        return {
            name: _learner(name, one, "strategies", n_configurations, trust=trust) for name, one in strategies.items()
        }


class DetectorConfig(_Config):
    """One drift detector, under a name that the user chooses."""

    detector: str | None = Field(default=None, description="A name of a detector; by default, the key itself.")
    parameters: dict[str, Any] = Field(default={}, description="Its parameters.")


class DetectionConfig(_Config):
    """The content of a campaign file of the kind "detect"; options that it leaves out have the defaults of Python."""

    streams: list[str] = Field(min_length=1, description="Files, published folders, or names of our own streams.")
    detectors: list[str] | dict[str, DetectorConfig] = Field(min_length=1)
    learners: list[str] | dict[str, LearnerConfig] = Field(min_length=1)
    directory: str | None = Field(default=None, description="The folder of the records.")

    @property
    def options(self) -> dict[str, Any]:
        """Options of `run_detections`."""
        return {one.name: getattr(self, one.name) for one in list_options(DetectionOptions)}

    def make_learners(self, *, trust: bool = False) -> dict[str, object]:
        """Return the estimator of each learner, as `CampaignConfig.learners`."""
        wanted = _by_name(self.learners, LearnerConfig)
        return {
            name: _learner(name, StrategyConfig(**one.model_dump(by_alias=True)), "learners", trust=trust)
            for name, one in wanted.items()
        }

    def make_detectors(self) -> dict[str, object]:
        """Return each detector; a ValueError names a detector or parameter that is unknown."""
        wanted = _by_name(self.detectors, DetectorConfig)
        return {name: make_detector(one.detector or name, **one.parameters) for name, one in wanted.items()}


def _by_name(given: list[str] | dict[str, Config], kind: type[Config]) -> dict[str, Config]:
    return {name: kind() for name in given} if isinstance(given, list) else given


def _strict(kind: Any) -> Any:
    """Return a type for which text is no number, and neither is true."""
    if isinstance(kind, UnionType):
        return reduce(or_, map(_strict, get_args(kind)))
    return Annotated[kind, Strict()] if kind in {bool, int, float} else kind


# The keys of a file: those of the class, and one for each option.
_OPTIONS = [*list_options(CampaignOptions), *list_options(Settings)]


def _keys(options: Iterable[Option]) -> dict[str, Any]:
    lists = {tuple[int, ...]: Seeds, tuple[str, ...]: Names, tuple[Decision, ...]: Names}
    return {
        one.name: (lists.get(one.type) or _strict(one.type), Field(default=one.default, description=one.help))
        for one in options
    }


_FILE = create_model("CampaignConfig", __base__=CampaignConfig, **_keys(_OPTIONS))
_DETECTION_FILE = create_model("DetectionConfig", __base__=DetectionConfig, **_keys(list_options(DetectionOptions)))
# Kind of a campaign file -> its model and its options.
_KINDS: dict[str, tuple[type[CampaignConfig | DetectionConfig], list[Option]]] = {
    "evaluate": (_FILE, _OPTIONS),
    "detect": (_DETECTION_FILE, list_options(DetectionOptions)),
}


# Key of a table -> the model of its entries.
_ENTRIES: dict[str, type[BaseModel]] = {
    "strategies": StrategyConfig,
    "learners": LearnerConfig,
    "detectors": DetectorConfig,
}


def load_config(path: str | os.PathLike[str]) -> CampaignConfig | DetectionConfig:
    """Read a campaign file.

    Parameters
    ----------
    path : path
        A TOML file.

    Returns
    -------
    CampaignConfig or DetectionConfig
        The content, checked: a `DetectionConfig` where the key ``kind`` is "detect". Without it, or where it is
        "evaluate", a `CampaignConfig`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is larger than 16 MiB or not TOML, or a key or value is not valid. The message names the file, the key
        and the nearest known key.
    OSError
        If it is no plain file, or cannot be read.
    """
    path = Path(path)
    content = read_toml(path)
    kind = content.pop("kind", "evaluate")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"{path}: kind must be {' or '.join(map(repr, _KINDS))}. Got {kind!r} instead.")
    model, options = _KINDS[kind]
    try:
        config = model.model_validate(content)
        check_options(options, config.options)
    except ValidationError as error:
        raise ValueError(f"{path}: {_explain(error, model)}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return config


def _learner(name: str, wanted: StrategyConfig, table: str, n_configurations: int = 0, *, trust: bool) -> object:
    if wanted.grid is not None and not n_configurations:
        raise ValueError(
            f"n_configurations must be at least 1 where there is a grid (strategies.{name}.grid). Got 0 instead."
        )
    if wanted.class_ is not None:
        estimator = _own_estimator(f"{table}.{name}", wanted, trust=trust)
        return estimator if wanted.grid is None else Search(estimator, wanted.grid, n_configurations)
    known = wanted.strategy or name
    if wanted.grid is not None or (n_configurations and not wanted.parameters):
        return Search(known, wanted.grid, n_configurations, wanted.parameters)
    return make_strategy(known, **wanted.parameters)


def _own_estimator(key: str, wanted: StrategyConfig, *, trust: bool) -> object:
    if wanted.strategy is not None or not str(wanted.class_).partition(":")[2]:
        raise ValueError(
            f"{key} must have a class such as 'package.module:Class', or a strategy. "
            f"Got class {wanted.class_!r} and strategy {wanted.strategy!r} instead."
        )
    if not trust and not re.match(r"estimators[.:]", str(wanted.class_)):
        raise ValueError(
            f"{key}: a class must be of estimators, unless the file is trusted: to import its module runs code. "
            f"Got {wanted.class_!r}; read it, then add --trust (in Python, trust=True)."
        )
    return make_own(key, str(wanted.class_), wanted.parameters)


def make_own(key: str, class_: str, parameters: Mapping[str, Any]) -> object:
    """Return an estimator of a class of the user's, given as "package.module:Class"; `key` names it in errors.

    Its module is imported, and runs; what is not a class that learns is not called. A ValueError is raised if that
    fails, or the class cannot be made or cloned.
    """
    try:
        estimator: object = _find_class(class_)(**parameters)
        fresh(estimator, 0)
    except Exception as error:
        # The user's own code may raise anything.
        raise ValueError(
            f"{key}: {class_} must be a class of estimators that can be imported, made and cloned. "
            f"Got {type(error).__name__}: {error}"
        ) from error
    return estimator


def _find_class(name: str) -> type:
    home, _, attribute = name.partition(":")
    found = getattr(importlib.import_module(home), attribute)
    if not isinstance(found, type) or not any(hasattr(found, method) for method in _LEARNING):
        raise TypeError(f"{attribute} has no method to learn, and was not called")
    return found


def _explain(error: ValidationError, file: type[CampaignConfig | DetectionConfig]) -> str:
    """Describe the problem in one line; for an unknown key, name the known ones and the nearest."""
    problem = find_problem(error)
    if problem.kind != "extra_forbidden":
        return problem.text
    models = _ENTRIES if len(problem.field) > 2 else {}
    model: type[BaseModel] = models.get(problem.field[0], file)
    names = [field.alias or name for name, field in model.model_fields.items()]
    known, key = ["kind", *names] if model is file else names, ".".join(problem.field)
    return f"every key must be one of {', '.join(known)}. Got {key!r} instead{did_you_mean(problem.field[-1], known)}"
