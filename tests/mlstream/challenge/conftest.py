"""A small challenge of three queries a day, and its clock."""

import pytest

from tests.mlstream.challenge.challenges import Clock, make_challenge


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def challenge(tmp_path, clock):
    with make_challenge(tmp_path / "org", clock, rules="queries_per_day = 3") as made:
        yield made
