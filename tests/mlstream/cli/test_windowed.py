"""The commands draw a log and make the table of its windows that the library makes, and refuse in one line."""

import numpy as np
import pytest

from mlstream import load, load_dataset, read_events
from mlstream.generators import windowed
from tests.mlstream.cli.commands import invoke, make

OPTIONS = ("--time", "time", "--by", "host", "--label", "threat", "--every", "1h")


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    done = invoke("synthesise", "events", "--days", 3, "--hosts", 4, "--seed", 1, "-o", path)
    assert done.exit_code == 0, done.exception
    return path


def test_a_log_becomes_a_table_and_a_stream(tmp_path, log):
    result = invoke("windowed", log, *OPTIONS, "-o", tmp_path / "table.arff")
    assert result.exit_code == 0, result.exception
    expected = windowed(read_events(log, time="time", labels="threat", by="host"), "1h")
    assert f"{expected.n_samples} rows in the order of time, 16 features and 4 labels" in result.output
    table = load_dataset(tmp_path / "table.arff")
    np.testing.assert_array_equal(table.X, expected.X)
    np.testing.assert_array_equal(table.Y, expected.Y)
    assert (table.feature_names, table.label_names) == (expected.feature_names, expected.label_names)
    assert table.keys.dtype == expected.keys.dtype
    np.testing.assert_array_equal(table.keys, expected.keys)
    options = ("online", "--by", "time", "--tasks", 2, "--unlabelled", "keep")
    stream = make("scenario", tmp_path / "table.arff", *options, output=tmp_path / "stream.npz")
    assert stream.n_labels == 4
    assert stream.key_names == ("host", "start")


@pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")
def test_keys_are_stated_and_published_only_on_demand(tmp_path, log):
    assert invoke("windowed", log, *OPTIONS, "-o", tmp_path / "table.arff").exit_code == 0
    options = ("online", "--by", "time", "--tasks", 2, "--unlabelled", "keep")
    make("scenario", tmp_path / "table.arff", *options, output=tmp_path / "stream.npz")
    assert "Keys: host, start\n" in invoke("inspect", tmp_path / "stream.npz").output
    with pytest.warns(UserWarning, match="Keys were left out, since they may be personal data: host, start; keep_keys"):
        assert invoke("publish", tmp_path / "stream.npz", tmp_path / "out").exit_code == 0
    shown = invoke("inspect", tmp_path / "out").output
    assert "Keys: " not in shown
    assert "Dropped: 2 keys, may be personal data (host, start)" in shown
    assert invoke("publish", tmp_path / "stream.npz", tmp_path / "kept", "--keep-keys").exit_code == 0
    assert load(tmp_path / "kept").key_names == ("host", "start")


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.parquet"])
def test_keys_are_columns_of_other_formats(tmp_path, log, name):
    result = invoke("windowed", log, *OPTIONS, "-o", tmp_path / name)
    assert "keys (the last columns; --keys host,start reads them): host, start" in result.output
    expected = windowed(read_events(log, time="time", labels="threat", by="host"), "1h")
    table = load_dataset(tmp_path / name, labels=4, keys=["host", "start"], time="start")
    np.testing.assert_array_equal(table.X, expected.X)
    np.testing.assert_array_equal(table.keys, expected.keys)
    np.testing.assert_array_equal(table.times, expected.times)
    options = ("--labels", 4, "--keys", "host,start", "--column", "start", "--unlabelled", "keep")
    stream = make("scenario", tmp_path / name, "online", "--by", "time", *options, output=tmp_path / "x.npz")
    assert stream.card.keys == ["host", "start"]


def test_every_option_is_passed_on(tmp_path, log):
    options = {
        "horizon": (2, 2),
        "benign": ("scan", ["scan"]),
        "categories": ("service", ["service"]),
        "max_values": (2, 2),
        "numbers": ("bytes", ["bytes"]),
        "statistics": ("sum,min", ["sum", "min"]),
        "clock": ("day,week", ["day", "week"]),
        "time_column": ("start", "start"),
        "empty": ("keep", "keep"),
    }
    typed = [part for name, (text, _) in options.items() for part in (f"--{name.replace('_', '-')}", text)]
    read = ("--columns", "service,bytes", "--text", "service", "--max-delay", "any")
    result = invoke("windowed", log, *OPTIONS, *typed, *read, "-o", tmp_path / "table.csv")
    assert result.exit_code == 0, result.exception
    events = read_events(log, time="time", labels="threat", by="host")
    expected = windowed(events, "1h", **{name: value for name, (_, value) in options.items()})
    # A feature has the name of the start.
    table = load_dataset(tmp_path / "table.csv", labels=len(expected.label_names), keys=["host", "start_"])
    np.testing.assert_array_equal(table.keys, expected.keys)
    np.testing.assert_array_equal(table.X, expected.X)
    np.testing.assert_array_equal(table.Y, expected.Y)
    assert table.feature_names == expected.feature_names
    plain = invoke(
        "windowed", log, *OPTIONS, "--clock", "", "--categories", "", "--numbers", "", "-o", tmp_path / "x.csv"
    )
    assert "1 features" in plain.output


def test_a_log_of_another_dialect_is_read_as_the_options_say(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("ts:host:threat\n0:a:-\n1:a:worm\n")
    options = ("--time", "ts", "--by", "host", "--label", "threat", "--every", "1s", "--clock", "")
    refused = invoke("windowed", log, *options, "-o", tmp_path / "x.csv")
    assert "--time must name a column of" in str(refused.exception)
    result = invoke("windowed", log, *options, "--separator", ":", "--missing-words", "-", "-o", tmp_path / "x.csv")
    assert result.exit_code == 0, result.exception
    table = load_dataset(tmp_path / "x.csv", labels=1, keys=["host", "start"])
    assert (table.label_names, table.Y.tolist()) == (("worm",), [[0], [1]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "x"), r"^--label must name columns of .*log\.csv\. Got 'x'"),
        (("--by", "x"), r"^--by must name columns"),
        (("--time", "x"), r"^--time must name a column of"),
        (("--every", "ten"), r"^--every must be a whole number, at least 1, and a unit"),
        (("--max-delay", "soon"), r"^--max-delay must be a whole number"),
        (("--statistics", "median"), r"^--statistics must be one of"),
        (("--output", "stream.npz"), r"^--output must end in \.arff.*a table, of which `mlstream scenario`"),
        (("--output", "no/table.arff"), r"no must be a folder that exists"),
    ],
)
def test_a_wrong_option_is_refused_under_the_name_that_was_typed(log, options, message, monkeypatch):
    monkeypatch.chdir(log.parent)
    result = invoke("windowed", log, *OPTIONS, "-o", "table.arff", *options)
    assert result.exit_code == 1
    assert result.exception is not None
    with pytest.raises(type(result.exception), match=message):
        raise result.exception
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]


def test_files_that_are_there_are_replaced_on_demand_only(log):
    again = ("synthesise", "events", "--days", 1, "-o", log)
    assert "--force replaces it" in str(invoke(*again).exception)
    assert invoke(*again, "--force").exit_code == 0
    assert "--hosts must be a whole number" in str(invoke(*again, "--force", "--hosts", 0).exception)
    assert "must not be the source" in str(invoke("windowed", log, *OPTIONS, "--force", "-o", log).exception)
