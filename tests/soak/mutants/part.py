"""The mutants of all rooms as a part of the soak."""

from collections import Counter
from itertools import chain, zip_longest
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
    waiting = _order(np.random.default_rng(seed))
    listed = read_survivors()
    killers: dict[str, Killer] = {}

    def trial(number: int, _: np.random.Generator) -> Counter[str]:
        if number >= len(waiting):
            raise NothingLeft
        room, mutant = waiting[number]
        if room not in killers:
            killers[room] = Killer(ROOMS[room], folder)
        if killers[room].try_mutant(mutant) is Fate.KILLED:
            return Counter({f"mutants of {room} killed": 1})
        survivor = survivor_of(mutant)
        if survivor not in listed:
            raise AssertionError(f"No test kills {survivor.file}:{mutant.line}: {survivor.before} -> {survivor.after}")
        return Counter({f"mutants of {room} listed as harmless": 1})

    return trial


def _order(rng: np.random.Generator) -> list[tuple[str, Mutant]]:
    blocks = []
    for name in rng.permutation(list(ROOMS)):
        mutants = mutants_of(ROOMS[name], ROOMS[name].n_mutants)
        drawn = [(str(name), mutants[i]) for i in rng.permutation(len(mutants))]
        blocks.append([drawn[start : start + _BLOCK] for start in range(0, len(drawn), _BLOCK)])
    return list(chain.from_iterable(block for turn in zip_longest(*blocks, fillvalue=[]) for block in turn))
