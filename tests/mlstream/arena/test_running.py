"""A learner joins: its laws first, then the streams without a record, and nothing is mixed."""

import json
import re
import sys

import numpy as np
import pytest

from estimators import make_strategy
from mlstream import arena, evaluate
from mlstream.arena import running
from mlstream.cli.app import main
from tests.mlstream.arena.made_records import make_suite

MODULE = '''
import numpy as np
from sklearn.base import BaseEstimator


class Mean(BaseEstimator):
    """Predicts the mean of the labels so far."""

    def __init__(self, prior=0.5):
        self.prior = prior

    def partial_fit(self, X, Y):
        self.sum_ = getattr(self, "sum_", self.prior) + np.asarray(Y).sum(axis=0)
        self.n_ = getattr(self, "n_", 1) + len(Y)
        self._after(X)
        return self

    def predict_proba(self, X):
        self._before(X)
        return np.tile(self.sum_ / self.n_, (len(X), 1)).clip(0, 1)

    def predict(self, X):
        return (self.predict_proba(X) >= 0.5).astype(int)

    def _after(self, X):
        pass

    def _before(self, X):
        pass


class Remembers(Mean):
    def _before(self, X):
        self.n_ += 1


class Dies(Mean):
    def _after(self, X):
        if self.n_ > 90:
            raise RuntimeError("no more")


class Exits(Mean):
    def _after(self, X):
        if self.n_ > 90:
            raise SystemExit(3)


class Unsure(Mean):
    def predict_proba(self, X):
        return super().predict_proba(X) * (np.nan if self.n_ > 90 else 1)


class Nothing(Mean):
    def predict(self, X):
        return None


class Ends(Mean):
    def predict(self, X):
        raise SystemExit(4)


class Decides(BaseEstimator):
    def partial_fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((len(X), self.n_labels_), dtype=int)
'''


@pytest.fixture(autouse=True)
def joined(tmp_path, monkeypatch):
    """A module of learners in the working directory, and a small suite."""
    suite = make_suite(3)
    monkeypatch.setattr(running, "load_suite", lambda _version=1: suite)
    (tmp_path / "learners_of_mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield suite
    sys.modules.pop("learners_of_mine", None)


def test_a_learner_of_a_module_runs_on_every_stream_and_only_once(joined, tmp_path):
    seen = []
    for _ in range(2):
        done = arena.run("learners_of_mine:Mean", progress=seen.append)
    assert done.folder == running.Path("arena") / "Mean"
    assert {name: cell.status for name, cell in done.record.cells.items()} == dict.fromkeys(("s0", "s1", "s2"), "done")
    assert [event.state for event in seen if event.state != "running"] == ["done"] * 3 + ["kept"] * 3
    assert set(done.record.cells["s0"].scores) == {"acc", "acc[half]", "rmse"}


def test_a_class_joins_with_parameters():
    done = arena.run("learners_of_mine:Mean(prior=0.25)", scope="lite")
    assert (done.record.learner, done.record.estimator) == ("Mean(prior=0.25)", "Mean(prior=0.25)")


def test_lite_and_boards_choose_streams():
    assert list(arena.run("mean", "out", scope="lite").record.cells) == ["s0"]
    with pytest.raises(ValueError, match=r"boards must be among worlds\. Got 'world' instead; did you mean 'worlds'\?"):
        arena.run("mean", "out", boards=["world"])


def test_a_learner_without_probabilities_is_scored_by_its_own_decisions():
    cells = arena.run("learners_of_mine:Decides").record.cells
    assert all("acc[half]" not in cell.scores and "acc" in cell.scores for cell in cells.values())


@pytest.mark.parametrize(
    ("learner", "error"),
    [("Dies", "RuntimeError: no more"), ("Exits", "SystemExit: 3"), ("Unsure", r"Got nan for label 0 in row 0")],
)
def test_a_learner_that_fails_is_recorded_with_the_reason(learner, error):
    cells = arena.run(f"learners_of_mine:{learner}").record.cells
    assert {cell.status for cell in cells.values()} == {"failed"}
    assert all(re.search(error, cell.error) for cell in cells.values())


def test_a_learner_that_takes_too_long_is_stopped_and_says_so(joined, monkeypatch):
    slow = joined.model_copy(update={"cap_s": 1e-9})
    monkeypatch.setattr(running, "load_suite", lambda _version=1: slow)
    assert {cell.status for cell in arena.run("mean").record.cells.values()} == {"capped"}


def test_a_learner_that_breaks_a_law_is_refused_by_its_name_and_the_row_before_anything_runs(tmp_path):
    rule = r"LEARNER must keep the laws .* Remembers breaks check_predict_changes_nothing: .* first in row 0\."
    with pytest.raises(ValueError, match=rule):
        arena.run("learners_of_mine:Remembers")
    assert not (tmp_path / "arena").exists()


@pytest.mark.parametrize("learner", ["Nothing", "Ends"])
def test_a_learner_that_predicts_nothing_or_ends_its_process_is_one_error(learner, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["mlstream", "arena", "run", f"learners_of_mine:{learner}", "-q"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("Error: ")


def test_runs_of_another_source_or_suite_are_not_mixed(joined, tmp_path):
    folder = arena.run("learners_of_mine:Mean").folder
    origin = json.loads((folder / "arena.json").read_text())
    for name, value in (("source_sha256", "ab" * 32), ("suite", 2)):
        (folder / "arena.json").write_text(json.dumps(origin | {name: value}))
        with pytest.raises(ValueError, match=r"remove it, or name another folder \(--output\)"):
            arena.run("learners_of_mine:Mean")


def test_names_are_of_one_learner_each():
    with pytest.raises(ValueError, match=r"name \(--name\) must be another than those of strategies\. Got 'NN'\."):
        arena.run("learners_of_mine:Mean", name="NN")
    with pytest.raises(ValueError, match=r"Got 'NNN' instead; did you mean 'NN'\?"):
        arena.run("NNN")
    with pytest.raises(ValueError, match="LEARNER: nowhere:X must be a class of estimators that can be imported"):
        arena.run("nowhere:X")


def test_an_estimator_with_parameters_joins_under_a_name():
    done = arena.run(make_strategy("NN", learning_rate=0.5), name="NN, fast")
    assert "learning_rate=0.5" in done.record.estimator
    assert running.read_folder(done.folder) == done.record


def test_streams_whose_table_is_missing_are_left_out_with_the_reason(joined, monkeypatch):
    missing = joined.streams[1].model_copy(update={"make": None, "preset": "20ng-tasks", "table": "20ng"})
    suite = joined.model_copy(update={"streams": [joined.streams[0], missing]})
    monkeypatch.setattr(running, "load_suite", lambda _version=1: suite)
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    done = arena.run("mean")
    assert list(done.record.cells) == ["s0"]
    assert "mlstream datasets fetch 20ng" in done.missing["s1"]


def test_data_of_another_version_are_refused(joined):
    with pytest.raises(ValueError, match="s0 must have the data of the suite"):
        joined.streams[0].model_copy(update={"data_sha256": "00" * 32}).load()


def test_scores_of_the_arena_are_those_of_an_evaluation(joined):
    done = arena.run("BR_HT")
    stream = joined.streams[0].load()
    plain, half = (evaluate(make_strategy("BR_HT"), stream, energy="none", decision=rule) for rule in ("own", "half"))
    expected = {"acc": plain.scores["acc"], "acc[half]": half.scores["acc"], "rmse": plain.scores["rmse"]}
    assert done.record.cells["s0"].scores == pytest.approx(expected, abs=1e-6)
    assert np.isfinite(done.record.cells["s0"].energy_j)
