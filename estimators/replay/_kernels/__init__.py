"""Compiled loops of the replay memories."""
