"""Every example of the gallery runs without a warning, draws a figure, and finds what it needs on its own."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
# Programs, which test_service_example.py tests.
SERVICE = EXAMPLES / "service"
SCRIPTS = sorted(script for script in EXAMPLES.rglob("*.py") if script.parent != SERVICE)
SECTIONS = [
    folder for folder in EXAMPLES.iterdir() if folder.is_dir() and folder.name not in {"__pycache__", "service"}
]


@pytest.fixture
def drawn(monkeypatch):
    """Return the numbers of figures; each begins with Matplotlib's defaults, and none opens a window."""
    # Slow to import, and needed for slow tests only.
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    with mpl.rc_context():
        yield plt.get_fignums
    plt.close("all")


@pytest.mark.soak
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_an_example_runs_without_a_warning(script, drawn, monkeypatch, tmp_path):
    for name in ("MLSTREAM_DATA", "MLSTREAM_SHARED_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert drawn()
    assert list(tmp_path.iterdir()) == []


def test_every_script_is_an_example_of_a_section():
    """sphinx-gallery would run no other script, and show no folder without a header."""
    assert [script for script in SCRIPTS if not script.name.startswith("plot_") or script.parent not in SECTIONS] == []
    assert [section.name for section in SECTIONS if not (section / "README.rst").exists()] == []
