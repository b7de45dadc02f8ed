"""Repeat the trials of a part until its time is over, and keep what was tried and what failed."""

import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TypeAlias

import numpy as np

# Takes the number of the trial and its generator, and returns how often it tried what.
Trial: TypeAlias = Callable[[int, np.random.Generator], Counter[str]]
# Makes, in a folder and from a seed, what the trials of a part share.
Prepare: TypeAlias = Callable[[Path, int], Trial]

# Modules of this package. Each has a function `prepare`.
PARTS = ("kills", "faults", "fuzz", "hostile", "mutants")
_MOST_FAILURES = 20


class NothingLeft(Exception):
    """All that a part can try with this seed was tried."""


@dataclass(frozen=True)
class Outcome:
    """What the trials of a part came to.

    Parameters
    ----------
    part : str
        One of `PARTS`.
    seed : int
        Of the trials: the generator of trial ``i`` is ``default_rng([seed, i])``.
    counts : Counter
        How often what was tried.
    failures : dict
        What went wrong, by the number of the trial.
    wall_time_s : float
        Seconds, without those of the preparation.
    """

    part: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    wall_time_s: float = 0.0


def run_part(
    part: str, seed: int, seconds: float, report: Callable[[str], None], *, only: int | None = None
) -> Outcome:
    """Repeat the trials of a part.

    Parameters
    ----------
    part : str
        One of `PARTS`.
    seed : int
        Of all trials.
    seconds : float
        After this time, no new trial begins.
    report : callable
        Gets a line about each failure.
    only : int, optional
        The only trial to run.

    Returns
    -------
    Outcome
        Counts and failures. The part ends early when it has tried all, or failed in twenty trials.
    """
    prepare: Prepare = import_module(f"tests.soak.{part}").prepare
    with tempfile.TemporaryDirectory(prefix=f"soak-{part}-") as folder:
        trial = prepare(Path(folder), seed)
        return repeat(trial, part, seed, seconds, report, only=only)


def repeat(
    trial: Trial, part: str, seed: int, seconds: float, report: Callable[[str], None], *, only: int | None = None
) -> Outcome:
    """Repeat a trial that was prepared; the other parameters are those of `run_part`."""
    counts: Counter[str] = Counter()
    failures: dict[int, str] = {}
    began = time.monotonic()
    for number in count() if only is None else [only]:
        if only is None and time.monotonic() - began >= seconds:
            break
        try:
            counts += trial(number, np.random.default_rng([seed, number]))
        except NothingLeft:
            break
        except Exception as error:
            failures[number] = _one_line(error)
            report(f"{part} failed: {failures[number]}\n  again: {command_of(part, seed, number)}")
        if len(failures) >= _MOST_FAILURES:
            break
    return Outcome(part, seed, counts, failures, time.monotonic() - began)


def command_of(part: str, seed: int, number: int) -> str:
    """Return the command that runs one trial again."""
    return f"python -m tests.soak {part} --seed {seed} --trial {number}"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, AssertionError) and text else f"{type(error).__name__}: {text}"
