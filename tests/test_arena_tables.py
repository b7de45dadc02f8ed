"""The docs' tables of the arena follow from records, and say whose records are missing."""

import csv
import re
import sys

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, spearmanr

from tests.mlstream.arena.made_records import make_cell, make_learner, make_suite
from tests.pages import DOCS, pages

sys.path.insert(0, str(DOCS / "_extensions"))
import arena_tables

SUITE = make_suite(6)
NAMES = [one.name for one in SUITE.streams]
SCORES = np.random.default_rng(0).random((6, 3))


def records_of(scores):
    """Records of NN, mean and NN_TL, a column each."""
    learners = zip(("NN", "mean", "NN_TL"), scores.T, strict=True)
    return {
        name: make_learner(
            name, {at: make_cell(value, half=value / 2) for at, value in zip(NAMES, column, strict=True)}
        )
        for name, column in learners
    }


@pytest.fixture
def show(monkeypatch):
    """Return what makes a text of given records: its tables, by title, and its sentences."""

    def made(records, name, *about):
        monkeypatch.setattr(arena_tables, "load_suite", lambda: SUITE)
        monkeypatch.setattr(arena_tables, "load_records", lambda: records)
        tables, sentences = {}, []
        for line in arena_tables.TEXTS[name](*about):
            if line.startswith(".. csv-table:: "):
                rows = tables.setdefault(line.removeprefix(".. csv-table:: "), [])
            elif line.startswith('   "'):
                rows += csv.reader([line.strip()])
            elif line and not line.startswith("   "):
                sentences.append(line)
        return tables, "\n".join(sentences)

    return made


def test_ranks_means_and_tests_are_those_of_scipy(show):
    tables, _ = show(records_of(SCORES), "arena-ranks", "worlds")
    ranks, tests = tables.values()
    expected = dict(zip(("NN", "mean", "NN_TL"), rankdata(-SCORES, axis=1).mean(axis=0), strict=True))
    assert [row[0] for row in ranks[1:]] == [f"``{name}``" for name in sorted(expected, key=expected.get)]
    assert [row[1].split()[0] for row in ranks[1:]] == [f"{rank:.1f}" for rank in sorted(expected.values())]
    means = dict(zip(expected, SCORES.mean(axis=0) / 2, strict=True))
    assert [row[2] for row in ranks[1:]] == [f"{means[row[0].strip('`')]:.3f}" for row in ranks[1:]]
    assert tests[1][1:4] == ["6", "3", f"{friedmanchisquare(*SCORES.T).pvalue:.1g}"]
    # Demsar (2006), table 5: q is 2.343 for three learners.
    assert tests[1][4] == f"{2.343 * np.sqrt(3 * 4 / (6 * 6)):.1f}"


def test_the_test_says_whom_the_first_is_ahead_of_and_when_it_cannot(show):
    scores = np.column_stack([np.linspace(0.8, 0.9, 6), np.full(6, 0.1), np.full(6, 0.2)])
    assert list(show(records_of(scores), "arena-ranks", "worlds")[0].values())[1][1][-2:] == [
        "0",
        "too few streams for this test",
    ]
    two = {name: one for name, one in records_of(scores).items() if name != "mean"}
    assert list(show(two, "arena-ranks", "worlds")[0].values())[1][1][3:] == ["n/a", "0.8", "``NN``", "1", "none"]


def test_the_lite_part_agrees_as_spearman_says(show):
    (lite,) = show(records_of(SCORES), "arena-lite")[0].values()
    expected = spearmanr(rankdata(-SCORES[0]), rankdata(-SCORES, axis=1).mean(axis=0)).statistic
    assert lite[1] == ["Worlds", "s0", "3", f"{expected:.3f}"]
    (boards,) = show({}, "arena-boards")[0].values()
    assert boards[1] == ["Worlds (``worlds``)", "Drawn rows.", "6", "ACC, RMSE", "decided at one half"]


def test_scores_of_streams_and_rules_and_costs_are_those_of_records(show):
    records = records_of(SCORES)
    (scores,) = show(records, "arena-scores", "worlds", "acc")[0].values()
    assert scores[0] == ["Learner", *NAMES]
    assert {row[0]: row[1:] for row in scores[1:]}["``mean``"] == [f"{value:.3f}" for value in SCORES[:, 1]]
    (rules,) = show(records, "arena-rules", "worlds", "acc")[0].values()
    mean = SCORES[:, 1].mean()
    assert {row[0]: row[1:] for row in rules[1:]}["``mean``"] == [f"{mean / 2:.3f}", f"{mean:.3f}"]
    records["mean"] = make_learner("mean", {at: make_cell(0.5, cpu_s=3.0) for at in NAMES[:4]})
    (costs,) = show(records, "arena-costs")[0].values()
    assert costs[-1] == ["``mean``", "4", "3.00", "12.0", "180"]


def test_what_is_missing_is_said(show):
    records = records_of(SCORES)
    gap = make_learner("mean", dict(list(records["mean"].cells.items())[1:]))
    records |= {"mean": gap, "NN": make_learner("NN", records["NN"].cells | {"s0": make_cell(0.5, status="capped")})}
    tables, said = show(records, "arena-ranks", "worlds")
    assert "``mean``" not in {row[0] for row in next(iter(tables.values()))}
    assert re.search(r"strategies, \d+ have no record yet", said)
    assert "Left out of a ranking, without a run on all of these streams: ``mean``." in said
    assert "without a score in the mean: ``NN`` (1)." in said
    (scores,) = show(records, "arena-scores", "worlds", "acc")[0].values()
    assert {row[0]: row[1] for row in scores}["``mean``"] == "not run"
    assert {row[0]: row[1] for row in scores}["``NN``"] == "capped"
    tables, said = show(records, "arena-coverage")
    (counts,) = tables.values()
    assert counts[1][1:7] == ["6", "2", "16", "1", "0", str(len(arena_tables.STRATEGIES) * 6 - 17)]
    assert "Without any record yet: ``NN_TLH``" in said


@pytest.mark.parametrize("learners", [(), ("NN_TL",)])
def test_a_board_without_two_learners_says_so(show, learners):
    records = {name: one for name, one in records_of(SCORES).items() if name in learners}
    for text in (("arena-ranks", "worlds"), ("arena-rules", "worlds", "acc")):
        tables, said = show(records, *text)
        assert not tables
        assert f"no two learners can be compared yet.** {len(learners)} of" in said
    assert "Costs cannot be compared yet" in show(records, "arena-costs")[1]
    (lite,) = show(records, "arena-lite")[0].values()
    assert lite[1] == ["Worlds", "s0", "0", "n/a"]
    (firsts,) = show(records, "arena-firsts")[0].values()
    assert {row[2] for row in firsts[1:]} == {"no two have run"}


def test_pages_show_texts_that_can_be_made_of_the_records_here():
    found = {
        tuple(words.split())
        for path in pages().values()
        for words in re.findall(r"^\.\. generated:: (arena-.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {name for name, *_ in found} == {name for name in arena_tables.TEXTS if name.startswith("arena-")}
    for name, *about in sorted(found):
        assert "\n".join(arena_tables.TEXTS[name](*about)).strip()
