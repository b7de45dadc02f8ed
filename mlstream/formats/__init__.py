"""Readers and writers of streams and tables."""

from mlstream.formats.by_suffix import load, save

__all__ = ["load", "save"]
