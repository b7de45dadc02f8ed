"""Groups of rows that carry no known label, are novel, and lie close together."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.contract.validation import Features, stack_rows
from estimators.meta._kernels.novelty import STEP
from metrics.validation import require_integer

# Scores before the first threshold.
_FEWEST_SCORES = 100
# Groups that wait for an answer at most, and those near which no other is offered; the oldest leave first.
_MOST_GROUPS = 1000
# Deviations within which a feature may move a row away from others.
_REACH = 5.0


class NovelGroup(NamedTuple):
    """Rows that may share a label which has no name yet."""

    number: int  # from 0, for `NovelLabels.name_group` and `NovelLabels.dismiss_group`
    rows: Array  # (n_rows,): numbers of the rows among those learnt, from 0, in their order
    X: Any  # (n_rows, n_features), dense or sparse
    novelty: Array  # (n_rows,)


class Seen(NamedTuple):
    """Successive rows: their scores, which of them carry no known label, positions to compare, and features."""

    novelty: Array  # (n_rows,)
    unlabelled: Array  # (n_rows,): bool
    places: Array  # (n_rows, n_places)
    X: Features

    def part(self, rows: slice) -> "Seen":
        """Return some of the rows."""
        return Seen(self.novelty[rows], self.unlabelled[rows], self.places[rows], self.X[rows])

    def copy(self) -> "Seen":
        """Return rows that share nothing with these."""
        return Seen(self.novelty.copy(), self.unlabelled.copy(), self.places.copy(), self.X.copy())


class _Candidate(NamedTuple):
    """A row that may become a member of a group."""

    row: int
    x: Features
    novelty: float


class Groups(NamedTuple):
    """Groups that were offered, and recent rows, in which others are looked for. Never changed in place."""

    share: float
    size: int
    window: int
    n_rows: int = 0
    waiting: tuple[Seen, ...] = ()
    novelty: Array = np.empty(0)  # of the last `window` rows
    row: Array = np.empty(0, dtype=np.int64)  # numbers of those among them without a known label
    places: Array | None = None  # (len(row), n_places)
    candidates: tuple[_Candidate, ...] = ()
    n_groups: int = 0
    offered: tuple[NovelGroup, ...] = ()
    # of the last groups, those that were answered included
    centres: Array | None = None  # (n_centres, n_places)
    radii: Array = np.empty(0)  # (n_centres,): squared

    def plus(self, rows: Seen, scales: Array) -> Self:
        """Add rows; positions ``1 / scale`` from each other are one apart, with a scale for every `STEP` rows."""
        groups, start, n_rows, n_steps = self, 0, len(rows.novelty), 0
        while start < n_rows:
            stop = min(n_rows, start + STEP - groups.n_rows % STEP)
            is_full = (groups.n_rows + stop - start) % STEP == 0
            part = rows.part(slice(start, stop))
            groups = groups._replace(
                n_rows=groups.n_rows + stop - start,
                # rows that wait outlive the call, and the array that they were passed in
                waiting=(*groups.waiting, part if is_full else part.copy()),
            )
            if is_full:
                groups = groups._looked(scales[n_steps])
                n_steps += 1
            start = stop
        return groups

    def without(self, number: int) -> tuple[NovelGroup, Self]:
        """Return an offered group, and the others."""
        number = require_integer(number, "group", 0)
        for group in self.offered:
            if group.number == number:
                return group, self._replace(offered=tuple(other for other in self.offered if other is not group))
        numbers = [group.number for group in self.offered]
        raise ValueError(f"group must be the number of a group in groups_, one of {numbers}. Got {number!r} instead.")

    def _looked(self, scale: Array) -> Self:
        """Add the rows that wait, and look for groups among the recent ones."""
        threshold = np.quantile(self.novelty, 1.0 - self.share) if len(self.novelty) >= _FEWEST_SCORES else np.inf
        first = self.n_rows - STEP
        novelty, unlabelled, places = (
            np.concatenate([getattr(part, name) for part in self.waiting])
            for name in ("novelty", "unlabelled", "places")
        )
        bare = np.flatnonzero(unlabelled)
        groups = self._with_recent(novelty, first + bare, places[bare])
        high = bare[novelty[bare] >= threshold]
        far = high[~groups._near_offered(places[high], scale)]
        if not len(far):
            return groups
        features = stack_rows([part.X for part in self.waiting])
        # a view would keep all rows of the page
        added = tuple(_Candidate(first + i, features[i : i + 1].copy(), float(novelty[i])) for i in far.tolist())
        groups = groups._replace(candidates=groups.candidates + added)
        for candidate in added:
            groups = groups._around(candidate, scale)
        return groups

    def _with_recent(self, novelty: Array, row: Array, places: Array) -> Self:
        """Move the window on: by scores of all rows, and by those without a known label."""
        oldest = self.n_rows - self.window
        kept = self.row >= oldest
        return self._replace(
            waiting=(),
            novelty=np.concatenate([self.novelty, novelty])[-self.window :],
            row=np.concatenate([self.row[kept], row]),
            places=places if self.places is None else np.vstack([self.places[kept], places]),
            candidates=tuple(candidate for candidate in self.candidates if candidate.row >= oldest),
        )

    def _around(self, candidate: _Candidate, scale: Array) -> Self:
        """Offer the nearest rows of a candidate as a group, if there are enough candidates among them."""
        held = {other.row: other for other in self.candidates}
        if candidate.row not in held or len(self.row) < self.size or self.places is None:
            return self
        centre = self.places[np.searchsorted(self.row, candidate.row)]
        squared = _squared_distances(self.places, centre, scale)
        nearest = np.argsort(squared, kind="stable")[: self.size]
        members = [held[row] for row in np.sort(self.row[nearest]).tolist() if row in held]
        if 2 * len(members) < self.size:
            return self
        return self._offering(members, centre, squared, float(squared[nearest[-1]]))

    def _offering(self, members: Sequence[_Candidate], centre: Array, squared: Array, radius: float) -> Self:
        """Offer a group; rows within its radius are candidates no longer."""
        rows, features, novelty = zip(*members, strict=True)
        group = NovelGroup(self.n_groups, np.array(rows), stack_rows(features), np.array(novelty))
        inside = set(self.row[squared <= radius].tolist())
        return self._replace(
            candidates=tuple(other for other in self.candidates if other.row not in inside),
            n_groups=self.n_groups + 1,
            offered=(*self.offered, group)[-_MOST_GROUPS:],
            centres=centre[np.newaxis] if self.centres is None else np.vstack([self.centres, centre])[-_MOST_GROUPS:],
            radii=np.append(self.radii, radius)[-_MOST_GROUPS:],
        )

    def _near_offered(self, places: Array, scale: Array) -> Array:
        """Return which rows lie within a group that was offered."""
        near = np.zeros(len(places), dtype=np.bool_)
        if self.centres is not None:
            for i, place in enumerate(places):
                near[i] = (_squared_distances(self.centres, place, scale) <= self.radii).any()
        return near


def _squared_distances(places: Array, place: Array, scale: Array) -> Array:
    """Return the squared distances of positions from another one."""
    return np.asarray((np.clip((places - place) * scale, -_REACH, _REACH) ** 2).sum(axis=1))
