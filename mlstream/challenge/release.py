"""The release of truth after a challenge: the only way by which it leaves the organiser's folder."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mlstream._support.content import guard_text
from mlstream._support.files import atomic_folder, sha256_of
from mlstream.challenge.folder import OrganiserFolder, require_apart
from mlstream.challenge.manifest import Manifest
from mlstream.challenge.scoring.ranking import FinalRanking
from mlstream.challenge.truth import Truth, format_keys, read_truth

TRUTH, RANKING, SUMS = "truth.csv", "ranking.json", "SHA256SUMS"


def release_truth(folder: OrganiserFolder, manifest: Manifest, ranking: FinalRanking, to: Path) -> Path:
    """Write the labels of all hidden rows, and the rankings, to a new folder.

    It holds ``truth.csv`` (row id, environment, role, scored labels; an empty cell does not count), ``ranking.json``
    and ``SHA256SUMS``. Raises FileExistsError if the folder exists, ValueError if it lies in the organiser's folder, or
    the reverse.
    """
    require_apart(folder.path, to)
    with atomic_folder(to) as part:
        with (part / TRUTH).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["row_id", "environment", "role", *map(guard_text, manifest.scored_names)])
            for entry in manifest.environments:
                if entry.file is not None:
                    rows = _rows(read_truth(folder.path / entry.file))
                    writer.writerows([key, entry.public_name, entry.role, *cells] for key, cells in rows)
        (part / RANKING).write_text(ranking.model_dump_json(indent=1) + "\n", encoding="utf-8")
        lines = [f"{sha256_of(part / name)}  {name}\n" for name in (RANKING, TRUTH)]
        (part / SUMS).write_text("".join(lines), encoding="utf-8")
    return to


def _rows(truth: Truth) -> Iterator[tuple[str, list[str]]]:
    known = truth.mask & ~np.isnan(truth.Y.astype(np.float32))
    for key, labels, counts in zip(format_keys(truth.row_keys), truth.Y, known, strict=True):
        yield key, [str(int(label)) if count else "" for label, count in zip(labels, counts, strict=True)]
