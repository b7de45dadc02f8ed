"""Codes of what a detector signals at a value."""

NONE, WARNING, DRIFT = 0, 1, 2
