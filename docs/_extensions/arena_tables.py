"""Tables of the arena, from the records that come with the package; where records are missing, they say whose."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from estimators.strategies import STRATEGIES
from metrics import critical_difference, friedman
from mlstream.analysis.score_info import score_heading
from mlstream.arena.records import load_records
from mlstream.arena.standings import ALPHA, Ranking, agree, compare_costs, least_p, rank_learners
from mlstream.arena.suite import OWN_RANK, Scope, Score, find_score, load_suite

_RULES = {"own": "own decisions", "half": "decided at one half", "prevalence": "decided at the prevalence"}
_STATUSES = ("done", "capped", "failed")


def describe_boards() -> Iterator[str]:
    """Yield a table of the boards: what they are, and the scores and decisions that rank learners there."""
    suite = load_suite()
    rows = [
        [
            f"{board.title} (``{name}``)",
            board.about,
            len(suite.entries("full", name)),
            ", ".join(_title(score) for score in suite.heading_scores(name)),
            "of each board" if board.metrics == [OWN_RANK] else _RULES[board.decision],
        ]
        for name, board in suite.boards.items()
    ]
    heads = ["Board", "What it is", "Streams", "Scores", "Decisions"]
    yield from _table(f"Suite {suite.version}: boards", heads, rows)


def describe_lite() -> Iterator[str]:
    """Yield the streams of the lite part, and how its ranks agree with those of whole boards."""
    suite, rows = load_suite(), []
    for name, board in suite.boards.items():
        score = suite.heading_scores(name)[0]
        lite, whole = _rank(name, score, "lite"), _rank(name, score)
        both = (
            [] if lite is None or whole is None else [learner for learner in lite.learners if learner in whole.learners]
        )
        agreement = agree(lite, whole) if lite is not None and whole is not None else math.nan
        streams = ", ".join(entry.name for entry in suite.entries("lite", name))
        rows.append([board.title, streams, len(both), _number(agreement)])
    heads = ["Board", "Streams of the lite part", "Learners", "Spearman's correlation"]
    yield from _table("Mean ranks by the first score: the lite part and the whole board", heads, rows)
    yield from _gaps(())


def describe_coverage() -> Iterator[str]:
    """Yield a table of the boards: how many learners have which records, and on which machines."""
    suite, records = load_suite(), load_records()
    rows = []
    for name, board in suite.boards.items():
        streams = {entry.name for entry in suite.entries("full", name)}
        cells = [cell.status for record in records.values() for at, cell in record.cells.items() if at in streams]
        complete = sum(record.cells.keys() >= streams for record in records.values())
        counts = [cells.count(status) for status in _STATUSES]
        missing = len(STRATEGIES) * len(streams) - len(cells)
        rows.append([board.title, len(streams), complete, *counts, missing])
    heads = ["Board", "Streams", "Learners with all", *_STATUSES, "not yet run"]
    yield from _table(f"Suite {suite.version}: runs on its boards", heads, rows)
    machines = {
        f"{one.machine.get('processor', '?')}, {one.machine.get('cores', '?')} cores" for one in records.values()
    }
    yield from (f"Machines of the records: {'; '.join(sorted(machines)) or 'none, since nothing has run'}.", "")
    absent = [name for name in STRATEGIES if name not in records]
    if absent:
        yield from (f"Without any record yet: {_names(absent)}.", "")


def describe_firsts() -> Iterator[str]:
    """Yield a table of who is first: on each board by each score, with those that may be as good."""
    suite, rows = load_suite(), []
    for board in suite.boards:
        for score in suite.heading_scores(board):
            ranking = _rank(board, score)
            rows.append(
                [
                    suite.boards[board].title,
                    _title(score),
                    *(_first(ranking) if ranking else ["no two have run", "", ""]),
                ]
            )
    heads = ["Board", "Score", "First", "Second", "Learners compared"]
    yield from _table("The first places; in brackets, mean ranks", heads, rows)
    yield from _gaps(())


def describe_ranks(board: str, rule: str | None = None) -> Iterator[str]:
    """Yield ranks and mean scores of a board under a rule, by default that which heads it; then the tests."""
    suite = load_suite()
    scores = suite.heading_scores(board)
    if rule is not None:
        scores = [score for score in suite.scores(board) if score.decision == rule]
    found = [ranking for score in scores if (ranking := _rank(board, score)) is not None]
    if not found:
        yield from _nothing(board)
        return
    rows = []
    for learner in dict.fromkeys(name for ranking in found for name in ranking.learners):
        cells = [cell for ranking in found for cell in _standing(ranking, learner)]
        rows.append([_code(learner), *cells])
    heads = ["Learner", *(head for ranking in found for head in (f"{_title(ranking.score)}: mean rank", "mean"))]
    decisions = [_RULES[score.decision] for score in scores if score.decision is not None]
    title = ", ".join([suite.boards[board].title, *decisions[:1]])
    yield from _table(f"{title}: mean ranks (95 % interval) and mean scores", heads, rows)
    heads = [
        "Score",
        "Streams",
        "Learners",
        "Friedman's p",
        "Critical difference",
        "First",
        "Behind it",
        "As good, maybe",
    ]
    yield from _table(f"{title}: tests", heads, [_test(ranking) for ranking in found])
    yield from _gaps(found)


def describe_scores(board: str, name: str) -> Iterator[str]:
    """Yield one score of all learners on each stream of a board, best mean rank first."""
    suite, records = load_suite(), load_records()
    score = find_score(suite, board, name)
    streams = [entry.name for entry in suite.entries("full", board)]
    ranking = _rank(board, score)
    learners = dict.fromkeys([*(ranking.learners if ranking else ()), *records])
    rows = [
        [_code(learner), *(_cell(learner, stream, score) for stream in streams)]
        for learner in learners
        if records[learner].cells.keys() & set(streams)
    ]
    if not rows:
        yield from _nothing(board)
        return
    rule = "" if score.decision is None else f", {_RULES[score.decision]}"
    title = f"{suite.boards[board].title}: {_title(score)}{rule}"
    yield from _table(title, ["Learner", *streams], rows)
    yield from _gaps(())


def describe_rules(board: str, metric: str) -> Iterator[str]:
    """Yield the mean of a score over a board under each rule of decisions."""
    suite = load_suite()
    scores = [score for score in suite.scores(board) if score.metric == metric]
    found = [ranking for score in scores if (ranking := _rank(board, score)) is not None]
    if not found:
        yield from _nothing(board)
        return
    means = [dict(zip(ranking.learners, ranking.means, strict=True)) for ranking in found]
    rows = [[_code(name), *(_number(by_learner.get(name)) for by_learner in means)] for name in found[0].learners]
    title = f"{suite.boards[board].title}: mean {_title(scores[0])} by rule"
    yield from _table(title, ["Learner", *(_RULES[str(ranking.score.decision)] for ranking in found)], rows)
    yield from _gaps(found[:1])


def describe_costs() -> Iterator[str]:
    """Yield what learners take, the least first."""
    suite, records = load_suite(), load_records()
    reference = records.get(suite.reference)
    if reference is None:
        yield from (f"**Costs cannot be compared yet:** ``{suite.reference}``, the reference, has no record.", "")
        return
    costs = [(name, cost) for name, record in records.items() if (cost := compare_costs(record, reference)) is not None]
    rows = [
        [_code(name), cost.n_streams, f"{cost.times_reference:.2f}", f"{cost.cpu_s:.1f}", f"{cost.energy_j:.0f}"]
        for name, cost in sorted(costs, key=lambda pair: pair[1].times_reference)
    ]
    heads = ["Learner", "Streams", f"Times {suite.reference}", "CPU, s", "Energy, J"]
    yield from _table(f"Cost on the streams that a learner and {suite.reference} have finished", heads, rows)
    yield from _gaps(())


def _rank(board: str, score: Score, scope: Scope = "full") -> Ranking | None:
    return rank_learners(load_records(), load_suite(), board, score, scope=scope)


def _first(ranking: Ranking) -> list[object]:
    pairs = list(zip(ranking.learners, ranking.ranks, strict=True))
    return [*(f"{_code(name)} ({rank:.1f})" for name, rank in pairs[:2]), len(pairs)]


def _standing(ranking: Ranking, learner: str) -> list[str]:
    if learner not in ranking.learners:
        return ["not ranked", ""]
    at = ranking.learners.index(learner)
    low, high = ranking.intervals[at]
    return [f"{ranking.ranks[at]:.1f} ({low:.1f} to {high:.1f})", _number(ranking.means[at])]


def _test(ranking: Ranking) -> list[object]:
    """Test whether learners differ (Friedman), and which differ from the first (Wilcoxon and Holm)."""
    n_streams, n_learners = ranking.values.shape
    ranks = ranking.stream_ranks
    p = friedman(ranks).p_value if n_learners > 2 and n_streams > 1 else math.nan
    first, *others = ranking.learners
    behind = ranking.compared_with(first)[1:] <= ALPHA
    equal = [_code(name) for name, differs in zip(others, behind, strict=True) if not differs]
    few = least_p(n_streams, n_learners) > ALPHA
    told = "too few streams for this test" if few else ", ".join(equal) or "none"
    difference = critical_difference(n_learners, n_streams, alpha=ALPHA)
    return [
        _title(ranking.score),
        n_streams,
        n_learners,
        "n/a" if math.isnan(p) else f"{p:.1g}",
        f"{difference:.1f}",
        _code(first),
        int(np.count_nonzero(behind)),
        told,
    ]


def _gaps(found: Sequence[Ranking]) -> Iterator[str]:
    """Yield sentences about learners without a record, those left out, and runs that did not end."""
    records = load_records()
    n_absent = len(STRATEGIES - records.keys())
    left_out = dict.fromkeys(name for ranking in found for name in ranking.left_out)
    streams = {name for ranking in found for name in ranking.streams}
    stopped = {
        name: count
        for name, record in records.items()
        if (count := sum(cell.status != "done" for at, cell in record.cells.items() if at in streams))
    }
    if n_absent:
        yield from (f"Of {len(STRATEGIES)} strategies, {n_absent} have no record yet.", "")
    if left_out:
        yield from (f"Left out of a ranking, without a run on all of these streams: {_names(left_out)}.", "")
    if stopped:
        counts = ", ".join(f"{_code(name)} ({count})" for name, count in stopped.items())
        yield from (f"Last where a run was stopped or failed, and without a score in the mean: {counts}.", "")


def _nothing(board: str) -> Iterator[str]:
    suite, records = load_suite(), load_records()
    streams = {entry.name for entry in suite.entries("full", board)}
    started = sum(bool(record.cells.keys() & streams) for record in records.values())
    yield from (
        f"**{suite.boards[board].title}: no two learners can be compared yet.** {started} of {len(STRATEGIES)} have a "
        "record on its streams.",
        "",
    )


def _cell(learner: str, stream: str, score: Score) -> str:
    cell = load_records()[learner].cells.get(stream)
    if cell is None:
        return "not run"
    if cell.status != "done":
        return cell.status
    return _number(cell.scores.get(score.name, cell.scores.get(score.metric)))


def _title(score: Score) -> str:
    return "Rank" if score.metric == OWN_RANK else score_heading(score.metric).title


def _number(value: float | None) -> str:
    return "n/a" if value is None or math.isnan(value) else f"{value:.3f}"


def _code(name: str) -> str:
    return f"``{name}``"


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(_code, names))


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield from (f".. csv-table:: {title}", "   :header-rows: 1", "")
    for row in (heads, *rows):
        line = io.StringIO()
        csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="").writerow(row)
        yield f"   {line.getvalue()}"
    yield ""


TEXTS: dict[str, Callable[..., Iterator[str]]] = {
    "arena-boards": describe_boards,
    "arena-lite": describe_lite,
    "arena-coverage": describe_coverage,
    "arena-firsts": describe_firsts,
    "arena-ranks": describe_ranks,
    "arena-scores": describe_scores,
    "arena-rules": describe_rules,
    "arena-costs": describe_costs,
}
