"""Commands that perturb streams, one for each perturbation."""

import typer

from mlstream.cli.generator_commands import GeneratorCommand

app = typer.Typer(help="Perturb a stream and save the result.", no_args_is_help=True)

COMMANDS = tuple(
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
for command in COMMANDS:
    command.add_to(app)
