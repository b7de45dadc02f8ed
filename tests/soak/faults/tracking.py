"""An MLflow server that goes away while it gets records, and comes back: every record is there once, and whole."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from mlstream.interop.mlflow import HASH_TAG, track
from tests.mlstream.interop.mlflow_server import run_mlflow
from tests.mlstream.records.run_records import write_campaign

_STRATEGIES = ("NN", "NN_TL", "mean")


class TrackingFaults:
    """Records to write.

    Parameters
    ----------
    folder : Path
        Where everything lies.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records = write_campaign(folder / "records", strategies=_STRATEGIES)

    def try_one(self, number: int, rng: np.random.Generator) -> Counter[str]:
        """Stop the server after some record; start it again, and write the rest."""
        place, n_records = self._folder / f"mlflow-{number}", 2 * len(_STRATEGIES)
        place.mkdir()
        n_before = int(rng.integers(1, n_records))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            message = self._interrupt(place, n_before)
            assert re.search("must take the records.* again", message), f"MLflow gone: {message!r}"
            with run_mlflow(place) as address:
                done = track(self._records, address)
                assert (done.n_kept, done.n_written) == (n_before, n_records - n_before), f"MLflow gone, back: {done}"
                _require_each_once(address, n_records)
        return Counter({"MLflow server gone midway, and back": 1})

    def _interrupt(self, place: Path, n_before: int) -> str:
        """Return the error that ends the writing when the server goes away after some records."""
        with ExitStack() as running:
            address = running.enter_context(run_mlflow(place))

            def stop(n_done: int, _n_in_all: int) -> None:
                if n_done == n_before:
                    running.close()

            try:
                track(self._records, address, progress=stop)
            except OSError as error:
                return str(error)
        return ""


def _require_each_once(address: str, n_records: int) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(address)
    experiment = client.get_experiment_by_name("mlstream")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    hashes = [run.data.tags[HASH_TAG] for run in runs]
    assert len(hashes) == len(set(hashes)) == n_records, f"MLflow gone, back: {len(hashes)} runs of {n_records} records"
    assert "RUNNING" not in {run.info.status for run in runs}, "MLflow gone, back: a run is half-written"
