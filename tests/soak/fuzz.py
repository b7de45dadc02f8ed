"""Bytes thrown at every reader of files: no undocumented error, no input that takes two seconds or a gibibyte."""

import re
from collections import Counter
from pathlib import Path

import numpy as np

from tests.fuzz.corpora import run, unpack
from tests.fuzz.targets import TARGETS
from tests.soak.runner import Trial

_SECONDS = 10
_N_INPUTS = re.compile(r"^stat::number_of_executed_units: (\d+)", re.MULTILINE)
# What went wrong: an error of Python, or a signal that ended the process.
_CAUSES = re.compile(r"(?<=Uncaught Python exception: ===\n).*|(?<=ERROR: libFuzzer: ).*")
_KEPT = re.compile(r"Test unit written to (\S+)")


def prepare(folder: Path, seed: int) -> Trial:
    """Return a trial that fuzzes one reader; what it finds is where its next trial begins.

    Parameters
    ----------
    folder : Path
        Where the corpora grow.
    seed : int
        Of the order of the readers.

    Returns
    -------
    Trial
        Counts the inputs of a reader.
    """
    names = np.random.default_rng(seed).permutation(list(TARGETS)).tolist()

    def trial(number: int, rng: np.random.Generator) -> Counter[str]:
        return fuzz(names[number % len(names)], folder, int(rng.integers(1, 2**31)))

    return trial


def fuzz(name: str, folder: Path, seed: int, seconds: int = _SECONDS) -> Counter[str]:
    """Fuzz a reader in a process of its own.

    Parameters
    ----------
    name : str
        The reader.
    folder : Path
        Where its corpus is, in a folder of its own; made if absent.
    seed : int
        Of libFuzzer, not 0.
    seconds : int
        How long.

    Returns
    -------
    Counter
        How many inputs the reader was given.

    Raises
    ------
    AssertionError
        If one of them broke it; that input is kept in `tests/fuzz/cases`.
    """
    corpus = folder / name
    if not corpus.exists():
        corpus.mkdir()
        unpack(name, corpus)
    options = (f"-max_total_time={seconds}", f"-seed={seed}", "-print_final_stats=1", "-verbosity=0", str(corpus))
    done = run(name, *options)
    if done.returncode:
        raise AssertionError(f"the reader of {name}: {_explain(done.stdout + done.stderr)}")
    return Counter({f"inputs of {name}": int(_N_INPUTS.findall(done.stdout + done.stderr)[-1])})


def _explain(output: str) -> str:
    causes, kept = _CAUSES.findall(output), _KEPT.findall(output)
    place = f", kept as {Path(kept[-1]).parent.name}/{Path(kept[-1]).name}" if kept else ""
    return f"{causes[0] if causes else 'the process died'}{place}"
