"""A small challenge, whose files are written by hand, and submissions to it."""

from datetime import UTC, datetime, timedelta

import numpy as np

from mlstream.challenge.folder import OrganiserFolder, make_private
from mlstream.challenge.manifest import EnvironmentEntry, Manifest, write_manifest
from mlstream.challenge.truth import Truth, hash_keys, write_truth

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROLES = ("in-distribution", "validation", "test", "unseen", "unseen", "unseen")


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now=START):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, **time):
        self.now += timedelta(**time)


def make_folder(path, *, n_rows=40, n_labels=2, seed=0, rules="", roles=ROLES, metric="nce"):
    """Write the organiser's folder of a challenge, all but its state."""
    make_private(path)
    folder = OrganiserFolder(path)
    for one in (folder.truth, folder.submissions, folder.scratch):
        make_private(one)
    rng = np.random.default_rng(seed)
    entries = [EnvironmentEntry(name="train-task", public_name="train-1", role="train", n_rows=n_rows, file=None)]
    all_keys = []
    for place, role in enumerate(roles):
        keys = rng.integers(0, 2**64, n_rows, dtype=np.uint64)
        labels = (rng.random((n_rows, n_labels)) < 0.2 + 0.1 * place).astype(np.uint8)
        # Both classes of each label, whatever is drawn.
        labels[0], labels[1] = 0, 1
        mask = np.ones((n_rows, n_labels), bool)
        mask[2:5, -1] = n_labels == 1
        file = f"truth/{place:02}.npz"
        write_truth(path / file, Truth(keys, labels, mask))
        entries.append(
            EnvironmentEntry(name=f"task-{place}", public_name=f"env-{place}", role=role, n_rows=n_rows, file=file)
        )
        all_keys.append(keys)
    keys = np.concatenate(all_keys)
    names = [f"label {place}" for place in range(n_labels)]
    write_manifest(
        folder.manifest,
        Manifest(
            name="toy",
            created=START,
            metric=metric,
            environments=entries,
            label_names=["never scored", *names],
            scored_labels=list(range(1, n_labels + 1)),
            n_hidden=len(keys),
            n_features=3,
            holdout_sha256=hash_keys(keys),
            stream_sha256="0" * 64,
            bundle_sha256="0" * 64,
            truth_is_public=False,
            n_identical_rows=0,
            dropped_rows=0,
            in_distribution_score="in-distribution" in roles,
        ),
    )
    folder.config.write_text(
        f'name = "toy"\nmetric = "{metric}"\nmin_rows = 10\n{rules}\n[roles]\n'
        'train = ["train-task"]\nvalidation = ["v"]\ntest = ["t"]\nunseen = ["u"]\n'
    )
    return folder
