"""Recall over the alarms that a period may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from metrics import recall, recall_at_budget
from mlstream.plotting.matplotlib_parts import Display, draw_legend, line_style, literal, marker_style
from mlstream.plotting.styles import strategy_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_SIZE = (6.5, 4.5)  # inches
_N_BUDGETS = 24
# how many times as many alarms as there is to find are drawn
_RANGE = 10

Tables = Mapping[str, npt.ArrayLike]


class AlarmBudgetDisplay(Display):
    """Recall over the number of alarms a period: a line per learner, and a marker where its own decisions are.

    Use `from_predictions` to make it. Options of `plot` are those of ``Axes.plot``, for all lines.

    Parameters
    ----------
    names : sequence of str
        The learners.
    budgets : array-like of shape (n_budgets,)
        Alarms a period, greater than 0.
    recalls : array-like of shape (n_learners, n_budgets)
        Share of what there is to find that the best-scored cells of each period find.
    decisions : mapping of str to (float, float), optional
        For some of the learners, the mean number of alarms a period that it raised, and their recall.
    period_name : str
        What a period is, such as "day".

    Attributes
    ----------
    ax_ : Axes
        The axes; that of alarms is logarithmic.
    figure_ : Figure
        The figure of these axes.
    lines_ : list of Line2D
        A line per learner.
    points_ : list of Line2D
        A marker per learner whose decisions are known.

    Raises
    ------
    ValueError
        If there is not a recall for each learner and budget, or a budget is not greater than 0.

    Examples
    --------
    >>> from mlstream.plotting import AlarmBudgetDisplay
    >>> display = AlarmBudgetDisplay(["ridge"], [1, 10], [[0.1, 0.6]], decisions={"ridge": (758, 0.9)}).plot()
    >>> display.lines_[0].get_ydata().tolist()
    [0.1, 0.6]
    """

    lines_: list[Line2D]
    points_: list[Line2D]

    def __init__(
        self,
        names: Sequence[str],
        budgets: npt.ArrayLike,
        recalls: npt.ArrayLike,
        *,
        decisions: Mapping[str, tuple[float, float]] | None = None,
        period_name: str = "period",
    ) -> None:
        self.names = names
        self.budgets = np.asarray(budgets, dtype=np.float64)
        self.recalls = np.asarray(recalls, dtype=np.float64)
        self.decisions = decisions or {}
        self.period_name = period_name
        if self.recalls.shape != (len(names), len(self.budgets)) or not (self.budgets > 0).all():
            raise ValueError(
                f"recalls must hold a row for each of {len(names)} names, with a number for each budget, and budgets "
                f"must be greater than 0. Got shape {self.recalls.shape} and {len(self.budgets)} budgets."
            )

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        self._begin(ax, _SIZE, open_sides=True)
        self.lines_, self.points_ = [], []
        for place, (name, recalls) in enumerate(zip(self.names, self.recalls, strict=True)):
            key = strategy_key(name, place)
            self.lines_ += self.ax_.plot(self.budgets, recalls, **{"label": literal(name), **line_style(key), **kwargs})
            if name in self.decisions:
                self.points_ += self.ax_.plot(*self.decisions[name], **marker_style(key))
        self.ax_.set(xlabel=f"Alarms per {self.period_name}", ylabel="Recall", xscale="log", ylim=(0, 1.03))
        draw_legend(self.ax_)

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        y_score: Tables,
        *,
        period: int | npt.ArrayLike | None = None,
        budgets: npt.ArrayLike | None = None,
        y_pred: Tables | None = None,
        period_name: str = "period",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw `metrics.recall_at_budget` of several learners over budgets.

        Parameters
        ----------
        y_true : array-like of shape (n_samples, n_labels)
            True labels, 0 or 1; NaN where unknown.
        y_score : mapping of str to array-like of shape (n_samples, n_labels)
            For each learner, its scores, such as probabilities.
        period : int or array-like of shape (n_samples,), optional
            Rows in a period, or the period of each row: ``times.astype("datetime64[D]")`` are days. By default all
            rows are one period.
        budgets : array-like of int, optional
            Alarms a period; by default up to ten times as many as there is to find in the mean of periods.
        y_pred : mapping of str to array-like of shape (n_samples, n_labels), optional
            For some of the learners, what they decided: 1 for an alarm.
        period_name : str
            What a period is, such as "day".
        ax, **kwargs
            See `plot`.

        Returns
        -------
        AlarmBudgetDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If `y_pred` names a learner without scores, or as `metrics.recall_at_budget` does.

        Notes
        -----
        A line is what the learner's ranking finds in hindsight, with as many alarms in each period. A marker below the
        line of its learner loses by its decisions, one above it has more alarms in periods that have more to find, and
        one far on the right costs many.
        """
        decided = y_pred or {}
        if not isinstance(y_score, Mapping):
            raise TypeError(f"y_score must be a mapping of names to scores. Got {type(y_score).__name__} instead.")
        if unknown := [name for name in decided if name not in y_score]:
            raise ValueError(f"y_pred must be of learners in y_score. Got {unknown[0]!r}, and {', '.join(y_score)}.")
        n_periods = _count_periods(period, len(np.asarray(y_true)))
        budgets = np.asarray(_default_budgets(y_true, n_periods) if budgets is None else budgets)
        recalls = [
            [recall_at_budget(y_true, scores, budget, period=period) for budget in budgets]
            for scores in y_score.values()
        ]
        decisions = {
            name: (float(np.asarray(alarms).sum() / n_periods), recall(y_true, alarms, average="micro"))
            for name, alarms in decided.items()
        }
        display = cls(list(y_score), budgets, recalls, decisions=decisions, period_name=period_name)
        return display.plot(ax, **kwargs)


def _count_periods(period: int | npt.ArrayLike | None, n_rows: int) -> int:
    if period is None:
        return 1
    return -(-n_rows // int(period)) if isinstance(period, int | np.integer) else len(np.unique(np.asarray(period)))


def _default_budgets(y_true: npt.ArrayLike, n_periods: int) -> npt.NDArray[np.int64]:
    most = max(2.0, _RANGE * float(np.nansum(np.asarray(y_true, dtype=np.float64))) / n_periods)
    return np.unique(np.geomspace(1, most, _N_BUDGETS).round().astype(np.int64))
