"""The protocols of the field's published tables equal loops over rows; cells are read, and compared, as printed."""

import numpy as np
import pytest
from river import metrics as river

from benchmarks.reproduction import field_tables
from benchmarks.reproduction.field_scores import FADING, REPORT_ROWS, cumulative_scores, faded_scores


@pytest.fixture
def published(shared_data):
    """Skip where the published tables, or the tables of data, are absent."""
    shared_data("multilabel")
    if not field_tables.PUBLISHED.is_dir():
        pytest.skip(f"needs published tables in {field_tables.PUBLISHED}")


def rows(n_rows, seed, n_labels=4):
    """Draw labels, one of which is rare, and predictions that often agree."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < [0.5, 0.3, 0.2, 0.01]).astype(int)
    return Y, np.where(rng.random(Y.shape) < 0.8, Y, 1 - Y)


@pytest.mark.parametrize("n_rows", [2, 150, 400])
def test_cumulative_scores_are_rivers(n_rows):
    Y, Y_pred = rows(n_rows, n_rows)
    peers = {
        "subset": river.multioutput.ExactMatch(),
        "f1_micro": river.multioutput.MicroAverage(river.F1()),
        "f1_macro": river.multioutput.MacroAverage(river.F1()),
    }
    for labels, predicted in zip(Y[1:], Y_pred[1:], strict=True):
        for peer in peers.values():
            peer.update(dict(enumerate(labels.tolist())), dict(enumerate(predicted.tolist())))
    expected = {name: peer.get() for name, peer in peers.items()} | {"hamming": (Y[1:] != Y_pred[1:]).mean()}
    assert cumulative_scores(Y, Y_pred) == pytest.approx(expected)


def faded_by_rows(Y, Y_pred):
    """Keep every sum of the protocol by itself, row after row, label after label."""
    n_labels = Y.shape[1]
    tp, fp, fn = [[0.0] * n_labels for _ in range(3)]
    subset = hamming = weight = 0.0
    reports = []
    for t, (labels, predicted) in enumerate(zip(Y.tolist(), Y_pred.tolist(), strict=True), 1):
        subset = FADING * subset + (labels == predicted)
        hamming = FADING * hamming + sum(a == b for a, b in zip(labels, predicted, strict=True)) / n_labels
        weight = FADING * weight + 1
        for j in range(n_labels):
            tp[j] = FADING * tp[j] + (labels[j] == 1 and predicted[j] == 1)
            fp[j] = FADING * fp[j] + (labels[j] == 0 and predicted[j] == 1)
            fn[j] = FADING * fn[j] + (labels[j] == 1 and predicted[j] == 0)
        if t % REPORT_ROWS == 0 or t == len(Y):
            macro = harmonic(
                np.mean([share(tp[j], tp[j] + fp[j]) for j in range(n_labels)]),
                np.mean([share(tp[j], tp[j] + fn[j]) for j in range(n_labels)]),
            )
            micro = harmonic(share(sum(tp), sum(tp) + sum(fp)), share(sum(tp), sum(tp) + sum(fn)))
            reports.append((subset / weight, hamming / weight, micro, macro))
    return dict(zip(("subset", "hamming", "f1_micro", "f1_macro"), np.mean(reports, axis=0), strict=True))


def share(part, whole):
    return part / whole if whole else 0.0


def harmonic(precision, recall):
    return share(2 * precision * recall, precision + recall)


@pytest.mark.parametrize("n_rows", [1, 99, 100, 101, 250])
def test_faded_scores_are_those_of_a_loop(n_rows):
    Y, Y_pred = rows(n_rows, n_rows)
    assert faded_scores(Y, Y_pred) == pytest.approx(faded_by_rows(Y, Y_pred))


@pytest.mark.parametrize("score", [cumulative_scores, faded_scores])
def test_a_perfect_prediction_is_perfect(score):
    Y = rows(300, 0, 4)[0]
    Y[-1, 3] = 1
    perfect = score(Y, Y)
    assert perfect["subset"] == perfect["f1_micro"] == pytest.approx(1)
    assert perfect["hamming"] == pytest.approx(0 if score is cumulative_scores else 1)


def test_cells_are_read_and_an_unfinished_run_has_none(published):
    columns = {(column.family, column.name): column for column in field_tables.COLUMNS}
    cells = field_tables.read_cells(columns["mlhat", "HT"], "Scene")
    assert cells["subset"] == pytest.approx(0.2994, abs=5e-5)
    assert cells["f1_micro"] == pytest.approx(0.5016, abs=5e-5)
    assert field_tables.read_cells(columns["mlhat", "HT"], "No such table") == {}


def test_the_binary_trees_of_scene_come_out(published, capsys):
    assert field_tables.main(["--sets", "Scene", "--columns", "HT"]) == 0
    assert "4 of 4 values matched" in capsys.readouterr().out


def test_every_column_has_its_cells(published):
    for column in field_tables.COLUMNS:
        assert field_tables.read_cells(column, "Scene"), column


def test_rows_in_another_order_are_printed_and_not_counted(published, capsys):
    assert field_tables.main(["--sets", "Slashdot", "--columns", "HT"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("on rows in another order") == 4
    assert "0 of 0 values matched" in printed


HEADER = (
    "@relation 'r: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@attribute x numeric\n@data\n"
)
LABELS = '<labels><label name="b"/><label name="c"/></labels>'


@pytest.fixture
def own_table(published, tmp_path, monkeypatch):
    """Write rows under a name with a blank, in the working directory; beside them, perhaps, MULAN's file of labels."""
    monkeypatch.chdir(tmp_path)

    def write(lines, xml=None):
        (tmp_path / "my table.arff").write_text(HEADER + lines)
        if xml:
            (tmp_path / "my table.xml").write_text(xml)
        return ["--table", "VirusGO=my table.arff", "--columns", "HT"]

    return write


@pytest.mark.parametrize(
    ("lines", "xml", "reason"),
    [
        ("1,0,1,2\n0,1,0,3\n", LABELS, "must name the same labels"),
        ("1,0,1,2\n0,1,0,?\n", None, "must have a value in every row"),
        ("1,0,1,2\n?,1,0,3\n", None, "no unknown label"),
        ("1,0,1,2\n", None, "two rows or more"),
    ],
)
def test_a_table_that_fails_is_left_out_and_the_others_are_compared(lines, xml, reason, own_table, capsys):
    assert field_tables.main(["--sets", "VirusGO", "Scene", *own_table(lines, xml)]) == 1
    printed = capsys.readouterr().out
    assert reason in next(line for line in printed.splitlines() if line.startswith("VirusGO is left out: "))
    assert "4 of 4 values matched" in printed


@pytest.mark.parametrize("rule", ["2", "a,b", "other.xml"])
def test_the_labels_that_are_given_decide(rule, own_table, monkeypatch, tmp_path):
    read = []

    def measure(column, data):
        read.extend(data.label_names)
        return dict.fromkeys(field_tables.FAMILIES[column.family].files, 0.0), 1.0

    monkeypatch.setattr(field_tables, "measure", measure)
    (tmp_path / "other.xml").write_text(LABELS.replace("c", "a"))
    arguments = own_table("1,0,1,2\n0,1,0,3\n", LABELS)
    field_tables.main([*arguments, "--sets", "VirusGO", "--labels", f"VirusGO={rule}"])
    assert sorted(read) == ["a", "b"]


@pytest.mark.parametrize("own", ["VirusGO=nowhere.arff", "Nope=nowhere.arff"])
def test_a_table_of_ones_own_needs_no_sets(own, published, monkeypatch, capsys):
    monkeypatch.setattr(field_tables, "TABLES", {})
    assert field_tables.main(["--table", own]) == 1
    assert f"{own.partition('=')[0]} is left out: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong", [["--sets", "Nope"], ["--columns", "Nope"], ["--labels", "Nope=2"], ["--table", "Nope"]]
)
def test_unknown_names_are_refused(wrong, capsys):
    with pytest.raises(SystemExit):
        field_tables.main(wrong)
    assert "must be" in capsys.readouterr().err
