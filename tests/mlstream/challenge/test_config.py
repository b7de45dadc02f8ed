"""The rules of a challenge: what a file may hold, and one line for what it may not."""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlstream.challenge.config import parse_config, read_config
from tests.loops import check_all

ROLES = '\n[roles]\ntrain = ["a", "b"]\nvalidation = ["c"]\ntest = ["d"]\nunseen = ["e"]\n'


def parse(text, roles=ROLES):
    return parse_config(f'name = "n"\n{text}{roles}'.encode(), "c.toml")


def test_the_defaults_are_those_of_the_specification(tmp_path):
    (tmp_path / "c.toml").write_text(f'name = "n"{ROLES}')
    config = read_config(tmp_path / "c.toml")
    assert (config.metric, config.timezone, config.stream) == ("nce", "UTC", None)
    assert (config.queries_per_day, config.invalid_per_day, config.final_selections, config.decimals) == (
        30,
        300,
        1,
        None,
    )
    assert (config.eps_public, config.eps_final, config.min_rows, config.ladder_step) == (1e-3, 1e-15, 1000, None)
    assert (config.team_size, config.max_bytes, config.in_distribution_score) == (5, 50_000_000, False)
    assert (config.publish_environment_scores, config.remove_duplicate_rows) == (False, False)
    assert config.roles.train == ("a", "b")


def test_times_without_an_offset_are_of_the_time_zone_of_the_file():
    config = parse('timezone = "Europe/Paris"\nopens = 2026-07-01T12:00:00\nfinal_ends = 2026-08-01T12:00:00-05:00\n')
    assert config.opens == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert config.final_ends == datetime(2026, 8, 1, 17, tzinfo=UTC)


def test_what_is_not_valid_is_named_in_one_line():
    def check(case):
        text, message = case
        with pytest.raises(ValueError, match=r"c\.toml") as caught:
            parse(text)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    check_all(
        [
            (
                "metric = 'auc'\n",
                "metric must be 'nce', 'ba_macro', 'rmse', 'precision_at_k' or 'pw_js'. Got 'auc' instead",
            ),
            ("queries_per_day = 0\n", "queries_per_day must be at least 1. Got 0 instead."),
            ("queries_per_day = 1.5\n", "queries_per_day must be a"),
            ("decimals = 16\n", "decimals must be"),
            ("ladder_step = 5e-324\n", "ladder_step must be 0, or 1e-12 at least"),
            ("decimals = 1\nladder_step = 0.05\n", "decimals must be enough to write ladder_step, 0.05. Got 1."),
            ("eps_public = 0.5\n", "eps_public must be"),
            ("eps_public = nan\n", "eps_public must be a finite number"),
            ("querys_per_day = 3\n", "querys_per_day must not be there. Got 3 instead."),
            ("timezone = 'Mars'\n", "timezone must be a name such as 'UTC' or 'Europe/Paris'. Got 'Mars' instead."),
            ("opens = 2026-07-02T12:00:00\nfinal_ends = 2026-07-01T12:00:00\n", "must follow each other"),
            ("opens = 'soon'\n", "opens must be"),
            ("opens = '2026-07-02T12:00:00'\nfinal_ends = 2026-08-01T12:00:00Z\n", "opens must be a valid datetime"),
            ("timezone = 'Europe/Paris'\nopens = 0001-01-01T00:00:00\n", "times must be in the years 1 to 9999 of UTC"),
            ("final_ends = 9999-12-31\n", "times must be in the years 1 to 9999 of UTC"),
            ("final_ends = 9999-12-31T23:00:00-23:00\n", "times must be in the years 1 to 9999 of UTC"),
            (f"k = {'9' * 5000}\n", "must be TOML. Got this: Exceeds the limit"),
            (f"k{'.k' * 500} = 1\n", "must be TOML of at most 50 levels"),
        ],
        check,
    )


def test_the_day_that_a_challenge_opens_is_its_first_moment_in_the_time_zone_of_the_file():
    config = parse("timezone = 'Europe/Paris'\nopens = 2026-07-01\nfinal_ends = 2026-08-01T12:00:00Z\n")
    assert config.opens == datetime(2026, 6, 30, 22, tzinfo=UTC)
    # The clocks of Beirut went from 00:00 to 01:00 in that night.
    assert parse("timezone = 'Asia/Beirut'\nopens = 2022-03-27\n").opens == datetime(2022, 3, 26, 22, tzinfo=UTC)


@given(
    st.sampled_from(["UTC", "Europe/Paris", "Asia/Beirut", "America/Asuncion", "Australia/Lord_Howe", "Asia/Tokyo"]),
    st.dates(date(1990, 1, 1), date(2036, 1, 1)),
    st.sampled_from(["development_ends", "final_ends"]),
)
@example("Asia/Beirut", date(2022, 3, 26), "final_ends")
@example("Europe/Paris", date(2027, 10, 31), "final_ends")
def test_a_day_that_ends_something_counts_to_its_last_moment(zone, day, key):
    end = getattr(parse(f"timezone = '{zone}'\n{key} = {day}\n"), key)
    last, next_ = (one.astimezone(ZoneInfo(zone)) for one in (end - timedelta(microseconds=1), end))
    assert (last.date(), next_.date()) == (day, day + timedelta(days=1))


# What is written, and the two moments that it could be, which differ.
DOUBTFUL = {
    "2027-03-28T02:30:00": ("which they show never", "2027-03-28T00:30:00Z", "2027-03-28T01:30:00Z"),
    "2027-10-31T02:30:00": ("which they show twice", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z"),
}


@pytest.mark.parametrize("key", ["opens", "development_ends", "final_ends"])
@pytest.mark.parametrize("written", DOUBTFUL)
def test_a_time_that_could_be_two_moments_is_refused_with_both_and_either_can_be_written(key, written):
    reason, *moments = DOUBTFUL[written]
    zone = "timezone = 'Europe/Paris'\n"
    with pytest.raises(ValueError, match=rf"c\.toml: {key} must be a time.*{reason}") as caught:
        parse(f"{zone}{key} = {written}\n")
    assert re.findall(r"[0-9T:-]+Z(?= \()", str(caught.value)) == moments
    for moment in moments:
        assert getattr(parse(f"{zone}{key} = {moment}\n"), key) == datetime.fromisoformat(moment)


def test_the_two_moments_are_shown_on_the_clocks_of_the_time_zone():
    with pytest.raises(ValueError, match="must be") as caught:
        parse("timezone = 'Europe/Paris'\nfinal_ends = 2027-10-31T02:30:00\n")
    assert str(caught.value) == (
        "c.toml: final_ends must be a time that clocks in Europe/Paris show once. Got 2027-10-31 02:30:00, which they "
        "show twice; write 2027-10-31T00:30:00Z (2027-10-31 02:30:00+02:00 there) or 2027-10-31T01:30:00Z "
        "(2027-10-31 02:30:00+01:00 there)."
    )


@pytest.mark.parametrize("role", ["train", "validation", "test", "unseen"])
def test_each_role_must_be_given(role):
    roles = "\n".join(line for line in ROLES.splitlines() if not line.startswith(role))
    with pytest.raises(ValueError, match=rf"roles.{role} must be given"):
        parse("", roles + "\n")


@pytest.mark.parametrize("role", ["train", "validation", "test"])
def test_only_the_unseen_environments_may_be_left_out(role):
    lines = [f"{role} = []" if line.startswith(role) else line for line in ROLES.splitlines()]
    with pytest.raises(ValueError, match=rf"roles.{role} must have at least 1 entry"):
        parse("", "\n".join(lines))
    assert parse("", ROLES.replace('unseen = ["e"]', "unseen = []")).roles.unseen == ()


def test_a_task_plays_one_role():
    with pytest.raises(ValueError, match=r"roles must name each task once\. Got 'c' twice"):
        parse("", ROLES.replace('"d"', '"c"'))


def test_a_file_that_is_not_toml_is_an_error_of_one_line(tmp_path):
    (tmp_path / "c.toml").write_bytes(b"\xff\x00")
    with pytest.raises(ValueError, match="must be TOML"):
        read_config(tmp_path / "c.toml")
