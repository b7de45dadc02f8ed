"""Mutants are files of their format that are not as they were, and the same seed makes the same mutant."""

import gzip
import hashlib
import inspect
import io
import json
import sys
import zipfile
from functools import cache

import pytest
from pyarrow import parquet

from tests.fuzz.mutators import MUTATORS, mutate
from tests.fuzz.mutators.archives import unzip
from tests.fuzz.seeds import seeds
from tests.loops import check_all

N_MUTANTS = 30


@cache
def seeds_of(name: str) -> list[bytes]:
    """Make the seeds once: gzip writes the time into them."""
    return seeds(name)


def make_mutants(name: str) -> list[bytes]:
    found = [mutate(name, content, seed) for content in seeds_of(name) for seed in range(N_MUTANTS)]
    return [mutant for mutant in found if mutant is not None]


mutants = cache(make_mutants)


@pytest.mark.slow
def test_mutants_differ_and_a_seed_makes_them_again() -> None:
    def check(name: str) -> None:
        made = make_mutants(name)
        assert made == mutants(name)
        assert len(set(made) - {*seeds_of(name)}) > N_MUTANTS * len(seeds_of(name)) / 2

    check_all(MUTATORS, check)


@pytest.mark.parametrize("name", ["card", "record", "manifest"])
def test_mutants_of_json_are_json(name: str) -> None:
    for content in mutants(name):
        json.loads(content)


def test_json_near_the_deepest_has_a_mutant_or_none() -> None:
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack(0)) + 60)
        for depth in range(30, 60):
            for seed in range(200):
                json.loads(mutate("card", b"[" * depth + b"]" * depth, seed) or b"0")
    finally:
        sys.setrecursionlimit(limit)


def test_mutants_of_parquet_are_tables() -> None:
    for content in mutants("parquet"):
        parquet.ParquetFile(io.BytesIO(content)).read()


def test_mutants_of_archives_have_correct_checksums() -> None:
    for content in mutants("npz"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None


def test_mutants_of_streams_have_a_card_that_lists_their_files() -> None:
    for content in mutants("parquet-stream"):
        files = dict(unzip(content))
        card = json.loads(files.pop("x.card.json"))
        if isinstance(card, dict):
            hashes = {name: hashlib.sha256(rows).hexdigest() for name, rows in files.items()}
            assert {one["name"]: one["sha256"] for one in card["files"]} == hashes


def test_mutants_of_packed_files_can_be_unpacked() -> None:
    packed = gzip.compress(b"a,y\n1,0\n" * 9)
    for seed in range(N_MUTANTS):
        mutant = mutate("packed", packed, seed) or b""
        # Unless it is packed in another way, or something follows.
        assert not mutant.startswith(b"\x1f\x8b") or mutant.startswith(packed) or gzip.decompress(mutant)


@pytest.mark.parametrize("name", ["card", "npz", "parquet", "parquet-stream", "packed"])
def test_what_is_not_of_a_format_has_no_mutant(name: str) -> None:
    first = {"packed": b"\x1f\x8b"}.get(name, b"")
    assert mutate(name, first + b"nothing of any format", 0) is None
