"""Tables are read back as they were by programs that know nothing of us."""

import csv
import io

import pandas as pd

from mlstream.protocol.comparison import compare_all
from mlstream.protocol.exports import spelt, to_csv, to_latex, to_markdown, write_tables
from mlstream.protocol.groups import group_runs
from mlstream.protocol.headings import METRICS, Heading
from mlstream.protocol.tables import Cell, Table, score_table, scores_csv
from tests.mlstream.protocol.records import STRATEGIES, make_run

STREAMS = group_runs([make_run(name, seed, stream) for stream in ("x", "y") for name in STRATEGIES for seed in (0, 1)])
TABLE = score_table(STREAMS["x"])
HOSTILE = Table(
    (Heading("a & b_c%", "higher"), Heading("x|y", "lower")), ((Cell("{m}\\^~#$", "m"), Cell("1 ± 2", 1.5)),)
)


def test_csv_holds_numbers_in_full():
    rows = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == [column.title for column in TABLE.columns]
    for row, cells in zip(rows[1:], TABLE.rows, strict=True):
        assert [float(text) if text else None for text in row[1:]] == [cell.value for cell in cells[1:]]
    frame = pd.read_csv(io.StringIO(to_csv(TABLE)), index_col="Strategy")
    assert frame.loc["NN", "ACC"] == next(row for row in TABLE.rows if row[0].text == "NN")[4].value


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
        r"a \& b\_c\% $\uparrow$ & x|y $\downarrow$ \\",
        r"\midrule",
        r"\{m\}\textbackslash{}\textasciicircum{}\textasciitilde{}\#\$ & 1 $\pm$ 2 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    text = to_latex(TABLE)
    assert text.isascii()
    assert text.count("&") == (len(TABLE.columns) - 1) * (len(TABLE.rows) + 1)


def test_every_table_is_written_in_three_formats_under_its_own_name(tmp_path):
    written = list(write_tables(tmp_path, STREAMS, compare_all(STREAMS)))
    names = [path.name.lower() for path in written]
    assert len(set(names)) == len(names)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex"}
    stems = {path.stem for path in written}
    assert {"overview-acc", "scores-x", "costs-y", "mean-ranks", "friedman", "pairs-acc"} <= stems
    assert sorted(written) == sorted(tmp_path.iterdir())


def test_scores_that_differ_in_signs_only_have_names_of_their_own():
    assert len({spelt(name).lower() for name in METRICS}) == len(METRICS)


def test_no_text_is_a_formula_and_numbers_stay_numbers():
    names = ["=1+1", "+1-1", "-a", "@SUM(A1)", "\tx", "\rx", "plain", "-0.5"]
    table = Table((Heading("=cmd|'/c calc'!A1"), Heading("x")), tuple((Cell(n, n), Cell("", -1.5)) for n in names))
    head, *rows = csv.reader(io.StringIO(to_csv(table), newline=""))
    assert head == ["'=cmd|'/c calc'!A1", "x"]
    assert [row[0] for row in rows] == [*(f"'{name}" for name in names[:5]), " x", "plain", "-0.5"]
    assert {row[1] for row in rows} == {"-1.5"}
    scores = scores_csv(group_runs([make_run("=NN", 0, "@x")]))
    assert all(row[:2] == ["'@x", "'=NN"] for row in list(csv.reader(io.StringIO(scores)))[1:])
