"""Commands whose options are the parameters of a generator.

Types, defaults and help of the options come from the generator's signature and docstring. They are read when a command
runs or shows its help, because importing the generators takes half a second.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import typer
from typer.core import TyperCommand

import mlstream
from mlstream import generators
from mlstream.cli import console
from mlstream.cli.arguments import (
    AsJson,
    Force,
    OutputFile,
    Seed,
    SourceName,
    StreamPath,
    file_option,
    named_options,
    open_stream,
    parse_delay,
    parse_integers,
    parse_introductions,
    parse_label_lists,
    parse_names,
    parse_numbers,
    parse_order,
    parse_rows_or_time,
    parse_shares,
    parse_visits,
    read_hierarchy,
    require_new,
    require_output,
    save_new,
    with_parameters,
)
from mlstream.cli.reading import FLAGS, open_table, read_terms, reading_parameters, term_parameters

Source = Literal["table", "stream", "nothing"]
Value = TypeVar("Value")
_PICTURES = (".png", ".svg", ".pdf")


class _Text(NamedTuple):
    """How a parameter that is neither a number nor a choice is typed."""

    parse: Callable[[str], object]
    form: str


_TEXTS = {
    "correlation": _Text(lambda text: parse_numbers(text, "--correlation"), "Two numbers: 0.6,0.9."),
    "correlations": _Text(lambda text: parse_numbers(text, "--correlations"), "Numbers split by commas: 0.6,-0.9."),
    "delay": _Text(parse_delay, "A number or a time, or some by label: a=20,b=100."),
    "drift_in": _Text(parse_names, "Split by commas: 'P(X),dependence'."),
    "hierarchy": _Text(read_hierarchy, "names, discover, or a JSON file {child: parent}."),
    "introductions": _Text(
        parse_introductions,
        "A JSON file with one list of labels for each task; or a published order with its hierarchy and shares, "
        "NAME:NUMBER, such as iirc-cifar100:3.",
    ),
    "invariant": _Text(lambda text: parse_integers(text, "--invariant"), "Numbers split by commas: 2,3,4."),
    "jitter": _Text(parse_rows_or_time, "A number, or a time such as 30min."),
    "keep": _Text(parse_shares, "Numbers by label: a=0.1,b=0.5."),
    "label_lists": _Text(parse_label_lists, "Names split by commas, tasks by semicolons: 'a,b;c,d'."),
    "learning_fractions": _Text(parse_names, "A number of visits, or the share of each: 0.5,0.2."),
    "order": _Text(parse_order, "A name, or the task of each visit: 1,0,1,0."),
    "roles": _Text(parse_names, "Split by commas: train,train,test."),
    "shifted_correlation": _Text(lambda text: parse_numbers(text, "--shifted-correlation"), "Two numbers: -0.9,0.9."),
    "spurious": _Text(lambda text: parse_integers(text, "--spurious"), "Numbers split by commas: 2,3."),
}
_RENAMED = {"learning_fractions": "--visits", "n_init": "--starts"}


@dataclass(frozen=True)
class GeneratorCommand:
    """A command that makes a stream with a generator."""

    name: str
    help: str  # One sentence that `--help` shows.
    generator: str  # Name of the generator in `mlstream.generators`.
    source: Source  # Input of the generator.
    # Parameters that the name of the command determines.
    fixed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def add_to(self, app: typer.Typer, panel: str | None = None) -> None:
        """Add the command to an application, in a panel of its help, without importing the generator."""

        class Deferred(TyperCommand):
            build = staticmethod(self.build)

            def make_context(self, *args: Any, **kwargs: Any) -> Any:
                return self.build().make_context(*args, **kwargs)

        app.command(self.name, help=self.help, cls=Deferred, rich_help_panel=panel)(_placeholder)

    def build(self) -> Any:
        """Build the command with all its options."""
        from mlstream.generators._parameters import list_parameters, read_help

        generator = getattr(generators, self.generator)
        parameters = {name: one for name, one in list_parameters(generator).items() if name not in self.fixed}
        texts = read_help(generator)

        def command(**typed: Any) -> None:
            require_output(typed["output"], typed["force"], typed.get("source"))
            with named_options(FLAGS):
                stated = read_terms(typed)
            inputs = _open_inputs(self.source, typed)
            options = dict(self.fixed) | _read_options(parameters, typed)
            with named_options({name: _typed_name(one) for name, one in parameters.items()}):
                stream = generator(*inputs, **options)
            # Where the generator takes a name, its card holds it already.
            made = mlstream.with_terms(stream, **_without(stated, parameters))
            save_new(made, typed["output"], f": {made!r}", as_json=typed["as_json"])
            if typed["as_json"]:
                return
            if self.source == "table":
                console.show_drops(stream.card)
            if typed.get("missing") == "keep":
                console.print_line(
                    "Missing features stay NaN, which the learners of `mlstream strategies` refuse: --missing mean or "
                    "indicator fills them."
                )

        options = [_to_option(parameter, texts[name]) for name, parameter in parameters.items()]
        required = [option for option in options if option.default is Parameter.empty]
        optional = [option for option in options if option.default is not Parameter.empty]
        reading, terms = [reading_parameters(), term_parameters()] if self.source == "table" else [[], []]
        signature = [*_INPUTS[self.source], *required, _OUTPUT, *reading, *optional, _FORCE, _AS_JSON]
        signature += [option for option in terms if option.name not in parameters]
        command.__signature__ = Signature(  # type: ignore[attr-defined]
            [option.replace(kind=Parameter.KEYWORD_ONLY) for option in signature]
        )
        app = typer.Typer(add_completion=False)
        app.command(self.name, help=self.help)(command)
        return typer.main.get_command(app)


def option_of(parameter: str) -> str:
    """Return the option that sets a parameter of a generator: `n_tasks` is `--tasks`."""
    short = parameter.removeprefix("n_").removesuffix("_fraction").replace("_", "-")
    return _RENAMED.get(parameter, f"--{short}")


def _parameter(name: str, annotation: object, default: object = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


_INPUTS = {
    "table": [_parameter("source", SourceName)],
    "stream": [_parameter("source", StreamPath)],
    "nothing": [],
}
_OUTPUT = _parameter("output", OutputFile)
_FORCE = _parameter("force", Force, False)
_AS_JSON = _parameter("as_json", AsJson, False)


def _without(items: Mapping[str, Value], others: Collection[str]) -> dict[str, Value]:
    return {name: value for name, value in items.items() if name not in others}


def _placeholder() -> None:
    """Stand for a command until its options are needed."""


def _is_argument(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty and parameter.kind is not Parameter.KEYWORD_ONLY


def _typed_name(parameter: Parameter) -> str:
    """Return what errors call a parameter: its option, or the word that stands for an argument in the help."""
    return parameter.name.upper() if _is_argument(parameter) else option_of(parameter.name)


def _to_option(parameter: Parameter, text: str) -> Parameter:
    """Convert a parameter of a generator to one of a command."""
    name, default = parameter.name, parameter.default
    if name == "seed":
        return _parameter(name, Seed, default)
    if name in _TEXTS:
        required = default is parameter.empty
        option = typer.Option(option_of(name), help=f"{text} {_TEXTS[name].form}")
        # A number of visits shares out evenly what is not held out.
        shown = str(len(default)) if name == "learning_fractions" and default else None
        shown = str(default) if isinstance(default, int) else shown
        return _parameter(name, Annotated[str if required else str | None, option], default if required else shown)
    if _is_argument(parameter):
        return _parameter(name, Annotated[parameter.annotation, typer.Argument(help=text)])
    flag = f"{option_of(name)}/--no-{option_of(name)[2:]}" if isinstance(default, bool) else option_of(name)
    return _parameter(name, Annotated[parameter.annotation, typer.Option(flag, help=text)], default)


def _read_options(parameters: Mapping[str, Parameter], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Parse what was typed; options that were left out keep the generator's default."""
    options: dict[str, Any] = {}
    for name in parameters:
        value = typed[name]
        if value is None:
            continue
        options[name] = _TEXTS[name].parse(value) if name in _TEXTS else value
    if "learning_fractions" in options:
        options["learning_fractions"] = parse_visits(typed["learning_fractions"], typed["evaluation_fraction"])
    # A published order also sets the hierarchy and the shares.
    published = options.get("introductions")
    return options | published if isinstance(published, dict) else options


def _open_inputs(source: Source, typed: Mapping[str, Any]) -> tuple[Any, ...]:
    if source == "table":
        time = typed["column"] if typed.get("by") == "time" else None
        return (open_table(typed["source"], typed, time),)
    return (open_stream(typed["source"]),) if source == "stream" else ()


# Streams from tables, each a command of its own.
GENERATE = (
    GeneratorCommand(
        "generate", "Make a stream of tasks from a multi-label table and save it.", "task_stream", "table"
    ),
    GeneratorCommand(
        "scenario",
        "Make a stream of a scenario of continual learning from a multi-label table and save it.",
        "scenario_stream",
        "table",
    ),
    GeneratorCommand(
        "iirc",
        "Make a stream that introduces superclasses first and refines them later (IIRC), and save it.",
        "iirc_stream",
        "table",
    ),
    GeneratorCommand(
        "label-emerging",
        "Make a stream in which labels emerge one group after another, and save it.",
        "emerging_labels_stream",
        "table",
    ),
    GeneratorCommand(
        "carve",
        "Split a multi-label table into environments with roles and save them as a stream.",
        "carve_environments",
        "table",
    ),
)

# Synthetic streams, one command for each kind.
synthesise = typer.Typer(help="Make a synthetic stream and save it.", no_args_is_help=True)

SYNTHESISE = (
    *(
        GeneratorCommand(
            kind,
            f"Make tasks whose labels are thresholds on weighted features, with the weights of {kind}.",
            "multiplier_stream",
            "nothing",
            {"multipliers": kind},
        )
        for kind in ("monolab", "bilab", "rand")
    ),
    *(
        GeneratorCommand(kind, f"Make concepts that drift, {what}.", "drifting_stream", "nothing", {"kind": kind})
        for kind, what in (
            ("hyperplane", "divided by hyperplanes"),
            ("tree", "drawn as random trees"),
            ("rbf", "drawn as clusters of features"),
            ("categorical", "with labels by categories and pairs of them"),
            ("interactions", "with labels by pairs of features alone (XOR)"),
        )
    ),
    GeneratorCommand(
        "environments",
        "Make environments with invariant and spurious features.",
        "environment_stream",
        "nothing",
    ),
    GeneratorCommand("hat-and-shirt", "Make the example of hats and shirts.", "hat_and_shirt_stream", "nothing"),
    GeneratorCommand(
        "stand-in", "Make a stream with the counts of a real table that cannot be had.", "stand_in_stream", "nothing"
    ),
)
for command in SYNTHESISE:
    command.add_to(synthesise)

# Perturbations of streams, one command for each.
perturb = typer.Typer(help="Perturb a stream and save the result.", no_args_is_help=True)

PERTURB = tuple(
    GeneratorCommand(name, help_text, name.replace("-", "_"), "stream")
    for name, help_text in (
        ("delayed-labels", "Let labels arrive later than their rows."),
        ("duplicated-rows", "Repeat some rows immediately."),
        ("missing-features", "Set some features to 0."),
        ("missing-labels", "Mask some labels."),
        ("noisy-features", "Add Gaussian noise to features."),
        ("noisy-labels", "Flip some labels."),
        ("rare-labels", "Leave out some of the rows that carry a label."),
        ("reordered-rows", "Shuffle the rows of each experience."),
        ("reordered-tasks", "Visit the tasks in another order."),
        ("resplit-rows", "Split the rows of each task again into visits and evaluation set."),
    )
)
for command in PERTURB:
    command.add_to(perturb)


@with_parameters(reading_parameters())
def suggest_tasks(
    source: SourceName,
    max_tasks: Annotated[int, typer.Option(help="Maximum number of tasks to try.")] = 10,
    starts: Annotated[int, typer.Option(min=1, help="Random starts of the clustering; the best is kept.")] = 10,
    evaluation: Annotated[
        float, typer.Option(help="Share of each task's rows that `mlstream generate` will hold out.")
    ] = 0.30,
    picture: Annotated[Path | None, file_option(help="File to draw into, replaced if there: .png, .svg.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    **reading: object,
) -> None:
    """Suggest a number of tasks for a table: diverse tasks, each with more than one label."""
    if picture is not None:
        # Before any work.
        if picture.suffix.lower() not in _PICTURES:
            raise ValueError(f"--picture must end in {', '.join(_PICTURES)}. Got {picture.name!r} instead.")
        require_new([picture], force=True)
    table = open_table(source, reading)
    with named_options({"max_tasks": "--max-tasks", "n_init": "--starts", "evaluation_fraction": "--evaluation"}):
        suggestion = generators.suggest_n_tasks(
            table, max_tasks=max_tasks, seed=seed, n_init=starts, evaluation_fraction=evaluation
        )
    if not as_json:
        console.show_suggestion(suggestion)
    if picture is not None:
        generators.draw_suggestion(suggestion, picture)
        if not as_json:
            console.print_line(f"Drew {picture}")
    if as_json:
        console.print_json(suggestion._asdict() | {"doubt": suggestion.doubt, "picture": picture})
