"""The command line: thin commands over the library, which is imported where a command needs it."""

import sys
from typing import NoReturn

import typer

from mlstream.cli import generate, perturb, publishing, running, synthesise
from mlstream.cli.convert import convert
from mlstream.cli.inspect import inspect
from mlstream.cli.suggest_tasks import suggest_tasks

app = typer.Typer(
    name="mlstream",
    help="Make streams of multi-label tasks from tables, publish them, and evaluate learners on them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

COMMANDS = (
    running.demo,
    suggest_tasks,
    inspect,
    convert,
    publishing.publish,
    publishing.verify,
    publishing.upload,
    publishing.regenerate,
    publishing.cards,
    running.run,
    running.report,
    running.track,
)
for generator_command in generate.COMMANDS:
    generator_command.add_to(app)
app.add_typer(synthesise.app, name="synthesise")
app.add_typer(perturb.app, name="perturb")
for command in COMMANDS:
    app.command()(command)
app.add_typer(publishing.datasets, name="datasets")


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
