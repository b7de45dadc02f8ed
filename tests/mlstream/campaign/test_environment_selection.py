"""A configuration is chosen on environments: those to train on, each left out in turn, or those for validation."""

import json
from itertools import product

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from estimators import InvariantLogisticClassifier, StreamPipeline
from metrics import nce
from mlstream import report, save
from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.environment_selection import list_folds
from mlstream.campaign.search import Criterion, Search, choose
from mlstream.evaluation.settings import Settings
from mlstream.generators import environment_stream
from mlstream.records.run_record import load_runs
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.evaluation.test_task_identity import TELLING, Witness

FREE = Settings(energy="none")
ROLES = ("train", "train", "train", "validation", "test", "unseen")
# The spurious features predict well where there is training data, and ill elsewhere.
STREAM = environment_stream(
    ROLES, seed=3, n_rows=300, correlations=(0.9, 0.8, 0.85, -0.8, -0.7, -0.9), encoding="one-hot"
)
ENVIRONMENTS = ["training-environment", "leave-one-environment-out", "validation-environment"]
ALL, INVARIANT = "all", "invariant"
N_INVARIANT = 2 + 3 + 4


def take_columns(X, kind):
    return X[:, :N_INVARIANT] if kind == INVARIANT else X


def learner():
    columns = FunctionTransformer(take_columns, kw_args={"kind": ALL})
    return StreamPipeline([("columns", columns), ("learn", InvariantLogisticClassifier(refresh=1.0))])


GRID = {"columns__kw_args": [{"kind": ALL}, {"kind": INVARIANT}]}


def chosen_kind(selection):
    return selection.trials[selection.chosen].parameters["columns__kw_args"]["kind"]


def test_configurations_are_given_the_environments_that_they_learn():
    Witness.told.clear()
    found = choose(Search(Witness(), {"step": [1, 2]}), TELLING, 0, FREE, Criterion("leave-one-environment-out"))
    assert [trial.status for trial in found.trials] == ["done", "done"]
    assert set(Witness.told) == {True}


@pytest.mark.slow
def test_only_other_environments_reveal_what_is_spurious():
    def check(case):
        seed, (method, kind) = case
        found = choose(Search(learner(), GRID), STREAM, seed, FREE, Criterion(method))
        assert chosen_kind(found) == kind
        assert found.method == method
        assert all(trial.ba_macro is None and trial.frugality is None for trial in found.trials)

    check_all(product(range(3), [*((one, ALL) for one in ENVIRONMENTS[:2]), (ENVIRONMENTS[2], INVARIANT)]), check)


def slow_scores(method, step, seed):
    """Score one learner as each method is defined, row by row and environment by environment."""
    experiences = [(part.X, part.Y) for part in STREAM.experiences]
    if method == "validation-environment":
        folds = [(experiences, [(STREAM.evaluation_sets[3].X, STREAM.evaluation_sets[3].Y)])]
    elif method == "leave-one-environment-out":
        folds = [(experiences[:out] + experiences[out + 1 :], [experiences[out]]) for out in range(3)]
    else:
        learnt, scored = [], []
        for number, (X, Y) in enumerate(experiences):
            out = set(np.random.default_rng([seed, number]).permutation(len(Y))[: round(len(Y) / 5)].tolist())
            rows = [i for i in range(len(Y)) if i not in out]
            learnt.append((X[rows], Y[rows]))
            scored.append((X[sorted(out)], Y[sorted(out)]))
        folds = [(learnt, scored)]
    scores = []
    for learnt, scored in folds:
        model = Online(step=step, random_state=seed)
        for X, Y in learnt:
            for i in range(len(Y)):
                model.partial_fit(X[i : i + 1], Y[i : i + 1])
        scores += [nce(Y, model.predict_proba(X)) for X, Y in scored]
    return sum(scores) / len(scores)


@pytest.mark.parametrize("method", ENVIRONMENTS)
def test_scores_are_those_of_a_slow_loop(method):
    steps = {"step": [0.01, 0.1, 0.5]}
    found = choose(Search(Online(), steps), STREAM, 5, FREE, Criterion(method))
    expected = [slow_scores(method, trial.parameters["step"], 5) for trial in found.trials]
    assert [trial.nce for trial in found.trials] == pytest.approx(expected, rel=1e-12)
    assert found.chosen == int(np.argmin(expected))
    assert {trial.status for trial in found.trials} == {"done"}


@pytest.mark.parametrize("method", ENVIRONMENTS)
def test_no_method_reads_evaluation_sets_that_are_scored_in_the_end(method):
    allowed = {id(one.X) for one, role in zip(STREAM.evaluation_sets, ROLES, strict=True) if role == "validation"}
    known = np.concatenate([part.row_ids for part in STREAM.experiences])
    for fold in list_folds(STREAM, method, seed=0):
        learnt = np.concatenate([part.row_ids for part in fold.learnt])
        assert set(learnt.tolist()) <= set(known.tolist())
        for one in fold.scored:
            if method == "validation-environment":
                assert id(one.X) in allowed
            else:
                assert STREAM.card.scenario.task_roles[one.task_id] == "train"
                assert len(one.Y) + len(learnt) <= len(known)
    n_learnt = [sum(map(len, fold.learnt)) for fold in list_folds(STREAM, method, seed=0)]
    assert n_learnt == {"training-environment": [504], "leave-one-environment-out": [420] * 3}.get(method, [630])


def test_queries_are_counted_and_recorded_and_too_many_are_refused(tmp_path):
    searched = {"searched": Search(Online(), {"step": [0.01, 0.1]})}
    options = {"selection": "validation-environment", "query_budget": 2, "energy": "none"}
    (record,) = run_campaign(searched, [STREAM], [0], tmp_path, **options)
    assert (record.selection.n_queries, record.selection.query_budget) == (2, 2)
    assert record.tuning == "tuned (2, validation-environment)"
    assert load_runs(tmp_path)[0] == record
    kept = json.loads(next((tmp_path / "selections").rglob("*.json")).read_text())
    assert (kept["selection"]["n_queries"], kept["run"]["query_budget"]) == (2, 2)
    three = {"three": Search(Online(), {"step": [0.01, 0.1, 1.0]})}
    message = r"n_configurations \(--tune\) must be at most query_budget .*, the 2 queries .* Got 3 configurations"
    with pytest.raises(ValueError, match=message):
        run_campaign(three, [STREAM], [0], tmp_path, **options)
    other = choose(searched["searched"], STREAM, 0, FREE, Criterion("training-environment"))
    assert (other.n_queries, other.query_budget) == (0, None)


def test_a_choice_by_another_method_is_not_used_again(tmp_path):
    searched = {"searched": Search(Online(), {"step": [0.01, 0.1]})}
    run_campaign(searched, [STREAM], [0], tmp_path, energy="none")
    with pytest.raises(ValueError, match=r"Got selection = 'first-experience' instead of 'training-environment'"):
        run_campaign(searched, [STREAM], [0], tmp_path, energy="none", selection="training-environment")
    next((tmp_path / "runs").rglob("*.json")).unlink()
    with pytest.raises(ValueError, match=r"Got method = None instead of 'training-environment'"):
        run_campaign(searched, [STREAM], [0], tmp_path, energy="none", selection="training-environment")


def test_a_trial_that_fails_is_no_query_and_the_cap_holds():
    class Broken(Online):
        def partial_fit(self, X, Y):
            if self.step < 0:
                raise ArithmeticError("downhill only")
            return super().partial_fit(X, Y)

    found = choose(Search(Broken(), {"step": [-1.0, 0.1]}), STREAM, 0, FREE, Criterion("validation-environment"))
    assert sorted(trial.status for trial in found.trials) == ["done", "failed"]
    assert found.n_queries == 1
    capped = Settings(energy="none", time_cap_s=1e-9, chunk_size=5)
    late = choose(Search(Online(), {"step": [1.0, 0.1]}), STREAM, 0, capped, Criterion("validation-environment"))
    assert [trial.status for trial in late.trials] == ["capped", "untried"]
    assert late.n_queries == 0


def test_environments_whose_labels_have_one_class_have_no_score():
    roles = ("train", "train", "validation")
    stream = environment_stream(roles, n_rows=40, encoding="one-hot")
    for part in stream.evaluation_sets:
        part.Y[:] = 1
    search = Search(Online(), {"step": [0.01, 0.1]})
    found = choose(search, stream, 0, FREE, Criterion("validation-environment"))
    assert [trial.nce for trial in found.trials] == [None, None]
    assert found.chosen == 0


@pytest.mark.parametrize("method", ENVIRONMENTS)
def test_streams_without_roles_are_refused(method, tmp_path):
    searched = {"searched": Search(Online(), {"step": [0.01, 0.1]})}
    with pytest.raises(
        ValueError, match=rf"no environments with roles: 'first-experience'\. Got '{method}' instead\.$"
    ):
        run_campaign(searched, [make_stream()], [0], tmp_path, energy="none", selection=method)
    assert not tmp_path.joinpath("runs").exists()


@pytest.mark.parametrize(
    ("roles", "method", "message"),
    [
        (
            ("train", "train", "test"),
            "validation-environment",
            r"of which no environment has the role 'validation'\.",
        ),
        (
            ("train", "test"),
            "leave-one-environment-out",
            r"which has one training environment only\.",
        ),
    ],
)
def test_streams_without_the_environments_of_a_method_are_refused(roles, method, message, tmp_path):
    stream = environment_stream(roles, n_rows=40)
    searched = {"searched": Search(Online(), {"step": [0.01, 0.1]})}
    with pytest.raises(ValueError, match=message):
        run_campaign(searched, [stream], [0], tmp_path, energy="none", selection=method)


def test_a_method_of_selection_without_a_search_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"unless configurations are searched .*, or a grid\)\. Got 'training"):
        run_campaign({"fixed": Online()}, [STREAM], [0], tmp_path, energy="none", selection="training-environment")


@pytest.mark.slow
def test_the_command_line_chooses_on_environments(tmp_path):
    save(STREAM, tmp_path / "hosts.npz")
    run = ("run", tmp_path / "hosts.npz", "-s", "1NN", "--tune", "2", "--energy", "none", "-o", tmp_path / "out")
    done = invoke(*run, "--selection", "validation-environment", "--query-budget", "1")
    assert done.exit_code != 0
    assert "query_budget (--query-budget), the 1 queries of" in str(done.exception)
    done = invoke(*run, "--selection", "validation-environment", "--query-budget", "2")
    assert done.exit_code == 0, done.output or done.exception
    (record,) = load_runs(tmp_path / "out")
    assert (record.selection.method, record.selection.n_queries) == ("validation-environment", 2)
    text = report(tmp_path / "out").read_text(encoding="utf-8")
    assert "tuned (2, validation-environment)" in text
    assert "tried on environments, and the one with the lowest mean normalised cross-entropy was chosen" in text


@pytest.mark.parametrize("method", ENVIRONMENTS)
def test_an_objective_of_energy_is_refused_where_cross_entropy_chooses(method):
    with pytest.raises(ValueError, match=r"objective \(--objective\) must be 'frug_kwh', or left out"):
        Criterion(method, objective="frug_kj").require(Search(Online(), {"step": [0.1, 0.2]}), STREAM)
