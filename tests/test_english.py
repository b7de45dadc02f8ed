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


def test_a_path_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="must be a file or folder that exists"):
        english.main([str(tmp_path / "absent")])
