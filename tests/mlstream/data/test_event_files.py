"""Logs of events are read as they are written, in the order of time; what breaks a rule is refused with its line."""

import csv
import gzip
import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlstream import Events, TextColumn, read_events, write_events
from mlstream.data import _event_blocks
from mlstream.formats import csv_blocks, lines
from mlstream.generators import synthetic_events
from mlstream.streams.tables.text_columns import MISSING_WORDS

HEAD = "ts,host,threat,bytes\n"


def write(folder, text, name="log.csv"):
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder / name


def texts(events, column):
    """Return the cells of a column of text."""
    codes, values = events.columns[column]
    return [values[code] if code >= 0 else "" for code in codes]


def seconds(events):
    return (events.times.view(np.int64) / 1e6).tolist()


def assert_same(one, other):
    np.testing.assert_array_equal(one.times, other.times)
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        if isinstance(column, TextColumn):
            assert texts(one, name) == texts(other, name)
        else:
            np.testing.assert_array_equal(column, other.columns[name])


@pytest.fixture
def small_blocks(monkeypatch):
    """Let each line of CSV be a block, and two of JSON."""
    monkeypatch.setattr(lines, "SHORT_BYTES", 1)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1)
    monkeypatch.setattr(csv_blocks, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(_event_blocks, "_N_ROWS", 2)


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.jsonl", "log.ndjson", "log.json"])
@pytest.mark.parametrize("are_small", [False, True])
def test_a_log_read_is_the_log_written(tmp_path, name, are_small, request):
    if are_small:
        request.getfixturevalue("small_blocks")
    events = synthetic_events(seed=3, n_hosts=3, n_days=1)
    write_events(events, tmp_path / name)
    read = read_events(tmp_path / name, time="time", labels="threat", by="host")
    assert_same(read, events)
    assert (read.labels, read.by, read.name, read.source) == ("threat", "host", "log", str(tmp_path / name))


AWKWARD = ["=1+1", "'=x", "a,b", "a;b|c", 'say "x"', "", "ü", "007", "-5", "NA", "null", " a", "a\nb", "c\r\n"]
WORDS = st.sampled_from([*AWKWARD, "?", "x"]) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
# Those that CSV cannot tell from an empty cell.
KEPT = WORDS.filter(lambda text: text in {"", *MISSING_WORDS} or text.strip() not in {"", *MISSING_WORDS})
NAMES = WORDS.filter(lambda name: "\0" not in name and name != "time")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
@given(cells=st.lists(KEPT, max_size=6), names=st.lists(NAMES, min_size=2, max_size=2, unique=True))
@example(AWKWARD, ["a;b", "NA"])
def test_any_text_comes_back(tmp_path_factory, suffix, cells, names):
    cells, path = [*cells, "x"], tmp_path_factory.mktemp("log") / f"log{suffix}"
    # The last event holds all columns, whose order in JSON is that of their first cells.
    columns = {names[0]: TextColumn.encode(cells[::-1]), names[1]: np.resize([1.5, np.nan], len(cells))}
    events = Events(np.arange(len(cells)).astype("datetime64[us]"), columns)
    write_events(events, path)
    assert_same(read_events(path, time="time", text=names[:1]), events)


def test_a_packed_file_is_read_and_its_content_hashed(tmp_path):
    plain = write(tmp_path, HEAD + "1,a,,2\n")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    packed = read_events(tmp_path / "log.csv.gz", time="ts")
    assert_same(packed, read_events(plain, time="ts"))
    assert packed.sha256 == read_events(plain, time="ts").sha256
    assert packed.name == "log"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0", "1.5", "3600"], [0, 1.5, 3600]),
        (["1700000000000", "1700000000250"], [1.7e9, 1.7e9 + 0.25]),
        (["1970-01-01T00:00:01", "1970-01-01 00:00:02.5"], [1, 2.5]),
        (["1970-01-01T00:00:01Z", "1970-01-01T02:00:02+02:00", "1970-01-01T00:00:03.000001+0000"], [1, 2, 3.000001]),
        (["-1", "0"], [-1, 0]),
    ],
)
def test_times_are_iso_8601_or_seconds_or_milliseconds(tmp_path, cells, expected):
    path = write(tmp_path, "ts\n" + "\n".join(cells) + "\n")
    np.testing.assert_allclose(seconds(read_events(path, time="ts")), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["yesterday"], r"line 2: column 'ts' must be a time in ISO 8601, or seconds or milliseconds"),
        (
            ["1", "2", "x"],
            r"line 4: column 'ts' must be seconds since 1970 as a number, as in the first.*Got 'x'",
        ),
        (["1", ""], r"line 3: column 'ts' must be seconds .* Got ''"),
        (["2026-01-01T00:00:00Z", "2026-01-01T00:00:00"], r"line 3: .* ISO 8601 with a time zone, as in the first"),
        (["2026-01-01", "now"], r"line 3: .* ISO 8601 without a time zone, as in the first event\. Got 'now'"),
        (["1e15"], r"line 2: .* must be milliseconds since 1970"),
        (["nan"], r"line 2: column 'ts' must be a time"),
    ],
)
def test_a_wrong_time_is_refused_with_its_line(tmp_path, cells, message):
    path = write(tmp_path, "ts,a\n" + "".join(f"{cell},0\n" for cell in cells))
    with pytest.raises(ValueError, match=message):
        read_events(path, time="ts")


def test_events_out_of_order_are_sorted_and_those_too_late_refused(tmp_path):
    path = write(tmp_path, "ts,a\n100,x\n40,y\n100,z\n41,v\n")
    events = read_events(path, time="ts", max_delay="1min")
    assert seconds(events) == [40, 41, 100, 100]
    assert texts(events, "a") == ["y", "v", "x", "z"]
    with pytest.raises(ValueError, match=r"line 3: an event must lie at most max_delay .*Got '40', 0:01:00 before it"):
        read_events(path, time="ts", max_delay="59s")
    late = write(tmp_path, "ts\n1e9\n0\n", "late.csv")
    assert seconds(read_events(late, time="ts", max_delay="any")) == [0, 1e9]
    with pytest.raises(ValueError, match="max_delay must be a whole number, at least 1, and a unit"):
        read_events(late, time="ts", max_delay="soon")


def test_columns_of_numbers_are_numbers_and_those_of_roles_text(tmp_path):
    path = write(tmp_path, HEAD + "1,10,,\n2,10,7,4\n3,11,,-0.5\n")
    events = read_events(path, time="ts", labels="threat", by="host")
    assert texts(events, "host") == ["10", "10", "11"]
    assert texts(events, "threat") == ["", "7", ""]
    np.testing.assert_array_equal(events.columns["bytes"], [np.nan, 4, -0.5])
    assert isinstance(read_events(path, time="ts").columns["host"], np.ndarray)
    assert texts(read_events(path, time="ts", text=["bytes"]), "bytes") == ["", "4", "-0.5"]
    assert list(read_events(path, time="ts", labels="threat", columns=["bytes"]).columns) == ["threat", "bytes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1: a CSV file must start with the names of its columns\. Got an empty file"),
        (HEAD, "must hold at least one event. Got 0"),
        (HEAD + "\n\n", "must hold at least one event. Got 0"),
        ("a,a\n1,2\n", r"line 1: a CSV file must start with .*, all different\. Got 'a' twice"),
        (HEAD + "1,a,,3\n\n2,b\n", r"line 4: a row must hold 4 values\. Got 2"),
        (HEAD + '1,a,"b,3\n', r"line 2: a quote must be closed\. Got the end of the file"),
        (HEAD + "1,a,b,3\n,c,d,4\n", r"line 3: column 'ts' must be seconds .* Got ''"),
        ("ts,a;b\n1,2\n", r"Got commas and semicolons in 'ts,a;b'; separator= or --separator decides"),
        ("time\n1\n", r"time must name a column of .*log\.csv\. Got 'ts', which is not one"),
        (",".join(f"c{i}" for i in range(1001)) + "\n" + ",".join("1" * 1001) + "\n", "at most 1000 columns. Got 1001"),
    ],
)
def test_a_broken_table_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_events(write(tmp_path, text), time="ts")


@pytest.mark.parametrize("cell", ["many", '"nan"', "-nan", "inf", "1_000", "٣", "9007199254740993"])
def test_a_cell_that_is_no_longer_a_number_is_refused_with_its_line(tmp_path, cell, request):
    path = write(tmp_path, "ts,a\n1,1\n2,\n3,2\n4," + cell + "\n")
    assert texts(read_events(path, time="ts"), "a") == ["1", "", "2", cell.strip('"')]
    request.getfixturevalue("small_blocks")
    with pytest.raises(ValueError, match=r"line 5: column 'a' must be a number, as before.*the option text names"):
        read_events(path, time="ts")
    assert texts(read_events(path, time="ts", text=["a"]), "a") == ["1", "", "2", cell.strip('"')]


CELLS = [["1", "web, 1", "7"], ["2", "", ""], ["3", 'é "x"', "-0.5"]]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ":"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_logs_come_in_the_dialects_of_tables(tmp_path, separator, end, encoding):
    with (tmp_path / "log.csv").open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator=end).writerows([["ts", "host", "n"], *CELLS])
    events = read_events(tmp_path / "log.csv", time="ts", separator=":" if separator == ":" else None)
    assert texts(events, "host") == ["web, 1", "", 'é "x"']
    np.testing.assert_array_equal(events.columns["n"], [7, np.nan, -0.5])


def test_a_line_of_excel_states_the_separator_and_its_empty_lines_are_left_out(tmp_path):
    path = write(tmp_path, "sep=;\nts;a,b\n1;x\n;\n\n3;NA\n; \n")
    with pytest.warns(UserWarning, match="rows without any value were left out: 2"):
        events = read_events(path, time="ts", max_delay="1s")
    assert (seconds(events), texts(events, "a,b")) == ([1, 3], ["x", ""])
    late = write(tmp_path, "ts;a\n5;x\n;\n1;y\n", "late.csv")
    with pytest.raises(ValueError, match="line 4: an event must lie at"):
        read_events(late, time="ts", max_delay="1s")


def test_words_for_missing_values_are_those_of_tables_unless_quoted_or_others_are_given(tmp_path):
    path = write(tmp_path, 'ts,a,n\n1,NA,null\n2,"NA",1\n3,-,NaN\n4,x,?\n')
    events = read_events(path, time="ts")
    assert texts(events, "a") == ["", "NA", "-", "x"]
    np.testing.assert_array_equal(events.columns["n"], [np.nan, 1, np.nan, np.nan])
    other = read_events(path, time="ts", missing_words=["-"])
    assert (texts(other, "a"), texts(other, "n")) == (["NA", "NA", "", "x"], ["null", "1", "NaN", "?"])
    lines = write(tmp_path, '{"ts": 1, "a": "NA", "n": NaN}\n{"ts": 2, "a": null, "n": 5}\n', "log.jsonl")
    assert texts(read_events(lines, time="ts"), "a") == ["NA", ""]
    np.testing.assert_array_equal(read_events(lines, time="ts").columns["n"], [np.nan, 5])


def test_numbers_that_a_float_would_round_are_text(tmp_path):
    path = write(tmp_path, "ts,flow,n\n1,9007199254740993,9007199254740992\n2,9007199254740994,1e300\n")
    events = read_events(path, time="ts")
    assert texts(events, "flow") == ["9007199254740993", "9007199254740994"]
    np.testing.assert_array_equal(events.columns["n"], [2.0**53, 1e300])


@pytest.mark.parametrize(("role", "name"), [("labels", "x"), ("by", "x"), ("columns", ["x"]), ("text", ["x"])])
def test_an_unknown_column_is_refused(tmp_path, role, name):
    path = write(tmp_path, HEAD + "1,a,,3\n")
    with pytest.raises(ValueError, match=rf"{role} must name columns of .*log\.csv\. Got 'x', which is not one\."):
        read_events(path, time="ts", **{role: name})


@pytest.mark.usefixtures("small_blocks")
def test_json_lines_have_nested_names_and_columns_that_come_late(tmp_path):
    lines = [
        {"ts": 1, "src": {"ip": "a"}, "n": 5},
        {"ts": 2, "src": {"ip": "b", "port": 80}, "ok": True, "n": None},
        {"ts": 3.5, "n": 1e-7, "alert": {"name": "scan"}},
    ]
    path = write(tmp_path, "\n".join(map(json.dumps, lines)) + "\n\n", "log.jsonl")
    events = read_events(path, time="ts", labels="alert.name")
    assert seconds(events) == [1, 2, 3.5]
    assert texts(events, "src.ip") == ["a", "b", ""]
    assert texts(events, "ok") == ["", "true", ""]
    assert texts(events, "alert.name") == ["", "", "scan"]
    np.testing.assert_array_equal(events.columns["src.port"], [np.nan, 80, np.nan])
    np.testing.assert_array_equal(events.columns["n"], [5, np.nan, 1e-7])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"line 2: an event must be a JSON object\. Got: "),
        ("[1]", r"line 2: an event must be a JSON object\. Got '\[1\]'"),
        ('{"ts": 2, "a": [1]}', r"line 2: column 'a' must hold text or numbers; .*Got a list"),
        ('{"ts": 2, "a.b": 1, "a": {"b": 2}}', r"line 2: names of columns must differ\. Got 'a\.b' twice"),
        ('{"a": 1}', r"line 2: column 'ts' must be seconds"),
        ('{"ts": 2, "a": ' + "[" * 100_000, r"line 2: an event must be a JSON object"),
    ],
)
def test_a_line_that_is_no_event_is_refused(tmp_path, line, message):
    path = write(tmp_path, '{"ts": 1}\n' + line + "\n", "log.jsonl")
    with pytest.raises(ValueError, match=message):
        read_events(path, time="ts")


def test_a_list_that_is_not_wanted_is_left_out(tmp_path):
    path = write(tmp_path, '{"ts": 1, "a": [1], "b": 2}\n', "log.jsonl")
    assert list(read_events(path, time="ts", columns=["b"]).columns) == ["b"]


def test_a_column_whose_name_is_mistyped_is_suggested(tmp_path):
    path = write(tmp_path, "ts, host\n1, a\n")
    with pytest.raises(ValueError, match=r"by must name columns .* did you mean ' host'\?"):
        read_events(path, time="ts", by="host")


def test_other_endings_and_missing_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a file that exists"):
        read_events(tmp_path / "no.csv", time="ts")
    with pytest.raises(ValueError, match=r"must end in \.csv, \.tsv, \.jsonl, \.ndjson, \.json\. Got '\.txt'"):
        read_events(write(tmp_path, "ts\n1\n", "log.txt"), time="ts")
    with pytest.raises(ValueError, match=r"must end in .*Got '\.gz'"):
        write_events(synthetic_events(n_days=1), tmp_path / "log.csv.gz")


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    times = np.zeros(1, "datetime64[us]")
    with pytest.raises(ValueError, match="No column must be called 'time'"):
        write_events(Events(times, {"time": np.zeros(1)}), tmp_path / "log.csv")
    for text in (" ", " NA", "? "):
        with pytest.raises(ValueError, match=rf"Texts must not be blanks.* CSV\. Got {re.escape(repr(text))}"):
            write_events(Events(times, {"x": TextColumn.encode([text])}), tmp_path / "log.csv")
    with pytest.raises(ValueError, match="nor names hold zero bytes, to be written as CSV"):
        write_events(Events(times, {"\0": np.zeros(1)}), tmp_path / "log.tsv")
    assert list(tmp_path.iterdir()) == []
