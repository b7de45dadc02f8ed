"""Comparing the files of a challenge with each other: what was made, what is hidden, what contestants got."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mlstream._support.files import sha256_of
from mlstream.challenge.config import read_config
from mlstream.challenge.folder import OrganiserFolder, require_private
from mlstream.challenge.making.bundle import SUMS, find_changed, is_list_of, read_sums
from mlstream.challenge.making.plan import make_plan, truth_of
from mlstream.challenge.manifest import Manifest, read_manifest
from mlstream.challenge.truth import read_truth
from mlstream.formats import load


def verify_challenge(folder: Path, bundle: Path | None = None) -> list[str]:
    """Compare the organiser's folder, and the bundle, with what `create` makes of the stream.

    The result has one line for each difference. Raises PermissionError if others can read the organiser's folder,
    ValueError if its manifest or configuration cannot be read.
    """
    require_private(folder)
    place = OrganiserFolder(folder)
    manifest = read_manifest(place.manifest)
    found = list(_compare_truth(place, manifest))
    return found if bundle is None else [*found, *_compare_bundle(place, manifest, bundle)]


def _compare_truth(place: OrganiserFolder, manifest: Manifest) -> Iterator[str]:
    if sha256_of(place.stream) != manifest.stream_sha256:
        yield f"{place.stream.name} has changed"
        return
    plan = make_plan(load(place.stream), read_config(place.config), place.salt.read_bytes(), force=True)
    entries = [entry for entry in manifest.environments if entry.file is not None]
    if [entry.name for entry in entries] != [one.name for one in plan.hidden]:
        yield f"{place.manifest.name} lists other hidden environments than {place.config.name}"
        return
    for entry, expected in zip(entries, truth_of(plan), strict=True):
        try:
            got = read_truth(place.path / str(entry.file))
        except (ValueError, OSError) as error:
            yield f"{entry.file} cannot be read: {error}"
            continue
        same = [
            np.array_equal(one, other)
            for one, other in ((got.row_keys, expected.row_keys), (got.Y, expected.Y), (got.mask, expected.mask))
        ]
        if not all(same):
            yield f"{entry.file} is not the truth of environment {entry.name!r}"


def _compare_bundle(place: OrganiserFolder, manifest: Manifest, bundle: Path) -> Iterator[str]:
    if not is_list_of(bundle, manifest.bundle_sha256):
        yield f"{bundle / SUMS} is missing, or not the one that was made"
        return
    for name in sorted({path.name for path in bundle.iterdir()} - {*read_sums(bundle), SUMS}):
        yield f"{bundle / name} does not belong to the bundle"
    yield from (f"{path} is missing, or has changed" for path in find_changed(bundle))
    yield from _find_secrets(place, manifest, bundle)


def _find_secrets(place: OrganiserFolder, manifest: Manifest, bundle: Path) -> Iterator[str]:
    """Search the bundle for what only the organiser may know."""
    salt = place.salt.read_bytes()
    secrets = (salt, salt.hex().encode(), manifest.stream_sha256.encode(), manifest.holdout_sha256.encode())
    for path in filter(Path.is_file, sorted(bundle.iterdir())):
        content = path.read_bytes()
        if any(secret in content for secret in secrets):
            yield f"{path} holds a secret of the organiser"
