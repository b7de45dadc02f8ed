"""A challenge as a bundle of Codabench, for organisers who would rather have it hosted there.

The platform calls contestants' files result submissions: no code of theirs runs where reference data are.
"""

from __future__ import annotations

import json
import math
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from mlstream._support.files import atomic_path
from mlstream.challenge.config import ChallengeConfig, read_config
from mlstream.challenge.folder import OrganiserFolder, require_apart, require_private
from mlstream.challenge.making.bundle import RULES
from mlstream.challenge.making.create import fill_bundle
from mlstream.challenge.making.plan import make_plan, truth_of
from mlstream.challenge.manifest import Manifest, Role, read_manifest
from mlstream.challenge.scoring.feedback import feedback_of
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.submissions.rows import SubmissionLayout
from mlstream.challenge.truth import Keys, format_keys, holdout_keys, read_truth
from mlstream.formats import load

_PROGRAM = ("score.py", "metadata.yaml")
_MAX_TITLE = 256
# A phase must begin after the end of the one before.
_PAUSE = timedelta(minutes=1)
_TIME_LIMIT_S = 600
_FINAL_DECIMALS = 6
_LOGO_SIZE = 240

_TERMS = """# Terms

Submissions must follow from the public data of this competition. Looking up labels elsewhere, and submissions made to
learn labels from scores, are against the rules.
"""
_FORM = """# Submitting

Where this page differs from the rules, this page holds: the rules are those of the challenge on the organiser's
machine.

Upload a zip that holds one file, `.csv` (UTF-8), `.csv.gz` or `.npz`, with the rows and columns of
`sample_submission.csv` in the public data, in any order. A file that is not valid fails, and costs no submission. Here,
the same file sent again is another submission.

In the final phase, your best submission of the development phase is scored once; the organiser publishes those scores
afterwards.
"""


class _Column(TypedDict):
    """A column of the leaderboard: a score of the environments of a role."""

    key: str
    role: Role
    combine: str  # mean or worst
    eps: float
    decimals: int | None


def export_codabench(folder: Path, output: Path, *, development_ends: datetime | None = None) -> list[str]:
    """Write a challenge as a competition bundle of Codabench, version 2, and list where the platform differs.

    The list has a line for each rule that the platform does not keep. The zip holds truth, for the platform's scoring
    program: keep it private. `development_ends`, in UTC, is needed where the rules name no end of the development
    phase: on the platform, a phase that another one follows has an end. Raises PermissionError if others can read the
    organiser's folder; ValueError without an end of the development phase, or if the zip would lie in the organiser's
    folder.
    """
    require_private(folder)
    require_apart(folder, output)
    place = OrganiserFolder(folder)
    rules, manifest = read_config(place.config), read_manifest(place.manifest)
    feedback = feedback_of(rules, manifest.feedback)
    config = rules.model_copy(update={"decimals": feedback.decimals, "ladder_step": 0.0})
    competition = _describe(config, manifest, development_ends)
    with atomic_path(output) as part:
        # Truth: for the eyes of the organiser only.
        part.touch(mode=0o600)
        part.chmod(0o600)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("competition.yaml", "\n".join(_format_yaml(competition)) + "\n")
            archive.writestr("logo.png", draw_logo(len(manifest.environments)))
            _write_pages(archive, place, config)
            _write_tasks(archive, place, config, manifest)
    no_ladder = "Codabench shows the score of each submission; ladder_step has no effect there."
    return [
        *([no_ladder] if feedback.step else []),
        "Codabench has no log that proves itself, takes the same bytes for another submission, and counts days and "
        "submissions by account. Final columns are hidden until you show them.",
    ]


def draw_logo(n_bars: int) -> bytes:
    """Draw a PNG of bars of different heights, one for each environment."""
    pixels = np.full((_LOGO_SIZE, _LOGO_SIZE, 3), 255, dtype=np.uint8)
    edges = np.linspace(20, _LOGO_SIZE - 20, n_bars + 1).astype(int)
    for place, (left, right) in enumerate(pairwise(edges.tolist())):
        height = int((0.55 + 0.35 * math.sin(2.4 * place)) * (_LOGO_SIZE - 40))
        pixels[_LOGO_SIZE - 20 - height : _LOGO_SIZE - 20, left : max(right - 2, left + 1)] = (11, 87, 164)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", _LOGO_SIZE, _LOGO_SIZE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def _describe(config: ChallengeConfig, manifest: Manifest, development_ends: datetime | None) -> dict[str, object]:
    return {
        "version": 2,
        "title": config.name[:_MAX_TITLE],
        "description": "Predict in environments that nobody has seen.",
        "image": "logo.png",
        "terms": "pages/terms.md",
        "docker_image": "codalab/codalab-legacy:py37",
        "registration_auto_approve": False,
        "enable_detailed_results": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "can_participants_make_submissions_public": False,
        "pages": [
            {"title": "Rules", "file": "pages/rules.md"},
            {"title": "Submitting", "file": "pages/submitting.md"},
        ],
        "tasks": [
            {
                "index": place,
                "name": name,
                "description": f"Scores in the {name} phase",
                "scoring_program": "scoring_program",
                "reference_data": f"reference_{name}",
            }
            for place, name in enumerate(("development", "final"))
        ],
        "phases": list(_phases(config, manifest, development_ends)),
        "leaderboards": [_leaderboard(config, manifest)],
    }


def _phases(
    config: ChallengeConfig, manifest: Manifest, development_ends: datetime | None
) -> Iterator[dict[str, object]]:
    if config.development_ends and development_ends not in {None, config.development_ends}:
        raise ValueError(
            f"--development-ends must be left out where challenge.toml has development_ends. Got {development_ends} "
            f"and {config.development_ends}."
        )
    start, end = config.opens or manifest.created, config.development_ends or development_ends
    if end is None or end <= start:
        raise ValueError(
            f"The end of the development phase must come after its start ({start:%Y-%m-%d %H:%M} UTC): a phase of "
            f"Codabench that another one follows has an end. Got {end or 'none in challenge.toml'}; state it with "
            "--development-ends."
        )
    n_days = math.ceil((end - start) / timedelta(days=1)) + 1
    yield {
        "index": 0,
        "name": "Development",
        "description": "Scores on validation",
        # Text: a date that YAML reads as such loses its time on the platform, which takes the time as UTC.
        "start": _format_time(start),
        "end": _format_time(end),
        "max_submissions_per_day": config.queries_per_day,
        "max_submissions": config.queries_per_day * n_days,
        "execution_time_limit": _TIME_LIMIT_S,
        "public_data": "public_data",
        "tasks": [0],
    }
    final = {
        "index": 1,
        "name": "Final",
        "description": "The best submission of each team, scored in environments about which nothing was replied",
        "start": _format_time(end + _PAUSE),
        "max_submissions_per_day": config.final_selections,
        "max_submissions": config.final_selections,
        "execution_time_limit": _TIME_LIMIT_S,
        "auto_migrate_to_this_phase": True,
        "hide_output": True,
        "hide_prediction_output": True,
        "hide_score_output": True,
        "tasks": [1],
    }
    ends = config.final_ends
    yield final if ends is None or ends <= end + _PAUSE else {**final, "end": _format_time(ends)}


def _format_time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"


def _leaderboard(config: ChallengeConfig, manifest: Manifest) -> dict[str, object]:
    keys = dict.fromkeys(column["key"] for columns in _columns(config, manifest).values() for column in columns)
    sorting = "asc" if metric_of(config.metric).lower_is_better else "desc"
    public = {"validation", "in_distribution"}
    return {
        "title": "Results",
        "key": "results",
        "primary_index": 0,
        "submission_rule": "Force_Best",
        "hidden": False,
        "columns": [
            {
                "title": key.replace("_", " ").capitalize(),
                "key": key,
                "index": place,
                "sorting": sorting,
                "precision": config.decimals if key in public else _FINAL_DECIMALS,
                "hidden": key not in public,
            }
            for place, key in enumerate(keys)
        ],
    }


def _columns(config: ChallengeConfig, manifest: Manifest) -> dict[str, list[_Column]]:
    """Return, of each task, its scores: the role they are of, how environments are combined, clipping and rounding."""

    def column(key: str, role: Role, combine: str, *, is_final: bool) -> _Column:
        eps, decimals = (config.eps_final, None) if is_final else (config.eps_public, config.decimals)
        return {"key": key, "role": role, "combine": combine, "eps": eps, "decimals": decimals}

    public = [column("validation", "validation", "mean", is_final=False)]
    final = [column("generalisation", "test", "mean", is_final=True)]
    if manifest.of_role("unseen"):
        final.append(column("robustness", "unseen", "worst", is_final=True))
    if config.in_distribution_score:
        public.append(column("in_distribution", "in-distribution", "mean", is_final=False))
    # The platform chooses a team's best submission by the first column, in either phase.
    return {"development": public, "final": [public[0], *final]}


def _write_pages(archive: zipfile.ZipFile, place: OrganiserFolder, config: ChallengeConfig) -> None:
    """Write pages and public data: the bundle for contestants, made again."""
    stream = load(place.stream)
    plan = make_plan(stream, config, place.salt.read_bytes(), force=True)
    with tempfile.TemporaryDirectory() as scratch:
        public = Path(scratch)
        keys = [truth.row_keys for truth in truth_of(plan)]
        fill_bundle(public, stream, config, plan, keys, feedback_of(config, None))
        for path in sorted(public.iterdir()):
            archive.write(path, f"public_data/{path.name}")
        archive.write(public / RULES, "pages/rules.md")
    archive.writestr("pages/submitting.md", _FORM)
    archive.writestr("pages/terms.md", _TERMS)


def _write_tasks(archive: zipfile.ZipFile, place: OrganiserFolder, config: ChallengeConfig, manifest: Manifest) -> None:
    program = files("mlstream.challenge.codabench").joinpath("program")
    for name in _PROGRAM:
        archive.writestr(f"scoring_program/{name}", program.joinpath(name).read_bytes())
    keys = holdout_keys(place, manifest)
    layout = SubmissionLayout(keys, manifest.scored_names, config.max_bytes)
    rules = {
        "metric": config.metric,
        "k": config.k,
        "lower_is_better": metric_of(config.metric).lower_is_better,
        "labels": list(manifest.scored_names),
        "max_unpacked_bytes": layout.max_unpacked_bytes,
    }
    for task, columns in _columns(config, manifest).items():
        described, arrays = _reference(place, manifest, columns, keys)
        archive.writestr(f"reference_{task}/rules.json", json.dumps({**rules, "columns": described}, indent=1))
        content = BytesIO()
        np.savez_compressed(content, **arrays)
        archive.writestr(f"reference_{task}/truth.npz", content.getvalue())


def _reference(
    place: OrganiserFolder, manifest: Manifest, columns: Sequence[_Column], keys: Keys
) -> tuple[list[dict[str, object]], dict[str, Any]]:
    """Return the columns, each with the numbers of its environments, and the truth of those only."""
    described: list[dict[str, object]] = []
    arrays: dict[str, Any] = {"row_id": np.array(format_keys(keys))}
    number = 0
    for column in columns:
        entries = manifest.of_role(column["role"])
        described.append({**column, "environments": list(range(number, number + len(entries)))})
        for entry in entries:
            truth = read_truth(place.path / str(entry.file))
            arrays[f"rows{number}"] = np.searchsorted(keys, truth.row_keys)
            arrays[f"Y{number}"], arrays[f"mask{number}"] = truth.Y.astype(np.float32), truth.mask
            number += 1
    return described, arrays


def _format_yaml(value: Mapping[str, object] | list[object], indent: str = "") -> Iterator[str]:
    """Yield the lines of a mapping or a list in YAML; scalars are written as in JSON, which YAML reads alike."""
    pairs = value.items() if isinstance(value, Mapping) else ((None, one) for one in value)
    for key, one in pairs:
        start = f"{indent}-" if key is None else f"{indent}{key}:"
        if not isinstance(one, Mapping | list):
            yield f"{start} {json.dumps(one, ensure_ascii=False)}"
        elif key is None:
            first, *rest = _format_yaml(one, f"{indent}  ")
            yield f"{start} {first.lstrip()}"
            yield from rest
        else:
            yield start
            yield from _format_yaml(one, f"{indent}  ")
