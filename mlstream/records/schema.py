"""The version of records, and the reading of their files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from mlstream._support.files import kind_of, open_plain
from mlstream._support.validation_errors import WRONG_VERSION, Model, find_problem

# A record of 5,000 experiences and 100 tasks has a tenth of this.
_MAX_BYTES = 2**28
SCHEMA_VERSION = 2
_FIRST_VERSION = 1
_OLD_VERSION = {"format_version": 1}

AnyModel = TypeVar("AnyModel", bound=BaseModel)


def _escape(text: object) -> object:
    return text.encode(errors="backslashreplace").decode() if isinstance(text, str) else text


# A text of others' code; halves of surrogate pairs, which no file holds, are escaped.
AnyText = Annotated[str, BeforeValidator(_escape)]


class Record(Model):
    """Part of a record: immutable, and without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class VersionedRecord(Record):
    """A record with the version of its schema.

    Version 1, which files of mlstream 0.1 call ``format_version`` and some leave out, is read: in its records, the
    label spaces "seen" and "all" score each evaluation set alone, so that false alarms on rows of other tasks are free.
    """

    schema_version: int = SCHEMA_VERSION

    @model_validator(mode="before")
    @classmethod
    def _check_version(cls, content: object, info: ValidationInfo) -> object:
        """Refuse newer versions before unknown fields, which they may have."""
        if not isinstance(content, dict):
            return content
        if "schema_version" in content:
            version = content["schema_version"]
            if isinstance(version, bool) or version not in range(_FIRST_VERSION, SCHEMA_VERSION + 1):
                raise PydanticCustomError(
                    WRONG_VERSION,
                    "schema_version must be {first} to {last}. Got {version} instead.",
                    {"first": _FIRST_VERSION, "last": SCHEMA_VERSION, "version": repr(version)},
                )
            return content
        known = {name: value for name, value in content.items() if (name, value) not in _OLD_VERSION.items()}
        # What is made in Python is of this version; a file that does not state one is old.
        return known | {"schema_version": _FIRST_VERSION} if info.mode == "json" else known


def read_record(path: Path, model: type[AnyModel]) -> AnyModel:
    """Read a file that holds a record; a ValueError names the file and the way out."""
    content = _read_bytes(path)
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        problem = find_problem(error)
        raise refusal(path, model, problem.text, is_newer=problem.kind == WRONG_VERSION) from None


def refusal(path: str | os.PathLike[str], model: type[BaseModel], reason: str, *, is_newer: bool = False) -> ValueError:
    """Return the error about a file that does not hold a record of this version."""
    way_out = "update mlstream, or use another folder" if is_newer else "remove the file, and it is made again"
    return ValueError(f"{path} must hold a {model.__name__} of this version ({way_out}): {reason}")


def _read_bytes(path: Path) -> bytes:
    # Reading anything else might never end.
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be a plain file. Got {kind_of(path.stat().st_mode)}.")
    with open_plain(path) as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"{path} must have at most {_MAX_BYTES:,} bytes. Got more.")
    return content
