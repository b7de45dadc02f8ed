"""The true labels of hidden rows, in the organiser's folder only."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream._support.files import atomic_path, open_plain, raise_disk_error
from mlstream._support.mapped import require_memory
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.manifest import Manifest, read_manifest

Keys: TypeAlias = npt.NDArray[np.uint64]
# Labels, probabilities or ids, of one of several types.
Array: TypeAlias = npt.NDArray[Any]

_LABELS = (np.dtype(np.uint8), np.dtype(np.float32))
_RULE = "must hold the truth of one environment"


class Truth(NamedTuple):
    """The labels of one hidden environment."""

    row_keys: Keys  # Row ids as numbers, (n_rows,).
    Y: Array  # The scored labels, (n_rows, n_scored): 0, 1, or NaN where unknown.
    mask: npt.NDArray[np.bool_]  # Cells that count, (n_rows, n_scored).


def write_truth(path: Path, truth: Truth) -> None:
    """Write the labels of one environment to an NPZ file; a ValueError is raised if shapes or types disagree."""
    _require_table(truth, path)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, row_keys=truth.row_keys, Y=truth.Y, mask=truth.mask)


def read_truth(path: Path) -> Truth:
    """Read a file that `write_truth` wrote; a ValueError is raised if it holds anything else."""
    truth = Truth(**read_arrays(path, _RULE, Truth._fields))
    _require_table(truth, path)
    return truth


def holdout_keys(folder: OrganiserFolder, manifest: Manifest | None = None) -> Keys:
    """Return the row ids of all hidden rows as numbers, ascending: the order of the rows of a submission.

    They are all different. A ValueError is raised if they differ from those of the manifest.
    """
    manifest = manifest or read_manifest(folder.manifest)
    files = [folder.path / one.file for one in manifest.environments if one.file is not None]
    keys: Keys = np.sort(np.concatenate([read_arrays(path, _RULE, ["row_keys"])["row_keys"] for path in files]))
    if keys.dtype != np.uint64 or hash_keys(keys) != manifest.holdout_sha256:
        raise ValueError(f"{folder.truth} must hold the rows of {folder.manifest}. Got others.")
    return keys


def read_arrays(path: Path, rule: str, names: Iterable[str] | None = None) -> dict[str, Array]:
    """Read arrays of an NPZ file, by default all; a ValueError, which states the rule, is raised for any other file."""
    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            require_memory(sum(member.file_size for member in archive.infolist()), f"{path}")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in names or arrays}
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError) as error:
        raise_disk_error(error)
        raise ValueError(f"{path} {rule}. Got another file, or a part of it.") from None


def hash_keys(keys: Keys) -> str:
    """Hash row ids in ascending order; the value of `Manifest.holdout_sha256`."""
    return hashlib.sha256(np.sort(keys).astype("<u8").tobytes()).hexdigest()


def format_keys(keys: Keys) -> list[str]:
    """Return row ids as they are written in files: 16 hexadecimal digits in lower case."""
    return [f"{key:016x}" for key in keys.tolist()]


def _require_table(truth: Truth, path: Path) -> None:
    keys, labels, mask = truth
    is_table = keys.ndim == 1 and labels.ndim == 2 and labels.shape == mask.shape and len(keys) == len(labels)
    if not is_table or keys.dtype != np.uint64 or labels.dtype not in _LABELS or mask.dtype != bool:
        got = ", ".join(f"{array.dtype} {array.shape}" for array in truth)
        raise ValueError(f"{path} must hold row_keys (uint64), Y (uint8 or float32) and mask (bool). Got {got}.")
