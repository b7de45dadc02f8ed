"""The soak counts what it tried, reports what failed with the command that shows it again, and grows its ledger."""

import json
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.soak import runner
from tests.soak.ledger import Summary, Total, add_to_ledger, read_ledger, summarize, totals
from tests.soak.runner import NothingLeft, Outcome, command_of, repeat, run_part


def _trial(number, rng):
    if number == 5:
        raise NothingLeft
    if number == 3:
        raise AssertionError("the file is\nhalf-written")
    return Counter({"even" if number % 2 == 0 else "odd": 1, "drawn": int(rng.integers(100))})


def test_trials_are_counted_until_nothing_is_left():
    outcome = repeat(_trial, "kills", 7, 60, lambda _: None)
    assert outcome.counts["even"] == 3
    assert outcome.counts["odd"] == 1
    assert outcome.failures == {3: "the file is half-written"}


def test_no_trial_begins_after_the_time():
    assert repeat(_trial, "kills", 7, 0, lambda _: None).counts == Counter()


def test_a_trial_alone_is_the_same_trial():
    whole = [repeat(_trial, "kills", 7, 60, lambda _: None, only=number).counts["drawn"] for number in (0, 1, 2, 4)]
    assert sum(whole) == repeat(_trial, "kills", 7, 60, lambda _: None).counts["drawn"]


def test_failures_are_reported_with_the_command_that_shows_them_again():
    lines = []
    repeat(_trial, "kills", 7, 60, lines.append)
    assert lines == ["kills failed: the file is half-written\n  again: python -m tests.soak kills --seed 7 --trial 3"]
    assert command_of("kills", 7, 3) in lines[0]


def test_errors_name_their_type_and_too_many_end_the_part():
    def trial(number, rng):
        raise KeyError(number)

    outcome = repeat(trial, "kills", 7, 60, lambda _: None)
    assert len(outcome.failures) == 20
    assert outcome.failures[0] == "KeyError: 0"


def test_a_part_is_prepared_in_a_folder_that_is_deleted(monkeypatch):
    folders = []

    def prepare(folder, seed):
        (folder / str(seed)).touch()
        folders.append(folder)
        return _trial

    monkeypatch.setattr(runner, "import_module", lambda name: SimpleNamespace(prepare=prepare))
    assert run_part("kills", 7, 60, lambda _: None).counts["even"] == 3
    assert not folders[0].exists()


def test_the_ledger_grows_and_its_totals_add_up(tmp_path):
    path = tmp_path / "ledger.jsonl"
    for seed, part in ((1, "kills"), (2, "kills"), (2, "kills"), (1, "fuzz")):
        add_to_ledger(Outcome(part, seed, Counter({"kill -9": 3}), {4: "why"}, 2.04), path)
    add_to_ledger(Outcome("kills", 9), path)
    assert summarize(read_ledger(path)) == [
        Summary("kills", pytest.approx(6 / 3600), 2, 3),
        Summary("fuzz", pytest.approx(2 / 3600), 1, 1),
    ]
    assert totals(read_ledger(path)) == [Total("kills", "kill -9", 9, 2), Total("fuzz", "kill -9", 3, 1)]
    entry = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert entry["failures"] == {"4": "why"}
    assert entry["wall_time_s"] == 2.0
    assert list(tmp_path.iterdir()) == [path]


def test_every_line_of_our_ledger_is_of_a_part_that_exists():
    assert {entry["part"] for entry in read_ledger()} <= set(runner.PARTS)
