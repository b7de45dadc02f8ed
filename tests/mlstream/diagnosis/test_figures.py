"""Pictures are whole, the same each time, and hold what they are of, whatever names look like."""

import numpy as np
import pytest

from mlstream.diagnosis.diagnosis import diagnose
from mlstream.diagnosis.figures import draw_pictures
from mlstream.generators import multiplier_stream, task_stream
from tests.mlstream.generators.tables import make_table
from tests.mlstream.small_streams import Shape, make_stream

STREAMS = {
    "odd names": lambda: make_stream(Shape(label_names=("$\\frac{", "日" * 60, "a_b^c"), sizes=(6, 0, 0), by_row=True)),
    "many labels and tasks": lambda: task_stream(
        make_table(np.random.default_rng(0).random((900, 60)) < 0.1), n_tasks=14
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("kind", ["odd names", pytest.param("many labels and tasks", marks=pytest.mark.slow)])
def test_every_picture_is_drawn(kind, tmp_path):
    stream = STREAMS[kind]()
    files = draw_pictures(stream, diagnose(stream), tmp_path / "new" / "folder")
    names = [
        f"{name}.{kind}"
        for name in ("signatures", "co_occurrence", "task_distances", "schedule")
        for kind in ("png", "svg")
    ]
    assert [path.name for path in files] == names
    for path in files:
        if path.suffix == ".svg":
            assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")
        else:
            assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_same_stream_gives_the_same_pictures(tmp_path):
    stream = multiplier_stream("rand", n_rows=80, window=5)
    one, other = (draw_pictures(stream, diagnose(stream), tmp_path / name) for name in ("one", "other"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
