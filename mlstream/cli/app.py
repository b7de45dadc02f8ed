"""The command line: thin commands over the library, which is imported where a command needs it."""

import sys
from collections.abc import Callable
from typing import NoReturn

import typer

from mlstream.cli import generate, perturb, publishing, running, synthesise
from mlstream.cli.convert import convert
from mlstream.cli.inspect import inspect
from mlstream.cli.suggest_tasks import suggest_tasks
from mlstream.cli.windowed import synthesise_events, windowed

app = typer.Typer(
    name="mlstream",
    help="Make streams of multi-label tasks from tables, publish them, and evaluate learners on them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

MAKE = "Make streams"
# By heading of the help; commands of several kinds (`synthesise tree`) are added below.
COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    MAKE: (
        suggest_tasks,
        windowed,
    ),
    "Look at streams": (
        inspect,
        convert,
    ),
    "Share streams": (
        publishing.publish,
        publishing.verify,
        publishing.upload,
        publishing.regenerate,
        publishing.cards,
    ),
    "Evaluate learners": (
        running.run,
        running.report,
        running.track,
    ),
}
app.command(rich_help_panel="Start here")(running.demo)
for generator_command in generate.COMMANDS:
    generator_command.add_to(app, MAKE)
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
synthesise.app.command("events")(synthesise_events)
app.add_typer(synthesise.app, name="synthesise", rich_help_panel=MAKE)
app.add_typer(perturb.app, name="perturb", rich_help_panel=MAKE)
app.add_typer(publishing.datasets, name="datasets", rich_help_panel=MAKE)


def main() -> NoReturn:
    """Run the command line; an error is one line on standard error, with exit status 1."""
    try:
        app()
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        _fail(error)
    raise SystemExit(0)


def _fail(error: Exception) -> NoReturn:
    if isinstance(error, OSError) and error.strerror and error.filename:
        message = f"{error.filename}: {error.strerror}"
    else:
        message = " ".join(str(error).split()) or type(error).__name__
    sys.stderr.write(f"Error: {message}\n")
    raise SystemExit(1)
