"""A configuration is drawn, tried on the first experience, and chosen for its frugality."""

import json
from itertools import product

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from estimators.strategies import grid, make_strategy
from mlstream.campaign import search as selecting
from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.search import Criterion, Search, choose, select_cost
from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.settings import Settings
from mlstream.records.run_record import load_runs
from mlstream.records.selection_record import Trial
from mlstream.streams.stream import Stream, StreamParts
from tests.loops import check_all, in_two_tiers
from tests.mlstream.evaluation.streams import Online, as_stream, make_stream

STREAM = make_stream()
FREE = Settings(energy="none")
STEPS = {"step": [0.001, 0.1, 0.5, 2.0, 8.0]}


class Broken(Online):
    """Cannot learn with a negative step."""

    def partial_fit(self, X, Y):
        if self.step < 0:
            raise ArithmeticError("downhill only")
        return super().partial_fit(X, Y)


def of_first_experience(stream):
    """Cut a stream after its first experience."""
    from mlstream.streams.stream import Dataset

    parts = StreamParts(stream.tasks, stream.experiences[:1], stream.evaluation_sets)
    first = stream.experiences[0]
    return as_stream(parts, Dataset(first.X, first.Y, tuple("abcd"), tuple("vwxyz"), "first"))


@pytest.mark.parametrize("name", ["NN_TLH_memories", "1NN", "BR_HT", "mean"])
def test_a_draw_is_seeded_and_without_replacement(name):
    search = Search(name)
    known = [json.dumps(one, sort_keys=True) for one in ParameterGrid(grid(name))]
    drawn = [json.dumps(one, sort_keys=True) for one in search.draw(3)]
    assert len(drawn) == len(set(drawn)) == min(10, len(known))
    assert set(drawn) <= set(known)
    assert search.draw(3) == search.draw(3)
    if len(known) > 10:
        assert search.draw(3) != search.draw(4)


def test_fixed_parameters_are_not_searched():
    search = Search("BR_HT", parameters={"tau": 0.1}, n_configurations=99)
    assert len(search.draw(0)) == 4
    assert search.build(search.draw(0)[0]).get_params()["estimator__tau"] == 0.1


@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
def test_each_trial_is_the_score_of_the_first_experience_and_the_best_wins(label_space):
    settings = Settings(energy="none", label_space=label_space)
    search = Search(Online(), STEPS)
    chosen = choose(search, STREAM, 5, settings)
    first = of_first_experience(STREAM)
    expected = [
        evaluate(Online(step=trial.parameters["step"]), first, seed=5, energy="none", label_space=label_space)
        for trial in chosen.trials
    ]
    scores = [result.scores["ba_macro"] for result in expected]
    assert [trial.ba_macro for trial in chosen.trials] == scores
    assert [trial.frugality for trial in chosen.trials] == scores
    assert chosen.chosen == int(np.argmax(scores))
    assert {trial.status for trial in chosen.trials} == {"done"}


def test_only_the_first_experience_is_met():
    alone = StreamParts(STREAM.tasks, STREAM.experiences[:1], STREAM.evaluation_sets)
    cut = Stream(alone, STREAM.card)
    search = Search(Online(), STEPS)
    whole, part = (choose(search, one, 1, FREE) for one in (STREAM, cut))
    assert [trial.ba_macro for trial in whole.trials] == [trial.ba_macro for trial in part.trials]


@in_two_tiers(product(["skip", "recall", "river"], [1, 7, 1000]), n_fast=2)
def test_a_trial_has_the_accuracy_of_a_run_on_the_first_experience(cases):
    def check(case):
        one_class, chunk_size = case
        alone = StreamParts(STREAM.tasks, STREAM.experiences[:1], STREAM.evaluation_sets)
        settings = Settings(energy="none", one_class=one_class, chunk_size=chunk_size)
        trials = choose(Search("NN_TL"), STREAM, 1, settings).trials
        for trial in trials:
            learner = make_strategy("NN_TL", **trial.parameters)
            whole = evaluate(learner, Stream(alone, STREAM.card), seed=1, energy="none", one_class=one_class)
            assert trial.ba_macro == whole.scores["ba_macro"]

    check_all(cases, check)


def test_energy_counts_unless_it_is_noise(monkeypatch):
    def trial(energy, is_noise, objective="frug_kwh"):
        used = evaluate(Online(), STREAM, energy="none").resources
        phases = {"learn": used.phases["learn"].model_copy(update={"energy_kwh": energy})}
        used = used.model_copy(update={"phases": phases, "energy_below_resolution": is_noise})
        monkeypatch.setattr(selecting, "_test_on_first_experience", lambda *_: (0.75, True, used))
        return selecting._try(
            Search(Online(), STEPS), {"step": 1.0}, STREAM, 0, FREE, Criterion(objective=objective), 1e9
        )

    assert trial(1.0, is_noise=False).frugality == 0.25
    assert trial(1.0, is_noise=True).frugality == 0.75
    assert trial(1.0, is_noise=True).energy_kwh == 1.0
    # 7.2 kJ
    assert trial(0.002, is_noise=False, objective="frug_kj").frugality == pytest.approx(0.75 - 7.2 / 8.2)


def test_another_objective_is_another_search(tmp_path):
    def run(objective):
        return run_campaign({"a": Search(Online(), STEPS)}, [STREAM], [0], tmp_path, energy="none", objective=objective)

    (first,) = run("frug_kj")
    assert (first.selection.objective, run("frug_kj")) == ("frug_kj", [first])
    for kind in ("runs", "selections"):
        with pytest.raises(ValueError, match=r"Got objective = 'frug_kj' instead of 'frug_kwh'"):
            run("frug_kwh")
        if kind == "runs":
            next((tmp_path / kind).rglob("*.json")).unlink()


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        ([("done", 0.5), ("done", 0.7), ("done", 0.7)], 1),
        ([("capped", 0.9), ("done", 0.5)], 1),
        ([("failed", None), ("untried", None), ("capped", 0.2)], 2),
        ([("done", None), ("done", 0.1)], 1),
    ],
    ids=["first of equals", "whole before capped", "only a capped one", "undefined is worst"],
)
def test_the_choice(rows, chosen):
    trials = [Trial(parameters={}, status=status, frugality=value) for status, value in rows]
    assert selecting._best(trials) == chosen


def test_a_configuration_that_fails_is_recorded_and_not_chosen():
    found = choose(Search(Broken(), {"step": [-1.0, 0.1]}), STREAM, 0, FREE)
    failed, done = sorted(found.trials, key=lambda trial: trial.parameters["step"])
    assert (failed.status, done.status) == ("failed", "done")
    assert "ArithmeticError: downhill only" in failed.error
    assert found.trials[found.chosen] == done
    with pytest.raises(RuntimeError, match="downhill only"):
        choose(Search(Broken(), {"step": [-1.0, -2.0]}), STREAM, 0, FREE)


def test_the_cap_ends_the_search_and_the_cost_is_that_of_all_trials():
    found = choose(Search(Online(), STEPS), STREAM, 0, Settings(energy="none", time_cap_s=1e-9, chunk_size=5))
    assert [trial.status for trial in found.trials] == ["capped"] + ["untried"] * 4
    whole = choose(Search(Online(), STEPS), STREAM, 0, FREE)
    cost = select_cost(whole)
    assert cost.wall_time_s == sum(trial.wall_time_s for trial in whole.trials) > 0
    assert cost.energy_kwh is None


def test_a_campaign_records_what_was_tried_apart_from_the_cost_of_the_run(tmp_path):
    strategies = {"searched": Search(Online(), STEPS), "fixed": Online(step=0.5)}
    searched, fixed = run_campaign(strategies, [STREAM], [0], tmp_path, energy="none")
    assert fixed.selection is None
    assert [trial.parameters for trial in searched.selection.trials] == Search(Online(), STEPS).draw(0)
    best = searched.selection.trials[searched.selection.chosen].parameters["step"]
    assert searched.parameters["step"] == best
    alone = evaluate(Online(step=best), STREAM, seed=0, energy="none")
    assert searched.scores == alone.scores
    assert list(searched.resources.phases) == ["select", "predict", "learn", "evaluate"]
    assert load_runs(tmp_path)[1] == searched


def test_a_choice_made_before_is_used_again_and_that_of_another_search_is_refused(tmp_path):
    strategies = {"searched": Search(Online(), STEPS)}
    (record,) = run_campaign(strategies, [STREAM], [0], tmp_path, energy="none")
    path = next((tmp_path / "selections").rglob("*.json"))
    kept = json.loads(path.read_text())
    worst = min(range(5), key=lambda place: kept["selection"]["trials"][place]["ba_macro"])
    kept["selection"]["chosen"] = worst
    path.write_text(json.dumps(kept))
    next((tmp_path / "runs").rglob("*.json")).unlink()
    (again,) = run_campaign(strategies, [STREAM], [0], tmp_path, energy="none")
    assert again.parameters["step"] == kept["selection"]["trials"][worst]["parameters"]["step"]
    assert again.parameters != record.parameters
    with pytest.raises(ValueError, match="Got configurations tried = "):
        run_campaign({"searched": Search(Online(), {"step": [1.0, 2.0]})}, [STREAM], [0], tmp_path, energy="none")
    next((tmp_path / "runs").rglob("*.json")).unlink()
    with pytest.raises(ValueError, match=r"selections.*must be the record of the requested run"):
        run_campaign({"searched": Search(Online(), {"step": [1.0, 2.0]})}, [STREAM], [0], tmp_path, energy="none")
    assert list((tmp_path / "runs").rglob("*.json")) == []


def test_a_search_where_everything_fails_is_a_failed_run_that_is_tried_again(tmp_path):
    broken = {"searched": Search(Broken(), {"step": [-1.0, -2.0]})}
    for _ in range(2):
        (record,) = run_campaign(broken, [STREAM], [0], tmp_path, energy="none")
        assert record.status == "failed"
        assert "downhill only" in record.error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Search(Online()), "grid must be given where the estimator"),
        (lambda: Search("NN_LT"), "did you mean"),
        (lambda: Search("NN", n_configurations=0), "n_configurations must be a whole number, at least 1"),
        (lambda: Search(Online(), {"stepp": [1]}), "stepp"),
        (lambda: Search("NN", {"rate": [1]}), "'rate'"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused_at_once(call, message):
    with pytest.raises(ValueError, match=message):
        call()
