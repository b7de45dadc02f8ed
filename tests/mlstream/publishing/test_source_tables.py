"""The table of a published stream is found again by its hash, and the card says nothing of its author's disk."""

import gzip
from pathlib import Path

import pytest

from mlstream.cards.page import card_page
from mlstream.data.datasets import load_dataset
from mlstream.generators import iirc_stream, missing_labels, multiplier_stream, task_stream
from mlstream.publishing.folder import publish, regenerate
from mlstream.streams.card_model import StreamCard, load_card
from mlstream.streams.stream import Stream, StreamParts
from mlstream.streams.tables.mulan import format_labels
from tests.mlstream.cli.commands import invoke
from tests.mlstream.small_streams import assert_same_stream

# Streams made by hand state no terms, which `publish` warns of.
pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")

TREE = '<labels><label name="y"><label name="z"/></label><label name="w"/></labels>'
ROWS = "".join(f"{row / 2},{row % 2},{row % 2 * (row // 2 % 2)},{row // 3 % 2}\n" for row in range(1, 90))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in a folder of its author's, who works elsewhere."""
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    elsewhere, home = tmp_path / "elsewhere", tmp_path / "home-of-author"
    elsewhere.mkdir()
    home.mkdir()
    monkeypatch.chdir(elsewhere)
    path = home / "own [1].csv"
    path.write_text(f"a,y,z,w\n{ROWS}", encoding="utf-8")
    return path


def make(path: Path, labels: object = -3) -> Stream:
    return task_stream(load_dataset(path, labels), n_tasks=1)


def with_source(card: StreamCard, **changes: object) -> StreamCard:
    return card.model_copy(update={"source": card.source.model_copy(update=changes)})


@pytest.mark.parametrize("labels", [-3, ["y", "z"], "x.xml", None])
def test_no_file_of_a_published_folder_names_a_folder_of_its_author(
    table: Path, tmp_path: Path, labels: int | list[str] | str | None
) -> None:
    xml = table.with_name("x.xml") if labels else table.with_suffix(".xml")
    xml.write_text(TREE, encoding="utf-8")
    stream = make(table, xml if isinstance(labels, str) else labels)
    folder = publish(stream, tmp_path / "out", name="own", title="T", description="D", creators=["Ada"])
    assert load_card(folder / "stream.card.json").source.origin == "own [1].csv"
    found = [path.name for path in folder.iterdir() if b"home-of-author" in path.read_bytes()]
    assert found == []


def test_a_file_of_the_same_content_makes_the_stream_again_under_any_name(table: Path, tmp_path: Path) -> None:
    stream = make(table)
    packed = tmp_path / "other.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    for place in (table, str(packed)):
        again = regenerate(stream.card, table=place)
        assert_same_stream(again, stream)
        assert again.card == stream.card


def test_a_perturbed_stream_is_made_again_from_the_table_of_its_base(table: Path) -> None:
    stream = missing_labels(make(table), rate=0.5, seed=1)
    assert_same_stream(regenerate(stream.card, table=table), stream)


@pytest.mark.parametrize("form", ["plain", "packed"])
def test_the_folder_of_tables_is_searched_for_the_name_on_the_card(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    stream, content = make(table), table.read_bytes()
    place = tmp_path / "tables" / "deep" / table.name
    place.parent.mkdir(parents=True)
    if form == "plain":
        place.write_bytes(content)
    else:
        place.with_name(f"{place.name}.gz").write_bytes(gzip.compress(content))
    # Another table of the same name comes first, and is not the one of the card.
    place.parents[1].joinpath(table.name).write_text("another")
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path / "tables"))
    table.unlink()
    assert_same_stream(regenerate(stream.card), stream)


def test_the_working_directory_is_searched_too(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = make(table).card
    monkeypatch.chdir(table.parent)
    assert regenerate(card).card == card


def test_a_card_that_holds_a_path_is_followed_and_else_only_its_name_counts(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xml = table.with_suffix(".xml")
    xml.write_text(format_labels(["y", "z", "w"], {}), encoding="utf-8")
    stream = make(table)
    for labels in (-3, str(xml), None):
        card = with_source(stream.card, origin=str(table), labels=labels)
        assert_same_data(regenerate(card), stream)
    moved = tmp_path / "tables"
    moved.mkdir()
    for path in (table, xml):
        path.rename(moved / path.name)
    monkeypatch.setenv("MLSTREAM_DATA", str(moved))
    for labels in (-3, str(xml), None):
        card = with_source(stream.card, origin=str(table), labels=labels)
        assert_same_data(regenerate(card), stream)


def test_publishing_takes_the_folders_off_an_older_card(table: Path, tmp_path: Path) -> None:
    stream = make(table)
    old = with_source(stream.card, origin=str(table), labels=str(table.with_name("x.xml")))
    parts = StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets)
    folder = publish(Stream(parts, old), tmp_path / "out")
    source = load_card(folder / "stream.card.json").source
    assert (source.origin, source.labels) == ("own [1].csv", "x.xml")
    assert [path.name for path in folder.iterdir() if b"home-of-author" in path.read_bytes()] == []


def test_the_page_names_the_option_for_ones_own_table(table: Path) -> None:
    assert "regenerate CARD.json --table FILE --output" in card_page(make(table).card)
    assert "--table" not in card_page(task_stream(load_dataset("yeast"), n_init=1).card)


def assert_same_data(stream: Stream, expected: Stream) -> None:
    assert stream.card.data_sha256 == expected.card.data_sha256


def test_the_table_alone_is_enough_where_another_file_named_its_labels(table: Path) -> None:
    xml = table.with_suffix(".xml")
    xml.write_text(TREE, encoding="utf-8")
    stream = iirc_stream(load_dataset(table), labels_per_task=1)
    assert (stream.card.source.labels, stream.card.source.label_parents) == (["y", "z", "w"], {"z": "y"})
    xml.unlink()
    again = regenerate(stream.card, table=table)
    assert_same_stream(again, stream)
    assert again.card == stream.card


def test_another_table_is_one_error_with_both_hashes(table: Path) -> None:
    card = make(table).card
    other = table.with_name("other.csv")
    other.write_text("this is no table of the kind")
    with pytest.raises(
        ValueError, match=rf"other\.csv must be the table .*, sha256 {card.source.sha256}\. Got [0-9a-f]{{64}}\."
    ):
        regenerate(card, table=other)
    with pytest.raises(FileNotFoundError, match=r"absent\.csv must be the file of the table\. Got no file there"):
        regenerate(card, table=table.with_name("absent.csv"))


def test_a_table_that_is_not_found_or_has_changed_is_one_error_that_names_the_ways(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = make(table).card
    ways = r"'own \[1\]\.csv', sha256 .*, must be named by table= or --table, or lie in .* MLSTREAM_DATA names"
    with pytest.raises(FileNotFoundError, match=rf"{ways}\. Got no such file, and no variable MLSTREAM_DATA"):
        regenerate(card)
    monkeypatch.setenv("MLSTREAM_DATA", str(table.parent))
    table.write_text(f"{table.read_text()}91,1,1,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"{ways}\. Got .*own \[1\]\.csv with [0-9a-f]{{64}}\."):
        regenerate(card)


def test_a_table_is_refused_where_the_stream_is_not_from_one_of_the_users_files(table: Path) -> None:
    yeast = task_stream(load_dataset("yeast"), n_init=1).card
    for card, got in ((yeast, "the data set 'yeast'"), (multiplier_stream("rand", n_rows=50).card, "'synthetic'")):
        with pytest.raises(ValueError, match=rf"table \(--table\) must be left out .* Got a card .*{got}"):
            regenerate(card, table=table)


def test_the_shell_makes_a_stream_again_from_a_published_folder_and_a_table(table: Path, tmp_path: Path) -> None:
    stream, again = make(table), tmp_path / "again.npz"
    folder = publish(stream, tmp_path / "out")
    result = invoke("regenerate", folder, "--table", table, "-o", again)
    assert result.exit_code == 0, result.exception
    assert again.read_bytes() == (folder / "stream.npz").read_bytes()
    assert "must be named by table= or --table" in str(invoke("regenerate", folder, "-o", again, "--force").exception)
    same = invoke("regenerate", folder, "--table", again, "-o", again, "--force")
    assert "--output must not be the source" in str(same.exception)
