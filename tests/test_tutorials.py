"""The pictures of the tutorials are those that the code of their pages saves."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "_static" / "tutorials"
TUTORIALS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((DOCS / "tutorials").glob("*.rst"))}


def test_each_saved_picture_is_shown_with_a_text_and_is_small():
    for page, text in TUTORIALS.items():
        saved = set(re.findall(r'savefig\("([\w-]+\.png)"', text))
        shown = re.findall(r"^\.\. image:: /_static/tutorials/(\S+)\n   :alt: \S+", text, re.MULTILINE)
        assert saved == set(shown), page
        for name in saved:
            assert (PICTURES / name).stat().st_size < 60_000, name


@pytest.mark.filterwarnings("default")
def test_the_tool_returns_the_pictures_that_a_page_saves(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(
        "Page\n\n.. code-block:: python\n\n   import matplotlib.pyplot as plt\n   figure = plt.figure()\n\n"
        'Text\n\n.. code-block:: python\n\n   figure.savefig("drawn.png")\n'
    )
    (tmp_path / "empty").mkdir()
    tool = runpy.run_path(str(DOCS.parent / "tools" / "tutorial_pictures.py"))
    assert [path.name for path in tool["draw"](page, tmp_path / "empty")] == ["drawn.png"]
