"""One source of randomness per purpose, so that a change in one place moves no draw in another."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """Purpose of a draw. The numbers are part of every published stream: never change one."""

    CLUSTERING = 0
    SPLIT = 1
    ORDER = 2
    UNLABELLED = 3
    SAMPLING = 4
    BLENDING = 5
    PERTURBING = 6
    LABELS = 7
    PRETRAINING = 8
    ENVIRONMENTS = 9
    CONCEPTS = 10
    EVENTS = 11


def generator_for(purpose: Purpose, seed: int, index: int = 0) -> np.random.Generator:
    """Return the generator for one purpose; `index` is the number of a restart, task or visit."""
    return np.random.default_rng([seed, int(purpose), index])
