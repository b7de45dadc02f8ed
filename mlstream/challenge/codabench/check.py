"""The checks of Codabench on a competition bundle, repeated here, and its call of the scoring program."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from estimators.contract.lazy import needing
from mlstream.challenge.making.bundle import SAMPLE

# A mapping of a YAML file, in which anything may stand.
Content: TypeAlias = Mapping[str, Any]

_MAX_YAML_BYTES = 2**20
_MAX_S = 600
_PNG = b"\x89PNG\r\n\x1a\n"
_RULES = {"Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best"}
_DATA = ("scoring_program", "reference_data", "input_data", "ingestion_program")


def check_bundle(path: Path) -> list[str]:
    """List what Codabench would refuse in the zip of a competition bundle, one line each.

    The list is empty if the platform takes it. An ImportError is raised without PyYAML.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "competition.yaml" not in names:
                return ["competition.yaml must be at the root of the zip"]
            if archive.getinfo("competition.yaml").file_size > _MAX_YAML_BYTES:
                return [f"competition.yaml must be of {_MAX_YAML_BYTES} bytes at most"]
            content = _read_yaml(archive.read("competition.yaml"))
            return (
                ["competition.yaml must hold keys"]
                if not isinstance(content, dict)
                else [
                    *(_check_names(names)),
                    *_check_head(content, archive),
                    *_check_tasks(content, archive),
                    *_check_phases(content, names),
                    *_check_leaderboards(content),
                ]
            )
    except zipfile.BadZipFile:
        return [f"{path} must be a zip"]


def dry_run(path: Path, submission: Path) -> dict[str, dict[str, float]]:
    """Run the scoring program of each task on a submission, in folders as on the platform.

    The program of the bundle, which `check_bundle` takes, is executed: it must be your own. The submission is a file
    that a contestant would put into a zip. Returns, by task, the score of each column key. A RuntimeError, with the
    last line that the program wrote, is raised if it fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(root / "bundle")
            content = _read_yaml(archive.read("competition.yaml"))
        return {
            str(task["name"]): _run_task(root / "bundle", root / str(place), task, submission)
            for place, task in enumerate(content["tasks"])
        }


def try_sample(path: Path) -> dict[str, dict[str, float]]:
    """Run the scoring program on the sample submission of the public data; otherwise as `dry_run`."""
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(path) as archive:
        return dry_run(path, Path(archive.extract(f"public_data/{SAMPLE}", scratch)))


def _run_task(bundle: Path, app: Path, task: Content, submission: Path) -> dict[str, float]:
    shutil.copytree(bundle / task["scoring_program"], app / "program")
    shutil.copytree(bundle / task["reference_data"], app / "input" / "ref")
    (app / "input" / "res").mkdir()
    (app / "output").mkdir()
    shutil.copy(submission, app / "input" / "res")
    # The platform leaves a file of its own beside the submission.
    (app / "input" / "res" / "metadata").write_text("exitCode: 0\n", encoding="utf-8")
    command = str(_read_yaml((app / "program" / "metadata.yaml").read_bytes())["command"])
    parts = [part.replace("/app/", f"{app}/", 1) for part in shlex.split(command)]
    done = subprocess.run(  # noqa: S603 - the organiser's own program
        [sys.executable if parts[0] in {"python", "python3"} else parts[0], *parts[1:]],
        cwd=app / "program",
        capture_output=True,
        text=True,
        timeout=_MAX_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The scoring program failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    scores: dict[str, float] = json.loads((app / "output" / "scores.json").read_text(encoding="utf-8"))
    return scores


def _read_yaml(content: bytes) -> Any:
    with needing("Checking a bundle of Codabench"):
        import yaml
    try:
        return yaml.safe_load(content.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        return None


def _check_names(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            yield f"{name!r} must be a path inside the zip"


def _check_head(content: Content, archive: zipfile.ZipFile) -> Iterator[str]:
    if str(content.get("version")) != "2":
        yield f"version must be 2, not {content.get('version')!r}"
    if not content.get("title") or len(str(content["title"])) > 256:
        yield "title must be of 1 to 256 characters"
    if len(str(content.get("docker_image", ""))) > 128:
        yield "docker_image must be of 128 characters at most"
    yield from _check_text(archive, content.get("terms"), "terms")
    pages = content.get("pages")
    if not isinstance(pages, list) or not pages:
        yield "pages must hold a page"
        return
    for place, page in enumerate(pages):
        yield from _check_text(archive, page.get("file"), f"pages[{place}]")
    image = content.get("image")
    if image not in archive.namelist() or not archive.read(image).startswith(_PNG):
        yield f"image must be a PNG in the zip, not {image!r}"


def _check_text(archive: zipfile.ZipFile, name: object, key: str) -> Iterator[str]:
    if name not in archive.namelist() or not archive.read(str(name)).strip():
        yield f"{key} must name a file in the zip that is not empty, not {name!r}"


def _check_tasks(content: Content, archive: zipfile.ZipFile) -> Iterator[str]:
    tasks, names = content.get("tasks") or [], archive.namelist()
    if not tasks:
        yield "tasks must hold a task"
    indices = [task.get("index") for task in tasks]
    if None in indices or len(set(indices)) < len(indices):
        yield f"tasks must have different indices, not {indices}"
    for task in tasks:
        if "scoring_program" not in task or not task.get("name"):
            yield f"task {task.get('index')} must have a name and a scoring_program"
            continue
        for key in _DATA:
            if key in task and not _is_there(task[key], names):
                yield f"{key} of task {task['index']} must be in the zip, not {task[key]!r}"
        yield from _check_program(f"{task['scoring_program']}/metadata.yaml", archive)
        if task.get("ingestion_program") or task.get("ingestion_only_during_scoring"):
            yield f"task {task['index']} must take result submissions only: code would run beside reference data"


def _check_program(name: str, archive: zipfile.ZipFile) -> Iterator[str]:
    metadata = _read_yaml(archive.read(name)) if name in archive.namelist() else None
    if not isinstance(metadata, dict) or not metadata.get("command"):
        yield f"{name} must hold a command"


def _is_there(name: object, names: Iterable[str]) -> bool:
    return any(one == name or one.startswith(f"{name}/") for one in names)


def _check_phases(content: Content, names: Iterable[str]) -> Iterator[str]:
    phases = sorted(content.get("phases") or [], key=lambda phase: phase.get("index", 0))
    if not phases:
        yield "phases must hold a phase"
        return
    if phases[0].get("auto_migrate_to_this_phase"):
        yield "the first phase must not have auto_migrate_to_this_phase"
    tasks = {task.get("index") for task in content.get("tasks") or []}
    for phase in phases:
        yield from _check_phase(phase, tasks, names)
    for one, following in pairwise(phases):
        end, start = _read_time(one.get("end")), _read_time(following.get("start"))
        if end is None or (start is not None and start <= end):
            yield f"phase {one.get('name')!r} must have an end, before the start of {following.get('name')!r}"


def _check_phase(phase: Content, tasks: set[Any], names: Iterable[str]) -> Iterator[str]:
    name = phase.get("name")
    if not name or not phase.get("tasks") or not set(phase["tasks"]) <= tasks:
        yield f"phase {name!r} must have a name, and tasks that are there"
    for key in ("public_data", "starting_kit"):
        if key in phase and not _is_there(phase[key], names):
            yield f"{key} of phase {name!r} must be in the zip, not {phase[key]!r}"
    start, end = (_read_time(phase.get(key)) for key in ("start", "end"))
    if start is None:
        yield f"start of phase {name!r} must be a time as text, not {phase.get('start')!r}"
    if phase.get("end") is not None and (end is None or (start is not None and end <= start)):
        yield f"end of phase {name!r} must be a time as text, after its start, not {phase['end']!r}"


def _read_time(value: object) -> datetime | None:
    # The platform cuts what YAML reads as a time down to its day.
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        return None


def _check_leaderboards(content: Content) -> Iterator[str]:
    leaderboards = content.get("leaderboards")
    if not isinstance(leaderboards, list) or not leaderboards:
        yield "leaderboards must hold a leaderboard"
        return
    for one in leaderboards:
        yield from _check_lengths(one, "leaderboard", {"title": 64, "key": 36})
        if one.get("submission_rule", "Add") not in _RULES:
            yield f"submission_rule must be one of {', '.join(sorted(_RULES))}, not {one['submission_rule']!r}"
        yield from _check_columns(one.get("columns") or [], one.get("primary_index", 0))


def _check_columns(columns: Sequence[Content], primary: object) -> Iterator[str]:
    for key in ("index", "key"):
        values = [column.get(key) for column in columns]
        if not columns or None in values or len(set(values)) < len(values):
            yield f"columns must have a different {key} each, not {values}"
    if primary not in [column.get("index") for column in columns]:
        yield "primary_index must be the index of a column"
    for column in columns:
        yield from _check_lengths(column, "column", {"title": 36, "key": 36})
        if column.get("sorting", "desc") not in {"asc", "desc"}:
            yield f"sorting must be asc or desc, not {column['sorting']!r}"


def _check_lengths(table: Content, kind: str, lengths: Mapping[str, int]) -> Iterator[str]:
    """List texts that do not fit the platform's tables."""
    for key, most in lengths.items():
        if not 0 < len(str(table.get(key, ""))) <= most:
            yield f"{key} of a {kind} must be of 1 to {most} characters, not {table.get(key)!r}"
