"""Tests that go on for as long as there is time: ``make soak SCALE=4``, or ``python -m tests.soak PART ...``."""
