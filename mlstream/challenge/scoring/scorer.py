"""Scores of aligned probabilities: on validation while the challenge runs, on everything at its end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypedDict

import numpy as np

from mlstream.challenge.config import ChallengeConfig, read_config
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.manifest import EnvironmentEntry, Manifest, Role, read_manifest
from mlstream.challenge.scoring.decoding import looks_like_decoding
from mlstream.challenge.scoring.metric import ChallengeMetric, metric_of
from mlstream.challenge.submissions.rows import Probabilities, SubmissionLayout
from mlstream.challenge.truth import Array, holdout_keys, read_truth

# Enough for intervals of 95 %, few enough for hundreds of teams.
N_RESAMPLES = 200


class PublicScores(TypedDict):
    """Scores that a team gets a rounded form of."""

    validation: float  # Mean over the validation environments.
    # Mean over the held-out rows of training environments; None unless the rules want it.
    in_distribution: float | None
    flag: str | None  # Why it looks as if it were made to learn labels; None if it does not.


class FinalScores(TypedDict):
    """Scores of a selected submission."""

    test: float  # Mean over the test environments.
    unseen: float | None  # Worst of the environments never seen; None without such environments.
    environments: dict[str, float]  # The score of each environment of both roles, by public name.
    test_resamples: list[float | None]  # As `test`, on rows drawn with replacement.
    unseen_resamples: list[float | None]  # As `unseen`, on rows drawn with replacement.


class Scorer:
    """Truth and rules of one challenge, read when they are first needed."""

    def __init__(self, folder: OrganiserFolder) -> None:
        self._folder = folder
        self._truth: dict[str, _Environment] = {}

    @cached_property
    def config(self) -> ChallengeConfig:
        """The rules."""
        return read_config(self._folder.config)

    @cached_property
    def manifest(self) -> Manifest:
        """Facts about environments and labels."""
        return read_manifest(self._folder.manifest)

    @cached_property
    def layout(self) -> SubmissionLayout:
        """The rows and columns of a submission."""
        keys = holdout_keys(self._folder, self.manifest)
        return SubmissionLayout(keys, self.manifest.scored_names, self.config.max_bytes)

    def score_public(self, prob: Probabilities) -> PublicScores:
        """Score a submission on the validation environments, unrounded; the truth of no other is read.

        `prob` is (n_hidden, n_labels), in the order of the layout.
        """
        trained = self.manifest.of_role("in-distribution") if self.config.in_distribution_score else []
        eps = self.config.eps_public
        return PublicScores(
            validation=_mean(self._scores("validation", prob, eps)),
            in_distribution=_mean(self._scores("in-distribution", prob, eps)) if trained else None,
            flag=looks_like_decoding(prob, eps),
        )

    def score_final(self, prob: Probabilities) -> FinalScores:
        """Score a submission on the test environments and on those never seen, unrounded.

        `prob` is (n_hidden, n_labels), in the order of the layout.
        """
        eps = self.config.eps_final
        test, unseen = self._scores("test", prob, eps), self._scores("unseen", prob, eps)
        places = [self.manifest.of_role(role) for role in ("test", "unseen")]
        names = [one.public_name for entries in places for one in entries]
        by_test, by_unseen = (np.array([self._resample(one, prob, eps) for one in entries]) for entries in places)
        return FinalScores(
            test=_mean(test),
            unseen=self._metric.worst(unseen) if unseen else None,
            environments=dict(zip(names, [*test, *unseen], strict=True)),
            test_resamples=_as_list(by_test.mean(axis=0)),
            unseen_resamples=_as_list(np.apply_along_axis(self._metric.worst, 0, by_unseen)) if unseen else [],
        )

    @property
    def _metric(self) -> ChallengeMetric:
        return metric_of(self.config.metric)

    def _scores(self, role: Role, prob: Probabilities, eps: float) -> list[float]:
        environments = [self._read(one) for one in self.manifest.of_role(role)]
        return [self._score(one.Y, prob[one.rows], one.mask, eps) for one in environments]

    def _resample(self, entry: EnvironmentEntry, prob: Probabilities, eps: float) -> list[float]:
        """Score draws of rows with replacement, the same draws for all submissions."""
        one, rng = self._read(entry), np.random.default_rng(0)
        draws = (rng.integers(0, len(one.rows), len(one.rows)) for _ in range(N_RESAMPLES))
        return [self._score_draw(one, prob, draw, eps) for draw in draws]

    def _score_draw(self, one: _Environment, prob: Probabilities, draw: Array, eps: float) -> float:
        try:
            return self._score(one.Y[draw], prob[one.rows[draw]], one.mask[draw], eps)
        except ValueError:
            # No label of this draw has both classes.
            return float("nan")

    def _score(self, truth: Array, prob: Probabilities, mask: Array, eps: float) -> float:
        return self._metric.score(truth, prob, mask, eps=eps, k=self.config.k)

    def _read(self, entry: EnvironmentEntry) -> _Environment:
        file = str(entry.file)
        if file not in self._truth:
            self._truth[file] = _Environment(*read_truth(self._folder.path / file), self.layout)
        return self._truth[file]


class _Environment:
    """The truth of one environment, and the places of its rows in a submission."""

    def __init__(self, keys: Array, labels: Array, mask: Array, layout: SubmissionLayout) -> None:
        self.Y, self.mask = labels, mask
        self.rows = np.searchsorted(layout.keys, keys)


def _mean(scores: Sequence[float]) -> float:
    return float(np.mean(scores))


def _as_list(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
