"""Submissions from learners: whatever form their probabilities have, each hidden row gets its own."""

import csv
import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from mlstream.challenge.engine import Challenge
from mlstream.challenge.predicting import read_bundle, write_submission
from mlstream.challenge.submissions.files import read_submission
from mlstream.generators import environment_stream
from tests.mlstream.challenge.challenges import layout_of
from tests.mlstream.cli.commands import invoke

ROLES = ("train", "train", "validation", "test", "unseen")


def make(path, n_labels):
    path.mkdir(exist_ok=True)
    stream = environment_stream(ROLES, n_rows=60, seed=2**50, n_labels=n_labels)
    (path / "c.toml").write_text('name = "toy"\nmin_rows = 10\n')
    return Challenge.create(stream, path / "c.toml", path / "org", path / "pub")


@pytest.fixture(scope="module", params=[1, 3])
def challenge(request, tmp_path_factory):
    with make(tmp_path_factory.mktemp("predicting"), request.param) as made:
        yield made


def expected_by_row(bundle, predict):
    """Return the probabilities by row id, by a loop over the CSV of the bundle."""
    with (bundle / "holdout.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {row[0]: predict(np.array([row[1:]], dtype=float)) for row in rows}


def require_rows(challenge, path, predict):
    layout = layout_of(challenge)
    prob = read_submission(path.read_bytes(), layout)
    found = expected_by_row(challenge.folder.path.parent / "pub", predict)
    for key, got in zip(layout.keys.tolist(), prob, strict=True):
        assert got == pytest.approx(found[f"{key:016x}"], abs=1e-12)


def test_a_list_of_arrays_one_per_label_is_read(tmp_path, challenge):
    bundle = read_bundle(challenge.folder.path.parent / "pub")
    n_labels = bundle.Y.shape[1]
    forest = RandomForestClassifier(3, random_state=0).fit(bundle.X, bundle.Y if n_labels > 1 else bundle.Y[:, 0])
    write_submission(forest, bundle, tmp_path / "a.csv")

    def predict(x):
        found = forest.predict_proba(x)
        return [one[0, 1] for one in (found if n_labels > 1 else [found])]

    require_rows(challenge, tmp_path / "a.csv", predict)


@pytest.mark.slow
def test_a_column_per_label_is_read(tmp_path, challenge):
    bundle = challenge.folder.path.parent / "pub"
    rows = read_bundle(bundle)
    if rows.Y.shape[1] == 1:
        learner = LogisticRegression().fit(rows.X, rows.Y[:, 0])
        write_submission(learner, bundle, tmp_path / "a.csv")
        require_rows(challenge, tmp_path / "a.csv", lambda x: learner.predict_proba(x)[0, 1:])
    else:
        learner = OneVsRestClassifier(LogisticRegression()).fit(rows.X, rows.Y)
        write_submission(learner, bundle, tmp_path / "a.csv")
        require_rows(challenge, tmp_path / "a.csv", lambda x: learner.predict_proba(x)[0])


class Fixed:
    """A learner that returns what it was made with."""

    def __init__(self, result, classes=None):
        self.result = result
        if classes is not None:
            self.classes_ = classes

    def predict_proba(self, X):
        return self.result(len(X))


def test_one_class_that_was_learnt_is_certain_and_its_label_decides(tmp_path, challenge):
    n_labels = len(challenge.manifest.scored_names)
    for only, value in ((0, 0.0), (1, 1.0)):
        learner = Fixed(lambda n: [np.ones((n, 1))] * n_labels, [np.array([only])] * n_labels)
        prob = write_submission(learner, challenge.folder.path.parent / "pub", tmp_path / "a.csv")
        assert (prob == value).all()


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda n: np.full((n - 1, 1), 0.5), "rows"),
        (lambda n: np.full((n, 9), 0.5), "shape"),
        (lambda n: np.full(n, 0.5), "shape"),
        (lambda n: [np.full((n, 3), 0.5)], "classes 0 and 1"),
    ],
)
def test_other_shapes_are_refused(tmp_path, challenge, result, words):
    with pytest.raises(ValueError, match=words):
        write_submission(Fixed(result), challenge.folder.path.parent / "pub", tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("value", [1.5, -0.1, np.nan])
def test_what_is_no_probability_is_refused(tmp_path, challenge, value):
    n_labels = len(challenge.manifest.label_names)
    learner = Fixed(lambda n: np.full((n, n_labels), value))
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        write_submission(learner, challenge.folder.path.parent / "pub", tmp_path / "a.csv")


def test_two_columns_that_may_be_labels_or_classes_are_refused(tmp_path):
    with make(tmp_path, 2) as challenge:
        rows = read_bundle(challenge.folder.path.parent / "pub")
    one = replace(rows, card=rows.card.model_copy(update={"scored_labels": rows.card.scored_labels[1:]}))
    either = Fixed(lambda n: np.full((n, 2), 0.5), np.array([0, 1]))
    with pytest.raises(ValueError, match="MultiOutputClassifier"):
        write_submission(either, one, tmp_path / "a.csv")
    labels = Fixed(lambda n: np.tile([0.25, 0.75], (n, 1)))
    assert (write_submission(labels, one, tmp_path / "a.csv") == 0.75).all()


def test_a_learner_without_probabilities_and_a_folder_that_is_no_bundle_are_refused(tmp_path, challenge):
    bundle = challenge.folder.path.parent / "pub"
    with pytest.raises(TypeError, match="predict_proba"):
        write_submission(object(), bundle, tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError):
        read_bundle(tmp_path)
    shutil.copytree(bundle, tmp_path / "b")
    shutil.copy(tmp_path / "b" / "holdout.npz", tmp_path / "b" / "train.npz")
    with pytest.raises(ValueError, match="'Y'"):
        read_bundle(tmp_path / "b")


def test_the_command_writes_what_can_be_submitted(tmp_path, challenge):
    bundle, output = challenge.folder.path.parent / "pub", tmp_path / "a.csv"
    done = invoke("challenge", "predict", bundle, "-s", "StreamRidge", "-o", output)
    assert done.exit_code == 0, done.output or done.exception
    assert len(read_submission(output.read_bytes(), layout_of(challenge))) == challenge.manifest.n_hidden
    assert "--force" in str(invoke("challenge", "predict", bundle, "-s", "mean", "-o", output).exception)
