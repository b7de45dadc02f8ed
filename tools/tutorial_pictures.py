"""The pictures of the tutorials: those that the code of their pages saves.

``python tools/tutorial_pictures.py new_threats`` runs the Python blocks of ``docs/tutorials/new_threats.rst`` in an
empty folder, and copies the pictures that they save to ``docs/_static/tutorials``.
"""

import contextlib
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", re.MULTILINE)


def draw(page: Path, folder: Path) -> list[Path]:
    """Run the Python blocks of a page in an empty folder, and return the pictures that they save there."""
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.chdir(folder), mpl.rc_context({"backend": "agg"}):
        for code in BLOCK.findall(page.read_text(encoding="utf-8")):
            exec(textwrap.dedent(code), names)  # noqa: S102 - our own pages
        plt.close("all")
    return sorted(folder.glob("*.png"))


def main(pages: list[str]) -> None:
    """Draw the pictures of the pages that are named."""
    target = DOCS / "_static" / "tutorials"
    target.mkdir(exist_ok=True)
    for page in pages:
        with TemporaryDirectory() as folder:
            for picture in draw(DOCS / "tutorials" / f"{page}.rst", Path(folder)):
                shutil.copy(picture, target)
                print(os.path.relpath(target / picture.name))


if __name__ == "__main__":
    main(sys.argv[1:])
