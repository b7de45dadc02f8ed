"""The static page of a challenge."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from mlstream.challenge.page import format_page, place_bars, render_page
from mlstream.challenge.replies import BoardRow, LogHead
from mlstream.challenge.scoring.ranking import FinalRanking, RankedTeam
from tests.mlstream.challenge.challenges import draw, make_challenge

TIME = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
EVIL = '<script>alert("x")</script>'
LOG = LogHead(7, "a" * 64)


def row(rank, score, low=None, high=None, team="a", tied=None):
    return RankedTeam(
        rank=rank, team=team, score=score, submission=rank, low=low, high=high, tied_with_rank=tied or rank
    )


def ranking(rows, environments=None, robustness=()):
    return FinalRanking(
        name=EVIL,
        metric="nce",
        lower_is_better=True,
        closed=TIME,
        generalisation=tuple(rows),
        robustness=tuple(robustness),
        environments=environments,
        head="f" * 64,
    )


class Reader(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.addresses = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in {"src", "href", "action"}]

    def handle_data(self, data):
        self.texts.append(data)


def test_times_are_local_too_and_have_seconds_where_scores_are_equal():
    at = [TIME + timedelta(seconds=seconds) for seconds in (1, 2, 3)]
    board = [BoardRow(1, "a", -0.5, 1, at[0]), BoardRow(2, "b", -0.5, 1, at[1]), BoardRow(3, "c", -0.4, 1, at[2])]
    page = format_page("x", "nce", board, ranking([row(1, -0.5)]), LOG, "Asia/Tokyo")
    assert [text for text in Reader(page).texts if "09:05" in text] == [
        "2026-03-01 09:05:01 UTC (2026-03-01 18:05:01 in Asia/Tokyo)",
        "2026-03-01 09:05:02 UTC (2026-03-01 18:05:02 in Asia/Tokyo)",
        "2026-03-01 09:05 UTC (2026-03-01 18:05 in Asia/Tokyo)",
        "Closed on 2026-03-01 09:05 UTC (2026-03-01 18:05 in Asia/Tokyo). Head of the log then: ",
    ]


def test_names_are_escaped_and_nothing_comes_from_elsewhere():
    rows = [row(1, -0.5, -0.6, -0.4, team=EVIL)]
    page = format_page(
        EVIL, "nce", [BoardRow(1, EVIL, -0.5, 3, TIME)], ranking(rows, {EVIL: {"test-1": -0.5}}, robustness=rows), LOG
    )
    read = Reader(page)
    assert "script" not in read.tags
    assert read.addresses == []
    assert read.texts.count(EVIL) >= 4
    assert not re.search(r"https?:|url\(|@import", page)


def test_ranks_scores_intervals_and_ties_are_shown():
    page = format_page("x", "nce", [], ranking([row(1, -0.5, -0.6, -0.4), row(2, -0.45, -0.5, -0.3, "b", tied=1)]), LOG)
    text = " ".join(" ".join(Reader(page).texts).split())
    assert "-0.6000 to -0.4000" in text
    assert "tied within noise with rank 1" in text
    assert "f" * 64 in text
    assert f"after 7 events: {LOG.head}" in text
    assert "Robustness" not in text
    assert "No submission has been scored." in text


@pytest.mark.parametrize("scores", [[0.25], [0.25, 0.25], [-1.0, 3.0, 0.5]])
def test_bars_stand_in_the_order_of_the_scores_within_the_picture(scores):
    rows = [row(place, score, score - 0.1, score + 0.1) for place, score in enumerate(scores, 1)]
    bars = place_bars(rows)
    assert all(0 <= bar.low < bar.score < bar.high <= 240 for bar in bars)
    assert sorted(range(len(scores)), key=lambda one: bars[one].score) == sorted(
        range(len(scores)), key=scores.__getitem__
    )


def test_a_score_without_an_interval_is_a_dot():
    (bar,) = place_bars([row(1, 0.5)])
    assert bar.low == bar.score == bar.high


def test_rankings_are_on_the_page_of_a_closed_challenge_only(tmp_path):
    challenge = make_challenge(tmp_path / "org", rules="publish_environment_scores = true")
    challenge.submit(draw(challenge), challenge.join("bees & co"))
    before = render_page(challenge)
    assert "bees &amp; co" in before
    assert "Generalisation" not in before
    found = challenge.close(early=True)
    after = render_page(challenge)
    for words in ("Generalisation", "Robustness", "Environments", found.head, f"{found.generalisation[0].score:.4f}"):
        assert words in after
