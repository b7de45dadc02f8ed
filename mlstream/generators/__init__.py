"""Generators of streams: tables in, streams out."""

from mlstream.generators.clustering import task_stream
from mlstream.generators.recipes import FROM_NOTHING, FROM_TABLES, GENERATORS, remake
from mlstream.generators.synthetic import multiplier_rows, multiplier_stream

__all__ = [
    "FROM_NOTHING",
    "FROM_TABLES",
    "GENERATORS",
    "multiplier_rows",
    "multiplier_stream",
    "remake",
    "task_stream",
]
