"""Scores of several learners along one stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.curves import Experiences, Kind, ScoreCurve, stream_curves
from mlstream.analysis.groups import Runs, group_named
from mlstream.plotting.curves import CURVES_SIZE, draw_score_curves
from mlstream.plotting.matplotlib_parts import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class ScoreCurvesDisplay:
    """A score along a stream, a line per learner; every row is predicted and scored before it is learnt.

    Use `from_results` to make it.

    Parameters
    ----------
    n_rows : sequence of array-like
        For each line, the rows seen at its checkpoints.
    scores : sequence of array-like
        For each line, the score there; NaN where it is not defined.
    names : sequence of str
        The learners.
    experience_sizes : sequence of int
        Rows of each experience; a vertical line marks where each ends.
    score_name : str
        Title of the score.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.
    lines_ : list of Line2D
        A line per learner.

    Raises
    ------
    ValueError
        If the numbers of lines or checkpoints differ.

    Examples
    --------
    >>> from mlstream.plotting import ScoreCurvesDisplay
    >>> display = ScoreCurvesDisplay([[50, 100]], [[0.5, 0.7]], names=["NN"], experience_sizes=[60, 40]).plot()
    >>> display.lines_[0].get_ydata().tolist()
    [0.5, 0.7]
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: list[Line2D]

    def __init__(
        self,
        n_rows: Sequence[npt.ArrayLike],
        scores: Sequence[npt.ArrayLike],
        *,
        names: Sequence[str],
        experience_sizes: Sequence[int],
        score_name: str = "Score",
    ) -> None:
        self.n_rows = [np.asarray(one, dtype=np.int64) for one in n_rows]
        self.scores = [np.asarray(one, dtype=np.float64) for one in scores]
        self.names = names
        self.experience_sizes = experience_sizes
        self.score_name = score_name
        lengths = [len(one) for one in self.n_rows], [len(one) for one in self.scores]
        if lengths[0] != lengths[1] or len(names) != len(lengths[0]):
            raise ValueError(
                f"n_rows, scores and names must have an entry per line, with as many rows as scores. "
                f"Got {lengths[0]} rows, {lengths[1]} scores and {len(names)} names."
            )

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            Options of ``Axes.plot``, for all lines.

        Returns
        -------
        ScoreCurvesDisplay
            This object, with `ax_`, `figure_` and `lines_`.
        """
        self.ax_ = axes_or_new(ax, CURVES_SIZE, open_sides=True)
        self.figure_ = self.ax_.figure
        curves = [
            ScoreCurve(name, place, rows.tolist(), scores)
            for place, (name, rows, scores) in enumerate(zip(self.names, self.n_rows, self.scores, strict=True))
        ]
        experiences = Experiences(self.experience_sizes, (), ())
        self.lines_ = draw_score_curves(self.ax_, self.score_name, curves, experiences, **kwargs)
        return self

    @classmethod
    def from_results(
        cls,
        results: Runs,
        *,
        score: str = "ba_macro",
        kind: Kind = "windowed",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one score of several runs on one stream.

        Parameters
        ----------
        results : RunResult, sequence of RunResult, or mapping of str to RunResult
            One run; runs, as `load_runs` returns them, seeds of one strategy averaged; or results of `evaluate` by
            names of your own.
        score : str
            Name of the score, a key of ``curves`` of the runs.
        kind : {"windowed", "cumulative"}
            Over the last rows, or over all rows so far.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        ScoreCurvesDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the runs are on several streams, none has a curve of that score, or two are of one strategy and seed.

        Notes
        -----
        A line averages the runs that visit the tasks in the order of the first run; runs that failed have no line.
        """
        if kind not in ("windowed", "cumulative"):
            raise ValueError(f"kind must be 'windowed' or 'cumulative'. Got {kind!r} instead.")
        streams = group_named(results)
        if len(streams) != 1:
            raise ValueError(f"results must be runs on one stream. Got {len(streams)} streams: {', '.join(streams)}.")
        (groups,) = streams.values()
        found = stream_curves(groups, score, kind)
        if found is None:
            runs = [run for group in groups for run in group.runs]
            known = ", ".join(dict.fromkeys(name for run in runs for name in run.curves)) or "none"
            raise ValueError(f"score must be one that a run has a curve of ({known}). Got {score!r} instead.")
        display = cls(
            [curve.n_rows for curve in found.curves],
            [curve.scores for curve in found.curves],
            names=[curve.name for curve in found.curves],
            experience_sizes=found.experiences.sizes,
            score_name=found.title,
        )
        return display.plot(ax, **kwargs)
