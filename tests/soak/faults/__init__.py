"""Faults of the system: no command leaves half of a file, whatever fails, and whenever it does."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np

from tests.mlstream.interop.mlflow_server import QUIET
from tests.soak.faults.file_faults import FileFaults
from tests.soak.faults.tracking import TrackingFaults
from tests.soak.faults.workers import WorkerFaults
from tests.soak.runner import NothingLeft, Trial

# Of so many trials, those at two places have other faults than those of files: they take longer.
_ROUND, _PLACES = 80, (20, 40)
# MLflow gives a server up after one more try, and prints nothing.
_ENVIRONMENT = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}


def prepare(folder: Path, seed: int) -> Trial:
    """Make the inputs of all commands."""
    os.environ.update(QUIET | _ENVIRONMENT)
    files, others = FileFaults(folder), (WorkerFaults(folder), TrackingFaults(folder))

    def trial(number: int, rng: np.random.Generator) -> Counter[str]:
        turn, place = divmod(number, _ROUND)
        if place in _PLACES:
            return others[_PLACES.index(place)].try_one(number, rng)
        n_others = turn * len(_PLACES) + sum(place > one for one in _PLACES)
        attempt = files.attempt(number - n_others, seed)
        if attempt is None:
            files.close()
            raise NothingLeft
        return files.try_one(attempt, rng)

    return trial
