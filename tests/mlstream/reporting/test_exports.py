"""Tables are read back as they were by programs that know nothing of us; figures show the records' own numbers."""

import csv
import errno
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from matplotlib.cbook import is_math_text

from mlstream.analysis.comparison import compare_all, ranking_of
from mlstream.analysis.costs import cost_points
from mlstream.analysis.curves import stream_curves
from mlstream.analysis.groups import group_runs
from mlstream.analysis.score_info import SCORE_HEADINGS, Heading
from mlstream.analysis.transfer import transfer
from mlstream.plotting.critical_difference import rank_figure
from mlstream.plotting.pareto_front import cost_figure
from mlstream.plotting.score_curves import curve_figure
from mlstream.plotting.transfer_matrix import transfer_figure
from mlstream.records.paths import file_name
from mlstream.records.run_record import load_runs
from mlstream.reporting.exports import to_csv, to_latex, to_markdown, write_figures, write_tables
from mlstream.reporting.tables import Cell, Table, score_table, scores_csv
from tests.mlstream.records.run_records import SIZES, STRATEGIES, TASKS, make_run, write_campaign

RUNS = [make_run(name, seed, stream) for stream in ("x", "y") for name in STRATEGIES for seed in (0, 1)]
STREAMS = group_runs(RUNS)
TABLE = score_table(STREAMS["x"])
HOSTILE = Table(
    (Heading("a & b_c%", "higher"), Heading("x|y", "lower")), ((Cell("{m}\\^~#$", "m"), Cell("1 ± 2", 1.5)),)
)


def test_csv_holds_numbers_in_full():
    rows = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == [column.title for column in TABLE.columns]
    for row, cells in zip(rows[1:], TABLE.rows, strict=True):
        assert row[:2] == [cell.value for cell in cells[:2]]
        assert [float(text) if text else None for text in row[2:]] == [cell.value for cell in cells[2:]]
    frame = pd.read_csv(io.StringIO(to_csv(TABLE)), index_col="Strategy")
    assert frame.loc["NN", "ACC"] == next(row for row in TABLE.rows if row[0].text == "NN")[5].value


def test_markdown_shows_what_the_page_shows():
    lines = to_markdown(TABLE).splitlines()
    assert len(lines) == len(TABLE.rows) + 2
    assert all(line.count("|") == len(TABLE.columns) + 1 for line in lines)
    best = {cell.text for row in TABLE.rows for cell in row if cell.is_best}
    assert all(f"**{text}**" in to_markdown(TABLE) for text in best)
    assert r"x\|y" in to_markdown(HOSTILE)


def test_latex_is_a_tabular_of_booktabs_with_nothing_unescaped():
    lines = to_latex(HOSTILE).splitlines()
    assert lines == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a \& b\_c\% $\uparrow$ & x\textbar{}y $\downarrow$ \\",
        r"\midrule",
        r"\{m\}\textbackslash{}\textasciicircum{}\textasciitilde{}\#\$ & 1 $\pm$ 2 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    text = to_latex(TABLE)
    assert text.isascii()
    assert text.count("&") == (len(TABLE.columns) - 1) * (len(TABLE.rows) + 1)


def test_a_note_stands_below_a_table_in_every_format_that_shows_spreads():
    table = Table((Heading("a"),), ((Cell("0.5 ± <0.001", 0.5),),), note="Runs of NN_TL: --vary.")
    assert to_markdown(table).splitlines()[2:] == [r"| 0.5 ± \<0.001 |", "", "Runs of NN_TL: --vary."]
    assert to_latex(table).splitlines()[-4:] == [
        r"0.5 $\pm$ \textless{}0.001 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"% Runs of NN\_TL: -{}-vary.",
    ]
    assert to_csv(table) == "a\n0.5\n"


# Each name, and what the table holds: a carriage return is a blank, and what begins a formula has an apostrophe.
FORMULAS = {
    "x\r=1": "x =1",
    "=1+1": "'=1+1",
    "+a1": "'+a1",
    "-a1": "'-a1",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t=1",
    '=HYPERLINK("http://x","y")': """'=HYPERLINK("http://x","y")""",
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
}


@pytest.mark.parametrize(("name", "kept"), FORMULAS.items())
def test_no_cell_of_a_csv_is_a_formula_and_numbers_stay_numbers(name, kept):
    table = Table((Heading(name), Heading("ACC")), ((Cell(name, name), Cell("-0.5", -0.5)),))
    streams = group_runs([make_run(name, 0, name, scores={name: -0.5})])
    for text in (to_csv(table), scores_csv(streams)):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        cells = [cell for row in rows for cell in row]
        assert {cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))} == {"-0.5"}
        assert cells.count(kept) >= 2


def shown_by_markdown(text):
    """Give the cells of a table as a reader of Markdown shows them; what is not text is named."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    assert [token.type for token in tokens].count("table_open") == 1
    cells = [token.children for token in tokens if token.type == "inline"]
    kinds = {child.type for children in cells for child in children}
    assert kinds <= {"text", "text_special"}
    return ["".join(child.content for child in children) for children in cells]


@given(st.text(min_size=1) | st.text("`*_[]<>|#~$&\\!(a)-\n", min_size=1, max_size=12))
@example("<script>alert(1)</script>")
@example("[x](javascript:alert(1))")
@example("![](http://x/y.png)")
@example("a`b|c`d\\|e")
@example("line\n\n# break | x |")
@example("__a_b__ *c* ~~d~~ &lt; \\")
def test_names_stay_names_in_markdown(name):
    table = Table((Heading(name), Heading("b")), ((Cell(name, name), Cell(name, 1.0)),))
    printable = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    assert shown_by_markdown(to_markdown(table)) == [printable, "b", printable, printable]


def test_usual_names_are_not_changed_in_markdown():
    table = Table((Heading("Strategy"),), ((Cell("BR_HT_2-x (capped)", 1.0, is_best=True),),))
    assert to_markdown(table).splitlines()[2] == "| **BR_HT_2-x (capped)** |"


@given(st.text(min_size=1) | st.text("\\{}[]*%$#&_^~<>|`-a\n", min_size=1, max_size=12))
@example("\\input{/etc/passwd}")
@example("x % y\n\nz")
@example("[9cm] --- *")
@example("-<-")
def test_names_stay_names_in_latex(name):
    table = Table((Heading(name), Heading("b")), ((Cell(name, name), Cell(name, 1.0)),))
    lines = to_latex(table).splitlines()
    assert len(lines) == 7
    for line in (lines[2], lines[4]):
        assert line.endswith(r" \\")
        plain = re.sub(
            r"\\text[a-z]+\{\}|\\[&%$#_{}]|\{[\[*]\}|-\{\}|\$(\\[a-z]+|\^2|-)\$", "x", line.removesuffix(r" \\")
        )
        assert not set(plain) & set("\\{}%$#_^~[*<>|`")
        assert plain.count("&") == 1
        assert "--" not in plain


def test_every_table_is_written_in_three_formats_under_its_own_name(tmp_path):
    written = list(write_tables(tmp_path, STREAMS, compare_all(STREAMS)))
    names = [path.name.lower() for path in written]
    assert len(set(names)) == len(names)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex"}
    stems = {path.stem for path in written}
    assert {"overview-acc", "scores-x", "costs-y", "mean-ranks", "friedman", "pairs-acc"} <= stems
    assert sorted(written) == sorted(tmp_path.iterdir())


def test_names_and_titles_of_scores_differ_by_more_than_case():
    assert len({name.lower() for name in SCORE_HEADINGS}) == len(SCORE_HEADINGS)
    assert len({one.title.lower() for one in SCORE_HEADINGS.values()}) == len(SCORE_HEADINGS)
    assert all(file_name(name) == name for name in SCORE_HEADINGS)


def test_no_text_is_a_formula_and_numbers_stay_numbers():
    names = ["=1+1", "+1-1", "-a", "@SUM(A1)", "\tx", "\rx", "plain", "-0.5"]
    table = Table((Heading("=cmd|'/c calc'!A1"), Heading("x")), tuple((Cell(n, n), Cell("", -1.5)) for n in names))
    head, *rows = csv.reader(io.StringIO(to_csv(table), newline=""))
    assert head == ["'=cmd|'/c calc'!A1", "x"]
    assert [row[0] for row in rows] == [*(f"'{name}" for name in names[:5]), " x", "plain", "-0.5"]
    assert {row[1] for row in rows} == {"-1.5"}
    scores = scores_csv(group_runs([make_run("=NN", 0, "@x")]))
    assert all(row[:2] == ["'@x", "'=NN"] for row in list(csv.reader(io.StringIO(scores)))[1:])


def draw_curves(groups):
    return curve_figure(*stream_curves(groups, "ba_macro", "windowed"))


def draw_tasks(group):
    return transfer_figure(group.label, transfer(group, "ba_macro"))


def lines(figure):
    return {line.get_label(): line for line in figure.axes[0].lines}


def test_curves_are_means_over_seeds():
    drawn = lines(draw_curves(STREAMS["x"]))
    curves = [run.curves["ba_macro"] for run in RUNS if run.strategy == "NN" and run.stream == "x"]
    assert np.allclose(drawn["NN"].get_ydata(), np.mean([curve.windowed for curve in curves], axis=0))
    assert list(drawn["NN"].get_xdata()) == curves[0].n_rows
    assert set(STRATEGIES) <= drawn.keys()


def test_tasks_and_costs_and_ranks_are_drawn():
    group = STREAMS["x"][0]
    tasks = lines(draw_tasks(group))
    R = np.mean([run.R["ba_macro"] for run in group.runs], axis=0)
    assert np.allclose(tasks["task 2"].get_ydata(), R[:, 2])
    costs = cost_figure(cost_points(STREAMS["x"])[0].points, "ACC", "Wall time, s")
    assert costs.axes[0].get_xscale() == "log"
    assert len(costs.axes[0].containers) == len(STRATEGIES)
    diagram = rank_figure(ranking_of(compare_all(STREAMS)[0]))
    shown = " ".join(text.get_text() for text in diagram.axes[0].texts)
    assert all(name in shown for name in STRATEGIES)
    assert sum(SIZES[:1]) in [line.get_xdata()[0] for line in draw_curves(STREAMS["x"]).axes[0].lines]


@pytest.mark.slow
@pytest.mark.parametrize("name", [r"$\frac$", "a$b$c", "_NN", r"\$x", "x\ny"])
def test_names_are_drawn_as_they_are(tmp_path, name):
    tasks = [name, *TASKS[1:]]
    runs = [make_run(one, 0, stream, task_names=tasks) for stream in ("x", "y") for one in (name, "BR_HT", "NN")]
    streams = group_runs(runs)
    for draw in (lambda: draw_curves(streams["x"]), lambda: draw_tasks(streams["x"][0])):
        figure = draw()
        figure.savefig(tmp_path / "figure.svg")
        shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert name in [text.replace(r"\$", "$").strip() for text in shown]
        assert not any(is_math_text(text) for text in shown)
    diagram = rank_figure(ranking_of(compare_all(streams)[0]))
    diagram.savefig(tmp_path / "figure.svg")
    assert name in [text.get_text().replace(r"\$", "$").strip() for text in diagram.axes[0].texts]


@pytest.mark.slow
def test_every_figure_is_written_twice_and_the_same_records_give_the_same_files(tmp_path):
    streams = group_runs(load_runs(write_campaign(tmp_path / "runs", strategies=("NN", "BR_HT"))))
    written = list(write_figures(tmp_path / "a", streams, []))
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert {path.stem for path in written} >= {"curves-yeast", "tasks-yeast-NN", "acc-against-time-yeast"}
    again = list(write_figures(tmp_path / "b", streams, []))
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


def test_costs_are_not_drawn_against_a_score_that_no_run_has(tmp_path):
    run = make_run("NN", 0, "x")
    lacking = run.model_copy(update={"scores": {**run.scores, "acc": None}})
    names = {path.stem for path in write_figures(tmp_path, group_runs([lacking]), [])}
    assert names
    assert not any(name.startswith("acc-against") for name in names)


def test_a_figure_that_cannot_be_drawn_leaves_the_older_one(tmp_path, monkeypatch):
    groups = {"x": STREAMS["x"][:1]}
    first = next(write_figures(tmp_path, groups, []))
    before = first.read_bytes()

    def draw_half(figure, path, **_):
        Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", draw_half)
    with pytest.raises(OSError, match=f"No space left on device.*{first.name}"):
        next(write_figures(tmp_path, groups, []))
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert first.read_bytes() == before
