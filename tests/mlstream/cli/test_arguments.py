"""Arguments are parsed, or refused with the name of the option."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from mlstream.cli import app
from mlstream.cli.arguments import (
    parse_integers,
    parse_label_lists,
    parse_numbers_by_name,
    parse_order,
    parse_visits,
    read_hierarchy,
    read_lists,
)
from mlstream.cli.reading import parse_labels
from tests.loops import check_all

NAMES = [
    ("gen", ["generate"]),
    ("generate ye", ["yeast", "yeast-osc-mlc", "yeast-boomer", "yeast-boomer-training", "yeast-boomer-test"]),
    ("generate yeast --ord", ["--order"]),
    ("suggest-tasks scene-boomer-", ["scene-boomer-training", "scene-boomer-test"]),
    ("datasets fetch scene yeast-o", ["yeast-osc-mlc"]),
    ("run yeast", ["yeast-tasks"]),
    ("run yeast-tasks sc", ["scene-tasks"]),
    ("run yeast-tasks --energy c", ["codecarbon", "cpu"]),
    ("run yeast-tasks -s NN_TLH_m", ["NN_TLH_memories", "NN_TLH_mini_memories"]),
    ("run yeast-tasks -s mean,LC", ["mean,LC_HT"]),
    ("detect yeast-tasks -d ADWIN,P", ["ADWIN,PageHinkley"]),
    ("detect yeast-tasks -l prior", ["prior_distribution"]),
    ("detect yeast-tasks --errors h", ["hamming"]),
    ("inspect synthetic-r", ["synthetic-rand"]),
    ("perturb noisy-labels 20ng-i", ["20ng-iirc"]),
    ("strategies NN_TLH_m", ["NN_TLH_memories", "NN_TLH_mini_memories"]),
    ("strategies mean,LC", []),
    ("inspect ./yeast", []),
]


def complete(shell, typed):
    """Return what a shell is sent when the tab key is pressed after what was typed."""
    words = ["mlstream", *typed.split()]
    environment = {"_MLSTREAM_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": " ".join(words)}
    environment |= {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    environment["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    return CliRunner().invoke(app, [], prog_name="mlstream", env=environment).stdout.splitlines()


def test_names_are_completed_in_bash():
    def check(case):
        typed, names = case
        assert [line for line in complete("bash", typed) if line] == names

    check_all(NAMES, check)


def test_fish_and_zsh_are_sent_descriptions_too():
    expected = "Genes of yeast and their functions"
    assert any(line.startswith(f"yeast-tasks\t{expected}") for line in complete("fish", "run y"))
    assert f'"yeast-tasks":"{expected}' in "\n".join(complete("zsh", "run y"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_calls_this_program(shell, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    script = CliRunner().invoke(app, [], prog_name="mlstream", env={"_MLSTREAM_COMPLETE": f"source_{shell}"}).stdout
    assert "_MLSTREAM_COMPLETE=complete_" + shell in script


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "name"), [("mlstream run yeast-tasks -s me", "mean"), ("mlstream detect yeast-tasks -d AD", "ADWIN")]
)
def test_completion_imports_no_arrays(typed, name):
    code = "import sys\ntry:\n    from mlstream.cli import main; main()\nfinally:\n    print('MODULES', *sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "_MLSTREAM_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": typed, "COMP_CWORD": "4"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    found, _, modules = done.stdout.partition("MODULES ")
    assert found.split() == [name]
    assert not {"numpy", "scipy", "sklearn", "numba"} & set(modules.split())


@pytest.mark.parametrize(
    ("text", "labels"),
    [(None, None), ("14", 14), ("-14", -14), ("²", ["²"]), ("a,b", ["a", "b"]), ("x.xml", "x.xml"), ("X.XML", "X.XML")],
)
def test_labels_are_a_number_names_or_a_file(text, labels):
    assert parse_labels(text) == labels


@pytest.mark.parametrize("names", [['port scan, "fast"', "=SUM(A1)", "ü ☠"], ["it's", 'a "b"', " c "], [",", '"']])
def test_names_with_commas_and_quotes_are_written_as_in_csv(names):
    text = io.StringIO()
    csv.writer(text).writerow(names)
    assert parse_labels(text.getvalue().rstrip("\r\n")) == names


def test_labels_on_two_lines_are_refused():
    with pytest.raises(ValueError, match="--labels must be names split by commas, each on one line"):
        parse_labels("a\nb,c")


@pytest.mark.parametrize(("text", "order"), [(None, None), ("random", "random"), ("1,0", [1, 0])])
def test_an_order_is_a_name_or_numbers(text, order):
    assert parse_order(text) == order


@pytest.mark.parametrize(
    ("text", "shares"), [(None, None), ("1", [0.75]), ("3", [0.25] * 3), ("0.5,0.25", [0.5, 0.25]), ("0.5", [0.5])]
)
def test_visits_are_a_number_or_shares(text, shares):
    found = parse_visits(text, 0.25)
    assert found is None if shares is None else list(found) == pytest.approx(shares)


def test_lists_of_labels_are_split_twice():
    assert parse_label_lists("a,b; c") == [["a", "b"], ["c"]]
    assert parse_label_lists(None) is None


def test_numbers_by_name_may_have_names_with_equals_signs():
    assert parse_numbers_by_name("a=1,b=c=2", "--delay", int) == {"a": 1, "b=c": 2}
    assert parse_numbers_by_name("a=0.5", "--keep", float) == {"a": 0.5}


def test_hierarchies_and_lists_are_read_from_files(tmp_path):
    path = tmp_path / "names.json"
    path.write_text(json.dumps({"b": "a"}))
    assert read_hierarchy(str(path)) == {"b": "a"}
    assert (read_hierarchy("names"), read_hierarchy(None)) == ("names", None)
    path.write_text(json.dumps([["a"], ["b"]]))
    assert read_lists(path) == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: parse_integers("1,two", "--order"), "--order must be whole numbers split by commas. Got '1,two'"),
        (lambda: parse_visits("²", 0.3), "--visits must be a number of visits, or shares"),
        (lambda: parse_visits("x", 0.3), "--visits must be a number of visits, or shares"),
        (lambda: parse_numbers_by_name("a=x", "--delay", int), "--delay must be numbers by name, such as a=1,b=2"),
        (lambda: parse_numbers_by_name("=1", "--delay", int), "--delay must be numbers by name"),
    ],
)
def test_nonsense_is_refused_with_the_name_of_the_option(read, message):
    with pytest.raises(ValueError, match=message):
        read()


@pytest.mark.parametrize("read", [lambda path: read_hierarchy(str(path)), read_lists])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_a_file_that_is_no_json_is_refused_with_its_name(read, content, tmp_path):
    path = tmp_path / "names.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"names\.json must be a JSON file\. Got this error: "):
        read(path)
