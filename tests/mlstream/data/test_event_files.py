"""Logs of events are read as they are written, in the order of time; what breaks a rule is refused with its line."""

import gzip
import json

import numpy as np
import pytest

from mlstream import Events, TextColumn, read_events, write_events
from mlstream.data import _event_blocks
from mlstream.generators import synthetic_events

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


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.ndjson", "log.json"])
@pytest.mark.parametrize("n_rows", [7, 16384])
def test_a_log_read_is_the_log_written(tmp_path, name, n_rows, monkeypatch):
    monkeypatch.setattr(_event_blocks, "_N_ROWS", n_rows)
    events = synthetic_events(seed=3, n_hosts=3, n_days=1)
    write_events(events, tmp_path / name)
    read = read_events(tmp_path / name, time="time", labels="threat", by="host")
    assert_same(read, events)
    assert (read.labels, read.by, read.name, read.source) == ("threat", "host", "log", str(tmp_path / name))


def test_awkward_text_and_empty_cells_come_back(tmp_path):
    cells = ["=1+1", "'=x", "a,b", 'say "x"', "", "ü", "007", "-5"]
    times = np.arange(len(cells)).astype("datetime64[us]")
    events = Events(times, {"t": TextColumn.encode(cells), "n": np.array([1.5, np.nan] * 4)})
    for name in ("log.csv", "log.jsonl"):
        write_events(events, tmp_path / name)
        read = read_events(tmp_path / name, time="time", text=["t"])
        assert_same(read, events)


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
        ("", "must hold at least one event. Got 0"),
        (HEAD, "must hold at least one event. Got 0"),
        ("a,a\n1,2\n", r"line 1: names of columns must differ\. Got 'a' twice"),
        (HEAD + "1,a,,3\n2,b\n", r"line 3: an event must hold 4 values\. Got 2"),
        ("time\n1\n", r"time must name a column of .*log\.csv\. Got 'ts', which is not one"),
        (",".join(f"c{i}" for i in range(1001)) + "\n" + ",".join("1" * 1001) + "\n", "at most 1000 columns. Got 1001"),
    ],
)
def test_a_broken_table_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_events(write(tmp_path, text), time="ts")


@pytest.mark.parametrize("cell", ["many", "nan", "inf", "1_000", "٣"])
def test_a_cell_that_is_no_longer_a_number_is_refused_with_its_line(tmp_path, cell, monkeypatch):
    monkeypatch.setattr(_event_blocks, "_N_ROWS", 2)
    path = write(tmp_path, "ts,a\n1,1\n2,\n3,2\n4," + cell + "\n")
    with pytest.raises(ValueError, match=r"line 5: column 'a' must be a number, as before"):
        read_events(path, time="ts")
    monkeypatch.setattr(_event_blocks, "_N_ROWS", 99)
    assert texts(read_events(path, time="ts"), "a") == ["1", "", "2", cell]


@pytest.mark.parametrize(("role", "name"), [("labels", "x"), ("by", "x"), ("columns", ["x"]), ("text", ["x"])])
def test_an_unknown_column_is_refused(tmp_path, role, name):
    path = write(tmp_path, HEAD + "1,a,,3\n")
    with pytest.raises(ValueError, match=rf"{role} must name columns of .*log\.csv\. Got 'x', which is not one"):
        read_events(path, time="ts", **{role: name})


def test_json_lines_have_nested_names_and_columns_that_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr(_event_blocks, "_N_ROWS", 2)
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


def test_text_in_latin_1_is_read(tmp_path):
    (tmp_path / "log.csv").write_bytes("ts,host\n1,a\n2,bücher\r\n3,ü\n".encode("latin-1"))
    assert texts(read_events(tmp_path / "log.csv", time="ts"), "host") == ["a", "bücher", "ü"]


def test_other_endings_and_missing_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a file that exists"):
        read_events(tmp_path / "no.csv", time="ts")
    with pytest.raises(ValueError, match=r"must end in \.csv, \.jsonl, \.ndjson, \.json\. Got '\.txt'"):
        read_events(write(tmp_path, "ts\n1\n", "log.txt"), time="ts")
    with pytest.raises(ValueError, match=r"must end in .*Got '\.gz'"):
        write_events(synthetic_events(n_days=1), tmp_path / "log.csv.gz")


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    times = np.zeros(1, "datetime64[us]")
    with pytest.raises(ValueError, match="No column must be called 'time'"):
        write_events(Events(times, {"time": np.zeros(1)}), tmp_path / "log.csv")
    with pytest.raises(ValueError, match=r"must be of one line to be written\. Got 'a\\nb'"):
        write_events(Events(times, {"x": TextColumn.encode(["a\nb"])}), tmp_path / "log.csv")
    assert list(tmp_path.iterdir()) == []
