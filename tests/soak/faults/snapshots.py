"""Files of a folder, and whether each is whole."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeAlias

from mlstream.records.frugality import is_frugality

# Path -> hash of its content, or WHOLE.
Snapshot: TypeAlias = Mapping[str, str]

WHOLE = "whole"
# Files of SQLite beside its own, of which it takes care.
_SQLITE = ("-wal", "-shm", "-journal")


def take_snapshot(folder: Path, volatile: Collection[str] = ()) -> dict[str, str]:
    """Return all files below a folder; of those that differ from run to run, whether they are whole."""
    paths = (path for path in sorted(folder.rglob("*")) if not path.is_dir() and not path.name.endswith(_SQLITE))
    return {str(path.relative_to(folder)): _describe(path, str(path.relative_to(folder)) in volatile) for path in paths}


def find_volatile(one: Snapshot, other: Snapshot) -> frozenset[str]:
    """Return the files that two runs of one command write differently."""
    return frozenset(path for path in one if one[path] != other.get(path))


def find_broken(found: Snapshot, before: Snapshot, after: Snapshot, target: str, *, was_cut: bool = False) -> str:
    """Return what is neither as before a command nor as after it, in words; empty if all is whole or absent.

    Parameters
    ----------
    found, before, after : mapping
        Files now, before the command, and after one that nothing disturbed.
    target : str
        Patterns of files and folders that change together, split by spaces.
    was_cut : bool
        Whether the command was cut off, so that only each file, or folder, by itself is new or old.
    """
    for unit in _units(sorted({*found, *before, *after}), target.split(), was_cut=was_cut):
        now = _part(found, unit)
        if now not in (_part(before, unit), _part(after, unit)):
            return _describe_unit(unit, now, _part(before, unit), _part(after, unit))
    return ""


def _units(names: Sequence[str], patterns: Sequence[str], *, was_cut: bool) -> list[list[str]]:
    """Group the files that change in one step."""
    units: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        first = Path(name).parts[0]
        if any(fnmatch(first, pattern) for pattern in patterns):
            units[first if was_cut else ""].append(name)
        else:
            units[f"{name}/"].append(name)
    return list(units.values())


def _describe_unit(unit: Iterable[str], now: Snapshot, before: Snapshot, after: Snapshot) -> str:
    states = [f"{name} {_state(now.get(name), before.get(name), after.get(name))}" for name in sorted(unit)]
    return ", ".join(state for state in states if not state.endswith("unchanged"))


def _state(now: str | None, before: str | None, after: str | None) -> str:
    if now == before == after:
        return "is unchanged"
    if now is None:
        return "is absent"
    return "is the new one" if now == after else "is the old one" if now == before else "is neither old nor new"


def _part(snapshot: Snapshot, names: Collection[str]) -> dict[str, str]:
    return {name: content for name, content in snapshot.items() if name in names}


def _describe(path: Path, is_volatile: bool) -> str:
    if is_volatile and _is_whole(path):
        return WHOLE
    return hashlib.sha256(_content(path)).hexdigest()


def _content(path: Path) -> bytes:
    """Return what is in a file; of the record of a run without what was measured, if it is whole."""
    content = path.read_bytes()
    if path.suffix == ".json" and path.parents[1].name == "runs":
        with suppress(ValueError, KeyError):
            record = json.loads(content)
            scores = {name: value for name, value in record["scores"].items() if not is_frugality(name)}
            return json.dumps(record | {"resources": None, "scores": scores}, sort_keys=True).encode()
    return content


def _is_whole(path: Path) -> bool:
    try:
        return _CHECKS.get(path.suffix, _ends_with(b"\n"))(path)
    except (ValueError, OSError, sqlite3.Error, zipfile.BadZipFile):
        return False


def _is_json(path: Path) -> bool:
    json.loads(path.read_bytes())
    return True


def _is_archive(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return archive.testzip() is None


def _is_database(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])


def _ends_with(end: bytes) -> Callable[[Path], bool]:
    return lambda path: path.read_bytes().endswith(end)


_CHECKS: dict[str, Callable[[Path], bool]] = {
    ".json": _is_json,
    ".zip": _is_archive,
    ".npz": _is_archive,
    ".sqlite": _is_database,
    ".html": lambda path: path.read_bytes().rstrip().endswith(b"</html>"),
    ".png": _ends_with(b"IEND\xaeB`\x82"),
    ".parquet": _ends_with(b"PAR1"),
    ".key": lambda path: path.stat().st_size > 0,
}
