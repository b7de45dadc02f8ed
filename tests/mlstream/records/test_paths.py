"""Names of files say which run they hold, whatever the names of streams and strategies are."""

import os
import re
import time
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mlstream.records.paths import (
    Repetition,
    file_name,
    list_repetitions,
    remove_leftovers,
    run_path,
    selection_path,
)

HOSTILE = [
    "..",
    ".",
    "",
    "...",
    "x" * 300,
    "é" * 300,
    "流",
    "水",
    "a/b",
    "a_b",
    "a b",
    "NUL",
    "aux.x",
    'a<>:"|?*',
    "-",
    "\0",
]
NAMES = st.one_of(st.text(), st.sampled_from(HOSTILE), st.text("aA._-/+ é", max_size=200))
SEEDS = st.integers(0, 2**32 - 1)
REPETITIONS = st.builds(Repetition, SEEDS, st.none() | SEEDS, st.none() | SEEDS)


def test_a_path_says_stream_strategy_and_repetition():
    assert run_path("d", "s", "a-b.c", 3) == Path("d/runs/s/a-b.c-seed3.json")
    assert run_path("d", "s", "a", Repetition(3, order_seed=1)) == Path("d/runs/s/a-seed3-order1.json")
    assert run_path("d", "s", "a", Repetition(3, split_seed=0)) == Path("d/runs/s/a-seed3-split0.json")
    assert selection_path("d", "s", "a", Repetition(3, 1, 2)) == Path("d/selections/s/a-seed3-order1-split2.json")


@pytest.mark.parametrize("name", ["NN_TL", "BR_HT", "yeast-tasks", "synthetic-rand", "iSOUPtree", "1NN", "v1.2_b-C"])
def test_a_plain_name_is_the_name_of_its_file(name):
    assert file_name(name) == name


@given(NAMES)
@example("..")
@example("x" * 300)
def test_a_name_of_a_file_is_safe_everywhere(name):
    found = file_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._+-]*", found)
    assert not found.endswith(".")
    assert found.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
    longest = run_path("d", name, name, Repetition(2**32 - 1, 2**32 - 1, 2**32 - 1)).name
    assert len(f".{longest}.12345678.part") <= 255


@given(NAMES, NAMES)
@example("a/b", "a_b")
@example("é", "è")
@example("x" * 300, "x" * 301)
@example("nn", "NN")
@example("a/b", file_name("a/b"))
def test_different_names_have_different_files(one, other):
    assume(one != other)
    assert file_name(one) != file_name(other)


@given(NAMES, st.lists(st.tuples(NAMES, REPETITIONS), max_size=3))
@example("s", [("a-seed1-order2", Repetition(3)), ("a-seed1", Repetition(0, 2, 4)), ("a", Repetition(1, None, 5))])
def test_names_of_files_say_the_repetitions(tmp_path_factory, stream, runs):
    folder = tmp_path_factory.mktemp("runs")
    written = {run_path(folder, stream, strategy, repetition): repetition for strategy, repetition in runs}
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert list_repetitions(folder, stream) == written


@given(st.tuples(NAMES, NAMES, REPETITIONS), st.tuples(NAMES, NAMES, REPETITIONS))
@example(("s", "a-seed0", Repetition(1)), ("s", "a", Repetition(0)))
def test_different_runs_have_different_files_three_levels_below_their_folder(one, other):
    assume(one != other)
    paths = [run_path("d", *run) for run in (one, other)]
    assert paths[0] != paths[1]
    assert all(len(path.parts) == 4 for path in paths)


def test_names_that_the_system_cannot_keep_apart_are_cut_and_hashed():
    found = [file_name(name) for name in HOSTILE]
    assert len({name.lower() for name in found}) == len(HOSTILE)
    assert all("+" in new for new, old in zip(found, HOSTILE, strict=True) if old not in {"a_b", "-"})


def test_strategies_and_repetitions_cannot_be_mistaken_for_each_other():
    names = ["a", "a-seed0", "a-seed0-order1", "a-seed1"]
    paths = {run_path("d", "s", *run) for run in product(names, [Repetition(0), Repetition(0, 1), Repetition(1)])}
    assert len(paths) == 12


def test_what_a_killed_process_left_is_removed_after_an_hour(tmp_path):
    for kind in ("runs", "running", "mine"):
        (tmp_path / kind / "s").mkdir(parents=True)
        for name in (".a-seed0.json.12345678.part", ".new.part", "a-seed0.json", "x.part"):
            (tmp_path / kind / "s" / name).touch()
            os.utime(tmp_path / kind / "s" / name, times=None if name == ".new.part" else (0, time.time() - 4000))
    remove_leftovers(tmp_path)
    remove_leftovers(tmp_path / "absent")
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    kept = {
        f"{kind}/s/{name}" for kind in ("runs", "running", "mine") for name in (".new.part", "a-seed0.json", "x.part")
    }
    assert set(left) == kept | {"mine/s/.a-seed0.json.12345678.part"}
