"""Commands that take a table read it as people have it, and the card makes the same stream again."""

import re
from pathlib import Path

import numpy as np
import pytest

import mlstream
from mlstream import load_dataset
from mlstream.formats import load
from mlstream.generators import scenario_stream
from mlstream.streams.card_model import ReadingCard, load_card
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke, make, write_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table as pandas writes it: index, words, truth values, empty cells, semicolons."""
    rng = np.random.default_rng(0)
    lines = [";color;flag;x;a;b;c"]
    for row in range(120):
        x = "" if row % 10 == 3 else repr(float(rng.random()))
        labels = [str(rng.integers(2)) for _ in "abc"]
        lines.append(";".join([str(row), str(rng.choice(["red", "blue"])), str(rng.random() < 0.5), x, *labels]))
    path = tmp_path / "own.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("missing", ["drop", "mean", "indicator", "keep"])
@pytest.mark.parametrize("categories", ["one-hot", "ordinal"])
def test_a_stream_is_made_again_as_its_table_was_read(
    table: Path, tmp_path: Path, missing: str, categories: str
) -> None:
    options = ("--labels", "-3", "--tasks", "2", "--missing", missing, "--categories", categories)
    made = invoke("generate", table, "-o", tmp_path / "a.npz", *options)
    assert made.exit_code == 0, made.output or made.exception
    assert ("Dropped: 12 rows, a feature is missing" in made.output) == (missing == "drop")
    assert ("refuse: --missing mean or indicator fills them." in made.output) == (missing == "keep")
    reading = load(tmp_path / "a.npz").card.source.reading
    assert reading is not None
    assert (reading.missing, reading.categories, reading.n_dropped) == (
        missing,
        categories,
        12 if missing == "drop" else None,
    )
    (tmp_path / "a.card.json").write_text(load(tmp_path / "a.npz").card.model_dump_json(), encoding="utf-8")
    again = invoke("regenerate", tmp_path / "a.card.json", "--table", table, "-o", tmp_path / "b.npz")
    assert again.exit_code == 0, again.output or again.exception
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("name", ["toy.npz", "toy.arff", "toy.train.csv", "toy.train.parquet"])
def test_any_file_of_a_stream_says_how_to_make_it_again(name: str, tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.arff")
    stream = make("generate", table, "--tasks", 2, output=tmp_path / name)
    again = make("regenerate", tmp_path / name, "--table", table, output=tmp_path / "again.npz")
    assert again.card.data_sha256 == stream.card.data_sha256


def test_a_card_without_options_states_no_reading(table: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text(
        "x,y,z\n" + "".join(f"{row / 2},{row % 2},{row // 2 % 2}\n" for row in range(40)), encoding="utf-8"
    )
    assert invoke("generate", plain, "--labels", "-2", "--tasks", "1", "-o", tmp_path / "a.arff").exit_code == 0
    assert '"reading"' not in (tmp_path / "a.card.json").read_text(encoding="utf-8")
    assert load_card(tmp_path / "a.card.json").source.reading is None


@pytest.mark.parametrize("separator", [";", "semicolon"])
def test_a_separator_is_set_by_sign_or_name(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a, in mm;y;z\n" + "".join(f"{row / 2};{row % 2};1\n" for row in range(40)), encoding="utf-8")
    refused = invoke("suggest-tasks", path, "--labels", "-2")
    assert "Got commas and semicolons in 'a, in mm;y;z'; separator= or --separator decides" in str(refused.exception)
    options = ("--labels", "-2", "--tasks", "1", "--separator", separator)
    assert invoke("generate", path, "-o", tmp_path / "x.npz", *options).exit_code == 0
    card = load(tmp_path / "x.npz").card
    assert card.feature_names == ["a, in mm"]
    assert card.source.reading is not None
    assert card.source.reading.separator == ";"


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "refused"), [("keep", True), ("mean", False), ("indicator", False)])
def test_learners_refuse_missing_values_that_are_kept(table: Path, tmp_path: Path, missing: str, refused: bool) -> None:
    options = ("--labels", "-3", "--categories", "one-hot", "--missing", missing)
    stream = make("generate", table, *options, output=tmp_path / "a.npz")
    assert any(np.isnan(part.X).any() for part in stream) == refused
    run = invoke("run", tmp_path / "a.npz", "-s", "NN_TL", "-o", tmp_path / "runs")
    assert ("X must be finite. Got NaN" in run.output + str(run.exception)) == refused
    assert (run.exit_code != 0) == refused


def rows(line: str) -> str:
    """Write 40 rows from a line with `{n}`, the number of the row, and other values by name."""
    labels = [{"k": row % 2, "l": row // 2 % 2} for row in range(40)]
    marks = [{"blank": " x"[one["k"]], "dash": "-x"[one["l"]]} for one in labels]
    return "".join(
        line.format(n=row, x=row / 2, day=1 + row % 28, **labels[row], **marks[row]) + "\n" for row in range(40)
    )


PLAIN = "{x},{k},{l}"
# By name of the table: its text, the options that are typed, what the card states of them, and features and labels.
READ = {
    "keys.csv": (
        "id,x,k,l\n" + rows("P-{n}," + PLAIN),
        ("--labels=-2", "--ignore", "id"),
        {"ignore": ("id",)},
        ("x", "k l"),
    ),
    "quoted.csv": (
        '"id, of rows",,x,k,l\n' + rows("P-{n},{day}," + PLAIN),
        ("--labels=-2", "--ignore", '"id, of rows",'),
        {"ignore": ("id, of rows", "")},
        ("x", "k l"),
    ),
    "nameless.csv": (
        ",x,k,l\n" + rows("{day}," + PLAIN),
        ("--labels=-2", "--ignore", ""),
        {"ignore": ("",)},
        ("x", "k l"),
    ),
    "headless.csv": (rows(PLAIN), ("--labels=-2", "--header", "no"), {"header": False}, ("x0", "x1 x2")),
    "tags.csv": (
        "x,tags,y\n" + rows("{x},k{k}|l{l},{day}"),
        ("--tags", "tags", "--tag-separator", "bar", "--labels", "l1,k1,k0,l0"),
        {"tags": "tags", "tag_separator": "|"},
        ("x y", "l1 k1 k0 l0"),
    ),
    "crosses.csv": (
        "x,k,l\n" + rows("{x},{blank},{dash}").replace("\n2.0,", "\nnone,"),
        ("--labels=-2", "--present", "x", "--missing-words", "none,?", "--missing", "drop"),
        {"present": "x", "missing_words": ("none", "?"), "missing": "drop", "n_dropped": 1},
        ("x", "k l"),
    ),
    "classes.csv": (
        "x,size\n" + rows("{x},c{day}").replace("c1", "c").replace("c2", "c"),
        ("--labels", "size", "--classes"),
        {"classes": True},
        ("x", " ".join(f"size=c{size}" for size in ("", *range(10)))),
    ),
    "smile.arff": (
        "@relation r\n@attribute name string\n@attribute when date yyyy-MM-dd\n@attribute x numeric\n"
        "@attribute k {{0,1}}\n@attribute l {{0,1}}\n@data\n".format()
        + rows("'a {n}',2026-01-{day},{x},{k},{l}"),
        ("--labels=-2", "--ignore", "name", "--dates", "parts"),
        {"ignore": ("name",), "dates": "parts"},
        ("when.day when.weekday x", "k l"),
    ),
    "wide.svm": (
        rows("{k},2 0:{x} 1:{day}"),
        ("--n-features", "5", "--labels", "4", "--constant-features", "keep"),
        {"n_features": 5},
        ("f0 f1 f2 f3 f4", "0 1 2"),
    ),
    "table.txt": ("x,k,l\n" + rows(PLAIN), ("--labels=-2", "--format", "csv"), {"format": "csv"}, ("x", "k l")),
}


def test_options_are_on_the_card_and_the_card_makes_the_stream_again(tmp_path: Path) -> None:
    def check(name: str) -> None:
        text, typed, stated, names = READ[name]
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        card = make("generate", folder / name, *typed, "--tasks", 1, output=folder / "a.npz").card
        assert card.source.reading == ReadingCard(**stated)
        assert (" ".join(card.feature_names), " ".join(card.label_names)) == names
        (folder / "card.json").write_text(card.model_dump_json(), encoding="utf-8")
        make("regenerate", folder / "card.json", "--table", folder / name, output=folder / "b.npz")
        assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()

    check_all(READ, check)


def test_dates_sort_the_rows_of_a_scenario_and_the_card_makes_it_again(tmp_path: Path) -> None:
    table, days = tmp_path / "toy.csv", np.random.default_rng(0).permutation(28) + 1
    lines = [f"P-{row},2026-02-{day:02d},{row % 3},{row % 2},1" for row, day in enumerate(days)]
    table.write_text("\n".join(["id,when,x,a,b", *lines]), encoding="utf-8")
    options = ("--labels=-2", "--ignore", "id", "--by", "time", "--column", "when", "--tasks", 2, "--visits", 1)
    stream = make("scenario", table, "task-based", *options, output=tmp_path / "a.npz")
    held_out = [part.row_ids for part in stream.evaluation_sets]
    rows = [np.concatenate([part.row_ids, others]) for part, others in zip(stream, held_out, strict=True)]
    assert [sorted(days[part]) for part in rows] == [list(range(1, 15)), list(range(15, 29))]
    assert stream.card.feature_names == ["x"]
    make("regenerate", tmp_path / "a.npz", "--table", table, output=tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("command", [("scenario", "task-based", "--tasks", 2), ("carve", "--roles", "train,test")])
@pytest.mark.parametrize("dates", ["epoch", "parts"])
def test_rows_with_dates_in_the_order_of_the_table_are_warned_of(
    command: tuple[object, ...], dates: str, tmp_path: Path
) -> None:
    path, days = tmp_path / "toy.csv", np.random.default_rng(0).permutation(28) + 1
    lines = [f"2026-02-{day:02d},{row % 3},{row % 2},{row // 2 % 2}" for row, day in enumerate(days)]
    path.write_text("\n".join(["when,x,a,b", *lines]), encoding="utf-8")
    name, *options = command
    scenario = options[:1] if name == "scenario" else []
    given = (*options[len(scenario) :], "--labels=-2", "--by", "time", "--dates", dates)
    with pytest.warns(UserWarning, match=r"toy: rows are in the order of the table; --column, or time= of load_data"):
        make(name, path, *scenario, *given, output=tmp_path / "a.npz")
    make(name, path, *scenario, *given, "--column", "when", output=tmp_path / "b.npz")
    timed = load_dataset(path, labels=-2, dates=dates, time="when")
    scenario_stream(timed, "task-based", by="time", n_tasks=2)


def test_a_column_of_words_or_dates_that_became_features_is_an_error_whose_ways_out_arrive(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    lines = [f"{['tcp', 'udp'][row % 2]},2026-02-{row % 28 + 1:02d},{row % 3},{row % 5 % 2},1" for row in range(60)]
    path.write_text("\n".join(["proto,when,x,a,b", *lines]), encoding="utf-8")

    def split(column: str, *options: str) -> tuple[object, ...]:
        table = (path, "task-based", "--labels=-2", "--by", "column", "--column", column, "--tasks", 2, "--force")
        return ("scenario", *table, "--categories", "one-hot", "--dates", "parts", *options)

    def check(case: tuple[str, str, str, str]) -> None:
        column, made, option, value = case
        error = str(invoke(*split(column), "-o", tmp_path / "no.npz").exception)
        assert made in error
        assert f"{option} {value}" in error
        for command in (split(re.findall("'(.*?)'", error)[1]), split(column, option, value)):
            assert make(*command, output=tmp_path / "a.npz").n_tasks == 2

    ways = [
        ("proto", "Got 'proto' instead; 'proto=tcp', 'proto=udp' can be taken", "--categories", "ordinal"),
        ("when", "Got 'when' instead; 'when.day', 'when.weekday' can be taken", "--dates", "epoch"),
    ]
    check_all(ways, check)


def test_weights_of_rows_are_a_warning_whose_way_out_has_them(tmp_path: Path) -> None:
    header = "@relation 'r: -C 2'\n@attribute k {0,1}\n@attribute l {0,1}\n@attribute x numeric\n@data\n"
    path = tmp_path / "toy.arff"
    path.write_text(header + rows("{k},{l},{x},{{{n}}}"), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"toy: streams do not keep sample_weight") as caught:
        stream = make("generate", path, "--tasks", 1, output=tmp_path / "a.npz")
    assert "table.sample_weight[experience.row_ids]" in str(caught[0].message)
    experience, table = stream.experiences[0], load_dataset(path)
    assert table.sample_weight is not None
    assert (table.sample_weight[experience.row_ids] == experience.X[:, 0] * 2).all()


@pytest.mark.parametrize("command", ["generate", "suggest-tasks"])
def test_a_wrong_separator_is_refused_by_its_option(table: Path, tmp_path: Path, command: str) -> None:
    output = ("-o", tmp_path / "a.npz") if command == "generate" else ()
    done = invoke(command, table, "--labels", "-3", "--separator", "::", *output)
    assert "separator= or --separator must be one ASCII character, such as ';', and no quote. Got '::'" in str(
        done.exception
    )


def test_options_that_errors_of_tables_name_are_options_of_the_commands() -> None:
    root = Path(mlstream.__file__).parent
    sources = [path for part in ("formats", "streams/tables", "data") for path in (root / part).rglob("*.py")]
    named = {flag for path in sources for flag in re.findall(r"= or (--[a-z-]+)", path.read_text(encoding="utf-8"))}
    offered = set(re.findall(r"--[a-z-]+", invoke("scenario", "--help").output))
    assert len(named) > 9
    assert named <= offered
