"""Sources give each complete row of what grows once, wherever it was cut while it was written."""

import json
import threading
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estimators import OnlineLogisticRegression
from mlstream import evaluate, load_dataset
from mlstream.service import SourceWarning, follow_csv, follow_jsonl, follow_parquet

FAST = {"interval_s": 0.001, "timeout_s": 0.02}
HEAD = "a,b,y\n"


def values(source):
    tables = list(source)
    return [[*x, *y] for table in tables for x, y in zip(table.X.tolist(), table.Y.tolist(), strict=True)]


def lines(n, first=0):
    return "".join(f"{i},{i / 2},{i % 2}\n" for i in range(first, first + n))


def rows(n, first=0):
    return [[i, i / 2, i % 2] for i in range(first, first + n)]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 60), max_size=6).map(sorted))
def test_rows_are_those_of_the_file_wherever_writing_stops(tmp_path, cuts):
    path, text = tmp_path / "log.csv", (HEAD + '1,"0.5",0\n3,,1\n5,2.5,\n' + lines(5)).encode()
    path.unlink(missing_ok=True)
    edges = [0, *(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:stop] for start, stop in pairwise(edges)]

    def write_next():
        with path.open("ab") as file:
            file.write(pieces.pop(0))
        return not pieces

    def stop():
        return not pieces or (write_next() and False)

    found = values(follow_csv(path, ["y"], missing="keep", interval_s=1e-6, stop=stop))
    whole = load_dataset(path, ["y"], missing="keep")
    np.testing.assert_array_equal(found, np.hstack([whole.X, whole.Y]))


@pytest.mark.parametrize("n_first", [0, 1, 7])
def test_a_source_goes_on_at_its_position_and_errors_name_the_line(tmp_path, n_first):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + lines(n_first))
    first = follow_csv(path, ["y"], **FAST)
    assert values(first) == rows(n_first)
    position = json.loads(json.dumps(first.position()))
    with path.open("a") as file:
        file.write(lines(3, n_first))
    second = follow_csv(path, ["y"], start=position, **FAST)
    assert values(second) == rows(3, n_first)
    with path.open("a") as file:
        file.write("1,word,0\n")
    with pytest.raises(ValueError, match=rf"line {n_first + 5}: column 'b' must be a finite number.* Got 'word'"):
        list(follow_csv(path, ["y"], start=second.position(), **FAST))


def test_a_row_that_is_not_complete_is_left_out_with_its_place_and_read_later(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + lines(2) + "2,1.")
    first = follow_csv(path, ["y"], **FAST)
    with pytest.warns(SourceWarning, match="Got 4 bytes that do not from byte 22 on"):
        assert values(first) == rows(2)
    with path.open("a") as file:
        file.write("0,0\n")
    assert values(follow_csv(path, ["y"], start=first.position(), **FAST)) == rows(1, 2)


def test_rows_that_are_an_error_stay_in_front_of_the_position(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + lines(2))
    source = follow_csv(path, ["y"], interval_s=0.001, timeout_s=0.5)
    assert values([next(source)]) == rows(2)
    behind = source.position()
    with path.open("a") as file:
        file.write(lines(1, 2) + "3,word,0\n" + lines(1, 4))
    with pytest.raises(ValueError, match="line 5"):
        next(source)
    assert source.position() == behind
    path.write_text(path.read_text().replace("word", "1.5"))
    again = follow_csv(path, ["y"], start={**behind, "inode": path.stat().st_ino}, **FAST)
    assert [row[0] for row in values(again)] == [2, 3, 4]


def test_a_line_break_in_quotes_ends_no_row(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('w,b,y\n"one\ntwo",1,0\n"one\n')
    source = follow_csv(path, ["y"], values={"w": ["one\ntwo"]}, **FAST)
    with pytest.warns(SourceWarning, match=r"must close its quotes, and end with a line break\. Got 5 bytes"):
        assert len(values(source)) == 1


@pytest.mark.parametrize("way", ["moved", "cut"])
def test_a_file_that_is_replaced_is_read_to_its_end_and_the_next_from_its_start(tmp_path, way):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + lines(9))
    source = follow_csv(path, ["y"], interval_s=0.001, timeout_s=0.05)
    assert next(source).n_samples == 9
    if way == "moved":
        with path.open("a") as file:
            file.write("9,4.5,1")
        path.rename(tmp_path / "old.csv")
    path.write_text(HEAD + lines(2, 20))
    assert values(source) == (rows(1, 9) if way == "moved" else []) + rows(2, 20)
    path.write_text("a,c,y\n" + lines(1))
    again = follow_csv(path, ["y"], start=source.position(), **FAST)
    with pytest.warns(SourceWarning, match="must be the file of the position"):
        assert values(again) == rows(1)


@pytest.mark.filterwarnings("ignore:.*consecutive whole numbers")
@pytest.mark.parametrize("n_rows", [9, 10, 12, 40])
def test_a_file_that_is_written_again_is_another_one_however_long_it_is(tmp_path, n_rows):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + lines(9) + "9,")
    source = follow_csv(path, ["y"], interval_s=0.001, timeout_s=0.05)
    assert next(source).n_samples == 9
    position = source.position()
    path.write_text(HEAD + lines(n_rows, 20))
    with pytest.warns(SourceWarning, match="must end with a line break"):
        assert values(source) == rows(n_rows, 20)
    with pytest.warns(SourceWarning, match="must be the file of the position"):
        assert values(follow_csv(path, ["y"], start=position, **FAST)) == rows(n_rows, 20)


@pytest.mark.parametrize("start", [{}, 5, {"byte": 3}, {"file": "a", "row": "b"}])
@pytest.mark.parametrize("follow", [follow_csv, follow_jsonl, follow_parquet])
def test_what_is_not_a_position_is_refused(tmp_path, follow, start):
    with pytest.raises(ValueError, match=r"start must be the position\(\) of such a source, with .*Got"):
        follow(tmp_path, ["y"], start=start)


def test_values_of_what_is_not_a_column_are_refused(tmp_path):
    (tmp_path / "log.csv").write_text(HEAD + lines(3))
    with pytest.raises(ValueError, match=r"values must be of columns. Got 'proto', which is not a column"):
        next(follow_csv(tmp_path / "log.csv", ["y"], values={"proto": ["tcp", "udp"]}, **FAST))
    source = follow_csv(tmp_path / "log.csv", ["y"], values={"a": ["0", "1", "2"]}, ignore=["a"], **FAST)
    assert next(source).feature_names == ("b",)


def test_other_columns_after_a_replacement_are_one_error(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + lines(9))
    source = follow_csv(path, ["y"], **FAST)
    next(source)
    path.write_text("a,c,y\n" + lines(1))
    with pytest.raises(ValueError, match=r"columns must stay 'a', 'b', 'y'. Got a change: 'b', 'c'"):
        list(source)


def test_repeated_keys_are_left_out_and_counted_and_keep_their_type(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("id,a,y\nk1,1,0\nk2,2,1\nk1,3,0\n")
    source = follow_csv(path, ["y"], keys=["id"], timeout_s=0.05, interval_s=0.001)
    assert next(source).keys["id"].tolist() == ["k1", "k2"]
    with path.open("a") as file:
        file.write("k2,1,0\n17,2,1\n")
    assert next(source).keys["id"].tolist() == ["17"]
    assert source.n_repeated_ == 2
    source = follow_csv(path, ["y"], keys=["id"], remember=1, **FAST)
    assert next(source).keys["id"].tolist() == ["k1", "k2", "17"]
    with path.open("a") as file:
        file.write("17,1,0\nk1,2,1\n")
    assert next(source).keys["id"].tolist() == ["k1"]


def test_json_lines_are_rows_by_name(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"p": "tcp", "f": {"n": 3}, "ok": true, "y": 1}\n{"p": "udp", "ok": false, "f": {"n": 1}}\n')
    source = follow_jsonl(path, ["y"], values={"p": ["tcp", "udp"]}, categories="ordinal", **FAST)
    table = next(source)
    assert table.feature_names == ("p", "f.n", "ok")
    assert table.X.tolist() == [[0, 3, 1], [1, 1, 0]]
    np.testing.assert_array_equal(table.Y, [[1], [np.nan]])
    with path.open("a") as file:
        file.write('{"p": "icmp", "f": {"n": 3}, "ok": true, "y": 1}\n')
    with pytest.raises(ValueError, match=r"line 3: column 'p' must be one of its values, 'tcp', 'udp'. Got 'icmp'"):
        next(follow_jsonl(path, ["y"], values={"p": ["tcp", "udp"]}, start=source.position(), **FAST))
    again = follow_jsonl(path, ["y"], values={"p": ["tcp", "udp", "icmp"]}, interval_s=0.001, timeout_s=0.5)
    assert next(again).n_samples == 3
    with path.open("a") as file:
        file.write('{"z": 1}\n')
    with pytest.raises(ValueError, match=r"line 4: columns must be among those of the first rows. Got 'z'"):
        list(again)


def frame(n, first=0):
    return pd.DataFrame(rows(n, first), columns=["a", "b", "y"])


def test_files_of_a_folder_are_read_once_in_the_order_of_names(tmp_path):
    frame(3).to_parquet(tmp_path / "02.parquet")
    (tmp_path / "_part.parquet").write_bytes(b"nothing")
    source = follow_parquet(tmp_path, ["y"], interval_s=0.001, timeout_s=0.1)
    assert len(values([next(source)])) == 3
    position = source.position()
    frame(2, 5).to_parquet(tmp_path / "01.parquet")
    frame(2, 3).to_parquet(tmp_path / "03.parquet")
    content = (tmp_path / "03.parquet").read_bytes()
    (tmp_path / "04.parquet").write_bytes(content[:-1])
    with pytest.warns(SourceWarning) as caught:
        assert values(source) == rows(2, 3)
    assert "Got '01.parquet' after '02.parquet'" in str(caught[0].message)
    assert "04.parquet must be a complete Parquet file" in str(caught[-1].message)
    (tmp_path / "04.parquet").unlink()
    assert values(follow_parquet(tmp_path, ["y"], start=position, **FAST)) == rows(2, 3)
    frame(2).drop(columns="b").to_parquet(tmp_path / "05.parquet")
    with pytest.raises(ValueError, match=r"columns must stay 'a', 'b', 'y'. Got a change: 'b'"):
        list(follow_parquet(tmp_path, ["y"], **FAST))


def test_of_a_folder_only_files_are_read_and_a_file_is_no_folder(tmp_path):
    frame(1).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").mkdir()
    assert values(follow_parquet(tmp_path, ["y"], **FAST)) == rows(1)
    with pytest.raises(NotADirectoryError, match="folder must be a folder of Parquet files"):
        list(follow_parquet(tmp_path / "a.parquet", ["y"], **FAST))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"missing": "mean"}, "missing must be error, drop or keep for a live source. Got 'mean'"),
        ({"header": False}, "header must be True"),
        ({"classes": True}, "must be left out for a live source"),
        ({"timeout_s": 0}, "timeout_s must be a positive number of seconds. Got 0"),
    ],
)
def test_options_that_need_all_rows_are_refused(tmp_path, options, text):
    with pytest.raises(ValueError, match=text):
        follow_csv(tmp_path / "log.csv", ["y"], **options)


def test_rows_without_a_value_are_dropped_or_an_error(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + "1,,0\n")
    assert values(follow_csv(path, ["y"], missing="drop", **FAST)) == []
    with pytest.raises(ValueError, match="line 2"):
        list(follow_csv(path, ["y"], **FAST))
    assert values(follow_csv(tmp_path / "absent.csv", ["y"], **FAST)) == []


def test_a_learner_is_evaluated_on_a_file_that_a_thread_writes(tmp_path):
    path, rng = tmp_path / "log.csv", np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    cells = np.column_stack([X, X[:, 0] > 0])

    def write():
        with path.open("w") as file:
            file.write(HEAD)
            for row in cells.tolist():
                file.write(",".join(map(repr, row[:2])) + f",{row[2]:g}\n")
                file.flush()
                time.sleep(0.0005)

    writer = threading.Thread(target=write)
    writer.start()
    source = follow_csv(path, ["y"], interval_s=0.005, stop=lambda: not writer.is_alive())
    found = evaluate(OnlineLogisticRegression(), source, energy="none")
    writer.join()
    expected = evaluate(OnlineLogisticRegression(), iter([(X, cells[:, 2:])]), energy="none")
    assert (found.stream, found.experience_sizes, found.scores) == ("log", [200], expected.scores)
