"""Where a campaign keeps what: the names of its files."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple


class Repetition(NamedTuple):
    """What tells the runs of one strategy on one stream apart.

    Parameters
    ----------
    seed : int
        Seed of the learner.
    order_seed, split_seed : int or None
        Seed of the order of tasks, and of the split of rows; None: as the stream has them.
    """

    seed: int
    order_seed: int | None = None
    split_seed: int | None = None

    @property
    def name(self) -> str:
        """What it is called in names of files."""
        parts = (("seed", self.seed), ("order", self.order_seed), ("split", self.split_seed))
        return "-".join(f"{what}{number}" for what, number in parts if number is not None)


def run_path(directory: str | os.PathLike[str], stream: str, strategy: str, repetition: Repetition | int) -> Path:
    """Give the file that holds the record of a run.

    Parameters
    ----------
    directory : path
        The folder of a campaign.
    stream, strategy : str
        Their names.
    repetition : Repetition or int
        What tells the runs of a strategy apart; an int is the seed of the learner.

    Returns
    -------
    Path
        ``directory/runs/<stream>/<strategy>-seed<seed>.json``, with ``-order<seed>`` and ``-split<seed>`` after it
        where these are repeated.
    """
    return _path(directory, "runs", stream, strategy, repetition)


def selection_path(directory: str | os.PathLike[str], stream: str, strategy: str, repetition: Repetition) -> Path:
    """Give the file that holds the choice of parameters of a run: as `run_path`, in the folder ``selections``."""
    return _path(directory, "selections", stream, strategy, repetition)


def mark_path(directory: str | os.PathLike[str], stream: str, strategy: str, repetition: Repetition) -> Path:
    """Give the file that is there while a run goes on: as `run_path`, in the folder ``running``."""
    return _path(directory, "running", stream, strategy, repetition)


def plain(name: str) -> str:
    """Give a name as a file can bear it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)


def _path(
    directory: str | os.PathLike[str], kind: str, stream: str, strategy: str, repetition: Repetition | int
) -> Path:
    one = repetition if isinstance(repetition, Repetition) else Repetition(repetition)
    return Path(directory) / kind / plain(stream) / f"{plain(strategy)}-{one.name}.json"
