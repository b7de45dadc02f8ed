"""Ranks of random teams equal those of a slow oracle, ties included; noise is what a paired bootstrap says."""

import json
from itertools import product

import numpy as np
import pytest

from metrics import ba_macro, nce, precision_at_k, pw_js, rmse
from mlstream.challenge.scoring.metric import METRIC_NAMES, metric_of
from mlstream.challenge.scoring.ranking import Candidate, rank_teams
from tests.loops import check_all
from tests.mlstream.challenge.challenges import draw, layout_of, make_challenge
from tests.mlstream.challenge.sample_files import as_csv

HIGHER = {"ba_macro", "precision_at_k", "pw_js"}


def slow_ranks(candidates, higher):
    """Rank by counting, for each team, the teams that are before it."""
    teams = {}
    for one in candidates:
        score = -one.score if higher else one.score
        kept = teams.get(one.team)
        if kept is None or score < kept[0] or (score == kept[0] and one.submission < kept[1]):
            teams[one.team] = (score, one.submission)
    ranks = {}
    for name, (score, number) in teams.items():
        before = [other for other in teams.values() if other[0] < score or (other[0] == score and other[1] < number)]
        ranks[name] = (1 + len(before), number)
    return ranks


def test_ranks_of_50_random_teams_with_ties_equal_a_slow_oracle():
    def check(case):
        name, seed = case
        rng = np.random.default_rng(seed)
        numbers = rng.permutation(80)
        candidates = [
            # Few values, so that many are tied; some teams have two selected submissions.
            Candidate(f"team {place % 50}", int(numbers[place]), float(rng.integers(0, 8)) / 8, [])
            for place in range(80)
        ]
        rows = rank_teams(candidates, metric_of(name))
        assert len(rows) == 50
        assert {row.team: (row.rank, row.submission) for row in rows} == slow_ranks(candidates, name in HIGHER)
        assert [row.rank for row in rows] == list(range(1, 51))

    check_all(product(METRIC_NAMES, range(4)), check)


def test_a_score_that_is_not_defined_comes_last():
    candidates = [Candidate("a", 1, float("nan"), []), Candidate("b", 2, 5.0, []), Candidate("c", 3, -1.0, [])]
    for name, order in (("nce", "cba"), ("ba_macro", "bca")):
        assert "".join(row.team for row in rank_teams(candidates, metric_of(name))) == order


def test_teams_are_tied_within_noise_by_the_difference_on_the_same_draws():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.1, 200)
    candidates = [
        Candidate("best", 1, 0.0, noise),
        # Alone, its interval overlaps; on the same draws it is worse every time.
        Candidate("worse", 2, 0.05, noise + 0.05),
        Candidate("like worse", 3, 0.051, noise + 0.05 + rng.normal(0, 0.01, 200)),
        Candidate("far", 4, 3.0, noise + 3.0),
        Candidate("unknown", 5, 4.0, [None] * 200),
    ]
    rows = rank_teams(candidates, metric_of("nce"))
    assert [(row.team, row.tied_with_rank) for row in rows] == [
        ("best", 1), ("worse", 2), ("like worse", 2), ("far", 4), ("unknown", 5)
    ]  # fmt: skip
    low, high = sorted(noise)[4:6], sorted(noise)[194:196]
    assert low[0] <= rows[0].low <= low[1]
    assert high[0] <= rows[0].high <= high[1]
    assert rows[-1].low is None


@pytest.mark.parametrize(
    "name", [METRIC_NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in METRIC_NAMES[1:])]
)
def test_a_challenge_of_each_metric_is_scored_in_its_direction(name, tmp_path):
    with make_challenge(tmp_path / "org", metric=name, rules="decimals = 9") as challenge:
        layout = layout_of(challenge)
        probs = {team: np.random.default_rng(seed).random((len(layout.keys), 2)) for seed, team in enumerate("abc")}
        for team, prob in probs.items():
            challenge.submit(as_csv(layout, prob), challenge.join(team))
        functions = {
            "nce": lambda y, p, m: nce(y, p, label_mask=m, eps=1e-15),
            "ba_macro": lambda y, p, m: ba_macro(y, np.where(p >= 0.5, 1, 0), label_mask=m),
            "rmse": lambda y, p, m: rmse(y, p, label_mask=m),
            "precision_at_k": lambda y, p, m: precision_at_k(y, p, 1, label_mask=m),
            "pw_js": lambda y, p, m: pw_js(y, np.where(p >= 0.5, 1, 0), label_mask=m),
        }
        scores = {}
        for team, prob in probs.items():
            found = []
            for entry in challenge.manifest.of_role("unseen"):
                with np.load(challenge.folder.path / entry.file) as truth:
                    rows = np.searchsorted(layout.keys, truth["row_keys"])
                    found.append(functions[name](truth["Y"], prob[rows], truth["mask"]))
            scores[team] = min(found) if name in HIGHER else max(found)
        ranking = challenge.close()
    assert {row.team: row.score for row in ranking.robustness} == pytest.approx(scores)
    ordered = sorted(scores, key=scores.get, reverse=name in HIGHER)
    assert [row.team for row in ranking.robustness] == ordered
    assert ranking.lower_is_better == (name not in HIGHER)


def test_of_several_selected_submissions_the_better_one_counts_in_each_ranking(tmp_path):
    with make_challenge(tmp_path / "org", rules="final_selections = 3") as challenge:
        token = challenge.join("Ada")
        numbers = [challenge.submit(draw(challenge, seed), token).submission for seed in range(3)]
        challenge.select(token, numbers)
        ranking = challenge.close()
        with challenge._store.read() as state:
            finals = [
                json.loads(row["content"]) for row in state.rows("SELECT * FROM final_scores ORDER BY submission")
            ]
    assert len(ranking.generalisation) == len(ranking.robustness) == 1
    assert ranking.generalisation[0].score == min(one["test"] for one in finals)
    assert ranking.robustness[0].score == min(one["unseen"] for one in finals)


def test_without_unseen_environments_there_is_one_ranking(tmp_path):
    with make_challenge(tmp_path / "org", roles=("validation", "test", "test")) as challenge:
        challenge.submit(draw(challenge), challenge.join("Ada"))
        ranking = challenge.close()
    assert len(ranking.generalisation) == 1
    assert ranking.robustness == ()
