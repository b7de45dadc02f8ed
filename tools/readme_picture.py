"""The picture of the README: when each task is visited, and how well a learner does on each task from then on.

``python tools/readme_picture.py`` evaluates a learner on Yeast and writes ``docs/_static/stream-light.svg`` and
``docs/_static/stream-dark.svg``. A column of the lower half is the score after the experience above it.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "docs" / "_static"
WIDTH, LEFT, LANE = 620, 62, 32
TOP, MIDDLE = 34, 64
SCORES = (0.5, 0.7)


class Theme(NamedTuple):
    """Colours: text, faint lines, bars, the outline of what was just learnt, and cells from the worst to the best."""

    ink: str
    faint: str
    bar: str
    outline: str
    heat: tuple[str, ...]


THEMES = {
    "light": Theme("#1c2127", "#d8dde3", "#2148c7", "#1c2127", ("#e0ecf9", "#c0d6ee", "#a2bfe1", "#86a8d2", "#6b92c2")),
    "dark": Theme("#e6e9ec", "#454c54", "#8195f8", "#e6e9ec", ("#102334", "#17334d", "#1f4567", "#285783", "#306a9f")),
}


def draw(sizes: Sequence[int], order: Sequence[int], scores: Sequence[Sequence[float]], theme: Theme) -> str:
    """Draw the schedule above, and the score on each task after each experience below.

    Parameters
    ----------
    sizes, order : sequence of int
        Rows of each experience, and its task.
    scores : sequence of sequence of float
        A row per experience, a column per task.
    theme : Theme
        The colours.
    """
    n_tasks = len(scores[0])
    scale = (WIDTH - LEFT - 1) / sum(sizes)
    edges = [LEFT + scale * rows for rows in accumulate(sizes, initial=0)]
    below = TOP + LANE * n_tasks + MIDDLE
    height = below + LANE * n_tasks + 6
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="15" fill="{theme.ink}" role="img">',
        "<title>The schedule of a stream of four tasks, and the score on each task after each experience</title>",
        _text(0, 16, "The stream: four tasks cut from the table Yeast, each visited twice"),
        *_lanes(n_tasks, TOP, theme),
        *_bars(edges, order, theme),
        _text(0, below - 34, "The learner: balanced accuracy on held-out rows of every task,"),
        _text(0, below - 14, "after each experience (outlined: the task just learnt)"),
        *_lanes(n_tasks, below, theme),
        *_cells(edges, order, scores, below, theme),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _lanes(n_tasks: int, top: float, theme: Theme) -> Iterator[str]:
    for task in range(n_tasks):
        yield _text(0, top + LANE * task + LANE / 2 + 5, f"task {task}")
        y = top + LANE * (task + 1)
        yield f'<path d="M{LEFT} {y}H{WIDTH - 1}" stroke="{theme.faint}"/>'


def _bars(edges: Sequence[float], order: Sequence[int], theme: Theme) -> Iterator[str]:
    for (left, right), task in zip(pairwise(edges), order, strict=True):
        box = _box(left, TOP + LANE * task + 4, right - left, LANE - 8)
        yield f'<rect {box} fill="{theme.bar}" rx="2"/>'


def _cells(
    edges: Sequence[float], order: Sequence[int], scores: Sequence[Sequence[float]], top: float, theme: Theme
) -> Iterator[str]:
    for (left, right), learnt, row in zip(pairwise(edges), order, scores, strict=True):
        for task, score in enumerate(row):
            box = _box(left + 1, top + LANE * task + 2, right - left - 2, LANE - 4)
            outline = f' stroke="{theme.outline}" stroke-width="2"' if task == learnt else ""
            yield f'<rect {box} fill="{_shade(score, theme)}"{outline} rx="2"/>'
            yield _text((left + right) / 2, top + LANE * task + LANE / 2 + 5, f"{score:.2f}", "middle")


def _shade(score: float, theme: Theme) -> str:
    low, high = SCORES
    place = int((score - low) / (high - low) * len(theme.heat))
    return theme.heat[min(max(place, 0), len(theme.heat) - 1)]


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'


def _text(x: float, y: float, content: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'


def make_pictures(folder: Path) -> list[Path]:
    """Evaluate the learner of the README, and write both pictures."""
    from estimators.strategies import make_strategy
    from mlstream import evaluate, load_dataset, task_stream

    stream = task_stream(load_dataset("yeast"), n_tasks=4, seed=0)
    result = evaluate(make_strategy("StreamRidge"), stream, energy="none")
    scores = [[float(score or 0) for score in row] for row in result.R["ba_macro"][1:]]
    paths = []
    for name, theme in THEMES.items():
        path = folder / f"stream-{name}.svg"
        picture = draw(result.experience_sizes, [tasks[0] for tasks in result.order], scores, theme)
        path.write_text(picture, encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in make_pictures(FOLDER):
        print(written)
