"""Mutants are made, killed by tests that look at what they change, and found again in the list of survivors."""

import mmap
import tomllib
from itertools import groupby

import pytest

from tests.soak.mutants import part
from tests.soak.mutants.children import in_child
from tests.soak.mutants.killing import Fate, Killer
from tests.soak.mutants.mutations import ROOT, find_mutants
from tests.soak.mutants.rooms import Room, mutants_of
from tests.soak.mutants.survivors import format_survivor, read_survivors, survivor_of

CODE = '''"""Texts for people stay."""

MOST = 1
Share: TypeAlias = "float"
Unit = Literal["percent"]


def pairs(parts: list[int], wholes: list[int]) -> list[tuple[int, int]]:
    return cast("list[tuple[int, int]]", list(zip(parts, wholes, strict=True)))


def share(part: int, whole: int) -> float:
    """Return a share."""
    if part < 0:
        raise ValueError("part must be positive")
    return part / max(whole, 1)
'''


@pytest.fixture
def mutants(tmp_path):
    path = tmp_path / "shares.py"
    path.write_text(CODE, encoding="utf-8")
    return find_mutants(path)


def test_each_mutant_changes_one_place_of_the_code(mutants):
    changes = {mutant.change for mutant in mutants}
    assert ("if part < 0:", "if part <= 0:") in changes
    assert ("if part < 0:", "if part < 1:") in changes
    assert ("return part / max(whole, 1)", "return part * max(whole, 1)") in changes
    assert ("return part / max(whole, 1)", "return part / max(whole, 2)") in changes
    assert all(CODE.splitlines()[mutant.line - 1].strip() == mutant.change[0] for mutant in mutants)
    assert len({mutant.source for mutant in mutants}) == len(mutants)


def test_texts_of_errors_docstrings_and_annotations_do_not_change(mutants):
    for mutant in mutants:
        assert "XX" not in mutant.source
        assert '"""Return a share."""' in mutant.source
        assert "(part: int, whole: int) -> float" in mutant.source


def test_what_is_for_checkers_does_not_change(mutants):
    assert not any(word in mutant.change[0] for mutant in mutants for word in ("TypeAlias", "Literal"))
    after = {mutant.change[1] for mutant in mutants if "zip" in mutant.change[0]}
    cast = 'return cast("list[tuple[int, int]]", '
    assert after == {
        f"{cast}None)",
        f"{cast})",
        "return cast(list(zip(parts, wholes, strict=True)))",
        f"{cast}list(None))",
        f"{cast}list(zip(None, wholes, strict=True)))",
        f"{cast}list(zip(parts, None, strict=True)))",
        f"{cast}list(zip(wholes, strict=True)))",
        f"{cast}list(zip(parts, strict=True)))",
    }


def test_what_is_run_by_import_is_told_from_what_is_called(mutants):
    by_line = {mutant.change[0]: mutant.at_import for mutant in mutants}
    assert by_line["MOST = 1"]
    assert not by_line["if part < 0:"]


def test_a_child_of_a_large_process_has_memory_left():
    # What cannot be written needs no memory.
    mapped = mmap.mmap(-1, 16 * 2**30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    assert in_child(lambda: len(bytes(2**20)) - 2**20, seconds=10) == 0
    assert in_child(lambda: len(bytes(2**34)) - 2**34, seconds=10) == 1
    mapped.close()


def test_samples_are_fixed(mutants, tmp_path):
    room = Room(str(tmp_path), ())
    drawn, again, other = (mutants_of(room, 5, seed) for seed in (1, 1, 2))
    assert [one.source for one in drawn] == [one.source for one in again] != [one.source for one in other]
    assert {one.source for one in drawn} < {one.source for one in mutants_of(room, None)}
    assert len(drawn) == 5


def test_survivors_are_listed_with_a_reason(mutants, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.soak.mutants.survivors.ROOT", tmp_path)
    path = tmp_path / "survivors.toml"
    entry = format_survivor(mutants[0])
    assert tomllib.loads(entry)["survivor"][0]["reason"] == ""
    path.write_text(entry, encoding="utf-8")
    with pytest.raises(ValueError, match="must have a reason"):
        read_survivors(path)
    path.write_text(entry.replace('reason = ""', 'reason = "harmless"'), encoding="utf-8")
    assert read_survivors(path) == {survivor_of(mutants[0]): "harmless"}


def test_what_every_survivor_changes_stands_in_the_code_of_today():
    for survivor in read_survivors():
        lines = (ROOT / survivor.file).read_text(encoding="utf-8").splitlines()
        assert survivor.before in " ".join(line.strip() for line in lines)


@pytest.mark.soak
def test_a_mutant_dies_by_the_tests_that_cover_it(tmp_path):
    killer = Killer(Room("metrics", ("tests/metrics/test_anytime.py",)), tmp_path)
    mutants = {survivor_of(mutant): mutant for mutant in find_mutants(ROOT / "metrics/anytime.py")}
    doomed = next(mutant for one, mutant in mutants.items() if one.after.startswith("return") and "None" in one.after)
    assert killer.try_mutant(doomed) is Fate.KILLED
    elsewhere = find_mutants(ROOT / "metrics/bayesian.py")[-1]
    assert killer.try_mutant(elsewhere) is Fate.SURVIVED


@pytest.mark.soak
def test_a_file_that_fails_its_own_tests_kills_nothing(tmp_path, monkeypatch):
    killer = Killer(Room("metrics", ("tests/metrics/test_anytime.py",)), tmp_path)
    monkeypatch.setattr(killer, "_run", lambda finder, tests: 1)
    with pytest.raises(RuntimeError, match="does not survive its own tests"):
        killer.try_mutant(find_mutants(ROOT / "metrics/anytime.py")[0])


def test_rooms_take_turns_are_made_when_theirs_comes_and_every_mutant_comes_once(monkeypatch):
    sizes, made = {"a": 250, "b": 130, "c": 100}, []

    def mutants_of(room, _):
        made.append(room.package)
        return [f"{room.package}{i}" for i in range(sizes[room.package])]

    monkeypatch.setattr(part, "ROOMS", {name: Room(name, ()) for name in sizes})
    monkeypatch.setattr(part, "mutants_of", mutants_of)
    order = part._order(3)
    drawn = [next(order)]
    assert len(made) == 1
    drawn += order
    assert sorted(drawn) == sorted((name, f"{name}{i}") for name, size in sizes.items() for i in range(size))
    rooms = [room for room, _ in groupby(drawn, key=lambda one: one[0])]
    assert set(rooms[:3]) == set(sizes)
    assert rooms[3:] in (["a", "b", "a"], ["b", "a"])
    assert list(part._order(3)) == drawn
    assert list(part._order(4)) != drawn
