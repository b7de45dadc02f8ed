"""Compiled loops of the PRAGMA learners."""
