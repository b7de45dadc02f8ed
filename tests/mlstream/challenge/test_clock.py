"""Clocks that jump, run back, or were wrong: what is refused, and the organiser's way out."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.challenge.clock import WatchedClock
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import BudgetSpent, ClockJumped, ClockRanBack
from tests.mlstream.challenge.challenges import START, Clock, draw, make_challenge, score_in_this_process
from tests.mlstream.cli.commands import invoke


class Machine:
    """A machine whose clock can be set, and whose seconds go on."""

    def __init__(self):
        self.passed, self.off = 0.0, timedelta(0)

    def wall(self):
        return START + timedelta(seconds=self.passed) + self.off

    def steady(self):
        return 1000.0 + self.passed


def reopen(challenge, **off):
    """Open a challenge in a new process, with the clock set to another time."""
    return Challenge.open(challenge.folder.path, clock=Clock(challenge.now() + timedelta(**off)))


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1e6, 59)), min_size=1))
def test_a_clock_that_is_never_ahead_is_believed(steps):
    machine = Machine()
    clock = WatchedClock(machine.wall, machine.steady)
    for seconds, off in steps:
        machine.passed += seconds
        machine.off = timedelta(seconds=off)
        assert clock() == machine.wall()


def test_a_clock_that_jumps_ahead_is_refused_until_it_is_right_again():
    machine = Machine()
    clock = WatchedClock(machine.wall, machine.steady)
    machine.passed = 40 * 86_400
    machine.off = timedelta(days=365)
    for _ in range(2):
        with pytest.raises(ClockJumped, match=r"by more than 60 s. Got 2027-04-10 12:00:00 UTC, 365 days, 0:00:00 too"):
            clock()
    machine.off = timedelta(seconds=30)
    assert clock() == machine.wall()


def test_small_steps_of_a_clock_add_up():
    machine = Machine()
    clock = WatchedClock(machine.wall, machine.steady)
    for step in range(100):
        machine.off = timedelta(seconds=50 * step)
        assert clock() == machine.wall()


def test_an_event_that_jumps_ahead_is_not_recorded_and_the_challenge_goes_on_when_the_clock_is_right(tmp_path):
    machine = Machine()
    with make_challenge(tmp_path / "org", WatchedClock(machine.wall, machine.steady)) as challenge:
        token = challenge.join("Ada")
        machine.off = timedelta(days=365)
        with pytest.raises(ClockJumped):
            challenge.join("Bob")
        machine.off = timedelta(0)
        assert challenge.submit(draw(challenge), token).query == 1
        assert [team.name for team in challenge.teams()] == ["Ada"]


def test_a_long_gap_asks_the_organiser_and_a_quiet_fortnight_does_not(challenge):
    with reopen(challenge, days=14) as later:
        later.join("Ada")
    with reopen(challenge, days=14 + 31) as later, pytest.raises(ClockJumped, match=r"at most 30 days .* --accept"):
        later.join("Bob")


def test_a_gap_that_a_process_watched_needs_nobody(challenge, clock):
    clock.advance(days=100)
    challenge.join("Ada")


def test_accepting_the_clock_after_a_gap_is_the_way_on(challenge):
    with reopen(challenge, days=365) as later:
        assert later.accept_clock().problem is not None
        later.join("Ada")
        assert later.compare_clock().problem is None
        assert later.audit().is_whole


def test_one_event_of_a_clock_a_year_ahead_does_not_end_the_challenge(challenge):
    with reopen(challenge, days=365) as wrong:
        wrong.accept_clock()
        wrong.join("Ada")
    with pytest.raises(ClockRanBack, match=r"Set the clock of this machine, or, if it is right, run .* --accept"):
        challenge.join("Bob")
    found = challenge.accept_clock()
    assert found.last - found.now == timedelta(days=365)
    challenge.join("Bob")
    assert challenge.submit(draw(challenge), challenge.join("Eve")).remaining == 2
    assert challenge.close(early=True).generalisation
    assert challenge.audit().is_whole


def test_a_process_that_started_with_a_clock_a_year_ahead_goes_on_when_the_clock_is_right(challenge, clock):
    wrong = Clock(clock.now + timedelta(days=365))
    with Challenge.open(challenge.folder.path, clock=wrong) as server:
        with pytest.raises(ClockJumped, match="Set the clock of this machine"):
            server.join("Ada")
        wrong.now = clock.now
        server.join("Ada")
        wrong.now += timedelta(days=365)
        with pytest.raises(ClockJumped):
            server.join("Bob")


def test_accepting_a_clock_gives_no_query_back_and_takes_none(challenge, clock):
    token = challenge.join("Ada")
    for seed in range(3):
        challenge.submit(draw(challenge, seed), token)
    clock.advance(days=1)
    challenge.submit(draw(challenge, 3), token)
    clock.advance(days=-1)
    challenge.accept_clock()
    with pytest.raises(BudgetSpent):
        challenge.submit(draw(challenge, 4), token)
    clock.advance(days=1)
    assert [challenge.submit(draw(challenge, seed), token)[1:3] for seed in (4, 5)] == [(2, 1), (3, 0)]


def test_a_clock_that_is_believed_needs_no_confirmation(challenge):
    assert challenge.accept_clock().problem is None
    with challenge._store.read() as state:
        assert not state.rows("SELECT * FROM clocks")


def test_the_command_compares_and_accepts(tmp_path, monkeypatch):
    make_challenge(tmp_path / "org", begun=datetime(2020, 1, 1, tzinfo=UTC)).shut_down()
    score_in_this_process(monkeypatch)
    asked = invoke("challenge", "clock", tmp_path / "org")
    assert asked.exit_code == 1
    assert "last event: 2020-01-01 00:00:00 UTC" in asked.stdout
    assert invoke("challenge", "join", tmp_path / "org", "Ada").exit_code == 1
    assert "Accepted" in invoke("challenge", "clock", tmp_path / "org", "--accept").stdout
    assert invoke("challenge", "join", tmp_path / "org", "Ada").exit_code == 0
    assert invoke("challenge", "clock", tmp_path / "org").exit_code == 0
