"""Compare the hashes and sizes of the registry of data sets with what is known elsewhere.

    python tools/check_registry.py --csv boomer_datasets_f7e13d5.csv --clone Boomer-Datasets --clone mulan

A CSV file (columns file, sha256, bytes) lists the ARFF files of a repository at the commit in its name: the registry
must have all of them, and no others. In a clone, each address of a commit that it has is looked up: a file, or the
pointer that Git LFS keeps in its place (GIT_LFS_SKIP_SMUDGE=1 git clone ...). Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from mlstream.data.registry import list_datasets

ADDRESS = re.compile(r"https://[^/]+/(?:media/)?[^/]+/[^/]+/(?:raw/)?([0-9a-f]{40})/(.+)")
POINTER = re.compile(rb"version https://git-lfs.github.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n")


class Known(NamedTuple):
    """A file of a repository at a commit."""

    commit: str
    path: str
    sha256: str
    n_bytes: int


def list_known() -> set[Known]:
    """List the files that the registry has addresses of."""
    downloads = {one for entry in list_datasets() for file in entry.files for one in file.downloads}
    places = {one: ADDRESS.fullmatch(one.url) for one in downloads}
    return {Known(place[1], place[2], one.sha256, one.n_bytes) for one, place in places.items() if place}


def compare_csv(path: Path, known: set[Known]) -> list[str]:
    """Return the differences between the registry and a list of the ARFF files of a repository."""
    commit = path.stem.rpartition("_")[2]
    ours = {file[1:] for file in known if file.commit.startswith(commit) and file.path.endswith(".arff")}
    with path.open(newline="", encoding="utf-8") as lines:
        listed = {(row["file"], row["sha256"], int(row["bytes"])) for row in csv.DictReader(lines)}
    print(f"{path.name}: {len(ours & listed)} of {len(listed)} files are in the registry.")
    differences = {f"{path.name}: {name} is not in the registry, or differs." for name, *_ in listed - ours}
    return sorted(differences | {f"{path.name} does not list {name}, or differs." for name, *_ in ours - listed})


def compare_clone(clone: Path, known: set[Known]) -> list[str]:
    """Return the differences between the registry and a clone of a repository."""
    found = {file: content for file in known if (content := read_blob(clone, file)) is not None}
    print(f"{clone}: {len(found)} files of the registry are there.")
    wrong = [file for file, content in found.items() if measure(content) != (file.sha256, file.n_bytes)]
    return sorted(f"{clone} holds another {file.path} at {file.commit}." for file in wrong)


def read_blob(clone: Path, file: Known) -> bytes | None:
    """Read a file of a clone at a commit; None where the clone does not hold it."""
    command = ["git", "-C", str(clone), "cat-file", "blob", f"{file.commit}:{file.path}"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  names of the registry
    return done.stdout if done.returncode == 0 else None


def measure(content: bytes) -> tuple[str, int]:
    """Return the hash and the size of a file, or of the file that a pointer of Git LFS stands for."""
    pointer = POINTER.fullmatch(content)
    return (pointer[1].decode(), int(pointer[2])) if pointer else (hashlib.sha256(content).hexdigest(), len(content))


def main() -> None:
    """Compare, print the differences, and exit with status 1 if there are some."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--csv", type=Path, action="append", default=[], help="list of files of a repository")
    parser.add_argument("--clone", type=Path, action="append", default=[], help="clone of a repository")
    options, known = parser.parse_args(), list_known()
    differences = [line for path in options.csv for line in compare_csv(path, known)]
    differences += [line for clone in options.clone for line in compare_clone(clone, known)]
    print(*differences, sep="\n", end="")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
