"""The part of the soak that mistreats learners, drift detectors and memories."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from estimators.detectors import DETECTORS
from tests.estimators.instances import BATCHES, IN_STREAMS, MEMORIES
from tests.soak.hostile.apart import run_apart
from tests.soak.hostile.detectors import run_values
from tests.soak.hostile.resume import run_resume
from tests.soak.hostile.sequences import run_calls
from tests.soak.hostile.threads import run_threads
from tests.soak.runner import Trial

_LEARNERS = (*IN_STREAMS, *BATCHES)
_OTHERS = (*MEMORIES, *DETECTORS)
_TRIED = (
    *((run_calls, name) for name in _LEARNERS),
    *((run_values, name) for name in _OTHERS),
    *((run_threads, name) for name in (*_LEARNERS, *_OTHERS)),
    *((run_resume, name) for name in _LEARNERS),
)
# every object is tried in every way before any is tried a second time; ways alternate, so that short soaks meet all
_ROUND = tuple(_TRIED[place] for start in range(7) for place in range(start, len(_TRIED), 7))


def prepare(folder: Path, seed: int) -> Trial:
    """Return a trial: one object, one sequence of calls, in a process of its own."""

    def trial(number: int, rng: np.random.Generator) -> Counter[str]:
        work, name = _ROUND[number % len(_ROUND)]
        drawn = rng.integers(2**31, size=4).tolist()
        with TemporaryDirectory(dir=folder) as own:
            more = (Path(own),) if work is run_resume else ()
            try:
                return run_apart(work, name, drawn, *more)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None

    return trial
