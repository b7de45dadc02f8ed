"""Generators of streams."""
