"""Learners go on exactly from a snapshot, which executes nothing and says which software wrote it."""

import json
import pickle
from zipfile import ZipFile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal

from estimators import AlarmBudget, OnlineLogisticRegression, make_strategy
from mlstream._support.version import __version__
from mlstream.service import FeedbackBuffer, Shadow, load_snapshot, read_snapshot_facts, save_snapshot
from mlstream.service.snapshot import SCHEMA
from tests.estimators.instances import IN_STREAMS, made
from tests.loops import check_all

RNG = np.random.default_rng(0)
X = RNG.random((60, 5))
Y = (X[:, :3] + X[:, 2:] > 1).astype(int)
SOME = ("StreamRidge", "BR_HT", "NN", "MLSAkNN", "alarm budget", "stack")
# models of River, and a table whose keys are sets of labels
NOT_HELD = ("River", "River_HT", "River_ARF", "LC_HT")
TRUSTED = (
    "collections.Counter", "collections.defaultdict", "functools.partial", "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.basic.Booster", "sklearn.tree._tree.Tree", "lightgbm.engine.CVBooster",
)  # fmt: skip


def check_goes_on(name, folder):
    learner = made(name)
    learner.partial_fit(X[:30], Y[:30])
    save_snapshot(folder / "learner.skops", learner)
    twin = load_snapshot(folder / "learner.skops", trusted=TRUSTED)
    for one in (learner, twin):
        one.partial_fit(X[30:45], Y[30:45])
    for found, expected in zip(twin.predict_with_proba(X), learner.predict_with_proba(X), strict=True):
        assert_array_equal(found, expected)


def test_a_learner_goes_on_exactly(tmp_path):
    check_all(SOME, lambda name: check_goes_on(name, tmp_path))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_every_other_learner_goes_on_exactly(tmp_path):
    check_all(
        [name for name in IN_STREAMS if name not in {*SOME, *NOT_HELD}], lambda name: check_goes_on(name, tmp_path)
    )


@pytest.mark.parametrize("name", ["River_ARF", "LC_HT"])
def test_a_learner_that_no_file_can_hold_is_refused_and_leaves_none(tmp_path, name):
    learner = made(name)
    learner.partial_fit(X[:30], Y[:30])
    with pytest.raises(TypeError, match="Take another learner"):
        save_snapshot(tmp_path / "learner.skops", learner)
    assert list(tmp_path.iterdir()) == []


def begun(learner=None):
    return (learner or OnlineLogisticRegression(0.1)).begin(X[:1], Y[:1], classes=["a", "b", "c"])


@pytest.mark.parametrize("as_ids", [list, lambda ids: [f"row {one}" for one in ids]], ids=["numbers", "texts"])
def test_a_buffer_goes_on_with_its_rows(tmp_path, as_ids):
    ids = as_ids(range(40))
    buffer = FeedbackBuffer(begun(AlarmBudget(OnlineLogisticRegression(0.1), budget=5, period=10)), expiry=30)
    buffer.predict(ids[:20], X[:20])
    save_snapshot(tmp_path / "buffer.skops", buffer)
    twin = load_snapshot(tmp_path / "buffer.skops")
    for one in (buffer, twin):
        one.learn(ids[5:15], Y[5:15])
        one.predict(ids[20:], X[20:40])
    assert list(twin._rows) == list(buffer._rows)
    assert (twin.n_expired_, twin._rows.n_bytes) == (buffer.n_expired_, buffer._rows.n_bytes)
    assert_array_equal(twin.learner.predict_proba(X), buffer.learner.predict_proba(X))


def test_rows_of_several_kinds_are_kept_as_they_are():
    buffer = FeedbackBuffer(begun())
    buffer.predict([0], X[:1].astype(np.float32))
    buffer.predict([1], X[1:2])
    twin = pickle.loads(pickle.dumps(buffer))  # noqa: S301 - our own bytes
    assert [row[0].dtype for row in twin._rows.values()] == [np.float32, np.float64]


def test_facts_name_the_software_the_features_and_the_labels(tmp_path):
    save_snapshot(tmp_path / "x.skops", Shadow(begun(), make_strategy("BR_HT")), notes={"journal": 7})
    facts = read_snapshot_facts(tmp_path / "x.skops")
    assert facts.pop("software")["mlstream"] == __version__
    assert facts == {
        "schema": SCHEMA, "holds": "Shadow", "features": 5, "labels": ["a", "b", "c"], "notes": {"journal": 7},
    }  # fmt: skip


def rewrite(path, **changed):
    """Write a snapshot as another version would."""
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(members["snapshot.json"])
    software = {**facts["software"], **changed.pop("software", {})}
    members["snapshot.json"] = json.dumps({**facts, **changed, "software": software}).encode()
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_another_version_loads_or_says_how_to_migrate(tmp_path):
    path = tmp_path / "x.skops"
    for changed, way in (
        ({"schema": 0, "software": {"mlstream": "0.0.9"}}, "mlstream-toolkit==0.0.9.*relearn=True"),
        ({"software": {"mlstream": "7.0.1"}}, "mlstream-toolkit==7.0.1.*relearn=True"),
        ({"software": {"numpy": "2.2.5", "python": "3.12.1"}}, None),
        ({"software": {"mlstream": f"{__version__.rpartition('.')[0]}.99"}}, None),
    ):
        save_snapshot(path, begun())
        rewrite(path, **changed)
        if way is None:
            assert_array_equal(load_snapshot(path).predict_proba(X), begun().predict_proba(X))
        else:
            with pytest.raises(ValueError, match=way):
                load_snapshot(path)
            assert read_snapshot_facts(path)["software"]["mlstream"] in way


class Evil:
    """What would run code as soon as it is made."""

    def __setstate__(self, state):
        raise AssertionError("executed")

    def __getstate__(self):
        return {"a": 1}

    def __deepcopy__(self, memo):
        return self


def test_nothing_that_is_not_ours_is_made(tmp_path):
    learner = begun()
    learner.extra = Evil()
    save_snapshot(tmp_path / "x.skops", learner)
    with pytest.raises(ValueError, match=r"must hold classes of ours.*Evil"):
        load_snapshot(tmp_path / "x.skops")


@pytest.mark.parametrize("name", ["estimators._kernels.keeping.Path", "estimators.contract.lazy.import_module"])
def test_what_our_modules_import_is_not_ours(tmp_path, name):
    save_snapshot(tmp_path / "x.skops", begun())
    with ZipFile(tmp_path / "x.skops") as archive:
        schema = json.loads(archive.read("schema.json"))
        facts = archive.read("snapshot.json")
    schema["__module__"], _, schema["__class__"] = name.rpartition(".")
    with ZipFile(tmp_path / "y.skops", "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
        archive.writestr("snapshot.json", facts)
    with pytest.raises(ValueError, match=f"must hold classes of ours.*{name}|damaged"):
        load_snapshot(tmp_path / "y.skops")


def test_other_files_and_damaged_ones_are_one_error(tmp_path):
    path = tmp_path / "x.skops"
    skops.io.dump(begun(), path)
    for content in (path.read_bytes(), b"nothing", b"", pickle.dumps(1)):
        path.write_bytes(content)
        for call in (load_snapshot, read_snapshot_facts):
            with pytest.raises(ValueError, match="must be a snapshot"):
                call(path)
    save_snapshot(path, begun())
    content = path.read_bytes()
    for cut in np.linspace(1, len(content) - 1, 20).astype(int):
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match="must be a snapshot"):
            load_snapshot(path)
