"""Commands of the arena: where a learner stands among all others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlstream.cli import console
from mlstream.cli.arguments import AsJson, complete_strategy, file_option, parse_file, parse_names, require_folder
from mlstream.cli.options import OPTIONS

if TYPE_CHECKING:
    from mlstream.arena.records import LearnerRecord
    from mlstream.arena.running import ArenaRun
    from mlstream.arena.standings import Cost, Place, Ranking
    from mlstream.arena.suite import Scope, Suite

# Wins, and losses, that a line names.
_N_NAMED = 4

Lite = Annotated[bool, typer.Option("--lite", help="The part of the suite whose ranks agree with those of the whole.")]
SuiteNumber = Annotated[int, typer.Option("--suite", min=1, help="Number of the suite.")]


def run(
    learner: Annotated[
        str,
        typer.Argument(
            metavar="LEARNER",
            help="my_module:MyLearner; or a strategy that `mlstream strategies` lists, also with parameters: "
            "'NN(learning_rate=0.1)'.",
            autocompletion=complete_strategy,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the records; each learner has a folder there.")
    ] = Path("arena"),
    lite: Lite = False,
    boards: Annotated[
        str | None, typer.Option("--boards", help="Boards split by commas; by default all.", metavar="BOARD,...")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name on the boards; by default that of the class.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help=OPTIONS["n_jobs"].help)] = 1,
    dask: Annotated[str | None, typer.Option("--dask", help=OPTIONS["dask"].help)] = None,
    suite: SuiteNumber = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the standing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a learner on the streams of the arena, and print where it stands. Runs recorded earlier are kept.

    The class is imported from a module in the working directory, or from an installed package, and its code runs. The
    same command goes on after a stop.
    """
    require_folder(output, "--output")
    # As `python -m` does: the user's module lies in the working directory.
    sys.path.insert(0, "")
    from mlstream import arena
    from mlstream.cli.campaigns import watched

    chosen = [] if boards is None else [board.strip() for board in parse_names(boards)]
    scope = _scope(lite)
    with console.keep_for_json(as_json), watched(output, quiet=quiet or as_json, ended=[]) as progress:
        done = arena.run(
            learner,
            output,
            suite=suite,
            scope=scope,
            boards=chosen,
            name=name,
            n_jobs=jobs,
            dask=dask,
            progress=progress,
        )
    content, others = arena.load_suite(suite), arena.load_records(suite)
    places = arena.find_places(done.record, others, content, scope=scope, boards=chosen)
    from mlstream.arena.standings import compare_costs

    reference = others.get(content.reference)
    cost = None if reference is None else compare_costs(done.record, reference)
    if as_json:
        console.print_json(_describe(done, places, cost))
    else:
        _show(done, places, cost, content)
    _require_success(done)


def _require_success(done: ArenaRun) -> None:
    """Raise a RuntimeError if a run failed, once all have ended."""
    failed = _streams_of(done, "failed")
    if failed:
        raise RuntimeError(
            f"{len(failed)} of {len(done.record.cells)} runs failed, rank behind all others, and are tried again by "
            f"the same command. Got {done.record.cells[failed[0]].error} on {failed[0]}."
        )


def _streams_of(done: ArenaRun, status: str) -> list[str]:
    return [stream for stream, cell in done.record.cells.items() if cell.status == status]


def boards(
    board: Annotated[str | None, typer.Argument(metavar="[BOARD]", help="Rank the learners of this board.")] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="Score that ranks, such as acc, or ba_macro[half]; by default the first."),
    ] = None,
    lite: Lite = False,
    suite: SuiteNumber = 1,
    as_json: AsJson = False,
) -> None:
    """List the boards of the arena, or rank the learners of one."""
    from mlstream import arena

    content, records = arena.load_suite(suite), arena.load_records(suite)
    if board is None:
        _list_boards(content, records.values(), as_json=as_json)
        return
    from mlstream.arena.suite import find_score

    ranking = arena.rank_learners(records, content, board, find_score(content, board, score), scope=_scope(lite))
    if ranking is None:
        raise ValueError(f"{board} must have two learners with records on the same streams. Got fewer.")
    _show_ranking(ranking, content.boards[board].title, as_json=as_json)


def _list_boards(suite: Suite, records: Iterable[LearnerRecord], *, as_json: bool) -> None:
    found = list(records)
    rows = [_board_row(suite, name, found) for name in suite.boards]
    if as_json:
        names = ("name", "about", "n_streams", "n_lite", "n_learners", "scores")
        console.print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    heads = ("board", "what it is", "streams", "lite", "learners", "scores")
    console.show_lines(heads, [(*map(str, row[:-1]), ", ".join(row[-1])) for row in rows])


def _show_ranking(ranking: Ranking, title: str, *, as_json: bool) -> None:
    names = ("learner", "rank", "interval", "mean")
    rows = list(zip(ranking.learners, ranking.ranks.tolist(), ranking.intervals.tolist(), ranking.means, strict=True))
    if as_json:
        learners = [dict(zip(names, row, strict=True)) for row in rows]
        facts = {"board": ranking.board, "score": ranking.score.name, "streams": ranking.streams}
        console.print_json(facts | {"learners": learners, "left_out": ranking.left_out})
        return
    console.print_line(f"{title}: mean ranks by {ranking.score.name} on {len(ranking.streams)} streams")
    lines = [(name, f"{rank:.1f}", f"{low:.1f} to {high:.1f}", f"{mean:.3f}") for name, rank, (low, high), mean in rows]
    console.show_lines(("learner", "mean rank", "95 % interval", "mean score"), lines)
    if ranking.left_out:
        console.print_line(f"Without records on all of these streams: {', '.join(ranking.left_out)}")


def pack(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of a learner: arena/MyLearner.")],
    output: Annotated[
        Path | None, file_option("--output", "-o", help="Bundle to write; LEARNER.zip if absent.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the runs of a learner as one file, to be sent to others, who can verify it."""
    from mlstream import arena

    path = output or Path(f"{folder.resolve().name}.zip")
    record = arena.pack(folder, path)
    line = f"Wrote {path}: {record.learner}, {len(record.cells)} runs, source {record.source_sha256[:12]}..."
    facts = {
        "path": path,
        "learner": record.learner,
        "n_runs": len(record.cells),
        "source_sha256": record.source_sha256,
    }
    console.print_outcome(line, facts, as_json=as_json)


def verify(
    bundle: Annotated[
        Path, typer.Argument(parser=parse_file, metavar="BUNDLE", help="File that `mlstream arena pack` wrote.")
    ],
    learner: Annotated[
        str | None,
        typer.Option(
            "--learner", help="my_module:MyLearner, whose code you have read and want to run; not for a strategy."
        ),
    ] = None,
    share: Annotated[
        float, typer.Option("--share", help="Share of the runs that is made again; 1 leaves nothing to trust.")
    ] = 0.1,
    fresh: Annotated[
        int | None, typer.Option("--fresh", min=0, help="Seed of worlds that nobody has seen: do the ranks hold there?")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the outcome.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a bundle: its form, what follows from the recorded matrices, and a random tenth, which is run again."""
    sys.path.insert(0, "")
    from mlstream import arena
    from mlstream.cli.campaigns import watched

    with console.keep_for_json(as_json), watched(bundle, quiet=quiet or as_json, ended=[]) as progress:
        found = arena.verify(bundle, learner, share=share, progress=progress)
        ranks = None
        if fresh is not None:
            ranks = arena.rank_on_fresh_worlds(found.record, learner or found.record.learner, fresh, progress=progress)
    if as_json:
        console.print_json(found._asdict() | {"fresh": None if ranks is None else ranks._asdict()})
        return
    suite = arena.load_suite(found.record.suite)
    lite, every = ({entry.name for entry in suite.entries(scope)} for scope in ("lite", "full"))
    has = found.record.cells.keys()
    console.print_line(
        f"{bundle} holds: {found.record.learner}, runs on {len(has)} of {len(every)} streams of suite {suite.version}, "
        f"{len(has & lite)} of {len(lite)} of its lite part."
    )
    console.print_line(
        f"Run again: {', '.join(found.again)}. The largest difference of a score is {found.largest_difference:.1g}; "
        f"CPU time is {found.times_cpu:.1f} times that of the records."
    )
    if found.missing:
        console.print_line(f"Drawn, but without a table here: {', '.join(found.missing)}.")
    if ranks is not None:
        rows = [
            (name, f"{rank:.1f}", f"{new:.1f}")
            for name, rank, new in zip(ranks.learners, ranks.ranks, ranks.fresh_ranks, strict=True)
        ]
        console.show_lines(("learner", "mean rank", f"in worlds of seed {fresh}"), rows)
        console.print_line(
            f"The rank of {found.record.learner} {'holds' if ranks.holds else 'does not hold'} there; the two rankings "
            f"have a correlation of {ranks.agreement:.2f} (Spearman)."
        )


def page(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the page.")] = Path("arena-page"),
    learner: Annotated[
        list[Path] | None,
        typer.Option(
            "--learner", help="Folder of a learner that joined, as `run` writes it (arena/MyLearner); may be repeated."
        ),
    ] = None,
    suite: SuiteNumber = 1,
    as_json: AsJson = False,
) -> None:
    """Write the boards as one page (index.html) that works offline, and on which every number leads to its records."""
    require_folder(output, "--output")
    from mlstream.arena.page import write_page

    written = write_page(output, learner or (), suite=suite)
    console.print_outcome(f"Wrote {written}", {"page": str(written)}, as_json=as_json)


def _scope(lite: bool) -> Scope:
    return "lite" if lite else "full"


def _board_row(
    suite: Suite, board: str, records: Iterable[LearnerRecord]
) -> tuple[str, str, int, int, int, Sequence[str]]:
    streams, lite = ({entry.name for entry in suite.entries(scope, board)} for scope in ("full", "lite"))
    n_learners = sum(bool(streams & record.cells.keys()) for record in records)
    return board, suite.boards[board].about, len(streams), len(lite), n_learners, suite.boards[board].metrics


def _describe(done: ArenaRun, places: Sequence[Place], cost: Cost | None) -> dict[str, object]:
    return {
        "folder": done.folder,
        "record": done.record,
        "missing": done.missing,
        "places": [place._asdict() for place in places],
        "cost": None if cost is None else cost._asdict(),
    }


def _show(done: ArenaRun, places: Sequence[Place], cost: Cost | None, suite: Suite) -> None:
    """Print where a learner stands: by board, then pairs, streams and cost."""
    heading = {(board, score.name) for board in suite.boards for score in suite.heading_scores(board)}
    shown = [place for place in places if (place.board, place.score) in heading]
    for line in _answers(shown, suite):
        console.print_line(line)
    heads = ("board", "score", "mean rank", "95 % interval", "place", "streams", "beats", "beaten by")
    console.show_lines(heads, [_place_row(place) for place in shown])
    if few := list(dict.fromkeys(place.board for place in shown if not place.can_differ)):
        console.print_line(f"Too few streams to tell learners apart: {', '.join(few)}.")
    for line in _notes(done, cost, suite):
        console.print_line(line)
    console.print_line(f"Records: {done.folder}. Look: mlstream arena page --learner {done.folder}")


def _answers(places: Sequence[Place], suite: Suite) -> Iterator[str]:
    """Yield a line for each board where learners can be told apart: place, pairs, best and worst streams."""
    for place in places:
        if place.can_differ and place.score == suite.scores(place.board)[0].name:
            title = suite.boards[place.board].title
            yield f"{title}: place {place.place} of {place.n_learners} on {_streams(place)}; {_pairs(place)}."


def _place_row(place: Place) -> tuple[str, ...]:
    """Return a line of the standing; of too few streams, nothing about chance."""
    low, high = place.interval
    interval = f"{low:.1f} to {high:.1f}" if place.n_streams > 2 else "-"
    pairs = [str(len(names)) if place.can_differ else "-" for names in (place.beats, place.beaten_by)]
    rank = f"{place.rank:.1f}", interval, f"{place.place} of {place.n_learners}", str(place.n_streams)
    return (place.board, place.score, *rank, *pairs)


def _streams(place: Place) -> str:
    return f"{place.n_streams} stream{'s' * (place.n_streams != 1)}"


def _notes(done: ArenaRun, cost: Cost | None, suite: Suite) -> Iterator[str]:
    """Yield the cost of a learner, and the streams where it did not end or that are not here."""
    if cost is not None:
        yield (
            f"Cost: {cost.cpu_s:.1f} s of CPU and {cost.energy_j:.0f} J on {cost.n_streams} streams, "
            f"{cost.times_reference:.1f} times {cost.reference}."
        )
    if capped := _streams_of(done, "capped"):
        yield f"Stopped after {suite.cap_s:.0f} s, and ranked behind all that finished: {', '.join(capped)}."
    if done.missing:
        tables = dict.fromkeys(entry.table or "" for entry in suite.streams if entry.name in done.missing)
        yield (
            f"Without a table here: {', '.join(done.missing)}. Ranks compare learners on the others; to have them all: "
            f"mlstream datasets fetch {' '.join(tables)}"
        )


def _pairs(place: Place) -> str:
    parts = [
        f"{words} {_some(names)}" for words, names in (("beats", place.beats), ("beaten by", place.beaten_by)) if names
    ]
    parts = parts or ["differs from nobody beyond chance"]
    if not place.best_on or place.best_on[0][1] == place.worst_on[0][1]:
        return "; ".join(parts)
    ends = [
        f"{words} on {', '.join(f'{stream} (rank {rank:.0f})' for stream, rank in streams)}"
        for words, streams in (("best", place.best_on), ("worst", place.worst_on))
    ]
    return "; ".join([*parts, *ends])


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _N_NAMED
    return ", ".join(names[:_N_NAMED]) + (f" and {rest} more" if rest > 0 else "")
