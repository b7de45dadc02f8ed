"""The demonstrations of the page on the published tables show what the page says they show."""

import csv
import doctest
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.loops import check_all

PAGE = Path(__file__).parents[1] / "docs" / "campaigns" / "published_tables.rst"
TABLE = Path(__file__).parents[1] / "benchmarks" / "reproduction" / "tables" / "supp_table01_ba_macro.csv"
SHARED_TABLE = "The printed balanced accuracies"


def sections() -> dict[str, str]:
    """Split the page: heading -> the text below it, of headings that have examples."""
    parts = re.split(r"^(.+)\n[=~-]{4,}\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {title: text for title, text in zip(parts[1::2], parts[2::2], strict=True) if ">>>" in text}


SECTIONS = sections()


def run(title: str, names: dict[str, object]) -> dict[str, object]:
    """Run the examples of a section; return the names they leave."""
    examples = doctest.DocTestParser().get_doctest(SECTIONS[title], names, title, str(PAGE), 0)
    said: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=said.append, clear_globs=False)
    assert result.attempted > 0
    assert not result.failed, "".join(said)
    return examples.globs


def needs(title: str) -> list[str]:
    """Return the files of the shared data that a section reads."""
    return re.findall(r"^\.\. needs: (\S+)$", SECTIONS[title], re.MULTILINE)


@pytest.mark.slow
def test_demonstrations_show_what_the_page_says():
    alone = [title for title in SECTIONS if title != SHARED_TABLE and not needs(title)]
    assert len(alone) > 20
    names = run(SHARED_TABLE, {})
    check_all(alone, lambda title: run(title, dict(names)))


@pytest.mark.parametrize("title", [title for title in SECTIONS if needs(title)])
def test_a_demonstration_on_data_shows_what_the_page_says(title, shared_data, monkeypatch):
    for name in needs(title):
        monkeypatch.setenv("MLSTREAM_DATA", os.fspath(shared_data(name).parents[1]))
    run(title, run(SHARED_TABLE, {}))


def test_the_table_of_the_page_is_the_one_that_is_reproduced():
    if not TABLE.exists():
        pytest.skip(f"needs the printed table {TABLE}, which is in the repository only")
    with TABLE.open(encoding="utf-8", newline="") as file:
        printed = [list(row.values())[1:-2] for row in csv.DictReader(file)]
    np.testing.assert_array_equal(run(SHARED_TABLE, {})["BA"], np.array(printed, dtype=float))
