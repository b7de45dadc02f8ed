"""The command line: thin commands over the library, which is imported where a command needs it."""

import errno
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer
from typer import Abort

from estimators.contract.lazy import needing
from mlstream._support.version import __version__
from mlstream.cli import arena, listing, publishing, running
from mlstream.cli.challenge import creation, organiser, team
from mlstream.cli.errors import InterruptionError, UsageError, describe_usage_error, plain_text, show_warning
from mlstream.cli.generator_commands import GENERATE, perturb, suggest_tasks, synthesise
from mlstream.cli.windowed import synthesise_events, windowed

app = typer.Typer(
    name="mlstream",
    help="Make streams of multi-label tasks from tables, publish them, and evaluate learners on them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_INTERRUPTED = 130
# What to do about errors of the system that tell only what happened.
_NEXT_STEPS = {
    errno.ENOSPC: "Free some space on that disk, then run the same command again.",
    errno.EDQUOT: "Free some space of your quota, then run the same command again.",
    errno.EFBIG: "Allow larger files there (ulimit -f), then run the same command again.",
    errno.EIO: "Check that disk, then run the same command again.",
    errno.EROFS: "Use a place that can be written.",
    errno.EACCES: "Check the permissions of the file and of its folder.",
    errno.EPERM: "Check the permissions of the file and of its folder.",
}

MAKE = "Make streams"
# By heading of the help; commands of several kinds (`synthesise tree`) are added below.
COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    MAKE: (
        suggest_tasks,
        windowed,
    ),
    "Look at streams": (
        listing.streams,
        listing.inspect,
        listing.convert,
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
        listing.strategies,
        running.detect,
        listing.detectors,
        running.report,
        running.track,
    ),
}

# The commands of a challenge, of its organiser and of its teams.
challenge = typer.Typer(
    help="Host a challenge on environments that nobody has seen, or take part in one.", no_args_is_help=True
)
OF_CHALLENGES: dict[str, tuple[Callable[..., None], ...]] = {
    "Start here": (creation.demo,),
    "The organiser": (
        creation.create,
        creation.verify,
        organiser.join,
        organiser.invite,
        organiser.merge,
        organiser.clock,
        organiser.serve,
        organiser.score,
        organiser.leaderboard,
        organiser.close,
        organiser.release,
        organiser.audit,
        creation.export,
    ),
    "A team": (team.predict, team.submit, team.status, team.select),
}


# The commands of the arena.
arena_app = typer.Typer(help="See where a learner stands among all others, on many streams.", no_args_is_help=True)
OF_ARENA: dict[str, tuple[Callable[..., None], ...]] = {
    "Start here": (arena.run, arena.boards, arena.page),
    "Submit": (arena.pack, arena.verify),
}


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"mlstream {__version__}")
        raise typer.Exit


@app.callback(help=app.info.help)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options of the command as a whole."""


for first_command in (running.demo, running.warm_up):
    app.command(rich_help_panel="Start here")(first_command)
for generator_command in GENERATE:
    generator_command.add_to(app, MAKE)
for typer_app, by_panel in ((app, COMMANDS), (arena_app, OF_ARENA), (challenge, OF_CHALLENGES)):
    for panel, commands in by_panel.items():
        for command in commands:
            typer_app.command(rich_help_panel=panel)(command)
synthesise.command("events")(synthesise_events)
app.add_typer(synthesise, name="synthesise", rich_help_panel=MAKE)
app.add_typer(perturb, name="perturb", rich_help_panel=MAKE)
app.add_typer(listing.datasets, name="datasets", rich_help_panel=MAKE)
app.add_typer(arena_app, name="arena", rich_help_panel="Compete")
app.add_typer(challenge, name="challenge", rich_help_panel="Compete")


def main() -> NoReturn:
    """Run the command line.

    An error is one line on standard error. The exit status is then 1; it is 2 where the command cannot be parsed, and
    130 where it is interrupted. `mlstream challenge submit` has more, by what was wrong.
    """
    try:
        with warnings.catch_warnings(), needing("The command mlstream"):
            warnings.showwarning = show_warning
            status = app(prog_name="mlstream", standalone_mode=False)
    except UsageError as error:
        _fail(describe_usage_error(error), 2)
    except InterruptionError as error:
        _stop(f"Interrupted: {error}")
    except (Abort, KeyboardInterrupt):
        status = _INTERRUPTED
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RuntimeError) as error:
        if not _comes_of_interrupt(error):
            # Errors of a challenge have exit statuses of their own.
            _fail(_describe(error), getattr(error, "exit_status", 1))
        status = _INTERRUPTED
    if status == _INTERRUPTED:
        # Typer, too, returns it for Ctrl-C, without a word.
        _stop("Interrupted.")
    raise SystemExit(status or 0)


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        step = _NEXT_STEPS.get(error.errno or 0)
        return f"{what}. {step}" if step else what
    return " ".join(str(error).split()) or type(error).__name__


def _comes_of_interrupt(error: BaseException | None) -> bool:
    """Return whether an error took the place of Ctrl-C, as NumPy and other libraries in C do."""
    seen: list[BaseException] = []
    # An error that was raised again may be a context of its own.
    while error is not None and not any(error is other for other in seen):
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def _stop(message: str) -> NoReturn:
    sys.stderr.write(f"{plain_text(message)}\n")
    raise SystemExit(_INTERRUPTED)


def _fail(message: str, status: int) -> NoReturn:
    if message:
        sys.stderr.write(f"Error: {plain_text(message)}\n")
    raise SystemExit(status)
