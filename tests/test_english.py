"""The linter of English finds the phrases that it is for, and leaves plain sentences alone."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.loops import check_all

FILE = Path(__file__).parents[1] / "tools" / "english.py"
SPEC = importlib.util.spec_from_file_location("english", FILE)
english = importlib.util.module_from_spec(SPEC)
sys.modules["english"] = english
SPEC.loader.exec_module(english)


def test_bad_english_is_found():
    bad = [
        '"""What a learner returns."""',
        'def f():\n    """Which labels count."""',
        'class C:\n    """Where runs lie."""',
        'def f():\n    """All that a card holds."""',
        'raise TypeError("If the estimator is none.")',
        'raise ValueError(f"k must be at least 1. Got none in {k}.")',
        "x = 1  # values are none of these",
        'def f():\n    """Judge a learner on a stream."""',
        'x = "learnt anew"',
        'raise ValueError("The list is not as it must be.")',
        "# a cell that is no number",
        "# columns may be\n# labels that are no columns",
        'raise ValueError("A table of late rows.")',
        '"""Return the prevalence of\n    late."""',
        '"""Return the mean of that of a task and that of its rows."""',
        "# What is left is an error.",
        '"""Do this. What is left is an error."""',
        '"""Do this.\n\n    What is left is an error.\n    """',
        '"""Make drawn streams."""',
        '"""Make tables. Tables are listed, and streams can be drawn."""',
        "for one in rows: pass",
        "x = {one.name for one in rows}",
    ]

    def check(code):
        assert len(english.check_code(code)) == 1

    check_all(bad, check)


def test_plain_english_passes():
    plain = [
        '"""Return what a learner predicts."""',
        'def f():\n    """Whatever has `predict`."""',
        'evaluate(energy="none")',
        "x = y is None  # none of them is used",
        'def f():\n    """Whether energy is `none`."""',
        '"""The cost where it is measured."""',
        '"""Warn if there is no number, or there may be no row."""',
        '"""The time is no longer than before, and is no one\'s."""',
        "# as of latest",
        '"""Return the mean of that of a task. That of its rows is another."""',
        '"""Explain. What is left? What if nothing is?"""',
        '"""Explain.\n\n    What is left\n    ------------\n    Nothing is.\n    """',
        '"""Draw streams at random, and return what was drawn."""',
        "for row in rows: one = row",
    ]

    def check(code):
        assert english.check_code(code) == []

    check_all(plain, check)


def test_a_finding_names_file_and_line(tmp_path):
    file = tmp_path / "page.rst"
    file.write_text("One\ntwo, learnt anew\n")
    (finding,) = english.check_file(file)
    assert str(finding).startswith(f"{file}:2: 'anew'")


def test_commands_name_options_as_they_are_typed(tmp_path):
    folder = tmp_path / "cli"
    folder.mkdir()
    file = folder / "make.py"
    file.write_text("def make(n_tasks=4, seed=0):\n    raise ValueError(f'n_tasks must be positive. Got {n_tasks}.')\n")
    (finding,) = english.check_file(file)
    assert "--n-tasks" in finding.message
    file.write_text("def make(n_tasks=4):\n    raise ValueError(f'--tasks must be positive. Got {n_tasks}.')\n")
    assert english.check_file(file) == []


def test_the_exit_status_says_whether_anything_was_found(tmp_path, capsys):
    file = tmp_path / "page.md"
    file.write_text("Plain English.\n")
    assert english.main([str(tmp_path)]) == 0
    file.write_text("It is none.\n")
    assert english.main([str(tmp_path)]) == 1
    assert f"{file}:1:" in capsys.readouterr().out


def test_old_findings_are_allowed_but_new_ones_are_not(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(english, "OLD", {english._OF_LATE: 1, english._IS_NO: 1})
    file = tmp_path / "page.md"
    arguments = ["--allow-old", str(tmp_path)]
    file.write_text("It is no row.\nIt came of late.\n")
    assert english.main(arguments) == 0
    assert capsys.readouterr().out == ""
    file.write_text("It is no row.\nIt is no column.\n")
    assert english.main(arguments) == 1
    out = capsys.readouterr().out
    assert f"{file}:1:" in out
    assert f"{file}:2:" in out
    assert f"from 1 to 0 ({english._OF_LATE})" in out
    file.write_text("It is learnt anew.\n")
    assert english.main(arguments) == 1


def test_old_findings_count_where_they_are_not_allowed(tmp_path):
    (tmp_path / "page.md").write_text("It came of late.\n")
    assert english.main([str(tmp_path)]) == 1


def test_a_path_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="must be a file or folder that exists"):
        english.main([str(tmp_path / "absent")])
