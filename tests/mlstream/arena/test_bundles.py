"""A bundle that is not what a learner did is refused; one that is holds, and its ranks can be tried in fresh worlds."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from scipy.stats import rankdata

from mlstream import arena
from mlstream.arena import bundles, fresh_worlds, running
from tests.mlstream.arena.made_records import make_suite

LEARNERS = ("NN", "BR_LR", "last_class", "mean", "1NN")


@pytest.fixture
def small(monkeypatch):
    """A small suite in place of the one of the package."""
    suite = make_suite(4)
    for module in (running, bundles, fresh_worlds):
        monkeypatch.setattr(module, "load_suite", lambda _version=1: suite)
    return suite


@pytest.fixture
def bundle(small, tmp_path):
    """A bundle of a network, and where it lies."""
    done = arena.run("NN", tmp_path / "arena")
    arena.pack(done.folder, tmp_path / "NN.zip")
    return tmp_path / "NN.zip"


def edited(bundle, name, change):
    """Write a copy of a bundle of which one file, as JSON, was changed."""
    with zipfile.ZipFile(bundle) as archive:
        content = {info.filename: archive.read(info) for info in archive.infolist()}
    key = next(one for one in content if name in one)
    document = json.loads(content[key])
    change(document)
    content[key] = json.dumps(document).encode()
    copy = Path(bundle).with_name("edited.zip")
    with zipfile.ZipFile(copy, "w") as archive:
        for one, text in content.items():
            archive.writestr(one, text)
    return copy


def test_an_honest_bundle_holds(bundle):
    found = arena.verify(bundle, seed=0)
    assert (found.record.learner, len(found.record.cells), found.largest_difference) == ("NN", 4, 0.0)
    assert len(found.again) == 1
    assert found.times_cpu > 0


def test_a_strategy_with_parameters_is_verified_by_its_name(small, tmp_path):
    done = arena.run("NN(learning_rate=0.5)", tmp_path / "arena")
    arena.pack(done.folder, tmp_path / "NN.zip")
    assert arena.verify(tmp_path / "NN.zip", seed=0).record.learner == "NN(learning_rate=0.5)"


def test_packing_replaces_nothing_and_needs_runs(bundle, tmp_path):
    before = bundle.read_bytes()
    with pytest.raises(FileExistsError):
        arena.pack(tmp_path / "arena" / "NN", bundle)
    assert bundle.read_bytes() == before
    with pytest.raises(FileNotFoundError, match=r"as `mlstream arena run` writes it"):
        arena.pack(tmp_path, tmp_path / "other.zip")


def _better_score(run):
    run["scores"]["acc"] += 0.1


def _better_matrix(run):
    run["R"]["ba_macro"][-1][0] = 0.99


def _cheaper(run):
    for phase in run["resources"]["phases"].values():
        phase["energy_kwh"] = 0.0


def _unknown_stream(run):
    run["stream"] = "s9"


def _other_data(run):
    run["stream_sha256"] = "00" * 32


def _other_settings(run):
    run["settings"]["one_class"] = "recall"


def _other_seed(run):
    run["seed"] = 1


def _hole(run):
    run["R"]["ba_macro"].pop()


def _energy(run):
    for phase in run["resources"]["phases"].values():
        phase["cpu_time_s"] += 5.0


def _better_rmse(run):
    run["scores"]["rmse"] -= 0.1


def _no_matrix(run):
    run["R"] = {}


def _other_tasks(run):
    run["task_names"][0] = "another"


def _other_estimator(run):
    run["estimator"] = "Other()"


FORGERIES = {
    "score acc must be": _better_score,
    "score acc must be [0-9.]+, as its R or its curve says": _better_matrix,
    "(score frug_k(wh|j)|energy) must be": _cheaper,
    "stream must be None": _unknown_stream,
    "stream_sha256 must be": _other_data,
    "settings must be": _other_settings,
    "seeds must be": _other_seed,
    "energy must be CPU time": _energy,
    "score rmse must be": _better_rmse,
    "R must hold ba_macro": _no_matrix,
    "tasks and experiences must be those of the stream": _other_tasks,
    "must be of one estimator": _other_estimator,
}


@pytest.mark.parametrize(("message", "change"), FORGERIES.items())
def test_a_record_that_contradicts_itself_or_the_suite_is_refused(bundle, message, change):
    with pytest.raises(ValueError, match=message):
        arena.verify(edited(bundle, "s1", change), seed=0)


def test_a_matrix_with_a_hole_is_refused(bundle):
    with pytest.raises(ValueError, match=r"edited\.zip, s1"):
        arena.verify(edited(bundle, "s1", _hole), seed=0)


def test_scores_that_are_consistent_and_wrong_do_not_come_again(bundle):
    def forge(run):
        run["scores"]["rmse"] -= 0.2
        run["curves"]["rmse"]["cumulative"][-1] -= 0.2

    copy = bundle
    for stream in ("s0", "s1", "s2", "s3"):
        copy = edited(copy, stream, forge)
        copy = copy.rename(copy.with_name(f"{stream}.zip"))
    with pytest.raises(ValueError, match=r"must have scores that come again, within 0\.01\. Got rmse of"):
        arena.verify(copy, share=1.0)


def test_another_source_or_suite_is_refused(bundle, monkeypatch):
    with pytest.raises(ValueError, match="must be of the source of NN that is here"):
        arena.verify(edited(bundle, "arena.json", lambda origin: origin.update(source_sha256="ab" * 32)), seed=0)
    monkeypatch.undo()
    with pytest.raises(
        ValueError, match=r"The suite must be one of 1 to 1\. Got 7 instead; a newer suite needs a newer"
    ):
        arena.verify(edited(bundle, "arena.json", lambda origin: origin.update(suite=7)), seed=0)


def test_a_bundle_of_a_learner_of_one_s_own_needs_the_learner(small, tmp_path, monkeypatch):
    (tmp_path / "own_learner.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\n\nclass Own(GaussianNB):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = arena.run("own_learner:Own", tmp_path / "arena")
    arena.pack(done.folder, tmp_path / "Own.zip")
    with pytest.raises(ValueError, match=r"--learner"):
        arena.verify(tmp_path / "Own.zip")
    assert arena.verify(tmp_path / "Own.zip", "own_learner:Own", seed=0).largest_difference == 0


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all" * 9])
def test_a_file_that_is_not_a_bundle_is_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.zip must be a bundle that `mlstream arena pack` wrote"):
        bundles.read_bundle(tmp_path / "x.zip")


def test_a_bundle_that_unpacks_to_much_is_refused_before_it_is_unpacked(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("arena.json", "{}")
        archive.writestr("runs/x.json", b" " * (2**24 + 1))
    (tmp_path / "bomb.zip").write_bytes(packed.getvalue())
    with pytest.raises(ValueError, match="more than a suite has"):
        bundles.read_bundle(tmp_path / "bomb.zip")


def test_files_of_a_bundle_go_nowhere(bundle, tmp_path):
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr("../outside.json", "{}")
    with pytest.raises(ValueError, match=r"outside\.json must be as `mlstream arena pack` writes it"):
        bundles.read_bundle(bundle)
    assert not (tmp_path.parent / "outside.json").exists()


def test_ranks_in_fresh_worlds_are_those_of_runs_there(small, tmp_path, monkeypatch):
    records = {name: arena.run(name, tmp_path / "arena").record for name in LEARNERS}
    monkeypatch.setattr(fresh_worlds, "load_records", lambda _suite: records)
    found = arena.rank_on_fresh_worlds(records["NN"], "NN", 7)
    assert set(found.learners) == set(LEARNERS)
    fresh = {}
    for name in LEARNERS:
        streams = [entry.load_with_seed(7) for entry in small.streams]
        fresh[name] = bundles.run_again(running.enter(name), streams, small).cells
    table = [[fresh[name][entry.name].scores["acc[half]"] for name in found.learners] for entry in small.streams]
    assert found.fresh_ranks == pytest.approx(
        tuple(rankdata([[-x for x in row] for row in table], axis=1).mean(axis=0))
    )
    assert -1 <= found.agreement <= 1
