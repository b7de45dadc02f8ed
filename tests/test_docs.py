"""Everything public is in the documentation."""

import re
from pathlib import Path
from typing import get_type_hints

import estimators
import metrics
import mlstream
from mlstream import generators, interop, plotting, service
from mlstream._support.reading import ReadingOptions

DOCS = Path(__file__).parents[1] / "docs"

# Registries and the results of significance tests are described with the functions that use them.
WITH_THEIR_FUNCTIONS = {
    "BayesianComparison",
    "FROM_NOTHING",
    "FROM_STREAMS",
    "FROM_TABLES",
    "FriedmanResult",
    "GENERATORS",
    "LearningSpeed",
    "PUBLISHED_ORDERS",
    "SCENARIOS",
    "STRATEGIES",
    "StreamParts",
    "remake",
}


def test_every_public_name_is_in_the_api():
    lines = [line for page in (DOCS / "api").glob("*.rst") for line in page.read_text(encoding="utf-8").splitlines()]
    listed = {line.strip().rpartition(".")[2] for line in lines}
    public = {
        *metrics.__all__,
        *estimators.__all__,
        *mlstream.__all__,
        *generators.__all__,
        *plotting.__all__,
        *interop.__all__,
        *service.__all__,
    }
    assert public - listed == WITH_THEIR_FUNCTIONS


def test_every_strategy_has_a_line_and_a_page_that_exists():
    text = (DOCS / "learners" / "strategies.rst").read_text(encoding="utf-8")
    table = text.partition("All strategies\n")[2].partition("How StreamRidge works\n")[0]
    rows = re.findall(r"^   \* - ``(\S+)``.*\n     - .+\n     - (.+)$", table, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(estimators.STRATEGIES)
    pages = {page.removeprefix(":doc:`/").removesuffix("`") for _, page in rows} - {"this page"}
    assert not [page for page in pages if not (DOCS / f"{page}.rst").exists()]


def test_every_option_of_a_table_is_in_the_table_of_options():
    text = (DOCS / "files" / "formats.rst").read_text(encoding="utf-8").partition("All options\n")[2]
    assert set(re.findall(r"^   \* - ``(\w+)``$", text, re.MULTILINE)) == {"labels", *get_type_hints(ReadingOptions)}
