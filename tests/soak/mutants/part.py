"""The mutants of all rooms as a part of the soak."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from tests.soak.mutants.killing import Fate, Killer
from tests.soak.mutants.mutations import Mutant
from tests.soak.mutants.rooms import ROOMS, mutants_of
from tests.soak.mutants.survivors import read_survivors, survivor_of
from tests.soak.runner import NothingLeft, Trial

# As many of a room follow each other: its tests are run once before the first.
_BLOCK = 100


def prepare(folder: Path, seed: int) -> Trial:
    """Return the trial of one mutant: all of the rooms, or of their samples, in an order that the seed draws."""
    waiting = _order(seed)
    drawn = [next(waiting)]
    listed = read_survivors()
    # Others when their turn comes, for the tests of a room take minutes.
    killers = {drawn[0][0]: Killer(ROOMS[drawn[0][0]], folder)}

    def trial(number: int, _: np.random.Generator) -> Counter[str]:
        drawn.extend(islice(waiting, max(0, number + 1 - len(drawn))))
        if number >= len(drawn):
            raise NothingLeft
        room, mutant = drawn[number]
        if room not in killers:
            killers[room] = Killer(ROOMS[room], folder)
        fate = killers[room].try_mutant(mutant)
        if fate is not Fate.SURVIVED:
            return Counter({f"mutants of {room} {fate.value}": 1})
        survivor = survivor_of(mutant)
        if survivor not in listed:
            raise AssertionError(f"No test kills {survivor.file}:{mutant.line}: {survivor.before} -> {survivor.after}")
        return Counter({f"mutants of {room} listed as harmless": 1})

    return trial


def _order(seed: int) -> Iterator[tuple[str, Mutant]]:
    """Yield blocks of the rooms by turns; those of a room are made when its turn comes, which takes a minute."""
    rng = np.random.default_rng(seed)
    turns = [_blocks(str(name), rng.integers(2**32)) for name in rng.permutation(list(ROOMS))]
    while turns:
        for blocks in list(turns):
            block = next(blocks, None)
            if block is None:
                turns.remove(blocks)
            else:
                yield from block


def _blocks(room: str, seed: int) -> Iterator[list[tuple[str, Mutant]]]:
    mutants = mutants_of(ROOMS[room], ROOMS[room].n_mutants)
    order = np.random.default_rng(seed).permutation(len(mutants))
    for start in range(0, len(order), _BLOCK):
        yield [(room, mutants[i]) for i in order[start : start + _BLOCK]]
