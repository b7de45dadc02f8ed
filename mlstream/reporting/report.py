"""The report of a campaign: one HTML page that needs nothing else, made from records alone."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from mlstream._support.files import write_text_atomically
from mlstream._support.templates import page_templates
from mlstream.analysis.comparison import compare_all
from mlstream.analysis.groups import group_runs
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.plotly_parts import Chart, frame
from mlstream.plotting.transfer_matrix import matrix_names
from mlstream.records.detection_record import Detection, load_detections
from mlstream.records.run_record import has_runs, load_cards, load_runs
from mlstream.records.run_result import RunResult, Runs
from mlstream.reporting.exports import write_figures, write_tables
from mlstream.reporting.page import describe
from mlstream.reporting.tables import format_score, scores_csv
from mlstream.streams.card_model import StreamCard

_LOG = logging.getLogger("mlstream")


def report(
    directory: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    tables: bool = False,
    figures: bool = False,
) -> Path:
    """Write one HTML page about all runs and detections of a campaign; it works offline, in any browser, light or dark.

    Parameters
    ----------
    directory : path
        The folder of a campaign: ``runs/STREAM/STRATEGY-seedN.json``, or
        ``detections/STREAM/LEARNER/DETECTOR-seedN.json``, or both; and ``streams/STREAM.card.json``.
    output : path or None
        The page; ``directory/report.html`` by default. It is derived from the records, so one that exists is replaced,
        at once and as a whole.
    tables : bool
        Also write all scores as CSV beside the page, under its name with the suffix ``.csv``, and every table as CSV,
        Markdown and LaTeX (booktabs) into the folder ``tables`` beside it.
    figures : bool
        Also draw the figures as PNG and SVG into the folder ``figures`` beside the page.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileNotFoundError
        If there are neither runs nor detections, or no card for a stream of one.
    ValueError
        If a record or card is not of this version, or a record is not of the run that its file name states.
    OSError
        If `output` is a folder or a device.
    """
    detections, cards = load_detections(directory), load_cards(directory)
    # Without either, the error says how runs are recorded.
    runs = load_runs(directory) if has_runs(directory) or not detections else Runs()
    _require_cards((*runs, *detections), cards, directory)
    page = Path(directory) / "report.html" if output is None else Path(output)
    if page.exists() and not page.is_file():
        # A device would be replaced by a file of its name.
        raise OSError(
            f"{page} must be a plain file, or absent. Got a {'folder' if page.is_dir() else 'device'} instead."
        )
    page.parent.mkdir(parents=True, exist_ok=True)
    streams = group_runs(runs)
    write_text_atomically(page, _render(describe(runs, streams, cards, detections)))
    if tables:
        if runs:
            write_text_atomically(page.with_suffix(".csv"), scores_csv(streams))
        deque(write_tables(page.parent / "tables", streams, compare_all(streams), detections), maxlen=0)
    if figures:
        deque(write_figures(page.parent / "figures", streams, compare_all(streams), detections), maxlen=0)
    _LOG.info("Wrote %s about %d runs and %d detections", page, len(runs), len(detections))
    return page


def _require_cards(runs: Iterable[RunResult | Detection], cards: Mapping[str, StreamCard], directory: object) -> None:
    live = {run.stream for run in runs if isinstance(run, RunResult) and run.scenario == "live"}
    missing = sorted({run.stream for run in runs} - cards.keys() - live)
    if missing:
        raise FileNotFoundError(
            f"{directory}/streams must hold the card of every stream that was run: the same command, "
            f"given again, writes it, and keeps the records. Got no card of {', '.join(missing)}."
        )


def _render(content: Mapping[str, object]) -> str:
    # Plotly takes a while to import.
    from plotly.offline import get_plotlyjs, get_plotlyjs_version

    environment = page_templates("mlstream.reporting")
    environment.filters |= {"score": format_score, "packed": _packed, "short": _short}
    functions = {"heading": score_heading, "matrix_names": matrix_names}
    environment.globals |= {"frame": frame(), "charts": _Charts(), **functions}
    template = environment.get_template("report.html")
    return template.render(content, plotly_js=get_plotlyjs(), plotly_version=get_plotlyjs_version())


class _Charts:
    """The charts of one page, in the order in which it shows them, as a text of one line each."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def number(self, chart: Chart) -> int:
        """Add a chart; give its number."""
        self._lines.append(json.dumps(_views(chart), allow_nan=False, separators=(",", ":")))
        return len(self._lines) - 1

    def __str__(self) -> str:
        return "\n".join(self._lines)


def _packed(text: str) -> str:
    """Compress a script, the same bytes every time, into letters that a page can hold."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def _short(value: float | str | None) -> str:
    """Write the value that a column is sorted by; six digits tell rows apart, and keep the page small."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _views(chart: Chart) -> list[dict[str, object]]:
    """Return the views of a chart, without the layout that all charts share, which is in the page once."""
    shared = frame()
    return [
        {**asdict(view), "layout": {key: value for key, value in view.layout.items() if shared.get(key) != value}}
        for view in chart.views
    ]
