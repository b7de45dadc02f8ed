"""The examples that Hypothesis draws are the same in every process, whatever was imported there before."""

import sys
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.skipif(not settings().derandomize, reason="needs the profile of make test")


def draw():
    """Return the examples of a test."""
    drawn = []

    @given(st.lists(st.integers(), min_size=20))
    def run(numbers):
        drawn.append(numbers)

    run()
    return drawn


def test_examples_do_not_depend_on_modules_that_were_imported(tmp_path, monkeypatch):
    before = draw()
    (tmp_path / "numbers_of_ours.py").write_text("\n".join(f"n{i} = {10**6 + i}" for i in range(1000)))
    monkeypatch.syspath_prepend(tmp_path)
    import_module("numbers_of_ours")
    assert draw() == before
    del sys.modules["numbers_of_ours"]
