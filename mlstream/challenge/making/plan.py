"""Contents of a challenge: rows by role, the labels that are scored, and how features are hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.making.environments import Environment, gather_environments
from mlstream.challenge.making.hiding import FeatureHiding, hide_features, key_rows, keyed_digest
from mlstream.challenge.manifest import Role
from mlstream.challenge.truth import Truth
from mlstream.diagnosis.diagnosis import row_digests
from mlstream.streams.stream import Features, Index, Mask, Stream

_ROLES: tuple[Role, ...] = ("train", "validation", "test", "unseen")


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows with their roles, and how they are hidden."""

    salt: bytes  # Key of row names and codes.
    training: list[Environment]  # In the order of their public numbers.
    hidden: list[Environment]  # In the order of the tasks.
    scored: Index  # Labels that are scored, by index.
    hiding: FeatureHiding
    n_identical: int  # Hidden rows with the features of a training row that stay.
    telling: list[str]  # Features whose values in each hidden environment lie apart from those in all others.
    n_dropped: int  # Hidden rows with the features of a training row that were left out.


def make_plan(stream: Stream, config: ChallengeConfig, salt: bytes, *, force: bool) -> Plan:
    """Decide what a challenge holds; the same arguments lead to the same plan.

    `salt` is the key of row names and codes. `force` accepts hidden environments of fewer than `min_rows` rows. A
    ValueError is raised if a role lacks environments, a hidden environment is too small, or no label has both classes
    in every hidden environment.
    """
    roles = _find_roles(stream, config)
    environments = gather_environments(stream, roles, in_distribution=config.in_distribution_score)
    training = [one for one in environments if not one.is_hidden]
    hidden = [one for one in environments if one.is_hidden]
    left_out = _columns_of("leave_out", config.leave_out, stream)
    shown = np.setdiff1d(np.arange(stream.n_features), left_out)
    if not len(shown):
        raise ValueError(f"leave_out must leave a feature to contestants. Got all {stream.n_features}.")
    seen = {digest for one in training for digest in row_digests(one.X[:, shown])}
    new = [~np.fromiter((row in seen for row in row_digests(one.X[:, shown])), bool, len(one)) for one in hidden]
    n_identical = sum(int((~rows).sum()) for rows in new)
    if config.remove_duplicate_rows:
        hidden = [one.take(rows) for one, rows in zip(hidden, new, strict=True)]
    if not force:
        _require_sizes(hidden, config.min_rows)
    scored = _scored_labels(hidden, stream.card.label_names)
    if config.metric == "precision_at_k" and config.k >= len(scored):
        raise ValueError(
            f"k must be less than the number of scored labels: otherwise all submissions have one score. Got k = "
            f"{config.k} and {len(scored)}."
        )
    categorical, telling = _categorical_columns(config, stream), _telling(hidden)
    return Plan(
        salt,
        sorted(training, key=lambda one: keyed_digest(salt, "environment", one.name)),
        hidden,
        scored,
        hide_features(salt, [one.X for one in environments], categorical, left_out),
        0 if config.remove_duplicate_rows else n_identical,
        [stream.card.feature_names[column] for column in telling if column not in left_out],
        n_identical if config.remove_duplicate_rows else 0,
    )


def _find_roles(stream: Stream, config: ChallengeConfig) -> dict[str, Role]:
    if config.roles is not None:
        return {name: role for role in _ROLES for name in getattr(config.roles, role)}
    pairs = zip((task.name for task in stream.tasks), stream.card.scenario.task_roles or [], strict=False)
    found: dict[str, Role] = {name: one for name, role in pairs for one in _ROLES if one == role}
    counts = Counter(found.values())
    for role in _ROLES:
        if not counts[role]:
            raise ValueError(
                f"{config.name}: one environment at least must have the role {role}. Got 0 on the card of the "
                "stream; list the tasks under [roles] in challenge.toml (unseen = [] is without a robustness prize)."
            )
    return found


def _categorical_columns(config: ChallengeConfig, stream: Stream) -> list[int] | None:
    if config.categorical == "auto":
        return list(stream.categorical_features) or None
    return [] if config.categorical == "none" else _columns_of("categorical", config.categorical, stream)


def _columns_of(key: str, chosen: Sequence[str], stream: Stream) -> list[int]:
    names = stream.card.feature_names
    for name in chosen:
        if name not in names:
            raise ValueError(f"{key} must name features of the stream. Got {name!r} instead.")
    return [names.index(name) for name in chosen]


def _telling(hidden: Sequence[Environment]) -> list[int]:
    """Find the features whose ranges in the hidden environments lie apart, as those of a column that made them do."""
    low, high = (np.array([_ends(environment.X, end) for environment in hidden]) for end in ("min", "max"))
    places = np.argsort(low, axis=0)
    low, high = (np.take_along_axis(ends, places, axis=0) for ends in (low, high))
    found: list[int] = np.flatnonzero((high[:-1] < low[1:]).all(axis=0)).tolist()
    return found


def _ends(X: Features, end: Literal["min", "max"]) -> npt.NDArray[np.floating]:
    ends = getattr(X, end)(axis=0)
    return np.asarray(ends.toarray() if sparse.issparse(X) else ends).ravel()


def _require_sizes(hidden: Sequence[Environment], min_rows: int) -> None:
    for one in hidden:
        if len(one) < min_rows:
            raise ValueError(
                f"Environment {one.name!r} ({one.role}) must hold {min_rows} rows at least: a score of few rows "
                f"betrays labels. Got {len(one)}; a lower min_rows in challenge.toml, or --force, accepts it."
            )


def _scored_labels(hidden: Sequence[Environment], names: Sequence[str]) -> Index:
    """Find the labels that occur and are absent in every hidden environment."""
    both = np.logical_and.reduce([_has_both(one) for one in hidden])
    if not both.any():
        name = next(one.name for one in hidden if not _has_both(one).any()) if len(names) == 1 else None
        where = f"environment {name!r}" if name else "every hidden environment"
        raise ValueError(
            f"One label at least must be present in some rows and absent in others of {where}: otherwise nothing can "
            "be scored. Got 0; choose other roles."
        )
    return np.flatnonzero(both)


def _has_both(one: Environment) -> Mask:
    present, counted = (one.Y.astype(bool) & one.mask).sum(axis=0), one.mask.sum(axis=0)
    found: Mask = (present > 0) & (present < counted)
    return found


def truth_of(plan: Plan) -> list[Truth]:
    """Return the truth of each hidden environment, of the labels that are scored."""
    return [
        Truth(key_rows(plan.salt, one.row_ids), one.Y[:, plan.scored], one.mask[:, plan.scored]) for one in plan.hidden
    ]
