"""Compiled loops of the networks."""
