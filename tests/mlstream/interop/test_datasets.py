"""What the library `datasets` loads of our folders, and the stream made of it again."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

from mlstream.formats import save
from mlstream.interop import from_datasets
from mlstream.publishing.folder import publish
from mlstream.streams.card_model import load_card
from mlstream.streams.stream import Stream
from tests.mlstream.small_streams import Shape, assert_same_stream, make_stream, streams

pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")


@pytest.fixture(scope="module")
def datasets() -> Any:
    module = pytest.importorskip("datasets", reason="needs datasets")
    module.disable_progress_bars()
    return module


def read(datasets: Any, folder: Path, *names: str) -> Any:
    return datasets.load_dataset(str(folder), *names, cache_dir=str(folder.parent / "cache" / folder.name))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [Shape(unknown=0.3), Shape(sparse=True, unknown=0.3), Shape(by_row=True)])
@pytest.mark.parametrize("arff", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_published_folder_is_loaded_whole(datasets: Any, tmp_path: Path, shape: Shape, arff: bool) -> None:
    stream = make_stream(shape)
    folder = publish(stream, tmp_path / "out", arff=arff)
    rows = read(datasets, folder)
    assert {split: len(rows[split]) for split in rows} == {"train": 14, "test": 6}
    assert_same_stream(from_datasets(rows, folder / "stream.card.json"), stream)
    if shape.sparse:
        assert rows["train"].features["labels"].feature.names == list(shape.label_names)
        dense = read(datasets, folder, "columns")["train"].to_pandas()
        expected = [x for part in stream for x in part.X.toarray().tolist()]
        assert dense[list(shape.feature_names)].to_numpy().tolist() == expected


@pytest.mark.slow
@given(stream=streams())
def test_any_names_pass_through(datasets: Any, tmp_path_factory: pytest.TempPathFactory, stream: Stream) -> None:
    # The library has no splits without rows.
    assume(stream.n_samples and any(map(len, stream.evaluation_sets)))
    # It selects columns by names that end at a zero byte.
    assume(not any("\0" in name for name in (*stream.card.feature_names, *stream.card.label_names)))
    folder = tmp_path_factory.mktemp("any")
    save(stream, folder / "x.train.parquet")
    assert_same_stream(from_datasets(read(datasets, folder), load_card(folder / "x.card.json")), stream)


def test_a_folder_of_csv_files_is_not_taken_for_its_held_out_rows(datasets: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    save(make_stream(), tmp_path / "out" / "x.train.csv")
    rows = read(datasets, tmp_path / "out")
    assert {split: len(rows[split]) for split in rows} == {"train": 14, "test": 6}


def test_a_stream_that_holds_no_rows_out_is_loaded(datasets: Any, tmp_path: Path) -> None:
    stream = make_stream(Shape(evaluation_sizes=(0, 0)))
    folder = publish(stream, tmp_path / "out")
    rows = read(datasets, folder)
    assert list(rows) == ["train"]
    assert_same_stream(from_datasets(rows, folder / "stream.card.json"), stream)


def test_rows_of_one_split_or_shuffled_are_one_error(datasets: Any, tmp_path: Path) -> None:
    folder = publish(make_stream(), tmp_path / "out")
    rows, card = read(datasets, folder), folder / "stream.card.json"
    with pytest.raises(TypeError, match=r"rows must be what datasets\.load_dataset returns .* Got Dataset"):
        from_datasets(rows["train"], card)
    with pytest.raises(ValueError, match="train rows must be in stream order"):
        from_datasets({**rows, "train": rows["train"].shuffle(seed=0)}, card)
    with pytest.raises(ValueError, match="rows must be all that were published, in their order"):
        from_datasets({**rows, "test": rows["test"].select([1, 0, *range(2, 6)])}, card)
    for wrong in ({}, {"test": rows["test"]}, {"train": rows["train"].to_iterable_dataset()}):
        with pytest.raises(TypeError, match=r"without `split` and `streaming`. Got dict"):
            from_datasets(wrong, card)
