"""Mutations that know the structure of a format, so that most mutants get past a reader's first check."""

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from tests.fuzz.mutators.archives import mutate_archive, mutate_files
from tests.fuzz.mutators.json_texts import mutate_json
from tests.fuzz.mutators.markup import mutate_xml
from tests.fuzz.mutators.parquet_tables import mutate_parquet
from tests.fuzz.mutators.streams import mutate_stream
from tests.fuzz.mutators.texts import mutate_table, mutate_toml

__all__ = ["MUTATORS", "mutate"]

# Takes the content of a file and what draws. ValueError if the content is not of the format, or a mutant cannot be.
Mutator: TypeAlias = Callable[[bytes, Random], bytes]

MUTATORS: dict[str, Mutator] = {
    "arff": mutate_table,
    "csv": mutate_table,
    "keel": mutate_table,
    "libsvm": mutate_table,
    "parquet": mutate_parquet,
    "xml": mutate_xml,
    "npz": mutate_archive,
    "packed": mutate_files,
    "card": mutate_json,
    "parquet-stream": mutate_stream,
    "table-stream": mutate_stream,
    "events": mutate_files,
    "submission": mutate_files,
    "record": mutate_json,
    "manifest": mutate_json,
    "challenge": mutate_toml,
    "campaign": mutate_toml,
    "about": mutate_toml,
}


def mutate(name: str, content: bytes, seed: int) -> bytes | None:
    """Change the content of a file that a target reads.

    Parameters
    ----------
    name : str
        The target.
    content : bytes
        The content.
    seed : int
        Of what is drawn.

    Returns
    -------
    bytes or None
        A mutant; None if the content is not of the format, or the mutant that was drawn cannot be.
    """
    try:
        return MUTATORS[name](content, Random(seed))  # noqa: S311 - no secret is drawn
    except ValueError:
        return None
