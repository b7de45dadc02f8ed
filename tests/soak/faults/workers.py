"""Workers of a Dask cluster that are killed or paused at random moments of a campaign: the records are the same."""

from __future__ import annotations

import signal
import time
import warnings
from collections import Counter
from pathlib import Path
from subprocess import Popen
from threading import Event, Thread
from typing import Any

import numpy as np

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.search import Search
from mlstream.generators import multiplier_stream
from mlstream.records.run_record import load_runs
from tests.mlstream.campaign.test_cluster import Cluster, open_cluster, within
from tests.mlstream.campaign.test_executors import Slow, records
from tests.mlstream.evaluation.streams import Online

_PATIENCE_S = 240
# Fewer than what makes a campaign give a run up.
_MOST_KILLS = 3


class WorkerFaults:
    """One campaign, and its records when nothing disturbs it.

    Parameters
    ----------
    folder : Path
        Where everything lies.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        stream = multiplier_stream("rand", seed=1, n_rows=60, name="small")
        strategies = {"online": Online(), "slow": Slow(), "searched": Search(Online(), {"step": [0.1, 0.5, 2.0]})}
        self._asked: dict[str, Any] = {"strategies": strategies, "streams": [stream], "seeds": [0, 1], "energy": "none"}
        run_campaign(directory=folder / "serial", **self._asked)
        self._expected = records(load_runs(folder / "serial"))

    def try_one(self, number: int, rng: np.random.Generator) -> Counter[str]:
        """Run the campaign on two workers, and kill or pause some of them meanwhile."""
        place, what = self._folder / f"workers-{number}", rng.permutation(["killed (-9)", "paused"])[0]
        with warnings.catch_warnings(), open_cluster(place) as cluster:
            warnings.simplefilter("ignore")
            workers = [cluster.add_worker() for _ in range(2)]
            is_over = Event()
            saboteur = Thread(target=_disturb, args=(cluster, workers, what == "paused", rng, is_over))
            saboteur.start()
            try:
                within(
                    _PATIENCE_S,
                    lambda: run_campaign(directory=place / "runs", dask=cluster.address, **self._asked),
                )
            finally:
                is_over.set()
                saboteur.join()
        files = [path for path in (place / "runs").rglob("*") if path.is_file()]
        left = [path.name for path in files if path.suffix == ".part" or "running" in path.parts]
        assert not left, f"Dask workers {what}: left {left}"
        assert records(load_runs(place / "runs")) == self._expected, f"Dask workers {what}: other records"
        return Counter({f"Dask workers {what} during a campaign": 1})


def _disturb(cluster: Cluster, workers: list[Popen[bytes]], pauses: bool, rng: np.random.Generator, end: Event) -> None:
    """Kill workers, each replaced by another one, or pause them for some time."""
    for _ in range(int(rng.integers(1, _MOST_KILLS + 1))):
        if end.wait(float(rng.uniform(0.2, 3.0))):
            return
        place = int(rng.integers(len(workers)))
        if pauses:
            workers[place].send_signal(signal.SIGSTOP)
            time.sleep(float(rng.uniform(0.2, 3.0)))
            workers[place].send_signal(signal.SIGCONT)
        else:
            workers[place].kill()
            workers[place] = cluster.add_worker()
