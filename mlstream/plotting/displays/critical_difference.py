"""Mean ranks of strategies over streams, and which of them the Nemenyi test does not separate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.comparison import Ranking, compare, find_cliques
from mlstream.analysis.groups import group_named
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.matplotlib_parts import axes_or_new
from mlstream.plotting.rank_diagrams import diagram_size, draw_diagram
from mlstream.records.run_result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class CriticalDifferenceDisplay:
    """A critical-difference diagram (Demšar 2006): bars join strategies that may be equal.

    Use `from_runs` to make it.

    Parameters
    ----------
    ranks : array-like of shape (n_strategies,)
        Mean ranks over streams; 1 is best. See `metrics.average_ranks`.
    names : sequence of str
        The strategies.
    critical_difference : float
        Difference of mean ranks from which two strategies differ. See `metrics.critical_difference`.
    n_streams : int
        Streams that ranks are means over.
    score_name : str
        Title of the score.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.

    Raises
    ------
    ValueError
        If there is not one name per rank, or fewer than two.

    Examples
    --------
    >>> from mlstream.plotting import CriticalDifferenceDisplay
    >>> ranks, names = [1.2, 2.9, 1.9], ["NN", "mean", "BR_HT"]
    >>> display = CriticalDifferenceDisplay(ranks, names, critical_difference=1.05, n_streams=10).plot()
    >>> display.cliques
    [['NN', 'BR_HT'], ['BR_HT', 'mean']]
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        ranks: npt.ArrayLike,
        names: Sequence[str],
        *,
        critical_difference: float,
        n_streams: int,
        score_name: str = "Score",
    ) -> None:
        self.ranks = np.asarray(ranks, dtype=np.float64)
        self.names = names
        self.critical_difference = critical_difference
        self.n_streams = n_streams
        self.score_name = score_name
        if self.ranks.shape != (len(names),) or len(names) < 2:
            raise ValueError(
                f"ranks must hold a rank for each of at least two names. "
                f"Got shape {self.ranks.shape} and {len(names)} names."
            )

    @property
    def cliques(self) -> list[list[str]]:
        """Names of the strategies that each bar joins, best first."""
        ranking = self._ranking()
        return [list(ranking.names[first : last + 1]) for first, last in ranking.cliques]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CriticalDifferenceDisplay
            This object, with `ax_` and `figure_`.
        """
        ranking = self._ranking()
        self.ax_ = axes_or_new(ax, diagram_size(ranking))
        self.figure_ = self.ax_.figure
        draw_diagram(self.ax_, ranking)
        return self

    @classmethod
    def from_runs(cls, runs: Sequence[RunResult], *, score: str = "ba_macro", ax: Axes | None = None) -> Self:
        """Rank strategies by one score on several streams, and draw.

        Parameters
        ----------
        runs : sequence of RunResult
            The runs, as `load_runs` returns them: at least two strategies on the same two streams.
        score : str
            Name of the score.
        ax : Axes, optional
            See `plot`.

        Returns
        -------
        CriticalDifferenceDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If no two strategies have the score on the same two streams, or two runs share strategy, stream and seeds.

        Notes
        -----
        The report compares by the same rules: repetitions are averaged first, only runs that finished count, and all
        strategies are ranked on the streams on which all have a score, if these are at least two and half of all.
        """
        found = compare(group_named(runs), score)
        if found is None:
            n_streams, n_strategies = len({run.stream for run in runs}), len({run.strategy for run in runs})
            raise ValueError(
                f"runs must hold two strategies with a score {score!r} on the same two streams. "
                f"Got {len(runs)} runs of {n_strategies} strategies on {n_streams} streams."
            )
        display = cls(
            found.ranks,
            found.strategies,
            critical_difference=found.critical_difference,
            n_streams=len(found.streams),
            score_name=score_heading(score).title,
        )
        return display.plot(ax)

    def _ranking(self) -> Ranking:
        best_first = np.argsort(self.ranks, kind="stable")
        ranks = self.ranks[best_first].tolist()
        return Ranking(
            title=self.score_name,
            names=[self.names[place] for place in best_first],
            ranks=ranks,
            cliques=find_cliques(ranks, self.critical_difference),
            critical_difference=self.critical_difference,
            n_streams=self.n_streams,
        )
