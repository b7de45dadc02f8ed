"""The signature of a generator, its docstring, its card and its command agree."""

from inspect import cleandoc, signature

import pytest
import typer
from typer.main import get_command

from mlstream._support.reading import ReadingOptions
from mlstream.cli import app
from mlstream.cli.generator_commands import GENERATE, PERTURB, SYNTHESISE, option_of
from mlstream.cli.reading import FLAGS
from mlstream.generators import GENERATORS
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke, make, write_table
from tests.mlstream.generators.test_registry import STREAMS

COMMANDS = (*GENERATE, *SYNTHESISE, *PERTURB)
INPUTS = {"dataset", "stream"}
# What was drawn from these parameters is the value of another one, which is on the card.
REPLACED = {
    "environment_stream": {"correlation", "shifted_correlation"},
    "emerging_labels_stream": {"first_labels", "labels_per_task"},
    "iirc_stream": {"labels_per_task", "first_labels", "plain_first"},
}
# Options that have another name or another form on the command line, and what is not a parameter.
OTHER_OPTIONS = {"source", "labels", "output", "force", "as_json", "help", *ReadingOptions.__annotations__, *FLAGS}


def parameters_of(name):
    return {key: one for key, one in signature(GENERATORS[name]).parameters.items() if key not in INPUTS}


def documented(name):
    """Read the names before the colons of the section Parameters, by hand."""
    lines = cleandoc(GENERATORS[name].__doc__).splitlines()
    start = lines.index("Parameters") + 2
    section = lines[start : lines.index("Returns")]
    entries = [line for line in section if line and not line.startswith(" ")]
    return [name for entry in entries for name in entry.split(" : ")[0].split(", ")]


def test_every_parameter_is_documented_on_its_own():
    def check(name):
        assert [one for one in documented(name) if one not in INPUTS] == list(parameters_of(name))

    check_all(GENERATORS, check)


@pytest.mark.slow
def test_the_card_holds_every_parameter_in_the_order_of_the_signature():
    def check(name):
        on_card = [key for key in STREAMS[name]().card.generator.parameters if key != "base"]
        expected = parameters_of(name).keys() - REPLACED.get(name, set()) - {"seed"}
        assert on_card == [key for key in parameters_of(name) if key in expected]

    check_all(GENERATORS, check)


def test_every_generator_has_a_command():
    assert {command.generator for command in COMMANDS} == GENERATORS.keys()


def test_a_command_has_every_parameter_with_its_default_and_help():
    def check(command):
        built = {one.name: one for one in command.build().params}
        parameters = parameters_of(command.generator)
        assert built.keys() - OTHER_OPTIONS == parameters.keys() - command.fixed.keys() - OTHER_OPTIONS
        doc = " ".join(GENERATORS[command.generator].__doc__.replace("`", "").split())
        for name in built.keys() & parameters.keys():
            option, parameter = built[name], parameters[name]
            assert option.required == (parameter.default is parameter.empty)
            if isinstance(parameter.default, (int, float, str)):
                assert option.default in {parameter.default, str(parameter.default)}
            if name != "seed":
                start = option.help.split(". ")[0].removesuffix(".")
                assert start in doc
            if option.param_type_name != "argument":
                assert option_of(name) in option.opts

    check_all(COMMANDS, check)


def test_no_two_parameters_have_one_option():
    for command in COMMANDS:
        options = [option for one in command.build().params for option in one.opts]
        assert len(options) == len(set(options)), command.name


def test_a_command_is_built_only_when_it_is_called(monkeypatch):
    app = typer.Typer(add_completion=False)
    monkeypatch.setattr(type(COMMANDS[0]), "build", lambda self: pytest.fail("built"))
    for command in COMMANDS[:2]:
        command.add_to(app)
    assert set(typer.main.get_command(app).commands) == {command.name for command in COMMANDS[:2]}


def test_every_command_that_takes_a_table_has_the_options_of_load_dataset():
    commands = [command.build() for command in GENERATE] + [get_command(app).commands["suggest-tasks"]]
    for command in commands:
        built = {one.name: one for one in command.params}
        for name in ReadingOptions.__annotations__.keys() - {"time"}:
            # What is not typed is left to the one default that there is.
            assert not built[name].default
            assert built[name].opts == [f"--{name.replace('_', '-')}"]
            assert built[name].help.endswith(".")
            assert built[name].rich_help_panel == "How the table is read"


def test_a_number_of_tasks_is_suggested_and_drawn(tmp_path):
    table = write_table(tmp_path / "toy.arff", label_sets=("1100", "1000", "0011", "0001"))
    picture = tmp_path / "suggestion.png"
    result = invoke("suggest-tasks", table, "--max-tasks", 4, "--starts", 3, "--picture", picture)
    assert result.exit_code == 0
    assert "Suggested: 2 tasks.\nDrew" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_where_every_number_is_merged_one_task_is_suggested_and_other_rules_are_named(tmp_path):
    table = write_table(tmp_path / "toy.arff", label_sets=("1000", "0100", "0010"))
    result = invoke("suggest-tasks", table)
    assert "Suggested: 1 task.\nOf every other number," in result.output
    assert "are merged: `mlstream scenario TABLE task-based` finds tasks by other rules (--by features" in result.output
    made = invoke("generate", table, "--tasks", 1, "--output", tmp_path / "one.npz")
    assert "instead of" not in made.output
    assert make("scenario", table, "task-based", "--by", "features", output=tmp_path / "four.npz").n_tasks == 4
