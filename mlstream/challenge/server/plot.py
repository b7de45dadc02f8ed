"""The best score of each team over time, as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import pairwise

from mlstream.challenge.clock import format_time

WIDTH, HEIGHT = 720.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 150.0, 16.0, 40.0
# Of sufficient contrast on white and on black, and told apart by people who see few colours (Okabe and Ito).
_COLOURS = ("#0072b2", "#b85c00", "#00795a", "#a8467f", "#5d5d5d", "#3a7ca5", "#8a6d00", "#7a4fbf")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3")
MAX_TEAMS = 8
_GAP = 15.0

Steps = Sequence[tuple[datetime, float]]


def draw_history(history: Mapping[str, Steps], now: datetime, *, lower_is_better: bool) -> str:
    """Draw the best score of each team as steps over time, as an SVG element, empty if there is no score.

    `history` has, by team, the times at which the best score improved, and the scores; `now` is the right end. Better
    scores are higher up. At most eight teams, the best ones, are drawn.
    """
    sign = -1 if lower_is_better else 1
    best = sorted(history, key=lambda team: -sign * history[team][-1][1])[:MAX_TEAMS]
    if not best:
        return ""
    frame = _Frame([history[team] for team in best], now, sign)
    ends = _spread([frame.y(history[team][-1][1]) for team in best])
    parts = [_axes(frame), *(_line(frame, team, history[team], place, ends[place]) for place, team in enumerate(best))]
    title = f"Best validation score over time of {len(best)} teams; the table below holds the numbers"
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" class="plot"><title>{escape(title)}</title>'
        + "".join(parts)
        + "</svg>"
    )


class _Frame:
    """The scales of a picture."""

    def __init__(self, steps: Sequence[Steps], now: datetime, sign: int) -> None:
        scores = [score for one in steps for _, score in one]
        self.first, self.last = min(time for one in steps for time, _ in one), now
        self.low, self.high = min(scores), max(scores)
        self._sign = sign
        self._span = max((now - self.first).total_seconds(), 1.0)

    def x(self, time: datetime) -> float:
        share = min((time - self.first).total_seconds() / self._span, 1.0)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, score: float) -> float:
        share = (score - self.low) / (self.high - self.low or 1.0)
        return HEIGHT - _BOTTOM - (share if self._sign > 0 else 1 - share) * (HEIGHT - _TOP - _BOTTOM)


def _axes(frame: _Frame) -> str:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    ticks = sorted({frame.low, (frame.low + frame.high) / 2, frame.high})
    lines = [
        f'<line class="rule" x1="{_LEFT:g}" y1="{frame.y(tick):.1f}" x2="{right:g}" y2="{frame.y(tick):.1f}"/>'
        f'<text x="{_LEFT - 8:g}" y="{frame.y(tick) + 4:.1f}" text-anchor="end">{tick:.3f}</text>'
        for tick in ticks
    ]
    times = f'<text x="{_LEFT:g}" y="{bottom + 22:g}">{escape(format_time(frame.first))}</text>'
    if (frame.last - frame.first).total_seconds() >= 1:
        times += f'<text x="{right:g}" y="{bottom + 22:g}" text-anchor="end">{escape(format_time(frame.last))}</text>'
    return "".join(lines) + times


def _line(frame: _Frame, team: str, steps: Steps, place: int, label_y: float) -> str:
    path = f"M{frame.x(steps[0][0]):.1f} {frame.y(steps[0][1]):.1f}"
    for _, (time, score) in pairwise(steps):
        path += f"H{frame.x(time):.1f}V{frame.y(score):.1f}"
    end = WIDTH - _RIGHT
    colour, dash = _COLOURS[place % len(_COLOURS)], _DASHES[place % len(_DASHES)]
    shown = team if len(team) <= 20 else f"{team[:19]}…"
    return (
        f'<path d="{path}H{end:g}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        f'<text x="{end + 8:g}" y="{label_y + 4:.1f}" fill="{colour}">{escape(shown)}</text>'
    )


def _spread(heights: Sequence[float]) -> list[float]:
    """Move labels apart, downwards, so that none covers another."""
    moved = list(heights)
    lowest = -_GAP
    for place in sorted(range(len(heights)), key=heights.__getitem__):
        moved[place] = lowest = max(moved[place], lowest + _GAP)
    return moved
