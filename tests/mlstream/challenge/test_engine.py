"""A challenge from the first token to the last rank: budget, phases, repeats, selections, and no way around them."""

import errno
import json
import os
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from metrics import nce
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import (
    BudgetSpent,
    ClockRanBack,
    InvalidSubmission,
    PhaseClosed,
    ScoringFailed,
    StateFailed,
    TeamRefused,
    UnknownSubmission,
    UnknownToken,
)
from mlstream.challenge.truth import read_truth
from mlstream.generators import environment_stream
from tests.mlstream.challenge.challenges import START, draw, layout_of, make_challenge, truth_table
from tests.mlstream.challenge.sample_files import as_csv, as_npz, make_prob


def environment_score(challenge, prob, role, eps):
    """Score the environments of a role by a loop over their rows."""
    places = {int(key): place for place, key in enumerate(layout_of(challenge).keys)}
    scores = []
    for entry in challenge.manifest.of_role(role):
        truth = read_truth(challenge.folder.path / entry.file)
        rows = [places[key] for key in truth.row_keys.tolist()]
        scores.append(nce(truth.Y, prob[rows], label_mask=truth.mask, eps=eps))
    return scores


def test_the_reply_is_the_rounded_score_on_validation(challenge):
    token = challenge.join("Ada")
    prob = make_prob(layout_of(challenge))
    reply = challenge.submit(as_csv(layout_of(challenge), prob), token, file_name="a.csv")
    (expected,) = environment_score(challenge, prob, "validation", 1e-3)
    assert reply == (1, 1, 2, round(expected, 3), None, False, False)


def test_permuted_rows_and_other_formats_have_the_same_score(challenge):
    layout = layout_of(challenge)
    prob, order = make_prob(layout), np.random.default_rng(3).permutation(len(layout.keys))
    token = challenge.join("Ada")
    files = [as_csv(layout, prob), as_csv(layout, prob, order), as_npz(layout, prob, order)]
    assert len({challenge.submit(content, token).score for content in files}) == 1


def test_the_constant_base_rate_scores_0_and_the_truth_minus_1(tmp_path):
    with make_challenge(tmp_path / "org", rules="decimals = 12", n_labels=1) as challenge:
        token, layout = challenge.join("Ada"), layout_of(challenge)
        (entry,) = challenge.manifest.of_role("validation")
        truth = read_truth(challenge.folder.path / entry.file)
        rate = truth.Y[truth.mask].mean()
        base = np.full((len(layout.keys), 1), rate)
        assert challenge.submit(as_csv(layout, base), token).score == pytest.approx(0, abs=1e-12)
        known = truth_table(challenge)
        score = challenge.submit(as_csv(layout, known), token).score
        entropy = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
        # All but what clipping to eps_public costs.
        assert score == pytest.approx(-1 - np.log(1 - 1e-3) / entropy, abs=1e-12)
        assert -1 < score < -0.99


def test_the_31st_is_refused_with_the_time_of_the_reset_and_the_next_day_restores_the_budget(challenge, clock):
    token = challenge.join("Ada")
    replies = [challenge.submit(draw(challenge, seed), token) for seed in range(3)]
    assert [(one.query, one.remaining) for one in replies] == [(1, 2), (2, 1), (3, 0)]
    with pytest.raises(BudgetSpent, match=r"3 submissions a day.*2026-03-02 00:00 UTC") as caught:
        challenge.submit(draw(challenge, 3), token)
    assert caught.value.reset == datetime(2026, 3, 2, tzinfo=UTC)
    assert (caught.value.exit_status, caught.value.http_status) == (3, 429)
    clock.now = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    with pytest.raises(BudgetSpent):
        challenge.submit(draw(challenge, 3), token)
    clock.now = datetime(2026, 3, 2, tzinfo=UTC)
    assert challenge.submit(draw(challenge, 3), token)[1:3] == (1, 2)


def test_the_same_bytes_of_the_same_team_cost_nothing_and_of_another_team_a_query(challenge, clock):
    ada, bob = challenge.join("Ada"), challenge.join("Bob")
    first = challenge.submit(draw(challenge), ada)
    assert challenge.submit(draw(challenge), ada) == first._replace(is_repeat=True)
    assert challenge.submit(draw(challenge), bob)[1:3] == (1, 2)
    for seed in (1, 2):
        challenge.submit(draw(challenge, seed), ada)
    # Even where the budget is spent, and on another day.
    assert challenge.submit(draw(challenge), ada).remaining == 0
    clock.advance(days=1)
    assert challenge.submit(draw(challenge), ada)[1:3] == (1, 3)


def test_files_that_are_no_submissions_cost_nothing_and_are_limited(tmp_path, clock):
    rules = "queries_per_day = 2\ninvalid_per_day = 3"
    with make_challenge(tmp_path / "org", clock, rules=rules) as challenge:
        token = challenge.join("Ada")
        for place in range(3):
            with pytest.raises(InvalidSubmission, match=r"a\.csv, line 1: the columns must be"):
                challenge.submit(b"nonsense %d" % place, token, file_name="../a.csv")
        status = challenge.status(token)
        assert (status.queries_used, status.invalid_used, status.remaining) == (0, 3, 2)
        assert not list(challenge.folder.submissions.iterdir())
        with pytest.raises(BudgetSpent, match="3 files a day that are no submissions"):
            challenge.submit(draw(challenge), token)
        clock.advance(days=1)
        assert challenge.submit(draw(challenge), token).remaining == 1


def test_a_clock_that_runs_back_is_refused_and_a_small_step_changes_nothing(challenge, clock):
    token = challenge.join("Ada")
    clock.now = datetime(2026, 3, 2, 0, 0, 30, tzinfo=UTC)
    challenge.submit(draw(challenge), token)
    # Half a minute back it is yesterday, whose budget is not given a second time.
    clock.advance(seconds=-59)
    assert challenge.submit(draw(challenge, 1), token)[1:3] == (2, 1)
    clock.advance(seconds=-2)
    for action in (
        lambda: challenge.submit(draw(challenge, 2), token),
        lambda: challenge.status(token),
        challenge.close,
    ):
        with pytest.raises(ClockRanBack, match="must not run back by more than 60 s"):
            action()


def test_phases_follow_the_times_of_the_rules(tmp_path, clock):
    rules = "opens = 2026-03-02T00:00:00\ndevelopment_ends = 2026-03-03T00:00:00\nfinal_ends = 2026-03-04T00:00:00"
    with make_challenge(tmp_path / "org", clock, rules=rules) as challenge:
        token = challenge.join("Ada")
        assert challenge.phase() == "registration"
        with pytest.raises(
            PhaseClosed,
            match=r"To submit, the phase must be development\. Got registration: .* from 2026-03-02 00:00 UTC on\.",
        ):
            challenge.submit(draw(challenge), token)
        clock.now = datetime(2026, 3, 2, tzinfo=UTC)
        number = challenge.submit(draw(challenge), token).submission
        clock.advance(days=1)
        assert challenge.phase() == "selection"
        with pytest.raises(PhaseClosed) as caught:
            challenge.submit(draw(challenge, 1), token)
        assert (caught.value.exit_status, caught.value.http_status) == (4, 409)
        # What is known already is no query.
        assert challenge.submit(draw(challenge), token).is_repeat
        challenge.select(token, [number])
        with pytest.raises(PhaseClosed, match="--early"):
            challenge.close()
        with pytest.raises(PhaseClosed):
            challenge.ranking()
        clock.advance(days=1)
        assert challenge.phase() == "final"
        for action in (lambda: challenge.select(token, [number]), lambda: challenge.join("Bob")):
            with pytest.raises(PhaseClosed):
                action()
        challenge.close()
        assert challenge.phase() == "published"


def test_without_times_development_lasts_until_the_organiser_closes(challenge):
    assert challenge.phase() == "development"
    challenge.close()
    assert challenge.phase() == "published"


@pytest.mark.slow
def test_a_query_that_was_reserved_before_a_crash_is_completed_and_counts(challenge):
    token = challenge.join("Ada")
    challenge.reserve(draw(challenge), token)
    with Challenge.open(challenge.folder.path, clock=challenge._clock) as again:
        assert again.status(token).queries_used == 1
        assert again.status(token).submissions[0].score is None
        assert again.complete_pending() == 1
        assert again.complete_pending() == 0
        status = again.status(token)
    assert status.queries_used == 1
    assert status.submissions[0].score == challenge.submit(draw(challenge), token).score


def test_files_that_a_dead_process_left_on_their_way_are_deleted_after_a_day(challenge):
    for name, age_s in (("old", 100_000), ("new", 60)):
        path = challenge.folder.scratch / name
        path.touch()
        os.utime(path, (time.time() - age_s,) * 2)
    challenge.complete_pending()
    assert [path.name for path in challenge.folder.scratch.iterdir()] == ["new"]


def test_nothing_stays_on_its_way_when_a_submission_is_refused(challenge):
    token = challenge.join("Ada")
    for seed in range(3):
        challenge.submit(draw(challenge, seed), token)
    with pytest.raises(BudgetSpent):
        challenge.submit(draw(challenge, 3), token)
    assert list(challenge.folder.scratch.iterdir()) == []


def test_files_that_wait_and_are_invalid_do_not_spend_the_budget(challenge):
    token = challenge.join("Ada")
    for place in range(3):
        challenge.reserve(b"nonsense %d" % place, token)
    assert challenge.submit(draw(challenge), token)[1:3] == (1, 2)
    assert challenge.status(token).invalid_used == 3


def test_a_team_sees_its_own_submissions_only(challenge):
    ada, bob = challenge.join("Ada"), challenge.join("Bob")
    challenge.submit(draw(challenge), ada, file_name="a/mine.csv")
    status = challenge.status(ada)
    assert (status.team, [one.file_name for one in status.submissions], status.selected) == ("Ada", ["mine.csv"], (1,))
    assert challenge.status(bob).submissions == ()


@pytest.mark.parametrize("token", ["", "mlc-x", "mlc-000000000000-" + "a" * 43, "mlc-" + "é" * 56, "\ud800"])
def test_unknown_tokens_are_refused_everywhere(challenge, token):
    for action in (challenge.status, lambda one: challenge.submit(b"", one), lambda one: challenge.select(one, [1])):
        with pytest.raises(UnknownToken) as caught:
            action(token)
        assert caught.value.exit_status == 5


def test_a_wrong_secret_of_a_team_that_exists_is_refused(challenge):
    token = challenge.join("Ada")
    with pytest.raises(UnknownToken):
        challenge.status(token[:-1] + ("a" if token[-1] != "a" else "b"))


def test_tokens_and_invitations_are_stored_as_hashes_only(challenge):
    secrets = [challenge.join("Ada"), challenge.invite()]
    content = b"".join(path.read_bytes() for path in challenge.folder.path.glob("state.sqlite*"))
    assert not any(secret.encode() in content for secret in secrets)


def test_an_invitation_registers_one_team(challenge):
    code = challenge.invite()
    with pytest.raises(TeamRefused):
        challenge.register("", code)
    token = challenge.register("Ada", code)
    assert challenge.status(token).team == "Ada"
    for used in (code, "invite-x"):
        with pytest.raises(UnknownToken, match="nobody used"):
            challenge.register("Bob", used)


@pytest.mark.parametrize("name", ["", " Ada", "a" * 41, "a\nb", "a\u202eb", "a\u200db", "\x00"])
def test_names_of_teams_are_printable_and_bounded(challenge, name):
    with pytest.raises(TeamRefused, match="1 to 40 printable characters") as caught:
        challenge.join(name)
    assert caught.value.args[0].isprintable()


@pytest.mark.parametrize("name", ["ada", "ADA", "\uff21da"])
def test_names_of_teams_are_unique_whatever_their_case(challenge, name):
    challenge.join("Ada")
    with pytest.raises(TeamRefused, match="which exists"):
        challenge.join(name)


def test_teams_that_merge_add_what_they_used(challenge):
    ada, bob = challenge.join("Ada"), challenge.join("Bob")
    numbers = [challenge.submit(draw(challenge, seed), token).submission for seed, token in enumerate((ada, ada, bob))]
    challenge.merge("Ada", "bob")
    for token in (ada, bob):
        status = challenge.status(token)
        assert (status.team, status.queries_used, status.remaining) == ("Ada", 3, 0)
        assert [one.submission for one in status.submissions] == numbers
        with pytest.raises(BudgetSpent):
            challenge.submit(draw(challenge, 9), token)
        # What one of them sent, all of them sent.
        assert challenge.submit(draw(challenge, 0), token).is_repeat
    assert [row.team for row in challenge.leaderboard()] == ["Ada"]
    challenge.select(bob, [numbers[0]])
    assert challenge.status(ada).selected == (numbers[0],)


def test_merges_of_nobody_with_oneself_and_beyond_the_size_are_refused(tmp_path):
    with make_challenge(tmp_path / "org", rules="team_size = 2") as challenge:
        for name in "abc":
            challenge.join(name)
        challenge.merge("a", "b")
        for kept, other, message in (("a", "x", "no team"), ("a", "b", "which are one"), ("b", "c", "Got 3.")):
            with pytest.raises(TeamRefused, match=message):
                challenge.merge(kept, other)


def test_a_selection_is_of_own_scored_submissions(tmp_path):
    with make_challenge(tmp_path / "org", rules="final_selections = 2") as challenge:
        ada, bob = challenge.join("Ada"), challenge.join("Bob")
        own = [challenge.submit(draw(challenge, seed), ada).submission for seed in range(3)]
        other = challenge.submit(draw(challenge, 3), bob).submission
        waiting = challenge.reserve(draw(challenge, 4), ada).submission
        best = min(challenge.status(ada).submissions[:3], key=lambda one: (one.score, one.submission)).submission
        assert challenge.status(ada).selected == (best,)
        challenge.select(ada, own[1:])
        assert challenge.status(ada).selected == tuple(own[1:])
        for wrong in ([], own, own[:1] * 2, [other], [waiting], [99]):
            with pytest.raises(UnknownSubmission):
                challenge.select(ada, wrong)
        assert challenge.status(ada).selected == tuple(own[1:])


def test_the_board_is_ranked_by_the_best_score_and_then_by_the_earlier_submission(challenge, clock):
    tokens = [challenge.join(name) for name in ("Ada", "Bob", "Eve", "Nobody")]
    expected = {}
    for seed, token in ((0, tokens[1]), (1, tokens[0]), (2, tokens[0]), (0, tokens[2])):
        clock.advance(minutes=1)
        reply = challenge.submit(draw(challenge, seed), token)
        expected.setdefault(challenge.status(token).team, []).append((reply.score, reply.submission, clock.now))
    rows = [(min(found), name, len(found)) for name, found in expected.items()]
    slow = [(place, name, best[0], n, best[2]) for place, (best, name, n) in enumerate(sorted(rows), start=1)]
    assert list(challenge.leaderboard()) == slow
    assert {name: steps[-1][1] for name, steps in challenge.history().items()} == {row[1]: row[2] for row in slow}
    best = [row.team for row in challenge.leaderboard()[:2]]
    assert challenge.history(best) == {name: steps for name, steps in challenge.history().items() if name in best}


def test_a_ladder_reports_only_improvements_by_a_step(tmp_path):
    with make_challenge(tmp_path / "org", rules="ladder_step = 0.05\ndecimals = 6") as challenge:
        token, layout = challenge.join("Ada"), layout_of(challenge)
        truth, raw, replies = truth_table(challenge), [], []
        for strength in (0.1, 0.11, 0.3, 0.2, 0.31, 0.6):
            prob = 0.5 + strength * (truth - 0.5)
            raw.append(environment_score(challenge, prob, "validation", 1e-3)[0])
            replies.append(challenge.submit(as_csv(layout, prob), token))
    best, expected, is_better = None, [], []
    for score in raw:
        is_better.append(best is None or score < best - 0.05)
        best = round(score / 0.05) * 0.05 if is_better[-1] else best
        expected.append(best)
    assert [reply.score for reply in replies] == pytest.approx(expected, abs=1e-6)
    assert len(set(expected)) == 3
    assert [not reply.repeats_best for reply in replies] == is_better


@pytest.mark.parametrize("start", [None, 0.0])
@pytest.mark.parametrize("metric", ["nce", "ba_macro"])
def test_a_submission_that_is_scored_late_does_not_take_the_place_of_a_later_and_better_one(tmp_path, metric, start):
    with make_challenge(tmp_path / "org", metric=metric, rules="ladder_step = 0.05") as challenge:
        challenge.feedback = challenge.feedback.model_copy(update={"start": start})
        token, layout, truth = challenge.join("Ada"), layout_of(challenge), truth_table(challenge)
        bad, good = (
            challenge.reserve(as_csv(layout, 0.5 + strength * (truth - 0.5)), token) for strength in (-0.5, 0.9)
        )
        best, late = challenge.complete(good).score, challenge.complete(bad).score
        assert challenge.status(token).selected == (good.submission,)
        assert [row.score for row in challenge.leaderboard()] == [best] != [late]
        assert [score for _, score in challenge.history()["Ada"]] == [late, best]
        assert late == start or start is None


def test_by_default_a_reply_tells_no_more_than_constant_predictions_until_it_is_better_by_a_step(tmp_path):
    stream = environment_stream(n_rows=30, seed=5)
    (tmp_path / "c.toml").write_text('name = "toy"\nmin_rows = 5\nin_distribution_score = true\n')
    with Challenge.create(stream, tmp_path / "c.toml", tmp_path / "org", tmp_path / "pub") as challenge:
        token, layout = challenge.join("Ada"), layout_of(challenge)
        truth = truth_table(challenge)
        for strength in (-0.9, 0.0, 0.0001):
            reply = challenge.submit(as_csv(layout, 0.5 + strength * (truth - 0.5)), token)
            assert reply[3:5] == (0.0, 0.0)
            assert reply.repeats_best
        step = challenge.feedback.step
        reply = challenge.submit(as_csv(layout, 0.5 + 0.95 * (truth - 0.5)), token)
        assert not reply.repeats_best
        for score in reply[3:5]:
            assert score < -step
            assert score / step == pytest.approx(round(score / step))


def test_replies_do_not_depend_on_the_labels_of_test_and_unseen_environments(tmp_path):
    replies = []
    for name in ("a", "b"):
        with make_challenge(tmp_path / name, rules="in_distribution_score = true") as challenge:
            for entry in challenge.manifest.environments if name == "b" else ():
                if entry.role in {"test", "unseen"}:
                    path = challenge.folder.path / entry.file
                    truth = read_truth(path)
                    with path.open("wb") as file:
                        np.savez(file, row_keys=truth.row_keys, Y=truth.Y[::-1], mask=truth.mask)
            token = challenge.join("Ada")
            replies.append([challenge.submit(draw(challenge, seed), token) for seed in range(4)])
            replies[-1].append(challenge.leaderboard()[0][:4])
    assert replies[0] == replies[1]
    assert replies[0][0].in_distribution is not None


def test_the_scores_at_the_end_are_unrounded_and_the_worst_is_over_unseen_environments_only(tmp_path):
    with make_challenge(tmp_path / "org", rules="publish_environment_scores = true") as challenge:
        probs = {}
        for seed, name in enumerate("abc"):
            probs[name] = make_prob(layout_of(challenge), seed)
            challenge.submit(as_csv(layout_of(challenge), probs[name]), challenge.join(name))
        ranking = challenge.close()
        for row in ranking.generalisation:
            assert row.score == pytest.approx(
                environment_score(challenge, probs[row.team], "test", 1e-15)[0], abs=1e-12
            )
        for row in ranking.robustness:
            scores = environment_score(challenge, probs[row.team], "unseen", 1e-15)
            assert row.score == pytest.approx(max(scores), abs=1e-12)
            assert sorted(scores) == pytest.approx(sorted(ranking.environments[row.team].values())[-3:], abs=1e-12) or (
                set(ranking.environments[row.team]) == {"env-2", "env-3", "env-4", "env-5"}
            )
            assert row.low <= row.score <= row.high
        assert [row.score for row in ranking.generalisation] == sorted(row.score for row in ranking.generalisation)


def test_a_bad_validation_score_leaves_the_robustness_rank_alone(tmp_path):
    ranks = []
    for is_bad in (False, True):
        with make_challenge(tmp_path / str(is_bad)) as challenge:
            layout, truth = layout_of(challenge), truth_table(challenge)
            good = 0.5 + 0.6 * (truth - 0.5)
            for entry in challenge.manifest.of_role("validation") if is_bad else ():
                rows = np.searchsorted(layout.keys, read_truth(challenge.folder.path / entry.file).row_keys)
                good[rows] = 1 - good[rows]
            challenge.submit(as_csv(layout, good), challenge.join("Ada"))
            challenge.submit(as_csv(layout, make_prob(layout)), challenge.join("Bob"))
            board = [row.team for row in challenge.leaderboard()]
            ranks.append([(row.team, row.score) for row in challenge.close().robustness])
            assert board[0] == ("Bob" if is_bad else "Ada")
    assert ranks[0] == ranks[1]
    assert ranks[0][0][0] == "Ada"


def test_closing_again_or_after_a_crash_gives_the_same_ranking(challenge, clock, monkeypatch):
    for seed, name in enumerate("ab"):
        challenge.submit(draw(challenge, seed), challenge.join(name))
    challenge.reserve(draw(challenge, 2), challenge.join("c"))
    score = challenge._pool.score_final
    calls = []

    def die_at_the_second(sha256, name):
        calls.append(sha256)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return score(sha256, name)

    monkeypatch.setattr(challenge._pool, "score_final", die_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        challenge.close()
    assert challenge.phase() == "final"
    clock.advance(hours=1)
    ranking = challenge.close()
    # The one that died is scored again, and no other.
    assert len(calls) == 4
    assert len(set(calls)) == 3
    assert challenge.close() == challenge.ranking() == ranking
    assert {row.team for row in ranking.generalisation} == {"a", "b", "c"}
    assert len(calls) == 4
    assert ranking.head == challenge.audit().head


def test_teams_without_a_scored_submission_are_not_ranked_and_none_at_all_is_no_error(challenge):
    challenge.join("Ada")
    ranking = challenge.close()
    assert ranking.generalisation == ranking.robustness == ()


def test_truth_leaves_only_by_a_release_after_the_end(challenge, tmp_path):
    token = challenge.join("Ada")
    challenge.submit(draw(challenge), token)
    with pytest.raises(PhaseClosed):
        challenge.release(tmp_path / "released")
    challenge.close()
    with pytest.raises(ValueError, match="must lie apart"):
        challenge.release(challenge.folder.path / "released")
    challenge.release(tmp_path / "released")
    lines = (tmp_path / "released" / "truth.csv").read_text().splitlines()
    assert lines[0] == "row_id,environment,role,label 0,label 1"
    assert len(lines) == 1 + challenge.manifest.n_hidden
    labels = {line.split(",")[0]: line.split(",")[3:] for line in lines[1:]}
    cells = [
        pair
        for key, row in zip(sorted(labels), truth_table(challenge), strict=True)
        for pair in zip(labels[key], row, strict=True)
    ]
    # Three rows of each environment have a label that does not count.
    assert [cell for cell, _ in cells].count("") == 6 * 3
    assert all(cell == f"{value:.0f}" for cell, value in cells if cell)
    assert json.loads((tmp_path / "released" / "ranking.json").read_text())["head"] == challenge.ranking().head
    with pytest.raises(FileExistsError):
        challenge.release(tmp_path / "released")


def test_a_folder_without_state_or_open_to_others_is_refused(challenge):
    path = challenge.folder.path
    path.chmod(0o755)
    with pytest.raises(PermissionError, match="chmod 700"):
        Challenge.open(path)
    path.chmod(0o700)
    challenge.folder.state.unlink()
    with pytest.raises(StateFailed, match="Got no file"):
        Challenge.open(path)
    with pytest.raises(StateFailed):
        challenge.join("Ada")


def test_a_full_disk_counts_nothing_and_leaves_nothing(challenge, monkeypatch):
    token, content = challenge.join("Ada"), draw(challenge)

    def fail(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            challenge.submit(content, token)
    assert challenge.status(token).queries_used == 0
    assert [*challenge.folder.scratch.iterdir(), *challenge.folder.submissions.iterdir()] == []
    assert challenge.submit(content, token).query == 1


def test_a_state_that_cannot_be_written_counts_nothing(challenge):
    token, content = challenge.join("Ada"), draw(challenge)
    connection = challenge._store._connect()
    n_pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {n_pages}")
    n_reserved = 0

    def reserve_until_full():
        nonlocal n_reserved
        while True:
            challenge.reserve(content + b"\n" * n_reserved, token)
            n_reserved += 1
            challenge._clock.advance(days=1)

    with pytest.raises(StateFailed, match=r"on a disk with space\. Got this error: database or disk is full"):
        reserve_until_full()
    connection.execute("PRAGMA max_page_count = 1000000")
    n_stored = len(list(challenge.folder.submissions.iterdir()))
    assert len(challenge.status(token).submissions) == n_reserved
    # The bytes may be there without a query, never a query without its bytes.
    assert n_stored - n_reserved in {0, 1}
    assert challenge.audit().is_whole


def test_a_file_above_the_size_of_the_rules_is_refused_before_it_is_stored(tmp_path):
    with make_challenge(tmp_path / "org", rules="max_bytes = 1000") as challenge:
        token = challenge.join("Ada")
        (tmp_path / "big.csv").write_bytes(bytes(1001))
        for content in (bytes(1001), tmp_path / "big.csv"):
            with pytest.raises(InvalidSubmission, match=r"must be of 1000 bytes at most\. Got 1001\."):
                challenge.submit(content, token)
        assert challenge.status(token).submissions == ()


@pytest.mark.slow
def test_a_process_that_dies_while_it_scores_loses_nothing(tmp_path):
    with make_challenge(tmp_path / "org", processes=True) as challenge:
        token = challenge.join("Ada")
        expected = challenge.submit(draw(challenge), token)
        process = challenge._pool._free.get()
        process.kill()
        process.wait()
        challenge._pool._free.put(process)
        assert challenge.submit(draw(challenge, 1), token).query == 2
        with pytest.raises(InvalidSubmission, match="line 1: the columns must be"):
            challenge.submit(b"nonsense", token)
        assert challenge.submit(draw(challenge), token).score == expected.score
        assert len(challenge.close().generalisation) == 1


@pytest.mark.slow
def test_damaged_truth_is_no_text_in_any_reply(tmp_path):
    with make_challenge(tmp_path / "org", processes=True) as challenge:
        token, content = challenge.join("Ada"), draw(challenge)
        (entry,) = challenge.manifest.of_role("validation")
        (challenge.folder.path / entry.file).write_bytes(b"secret")
        with pytest.raises(ScoringFailed, match="is stored but could not be scored") as caught:
            challenge.submit(content, token)
        assert "secret" not in str(caught.value)
        assert challenge.status(token).queries_used == 1
        assert challenge.complete_pending() == 0


def test_the_time_is_that_of_the_clock(challenge):
    assert START - timedelta(0) == challenge.manifest.created
