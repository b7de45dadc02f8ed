"""Mutants of our own code, each of which a test must kill, unless ``survivors.toml`` lists it with a reason."""

from tests.soak.mutants.part import prepare

__all__ = ["prepare"]
