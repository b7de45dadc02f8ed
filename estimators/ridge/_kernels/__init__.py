"""Compiled loops of ridge regression."""
