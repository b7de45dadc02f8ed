"""Contributions of the features of a row to the score of a label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from metrics.validation import require_integer
from mlstream.plotting.matplotlib_parts import Display, inches_for, literal
from mlstream.plotting.styles import PAPER_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

_WIDTH = 6.5  # inches
_UP, _DOWN, _INK = PAPER_COLOURS[1], PAPER_COLOURS[0], PAPER_COLOURS[-1]


class ExplanationDisplay(Display):
    """Why a row has the score that it has: a bar for each of the largest contributions, from the base to the score.

    Each bar begins where the one above it ends. Use `from_explanation` to make it.
    Options of `plot` are those of ``Axes.barh``.

    Parameters
    ----------
    names : sequence of str
        Names of the contributions, the first on top.
    contributions : array-like of shape (n_names,)
        What each adds to the score.
    base : float
        Score without contributions.
    score_name : str
        What the score is, for the axis.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.
    bars_ : BarContainer
        The bars.

    Raises
    ------
    ValueError
        If there is not a contribution for each name.

    Examples
    --------
    >>> from mlstream.plotting import ExplanationDisplay
    >>> display = ExplanationDisplay(["bytes", "hosts"], [1.9, -0.4], base=-3.0, score_name="worm (logit)").plot()
    >>> [round(float(bar.get_width()), 1) for bar in display.bars_]
    [1.9, -0.4]
    """

    bars_: BarContainer

    def __init__(
        self, names: Sequence[str], contributions: npt.ArrayLike, *, base: float, score_name: str = "score"
    ) -> None:
        self.names = names
        self.contributions = np.asarray(contributions, dtype=np.float64)
        self.base = base
        self.score_name = score_name
        if self.contributions.shape != (len(names),):
            raise ValueError(
                f"contributions must hold a number for each of {len(names)} names. "
                f"Got shape {self.contributions.shape} instead."
            )

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        places = np.arange(len(self.names))
        ends = self.base + np.cumsum(self.contributions)
        colours = [_UP if value >= 0 else _DOWN for value in self.contributions.tolist()]
        self._begin(ax, (_WIDTH, inches_for(len(self.names), minimum=2.5)), open_sides=True)
        options = {"color": colours, "height": 0.7, **kwargs}
        self.bars_ = self.ax_.barh(places, self.contributions, left=ends - self.contributions, **options)
        self.ax_.bar_label(self.bars_, [f"{value:+.3g}" for value in self.contributions.tolist()], padding=3)
        score = float(ends[-1]) if len(ends) else self.base
        for value, name, dash in ((self.base, "base", "dotted"), (score, "score", "dashed")):
            self.ax_.axvline(value, color=_INK, linestyle=dash, linewidth=1, zorder=0)
            self.ax_.annotate(
                f"{name} {value:.3g}",
                (value, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3 if name == "score" else 15),
                textcoords="offset points",
                ha="center",
            )
        self.ax_.set_yticks(places, [literal(name) for name in self.names])
        self.ax_.invert_yaxis()
        self.ax_.use_sticky_edges = False
        self.ax_.margins(x=0.15)
        self.ax_.set_xlabel(literal(self.score_name))

    @classmethod
    def from_explanation(
        cls,
        explanation: Any,
        *,
        label: int | str = 0,
        row: int = 0,
        k: int = 8,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what the score of a label in a row is made of.

        Parameters
        ----------
        explanation : Explanation
            What `estimators.StreamClassifier.explain` returns.
        label : int or str
            Position or name of the label.
        row : int
            Position of the row.
        k : int
            Number of features that have a bar of their own, at least 1; the others share a bar, and so do interactions.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        ExplanationDisplay
            The display, drawn. Of an estimate, whose contributions do not add up, "not added up" is the rest.

        Raises
        ------
        ValueError
            If there is no such label or row.
        """
        largest = explanation.top(require_integer(k, "k", minimum=1), label=label, row=row)
        j = explanation.label_index(label)
        names, values = [name for name, _ in largest], [value for _, value in largest]
        features, together = explanation.contributions[row, j].sum(), explanation.interactions[row, j].sum()
        base, score = float(explanation.base[j]), float(explanation.scores[row, j])
        rest = score - base - features - together
        for name, value in (
            ("other features", features - sum(values)),
            ("interactions", together),
            ("not added up", 0.0 if explanation.is_exact else rest),
        ):
            if abs(value) > 1e-9:
                names, values = [*names, name], [*values, float(value)]
        kind = explanation.scale if explanation.is_exact else f"{explanation.scale}, estimated"
        return cls(names, values, base=base, score_name=f"{explanation.label_names[j]} ({kind})").plot(ax, **kwargs)
