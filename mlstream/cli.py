"""The command line: thin commands over the library, which is imported where a command needs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

if TYPE_CHECKING:
    from mlstream.generators.visits import OrderName
    from mlstream.stream import Stream

app = typer.Typer(
    name="mlstream",
    help="Make streams of multi-label tasks from tables, publish them, and judge learners on them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

StreamPath = Annotated[Path, typer.Argument(help="A stream: .npz, .arff, .arff.gz, or a published folder.")]


def main() -> NoReturn:
    """Run the command line; what went wrong is one line on standard error, and the exit status 1."""
    try:
        app()
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _fail(error)
    raise SystemExit(0)


def _fail(error: Exception) -> NoReturn:
    if isinstance(error, OSError) and error.strerror and error.filename:
        message = f"{error.filename}: {error.strerror}"
    else:
        message = " ".join(str(error).split()) or type(error).__name__
    sys.stderr.write(f"Error: {message}\n")
    raise SystemExit(1)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make; must not exist.")] = Path("demo"),
    browse: Annotated[bool, typer.Option("--browse/--no-browse", help="Open the report when done.")] = True,
) -> None:
    """Do the whole job on embedded real data (Yeast): stream, card, files, runs, report."""
    from mlstream.demo import run_demo

    report = run_demo(output)
    if browse and sys.stdout.isatty():
        typer.launch(report.resolve().as_uri())


@app.command()
def datasets() -> None:
    """List the tables that can be named instead of a path."""
    from mlstream import console
    from mlstream.datasets import list_datasets

    console.show_datasets(list_datasets())


@app.command()
def generate(
    source: Annotated[str, typer.Argument(help="A name that `mlstream datasets` lists, or the path of an ARFF file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .npz, .arff or .arff.gz.")],
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns: N (first N), -N (last N), names split by commas, or a MULAN .xml file."),
    ] = None,
    tasks: Annotated[int, typer.Option(help="Number of clusters of label vectors, before merging.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Source of everything random.")] = 0,
    starts: Annotated[int, typer.Option(help="Random starts of the clustering; the best is kept.")] = 10,
    variant: Annotated[
        Literal["standard", "published"], typer.Option(help="Clustering: ours, or the procedure of the literature.")
    ] = "standard",
    order: Annotated[
        str | None,
        typer.Option(help="random, similarity, dissimilarity, interleaved, or the task of each visit: 1,0,1,0."),
    ] = None,
    unlabelled: Annotated[
        Literal["drop", "keep"], typer.Option(help="What to do with rows without any label.")
    ] = "drop",
    stratified: Annotated[bool, typer.Option(help="Split each task by label set.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Make a stream of tasks from a multi-label table and save it."""
    from mlstream import console
    from mlstream.datasets import load_dataset
    from mlstream.formats import save
    from mlstream.generators import task_stream

    _require_absent(output, force)
    stream = task_stream(
        load_dataset(source, labels=_parse_labels(labels)),
        n_tasks=tasks,
        n_init=starts,
        variant=variant,
        order=_parse_order(order),
        unlabelled=unlabelled,
        stratified=stratified,
        seed=seed,
    )
    save(stream, output)
    console.say(f"Wrote {output}: {stream!r}")


@app.command()
def scenario(
    source: Annotated[str, typer.Argument(help="A name that `mlstream datasets` lists, or the path of an ARFF file.")],
    name: Annotated[str, typer.Argument(help="Scenario, such as class-incremental; an unknown one lists them all.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .npz, .arff or .arff.gz.")],
    labels: Annotated[str | None, typer.Option(help="Label columns, as for `mlstream generate`.")] = None,
    tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Source of everything random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Make a stream of a scenario of continual learning from a multi-label table and save it."""
    from mlstream import console
    from mlstream.datasets import load_dataset
    from mlstream.formats import save
    from mlstream.generators import scenario_stream

    _require_absent(output, force)
    stream = scenario_stream(load_dataset(source, labels=_parse_labels(labels)), name, n_tasks=tasks, seed=seed)
    save(stream, output)
    console.say(f"Wrote {output}: {stream!r}")


@app.command()
def synthesise(
    kind: Annotated[
        Literal["monolab", "bilab", "rand", "environments", "hat-and-shirt"],
        typer.Argument(help="Tasks by a matrix of multipliers, shifting environments, or the example of hats."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .npz, .arff or .arff.gz.")],
    seed: Annotated[int, typer.Option(min=0, help="Source of everything random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Make a synthetic stream, with default parameters, and save it."""
    from mlstream import console
    from mlstream.formats import save
    from mlstream.generators import environment_stream, hat_and_shirt_stream, multiplier_stream

    _require_absent(output, force)
    if kind == "environments":
        stream = environment_stream(seed=seed)
    elif kind == "hat-and-shirt":
        stream = hat_and_shirt_stream(seed=seed)
    else:
        stream = multiplier_stream(kind, seed=seed)
    save(stream, output)
    console.say(f"Wrote {output}: {stream!r}")


@app.command()
def inspect(
    stream: StreamPath,
    full: Annotated[
        bool, typer.Option("--full", help="Also measure distances between tasks, duplicates, what is never learnt.")
    ] = False,
    pictures: Annotated[Path | None, typer.Option(help="Folder to draw into: PNG and SVG, replaced if there.")] = None,
) -> None:
    """Show what a stream is: tasks, signatures, schedule, drops, origin."""
    from mlstream import console

    opened = _open(stream)
    console.show_card(opened.card)
    if not full and pictures is None:
        return
    from mlstream.diagnosis import diagnose

    diagnosis = diagnose(opened)
    if full:
        console.show_diagnosis(diagnosis)
    if pictures is not None:
        from mlstream.diagnosis_figures import draw_pictures

        console.say(f"Drew {', '.join(str(path) for path in draw_pictures(opened, diagnosis, pictures))}")


@app.command()
def convert(
    stream: StreamPath,
    output: Annotated[Path, typer.Argument(help="File to write: .npz, .arff or .arff.gz.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a stream in another format."""
    from mlstream import console
    from mlstream.formats import save

    _require_absent(output, force)
    save(_open(stream), output)
    console.say(f"Wrote {output}")


@app.command()
def publish(
    stream: StreamPath,
    folder: Annotated[Path, typer.Argument(help="Folder to make; must not exist.")],
) -> None:
    """Write a folder that others can use: NPZ, ARFF, card, readable page, hashes."""
    from mlstream import console
    from mlstream.publishing import publish as publish_stream

    publish_stream(_open(stream), folder)
    console.say(f"Published {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


@app.command()
def verify(folder: Annotated[Path, typer.Argument(help="A published folder.")]) -> None:
    """Read a published folder again and compare everything with its card and hashes."""
    from mlstream import console
    from mlstream.publishing import verify as verify_folder

    verify_folder(folder)
    console.say(f"{folder} is complete and unchanged.")


@app.command()
def regenerate(
    card: Annotated[Path, typer.Argument(help="A card (.json).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .npz, .arff or .arff.gz.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Make a stream again from its card alone."""
    from mlstream import console
    from mlstream.cards import load_card
    from mlstream.formats import save
    from mlstream.publishing import regenerate as regenerate_stream

    _require_absent(output, force)
    save(regenerate_stream(load_card(card)), output)
    console.say(f"Wrote {output}: the same data as the card says.")


@app.command()
def cards(
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("data_cards"),
) -> None:
    """Write the cards of the streams that this project publishes."""
    from mlstream import console
    from mlstream.presets import write_cards

    folder.mkdir(parents=True, exist_ok=True)
    for name, outcome in write_cards(folder):
        console.say(f"{name}: {outcome}")


@app.command()
def run(
    streams: Annotated[list[Path], typer.Argument(help="Streams: .npz, .arff, .arff.gz, or published folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the records; runs done already are kept.")],
    strategies: Annotated[str, typer.Option("--strategies", "-s", help="Names split by commas.")] = "NN,NN_TL,BR_HT",
    seeds: Annotated[str, typer.Option(help="Seeds split by commas.")] = "0",
    label_space: Annotated[
        Literal["task", "seen", "all"],
        typer.Option(help="Labels that count: of the row's task, of all tasks seen so far, or all."),
    ] = "task",
    energy: Annotated[bool, typer.Option(help="Measure energy.")] = True,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
) -> None:
    """Run learners on streams: test-then-train, transfer matrix, resources."""
    from mlstream import console
    from mlstream.protocol.campaign import run_campaign

    with console.campaign_progress() as progress:
        results = run_campaign(
            strategies.split(","),
            [_open(path) for path in streams],
            _parse_seeds(seeds),
            output,
            label_space=label_space,
            energy="codecarbon" if energy else "none",
            n_jobs=jobs,
            progress=progress,
        )
    console.show_results(results)


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="Folder that `mlstream run` wrote.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Page to write; DIRECTORY/report.html if absent.")
    ] = None,
) -> None:
    """Write one self-contained HTML page about all runs of a folder."""
    from mlstream import console
    from mlstream.protocol.report import report as write_report

    console.say(f"Wrote {write_report(directory, output)}")


def _open(path: Path) -> Stream:
    from mlstream.formats import load

    return load(path / "stream.npz" if path.is_dir() else path)


def _require_absent(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise FileExistsError(f"{path} must not exist yet; --force replaces it.")


def _parse_labels(text: str | None) -> int | list[str] | str | None:
    if text is None or text.endswith(".xml"):
        return text
    if text.removeprefix("-").isdigit():
        return int(text)
    return text.split(",")


def _parse_order(text: str | None) -> list[int] | OrderName | None:
    from mlstream.generators.visits import ORDERS

    named = next((order for order in ORDERS if order == text), None)
    return named if named or text is None else _parse_integers(text, "--order")


def _parse_seeds(text: str) -> list[int]:
    return _parse_integers(text, "--seeds")


def _parse_integers(text: str, option: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be whole numbers split by commas. Got {text!r} instead.") from None
