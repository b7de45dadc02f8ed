"""The runs of a campaign, before they are run: what each is, and whether its record is there already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from mlstream.protocol.learners import fresh
from mlstream.protocol.provenance import describe_run
from mlstream.protocol.results import RunResult, load_run, run_path
from mlstream.protocol.settings import Settings, require_seed
from mlstream.stream import Stream

# What must be equal for a record to be that of the run that is asked for.
_IDENTITY = ("stream_sha256", "parameters", "seed", "label_space", "settings")


@dataclass(frozen=True)
class Job:
    """One run to do.

    Parameters
    ----------
    strategy : str
        Its name.
    estimator : estimator
        The learner; cloned, never changed.
    stream : Stream
        The stream.
    seed : int
        The seed of the learner.
    directory : Path
        The folder of the campaign.
    options : dict
        Options of `evaluate`.
    """

    strategy: str
    estimator: Any
    stream: Stream
    seed: int
    directory: Path
    options: dict[str, Any]

    @property
    def path(self) -> Path:
        """Where its record is, or will be."""
        return run_path(self.directory, self.stream.card.name, self.strategy, self.seed)

    def describe(self) -> dict[str, Any]:
        """Give the fields of its record that are known before it is run."""
        copy = fresh(self.estimator, self.seed)
        return describe_run(copy, self.stream, self.seed, Settings(**self.options)) | {"strategy": self.strategy}

    def find_record(self) -> RunResult | None:
        """Give its record, if there is one that need not be made again.

        Returns
        -------
        RunResult or None
            None if there is none, or it is that of a failure.

        Raises
        ------
        ValueError
            If the file holds the record of another run, or none of this version.
        """
        if not self.path.exists():
            return None
        record, expected = load_run(self.path), self.describe()
        for name in _IDENTITY:
            if getattr(record, name) != expected[name]:
                raise ValueError(
                    f"{self.path} must be the record of the run that is asked for: use another folder, or remove it. "
                    f"Got {name} = {getattr(record, name)!r} instead of {expected[name]!r}."
                )
        return None if record.status == "failed" else record


def plan_jobs(
    strategies: Sequence[str] | Mapping[str, Any],
    streams: Sequence[Stream],
    seeds: Sequence[int],
    directory: Path,
    options: dict[str, Any],
) -> list[Job]:
    """List the runs of a campaign.

    Parameters
    ----------
    strategies, streams, seeds, directory, options
        As for `run_campaign`.

    Returns
    -------
    list of Job
        By stream, then strategy, then seed.

    Raises
    ------
    ValueError
        If there is nothing to run, two runs have the same name, or a name or the value of an option is unknown.
    TypeError
        If an option is unknown, or what should be an estimator is none.
    """
    Settings(**options)
    jobs = [
        Job(name, estimator, stream, require_seed(seed), directory, options)
        for stream, (name, estimator), seed in product(streams, _estimators(strategies).items(), seeds)
    ]
    if not jobs:
        raise ValueError("A campaign must have strategies, streams and seeds. Got none of at least one of them.")
    path, times = Counter(job.path for job in jobs).most_common(1)[0]
    if times > 1:
        raise ValueError(f"Runs of a campaign must differ in stream, strategy or seed. Got {times} runs for {path}.")
    return jobs


def _estimators(strategies: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(strategies, Mapping):
        return dict(strategies)
    if isinstance(strategies, str):
        raise TypeError(f"strategies must be a list of names, or estimators by name. Got {strategies!r} instead.")
    from estimators.strategies import make_strategy

    return {name: make_strategy(name) for name in strategies}
