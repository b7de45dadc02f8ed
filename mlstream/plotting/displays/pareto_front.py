"""A score against a cost, and the strategies that no other beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.costs import SCORE, CostPoint
from mlstream.analysis.groups import Runs, group_named
from mlstream.analysis.pareto import front_of, pareto_points
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.costs import COSTS_SIZE, draw_costs
from mlstream.plotting.matplotlib_parts import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

Cost = Literal["energy", "time"]


class ParetoFrontDisplay:
    """A score against a cost, a point per strategy; a line joins those that no other beats in both.

    Use `from_runs` to make it.

    Parameters
    ----------
    names : sequence of str
        The strategies.
    costs, scores : array-like of shape (n_strategies,)
        What each costs, at least 0, less is better; and its score, of which more is better.
    cost_name, score_name : str
        Titles of the axes; the cost with its unit.

    Attributes
    ----------
    ax_ : Axes
        The axes; that of costs is logarithmic where they differ by a factor of two and none is 0.
    figure_ : Figure
        The figure of these axes.
    points_ : list of Line2D
        A marker per strategy.
    front_ : Line2D
        The line.

    Raises
    ------
    ValueError
        If there is not one finite cost and score per name, or no name.

    Examples
    --------
    >>> from mlstream.plotting import ParetoFrontDisplay
    >>> display = ParetoFrontDisplay(["mean", "NN", "forest"], costs=[0.1, 2, 90], scores=[0.5, 0.8, 0.7]).plot()
    >>> display.front
    ['mean', 'NN']
    """

    ax_: Axes
    figure_: Figure | SubFigure
    points_: list[Line2D]
    front_: Line2D

    def __init__(
        self,
        names: Sequence[str],
        costs: npt.ArrayLike,
        scores: npt.ArrayLike,
        *,
        cost_name: str = "Energy, J",
        score_name: str = "Score",
    ) -> None:
        self.names = names
        self.costs = np.asarray(costs, dtype=np.float64)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.cost_name = cost_name
        self.score_name = score_name
        for name, values in (("costs", self.costs), ("scores", self.scores)):
            if values.shape != (len(names),) or not len(names) or not np.isfinite(values).all():
                raise ValueError(
                    f"{name} must hold a finite number for each of at least one name. "
                    f"Got shape {values.shape} and {len(names)} names."
                )
        if self.costs.min() < 0:
            raise ValueError(f"costs must be at least 0. Got {self.costs.min():g} instead.")

    @property
    def front(self) -> list[str]:
        """Names of the strategies that no other beats in both, the cheapest first."""
        return [one.name for one in front_of(self._points())]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ParetoFrontDisplay
            This object, with `ax_`, `figure_`, `points_` and `front_`.
        """
        self.ax_ = axes_or_new(ax, COSTS_SIZE, open_sides=True)
        self.figure_ = self.ax_.figure
        self.points_, self.front_ = draw_costs(self.ax_, self._points(), self.score_name, self.cost_name)
        return self

    @classmethod
    def from_runs(cls, runs: Runs, *, score: str = SCORE, cost: Cost = "energy", ax: Axes | None = None) -> Self:
        """Draw a score of runs against what they cost.

        Parameters
        ----------
        runs : RunResult, sequence of RunResult, or mapping of str to RunResult
            The runs; a mapping gives them names of your own.
        score : str
            Name of a score of which more is better.
        cost : {"energy", "time"}
            Joules, or seconds of wall time, of learning and evaluation.
        ax : Axes, optional
            See `plot`.

        Returns
        -------
        ParetoFrontDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If less of the score is better, or no run that finished has both the score and the cost; or, on several
            streams, no two strategies have the score on the same two.

        Notes
        -----
        Seeds are averaged first. Over several streams the score is a mean and the cost a total, over the streams on
        which the strategies can be compared, see `CriticalDifferenceDisplay.from_runs`.
        """
        if cost not in ("energy", "time"):
            raise ValueError(f"cost must be 'energy' or 'time'. Got {cost!r} instead.")
        if score_heading(score).better == "lower":
            raise ValueError(f"score must be one of which more is better. Got {score!r} instead.")
        found = pareto_points(group_named(runs), cost, score)
        finished = [one for one in found.points if one.is_finished] if found is not None else []
        if found is None or not finished:
            raise ValueError(
                f"runs must have finished, with a score {score!r} and a {cost} that was measured, and on several "
                f"streams two strategies on the same two. Got {'none' if found is None else 'capped ones only'}."
            )
        display = cls(
            [one.name for one in finished],
            [one.cost for one in finished],
            [one.score for one in finished],
            cost_name=found.title,
            score_name=score_heading(score).title,
        )
        return display.plot(ax)

    def _points(self) -> list[CostPoint]:
        return [
            CostPoint(name, style, float(cost), float(score), None, is_finished=True, is_uncertain=False)
            for style, (name, cost, score) in enumerate(zip(self.names, self.costs, self.scores, strict=True))
        ]
