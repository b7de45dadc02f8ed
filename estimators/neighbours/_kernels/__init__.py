"""Compiled nearest-neighbour search."""
