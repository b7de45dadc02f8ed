"""A small challenge of three queries a day, its clock, and a server of another one."""

import pytest

from tests.mlstream.challenge.challenges import Clock, make_challenge


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def challenge(tmp_path, clock):
    with make_challenge(tmp_path / "org", clock, rules="queries_per_day = 3") as made:
        yield made


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    # Only tests of the server import its libraries.
    from tests.mlstream.challenge.site import Site

    site = Site(tmp_path_factory.mktemp("site"), Clock())
    yield site
    site.stop()
