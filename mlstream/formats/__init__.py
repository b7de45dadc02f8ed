"""Readers and writers of streams and tables."""

from mlstream.formats.io import load, save

__all__ = ["load", "save"]
