"""Pictures of a diagnosis: labels of tasks, labels that go together, distances between tasks, and the schedule."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from mlstream.diagnosis.diagnosis import Diagnosis
from mlstream.plotting.labels import label_figure
from mlstream.plotting.matplotlib_parts import write_png_and_svg
from mlstream.plotting.matrices import co_occurrence_figure, task_distances_figure
from mlstream.plotting.schedule import schedule_figure, task_shares
from mlstream.streams.stream import Stream


def draw_pictures(stream: Stream, diagnosis: Diagnosis, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Draw a stream and its diagnosis: signatures, co-occurrences, task distances and schedule, as PNG and as SVG.

    The folder is made if it is absent, and pictures in it are replaced.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    tasks = [task.name for task in stream.tasks]
    distances = {
        "in P(X)": diagnosis.distances.inputs,
        "in P(Y)": diagnosis.distances.labels,
        "in P(Y|X)": diagnosis.distances.labels_given_inputs,
        "shared labels (Jaccard)": diagnosis.signature_overlap,
    }
    counts = diagnosis.overall.co_occurrence.toarray().astype(np.float64)
    figures = {
        "signatures": label_figure(stream.card),
        "co_occurrence": co_occurrence_figure(stream.card.label_names, counts),
        "task_distances": task_distances_figure(tasks, distances),
        "schedule": schedule_figure(stream.card, task_shares(stream)),
    }
    return tuple(path for name, figure in figures.items() for path in write_png_and_svg(figure, Path(folder), name))
