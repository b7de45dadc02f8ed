"""Commands that draw synthetic streams, one for each kind."""

import typer

from mlstream.cli.generator_commands import GeneratorCommand

app = typer.Typer(help="Make a synthetic stream and save it.", no_args_is_help=True)

COMMANDS = (
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
for command in COMMANDS:
    command.add_to(app)
