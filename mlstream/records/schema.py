"""The version of records, and the files that hold them: how these are written, found and read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypeVar

from filelock import lock_descriptor
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from mlstream._support.files import kind_of, open_plain, write_text_atomically
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


def write_record(record: BaseModel, path: Path, has_failed: Callable[[Path], bool], what: str) -> Path:
    """Write a record, complete or not at all; only the record of a failure is ever replaced.

    The folder is made if absent; several processes may write records there. Raises FileExistsError if a record other
    than a failure is there, ValueError if the file is not a record of this version.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = record.model_dump_json(indent=1)
    try:
        write_text_atomically(path, text, replace=False)
    except FileExistsError:
        _replace_failure(path, text, has_failed, what)
    return path


def _replace_failure(path: Path, text: str, has_failed: Callable[[Path], bool], what: str) -> None:
    """Replace the record of a failure, unless another process has replaced it by anything else."""
    while True:
        with path.open("r+b") as file:
            # Without locks in the file system, two processes may replace it at the same moment, which is rare.
            with suppress(OSError):
                lock_descriptor(file.fileno())
            # The file that was opened may have been replaced before it was locked.
            if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                continue
            if not has_failed(path):
                raise FileExistsError(f"{path} must not exist yet: it holds the record of an earlier {what}.")
            write_text_atomically(path, text)
            return


def list_records(folder: Path, n_levels: int) -> list[Path]:
    """List the records in the folders so many levels below, sorted.

    `Path.glob` would skip folders without permission to read.
    """
    folders = [folder] if folder.is_dir() else []
    for _ in range(n_levels):
        folders = [path for parent in folders for path in sorted(parent.iterdir()) if path.is_dir()]
    files = [path for parent in folders for path in sorted(parent.iterdir())]
    return [path for path in files if path.suffix == ".json" and not path.name.startswith(".")]


def require_none_failed(errors: Mapping[Path, str | None], n_records: int, what: str) -> None:
    """Raise a RuntimeError if runs, or detections, failed, once a campaign has ended.

    It states how many failed, why the first one did, and the file that keeps its traceback.
    """
    if errors:
        path, error = next(iter(errors.items()))
        reason = (error or "No reason was recorded.").strip().splitlines()[-1]
        raise RuntimeError(
            f"{len(errors)} of {n_records} {what} failed and are tried again by the next start. "
            f"Got {reason} ({path} keeps the traceback)."
        )


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
