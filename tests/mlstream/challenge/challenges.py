"""A small challenge, whose files are written by hand, and submissions to it."""

from datetime import UTC, datetime, timedelta

import numpy as np

from mlstream.challenge.engine import Challenge
from mlstream.challenge.folder import OrganiserFolder, make_private
from mlstream.challenge.making.create import begin_state
from mlstream.challenge.manifest import EnvironmentEntry, Manifest, write_manifest
from mlstream.challenge.scoring import process as scoring_process
from mlstream.challenge.scoring.scorer import Scorer
from mlstream.challenge.submissions.rows import SubmissionLayout
from mlstream.challenge.truth import Truth, hash_keys, holdout_keys, read_truth, write_truth
from tests.mlstream.challenge.sample_files import as_csv, make_prob

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


class SameProcess:
    """The scoring of a challenge in this process, which starts at once."""

    def __init__(self, folder):
        self._folder, self._scorer = folder, Scorer(folder)

    def score_public(self, sha256, name):
        return scoring_process._score(self._scorer, self._folder, kind="public", sha256=sha256, name=name)

    def score_final(self, sha256, name):
        return scoring_process._score(self._scorer, self._folder, kind="final", sha256=sha256, name=name)

    def close(self):
        pass


def score_in_this_process(monkeypatch):
    """Let every challenge that is opened score in this process."""
    begin = Challenge.__init__

    def begin_here(self, *arguments, **options):
        begin(self, *arguments, **options)
        self._pool = SameProcess(self.folder)

    monkeypatch.setattr(Challenge, "__init__", begin_here)


def make_challenge(path, clock=None, *, processes=False, begun=START, **options):
    """Make a challenge with an empty state, which began at a time, and open it."""
    folder = make_folder(path, **options)
    begin_state(folder, begun)
    challenge = Challenge(path, clock=clock or Clock(begun))
    if not processes:
        challenge._pool = SameProcess(folder)
    return challenge


def layout_of(challenge):
    """Return the rows and columns of a submission."""
    keys = holdout_keys(challenge.folder)
    return SubmissionLayout(keys, challenge.manifest.scored_names, challenge.config.max_bytes)


def truth_table(challenge):
    """Return all true labels in the order of a submission, by a slow loop over rows."""
    by_key = {}
    for entry in challenge.manifest.environments:
        if entry.file:
            truth = read_truth(challenge.folder.path / entry.file)
            by_key |= dict(zip(truth.row_keys.tolist(), truth.Y.tolist(), strict=True))
    return np.array([by_key[key] for key in sorted(by_key)], float)


def draw(challenge, seed=0):
    """Draw a submission."""
    layout = layout_of(challenge)
    return as_csv(layout, make_prob(layout, seed))


def make_folder(path, *, n_rows=40, n_labels=2, seed=0, rules="", roles=ROLES, metric="nce"):
    """Write the organiser's folder of a challenge, all but its state."""
    make_private(path)
    folder = OrganiserFolder(path)
    for one in (folder.truth, folder.submissions):
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
    folder.salt.write_bytes(bytes(32))
    folder.stream.write_bytes(b"what the rows were made of")
    folder.config.write_text(
        f'name = "toy"\nmetric = "{metric}"\nmin_rows = 10\n{rules}\n[roles]\n'
        'train = ["train-task"]\nvalidation = ["v"]\ntest = ["t"]\nunseen = ["u"]\n'
    )
    return folder
