"""The site leads to what its readers look for: terms, columns, commands, and pages by the words of a search."""

import re
import sys

import pytest
import typer

from mlstream.analysis.score_info import SCORE_HEADINGS
from mlstream.cli import app
from mlstream.evaluation.label_space import _DEFAULTS
from mlstream.generators import SCENARIOS
from mlstream.reporting.detection_tables import DETECTION_HEADINGS
from mlstream.reporting.report import report
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke
from tests.mlstream.records.run_records import write_campaign
from tests.pages import DOCS, pages

sys.path.insert(0, str(DOCS / "_extensions"))
import command_reference
import report_columns

ROOT = DOCS.parent
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in pages().items()}
# Titles that are followed by a phase, a part of the machine or an environment, or by a score to reach.
FAMILIES = re.compile(r"^(Wall s|CPU s|Energy J|NCE)(?=, )|^Rows to(?= [\d.]+$)")


# ---------------------------------------------------------------------------------------------------------- glossary
def terms():
    """Return the terms that the glossary has, those made from the code included."""
    made = [*report_columns.describe_columns(SCORE_HEADINGS), *report_columns.describe_columns(DETECTION_HEADINGS)]
    # A term is three blanks deep, below the directive; its explanation six.
    written = re.findall(r"^   (?![ :])(.+)$", TEXTS["glossary"], re.MULTILINE)
    return {*written, *(line.strip() for line in made if re.match(r"   \S", line))}


def test_every_column_of_a_report_is_in_the_glossary(tmp_path):
    page = report(write_campaign(tmp_path)).read_text(encoding="utf-8")
    heads = re.findall(r"<thead>(.*?)</thead>", page, re.DOTALL)
    # The columns of a matrix R are tasks.
    titles = [cells for head in heads if (cells := re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", head, re.DOTALL))]
    # Behind the title comes the arrow that shows which direction is better.
    cells = [cell.partition("&nbsp;")[0] for cells in titles for cell in cells if cells[0] != "After"]
    plain = {re.sub(r"<[^>]+>", "", cell).strip() for cell in cells}
    assert len(plain) > 30
    found = {match[0] if (match := FAMILIES.match(title)) else title for title in plain}
    assert sorted(found - terms()) == []


def test_the_words_of_the_field_are_in_the_glossary():
    words = {"ACC", "BWT", "FWT", "FM", "IM", "Frug", "Frug (kJ)", "R", "label mask", "drift"}
    assert words - terms() == set()


def test_no_term_is_explained_twice():
    written = re.findall(r"^   (?![ :])(.+)$", TEXTS["glossary"], re.MULTILINE)
    assert len(written) == len(set(written))


# ---------------------------------------------------------------------------------------------------------- commands
def all_commands(command, name=()):
    """Yield the words of every command, and of every command of several kinds."""
    yield name
    for word, child in getattr(command, "commands", {}).items():
        yield from all_commands(child, (*name, word))


@pytest.fixture(scope="module")
def commands():
    return [" ".join(words) for words in all_commands(typer.main.get_command(app)) if words]


@pytest.fixture(scope="module")
def reference():
    """Return the text of each command in the reference."""
    _, *parts = "\n".join(command_reference.describe_commands()).split(".. program:: mlstream ")
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def test_the_reference_has_every_command(commands, reference):
    assert len(commands) > 50
    assert sorted(reference) == sorted(commands)


@pytest.mark.slow
def test_the_reference_has_every_option_that_the_help_prints(commands, reference, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")

    def check(command):
        printed = invoke(*command.split(), "--help").output
        options = set(re.findall(r"^│ [* ]{0,3}(--[\w-]+)", printed, re.MULTILINE))
        lines = re.findall(r"^\.\. option:: (.+)$", reference[command], re.MULTILINE)
        described = set(re.findall(r"--[\w-]+", " ".join(lines)))
        assert "--help" in options
        assert options - {"--help"} <= described

    check_all(commands, check)


# ------------------------------------------------------------------------------------------------------------ search
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("forgetting", "metrics/index"),
        ("concept drift", "scenarios/drift"),
        ("my own data", "files/data"),
        ("precision at k", "metrics/index"),
        ("energy", "energy/index"),
        ("challenge", "challenge/challenge"),
        ("new labels", "scenarios/new_labels"),
    ],
)
def test_a_search_finds_the_page_that_is_about_it(words, page):
    # Sphinx ranks main entries of the index above all else: those with "!".
    entries = {
        name: re.findall(r"! ([^,\n]+)", ", ".join(re.findall(r"^\.\. index:: (.+)$", text, re.MULTILINE)))
        for name, text in TEXTS.items()
    }
    assert [name for name, found in entries.items() if words in found] == [page]


# --------------------------------------------------------------------------------------------------- how it compares
def test_the_comparison_is_that_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What others have\n")[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in readme.splitlines() if line.startswith("|")
    ]
    plain = [[re.sub(r"[\[\]]", "", cell) for cell in row] for row in (rows[0], *rows[2:])]
    table = TEXTS["compare"].partition("   * -\n")[2].partition("\nThe table was read")[0]
    cells = ["", *re.findall(r"^   (?:\*|  ?)? ?- (.+)$", table, re.MULTILINE)]
    assert cells == [cell for row in plain[: plain.index(plain[-1]) + 1] for cell in row]


# ------------------------------------------------------------------------------------------------------ bibliography
def test_every_paper_of_the_bibliography_is_cited():
    papers = re.findall(r"^@\w+\{(\w+),", (DOCS / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    cited = {
        key for text in TEXTS.values() for keys in re.findall(r":cite:[pt]:`([^`]+)`", text) for key in keys.split(",")
    }
    assert sorted(papers) == sorted(cited)
    assert papers == sorted(papers)


# --------------------------------------------------------------------------------------------------------- scenarios
def test_the_table_of_scenarios_states_the_defaults():
    shown = {"always": "always", "training": "in training", "never": "never"}
    row = re.compile(r"^   \* - (\S+)\n     - .+(?:\n       .+)*\n     - (.+)\n     - (.+)\n     - (\d)$", re.MULTILINE)
    written = {name: rest for name, *rest in row.findall(TEXTS["scenarios/index"])}
    assert written == {
        name: [shown[one.task_identity[0]], _DEFAULTS.get(name, "task"), str(len(one.learning_fractions))]
        for name, one in SCENARIOS.items()
    }
