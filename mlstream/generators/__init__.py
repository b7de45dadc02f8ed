"""Generators of streams: tables in, streams out."""

from collections.abc import Callable

from mlstream.generators.clustering import task_stream
from mlstream.stream import Stream

# What a card's generator name stands for.
GENERATORS: dict[str, Callable[..., Stream]] = {"task_stream": task_stream}

__all__ = ["GENERATORS", "task_stream"]
