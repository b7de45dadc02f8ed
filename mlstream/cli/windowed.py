"""The commands that turn a log of events into a table, and draw a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

import mlstream
from mlstream import generators
from mlstream._support.files import atomic_paths
from mlstream.cli import console
from mlstream.cli.arguments import AsJson, Force, Seed, file_option, named_options, parse_file, parse_names, require_new
from mlstream.cli.generator_commands import option_of
from mlstream.cli.reading import HELP, parse_option

_TABLES = (".arff", ".arff.gz", ".csv", ".csv.gz", ".parquet")
_SAME_NAME = (
    "time by every horizon benign columns text categories max_values numbers statistics clock max_delay "
    "separator missing_words"
)
_OPTIONS = {"labels": "--label"} | {name: f"--{name.replace('_', '-')}" for name in _SAME_NAME.split()}

LogFile = Annotated[
    Path,
    typer.Argument(
        parser=parse_file, help="A log of single events: .csv, .tsv, .jsonl, .ndjson or .json, packed or not."
    ),
]
TableFile = Annotated[Path, file_option("--output", "-o", help="Table to write: .arff, .arff.gz, .csv or .parquet.")]
NewLog = Annotated[Path, file_option("--output", "-o", help="File to write: .csv, .tsv, .jsonl, .ndjson or .json.")]


def windowed(
    log: LogFile,
    time: Annotated[str, typer.Option(help="Column of times: ISO 8601, or seconds or milliseconds since 1970.")],
    label: Annotated[str, typer.Option(help="Column of labels; empty for benign events.")],
    every: Annotated[str, typer.Option(help="Length of a window: a number and a unit (ms, s, min, h, d).")],
    output: TableFile,
    by: Annotated[str | None, typer.Option(help="Column whose values have rows of their own: the host.")] = None,
    horizon: Annotated[int, typer.Option(min=0, help="0: labels of the window itself; 1: of the next one.")] = 0,
    benign: Annotated[str | None, typer.Option(help="Labels that stand for none, split by commas.")] = None,
    columns: Annotated[str | None, typer.Option(help="Other columns to read, split by commas; default: all.")] = None,
    text: Annotated[str | None, typer.Option(help="Columns to read as text, split by commas.")] = None,
    categories: Annotated[str | None, typer.Option(help="Columns whose values are counted; default: text.")] = None,
    max_values: Annotated[int, typer.Option(min=1, help="Values of a column with a count of their own.")] = 20,
    numbers: Annotated[str | None, typer.Option(help="Columns to summarise; default: those of numbers.")] = None,
    statistics: Annotated[str, typer.Option(help="Summaries of numbers, split by commas.")] = "mean,min,max,sum",
    clock: Annotated[str, typer.Option(help="day, week, both split by a comma, or nothing ('').")] = "day",
    time_column: Annotated[str | None, typer.Option(help="Name of a feature with the start of the window.")] = None,
    empty: Annotated[Literal["drop", "keep"], typer.Option(help="What happens to windows without events.")] = "drop",
    max_delay: Annotated[str, typer.Option(help="How late an event may come in the file; any: sort all.")] = "1h",
    separator: Annotated[str | None, typer.Option(help=HELP["separator"])] = None,
    missing_words: Annotated[str | None, typer.Option(help=HELP["missing_words"])] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Turn a log of single events into a multi-label table: a row for each window of time of each host."""
    from mlstream.formats.key_files import keys_path, write_keys
    from mlstream.formats.table_io import write_table
    from mlstream.streams.keys import Keys, key_names

    if not output.name.lower().endswith(_TABLES):
        raise ValueError(
            f"--output must end in {', '.join(_TABLES)}: a table, of which `mlstream scenario` makes a stream. "
            f"Got {output.name!r} instead."
        )
    beside = [keys_path(output)] if ".arff" in output.name.lower() else []
    require_new([output, *beside], force, log)
    typed = {"separator": separator, "missing_words": missing_words}
    with named_options(_OPTIONS):
        events = mlstream.read_events(
            log,
            time=time,
            labels=label,
            by=by,
            columns=_split(columns),
            text=_split(text) or (),
            max_delay=max_delay,
            **{name: parse_option(name, text) for name, text in typed.items() if text is not None},
        )
        table = generators.windowed(
            events,
            every,
            horizon=horizon,
            benign=_split(benign) or (),
            categories=_split(categories),
            max_values=max_values,
            numbers=_split(numbers),
            statistics=cast(Any, _split(statistics)),
            clock=cast(Any, _split(clock)),
            time_column=time_column,
            empty=empty,
        )
    names, keys_within = (table.feature_names, table.label_names), None if beside else table.keys
    with atomic_paths(output, *beside) as (temporary, *keys):
        write_table(temporary, output.name, (table.X, table.Y), names, table.name, keys=keys_within)
        for path in keys:
            write_keys(path, cast(Keys, table.keys))
    sizes = {"n_samples": table.n_samples, "n_features": len(names[0]), "n_labels": len(names[1])}
    own = ",".join(key_names(table.keys))
    where = f"in {beside[0].name}" if beside else f"the last columns; --keys {own} reads them"
    console.print_outcome(
        f"Wrote {output}: {table.n_samples:,} rows in the order of time, {len(names[0])} features and "
        f"{len(names[1])} labels (the first {len(names[1])} columns), with keys ({where}): "
        f"{', '.join(key_names(table.keys))}.",
        {"files": [output, *beside]}
        | sizes
        | {"feature_names": names[0], "label_names": names[1], "key_names": key_names(table.keys)},
        as_json=as_json,
    )


def synthesise_events(
    output: NewLog,
    hosts: Annotated[int, typer.Option(help="Number of hosts.")] = 10,
    days: Annotated[int, typer.Option(help="Number of days.")] = 14,
    threats: Annotated[int, typer.Option(help="Number of threats, at most six.")] = 4,
    campaigns: Annotated[int, typer.Option(help="How often each threat comes.")] = 4,
    events_per_hour: Annotated[float, typer.Option(help="Mean number of ordinary flows of a host in an hour.")] = 12.0,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw a log of network flows, some of which show a threat."""
    require_new([output], force)
    sizes = {"n_hosts": hosts, "n_days": days, "n_threats": threats, "n_campaigns": campaigns}
    with named_options({name: option_of(name) for name in (*sizes, "events_per_hour")}):
        events = generators.synthetic_events(seed=seed, events_per_hour=events_per_hour, **sizes)
    mlstream.write_events(events, output)
    document = {"files": [output], "n_events": len(events), "n_hosts": hosts}
    console.print_outcome(f"Wrote {output}: {len(events):,} events of {hosts} hosts.", document, as_json=as_json)


def _split(text: str | None) -> list[str] | None:
    """Read names split by commas; no text is no list, and an empty one an empty list."""
    return parse_names(text) if text else None if text is None else []
