"""Attacks on budget, state and names, and faults at the worst moment, against the engine."""

import threading

import pytest

from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import BudgetSpent, InvalidSubmission, ScoringFailed, TeamRefused, UnknownSubmission
from mlstream.challenge.state import submitting
from tests.mlstream.challenge.challenges import draw, make_challenge


@pytest.fixture
def challenge(tmp_path):
    with make_challenge(tmp_path / "org", rules="queries_per_day = 3\ninvalid_per_day = 3") as made:
        yield made


def test_a_merge_during_an_upload_sets_no_budget_back(challenge, monkeypatch):
    ada, bob = challenge.join("Ada"), challenge.join("Bob")
    for seed in range(3):
        challenge.submit(draw(challenge, seed), ada)
    arrival = submitting.Arrival

    def merge_and_begin(*values):
        challenge.merge("Ada", "Bob")
        return arrival(*values)

    monkeypatch.setattr(submitting, "Arrival", merge_and_begin)
    with pytest.raises(BudgetSpent):
        challenge.submit(draw(challenge, 9), bob)
    assert len(challenge.status(ada).submissions) == 3


def test_files_sent_at_once_cannot_exceed_the_number_that_may_be_invalid(challenge):
    token = challenge.join("Ada")
    for place in range(2):
        with pytest.raises(InvalidSubmission):
            challenge.submit(b"no %d" % place, token)
    challenge.reserve(b"no 2", token)
    with pytest.raises(BudgetSpent, match="3 files a day"):
        challenge.reserve(b"no 3", token)
    assert challenge.status(token).invalid_used == 3


def test_a_crash_while_a_rejection_is_recorded_loses_no_file(challenge, monkeypatch):
    token = challenge.join("Ada")
    reservation = challenge.reserve(b"no", token)

    record = submitting.record_rejection

    def record_and_die(*values):
        record(*values)
        raise KeyboardInterrupt

    # As after a kill between the last statement of a transaction and its end.
    with monkeypatch.context() as patch:
        patch.setattr(submitting, "record_rejection", record_and_die)
        with pytest.raises(KeyboardInterrupt):
            challenge.complete(reservation)
    assert challenge.audit().is_whole
    assert challenge.complete_pending() == 1
    assert challenge.status(token).submissions[0].problem
    assert not list(challenge.folder.submissions.iterdir())


@pytest.mark.slow
def test_an_interrupted_wait_for_a_score_leaves_it_to_no_other_submission(tmp_path, monkeypatch):
    with make_challenge(tmp_path / "org", processes=True) as challenge:
        token = challenge.join("Ada")
        challenge.submit(draw(challenge, 0), token)
        (process,) = challenge._pool._free.queue
        real = process.stdout

        class Interrupted:
            def readline(self):
                raise KeyboardInterrupt

            def close(self):
                real.close()

        process.stdout = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            challenge.submit(draw(challenge, 1), token)
        assert challenge._pool._free.queue == [None]
        process.stdout = real
        other, first = (challenge.submit(draw(challenge, seed), token) for seed in (2, 1))
        assert challenge.complete_pending() == 0
        with make_challenge(tmp_path / "expected") as twin:
            name = twin.join("Ada")
            expected = [twin.submit(draw(twin, seed), name).score for seed in (2, 1)]
        assert [other.score, first.score] == expected


def test_an_interrupt_leaves_no_thread_to_wait_for(tmp_path, monkeypatch):
    start = threading.Thread.start

    def start_and_interrupt(thread):
        start(thread)
        raise KeyboardInterrupt

    with make_challenge(tmp_path / "org", processes=True) as challenge:
        token, content = challenge.join("Ada"), draw(challenge, 0)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Timer, "start", start_and_interrupt)
            with pytest.raises(KeyboardInterrupt):
                challenge.submit(content, token)
        assert [one for one in threading.enumerate() if isinstance(one, threading.Timer) and not one.daemon] == []


@pytest.mark.parametrize("name", ["Ada\u3164", "Ada\ufe0f", "A\u034fda", "Ada\u2800", "Ad\u0430", "\u0391da"])
def test_names_that_look_like_anothers_are_refused(challenge, name):
    challenge.join("Ada")
    with pytest.raises(TeamRefused):
        challenge.join(name)


@pytest.mark.parametrize("name", ["Ада", "Ωμέγα", "भारत", "東京 大学", "Zoë", "שלום", "team-2 (b)"])
def test_names_of_one_script_are_taken(challenge, name):
    challenge.join(name)
    assert challenge.teams()[0].name == name


def test_a_selected_submission_without_a_final_score_is_never_left_out_in_silence(challenge, monkeypatch):
    ada, bob = challenge.join("Ada"), challenge.join("Bob")
    for seed, token in enumerate((ada, bob)):
        challenge.submit(draw(challenge, seed), token)
    monkeypatch.setattr(Challenge, "_score_selected", lambda _: None)
    with pytest.raises(ScoringFailed):
        challenge.close(early=True)
    monkeypatch.undo()
    assert len(challenge.close().generalisation) == 2


def test_a_number_that_no_state_can_hold_is_an_unknown_submission(challenge):
    token = challenge.join("Ada")
    with pytest.raises(UnknownSubmission, match="has a score"):
        challenge.select(token, [10**40])
