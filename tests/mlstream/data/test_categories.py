"""``categories="ordinal"``: columns whose values are declared become categories that know their words."""

from collections.abc import Callable
from pathlib import Path

import arff
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer

from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.formats import load, save
from mlstream.generators import task_stream
from mlstream.streams.stream import Dataset
from tests.mlstream.generators.tables import dense

HEAD = """@relation 'flags: -C -1'
@attribute landmass {1,2,3,4,5,6}
@attribute area numeric
@attribute zone {4,1,3}
@attribute icon {1,0}
@attribute hue {red,'dark blue',"it's"}
@attribute text {0,1}
@attribute digits {7,007}
@attribute y {0,1}
@data
"""
DENSE = """5,648,1,1,'dark blue',0,7,1
3,29,3,0,red,1,007,0
6,2388,4,0,"it's",0,7,1
1,0,1,1,red,0,007,0
"""
SPARSE = """{0 5,1 648,2 1,4 'dark blue',7 1}
{0 3,1 29,2 3,3 0,5 1,6 007}
{0 6,1 2388,3 0,4 "it's",7 1}
{2 1,6 007}
"""


def assert_as_declared(path: Path, n_labels: int) -> Dataset:
    """Check a table against liac-arff, which reads nominal cells as words; return it."""
    table = load_dataset(path, labels=-n_labels, categories="ordinal")
    document = arff.loads(path.read_text(encoding="utf-8"), return_type=arff.DENSE)
    declared = {name: kind for name, kind in document["attributes"][:-n_labels] if isinstance(kind, list)}
    # 0 and 1 are their own codes.
    expected = {name: tuple(sorted(kind) if set(kind) == {"0", "1"} else kind) for name, kind in declared.items()}
    assert table.feature_values == expected
    for place, name in enumerate(table.feature_names):
        cells = [row[place] for row in document["data"]]
        column = dense(table.X)[:, place].tolist()
        assert cells == ([expected[name][int(code)] for code in column] if name in expected else column)
    return table


@pytest.mark.parametrize("rows", [DENSE, SPARSE])
def test_arff_declares_categories(tmp_path: Path, rows: str) -> None:
    (tmp_path / "x.arff").write_text(HEAD + rows, encoding="utf-8")
    table = assert_as_declared(tmp_path / "x.arff", 1)
    assert dense(table.X)[:, 3].tolist() == [1, 0, 0, 1]
    # Without the option, numbers that are declared stay what they are.
    plain = load_dataset(tmp_path / "x.arff", labels=-1)
    assert (dense(plain.X)[:, 0].tolist(), dense(plain.X)[:, 2].tolist()) == ([5, 3, 6, 1], [1, 3, 4, 1])
    assert plain.categorical_features == {}


def test_hypothyroid_declares_categories(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("uci/hypothyroid.arff")
    table = load_dataset(path, ["Class"], classes=True, categories="ordinal", missing="keep", ignore=["TBG"])
    attributes = dict(arff.loads(path.read_text(encoding="utf-8"))["attributes"])
    declared = {name: tuple(kind) for name, kind in attributes.items() if isinstance(kind, list) and name != "Class"}
    assert table.feature_values == declared


def test_an_arff_file_of_a_stream_tells_strangers_its_categories(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = {"c": ("tcp", "two words", "it's"), "n": ("3", "1")}
    X = np.column_stack([rng.integers(0, 3, 90), rng.random(90), rng.integers(0, 2, 90)])
    Y = np.tile(np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]]), (30, 1))
    table = Dataset(X, Y, ("c", "a", "n"), ("k", "l", "m"), feature_values=values)
    stream = task_stream(table, n_tasks=2)
    save(stream, tmp_path / "x.arff")
    (tmp_path / "x.card.json").rename(tmp_path / "kept.json")
    read = load_dataset(tmp_path / "x.arff", categories="ordinal")
    assert (read.feature_values, read.label_names) == (values, ("k", "l", "m"))
    np.testing.assert_array_equal(read.X, np.concatenate([part.X for part in stream]))
    (tmp_path / "kept.json").rename(tmp_path / "x.card.json")
    assert load(tmp_path / "x.arff").feature_values == values


KEEL = """@relation flags
@attribute landmass {3, 1, 2}
@attribute hue {red, dark blue}
@attribute y {a, b}
@inputs landmass, hue
@outputs y
@data
1, dark blue, a
2, red, b
"""


def test_keel_declares_categories(tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_text(KEEL, encoding="utf-8")
    table = load_dataset(tmp_path / "x.dat", categories="ordinal")
    assert table.feature_values == {"landmass": ("3", "1", "2"), "hue": ("red", "dark blue")}
    assert table.X.tolist() == [[1, 1], [2, 0]]


FRAMES = {
    "categories of numbers": (pd.Categorical([3, None, 1], [5, 3, 1]), ("5", "3", "1"), [1, np.nan, 2]),
    "ordered numbers": (pd.Categorical([3, None, 1], [5, 3, 1], ordered=True), ("5", "3", "1"), [1, np.nan, 2]),
    "0 and 1": (pd.Categorical([0, None, 1], [1, 0]), ("0", "1"), [0, np.nan, 1]),
    "words": (pd.Categorical(["u", None, "v"], ["w", "v", "u"]), ("u", "v"), [0, np.nan, 1]),
    "ordered words": (pd.Categorical(["u", None, "v"], ["w", "v", "u"], ordered=True), ("w", "v", "u"), [2, np.nan, 1]),
    "texts": (["v", None, "u"], ("u", "v"), [1, np.nan, 0]),
    "an enum": (pl.Series(["3", None, "1"], dtype=pl.Enum(["5", "3", "1"])), ("5", "3", "1"), [1, np.nan, 2]),
    "strings of polars": (pl.Series(["3", None, "10"], dtype=pl.Categorical), ("10", "3"), [1, np.nan, 0]),
    "truth values": (pd.Categorical([True, None, False]), None, [1, np.nan, 0]),
    "numbers": ([3.0, None, 1.0], None, [3, np.nan, 1]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_declare_categories(kind: str) -> None:
    cells, words, codes = FRAMES[kind]
    frame = (pl if isinstance(cells, pl.Series) else pd).DataFrame({"c": cells, "k": [1, 0, 1]})
    table = Dataset.from_frame(frame, ["k"], categories="ordinal", missing="keep")
    np.testing.assert_array_equal(table.X[:, 0], codes)
    assert table.feature_values == ({} if words is None else {"c": words})


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.Categorical(["3", None, "1"], ["5", "3", "1"]), "k": [1, 0, 1]}),
        pl.DataFrame({"c": pl.Series(["3", None, "1"], dtype=pl.Enum(["5", "3", "1"])), "k": [1, 0, 1]}),
    ],
)
def test_dictionaries_of_parquet_declare_categories(tmp_path: Path, frame) -> None:
    path = tmp_path / "x.parquet"
    (frame.write_parquet if isinstance(frame, pl.DataFrame) else frame.to_parquet)(path)
    table = load_dataset(path, ["k"], categories="ordinal", missing="keep")
    assert table.feature_values == {"c": ("5", "3", "1")}
    np.testing.assert_array_equal(table.X, [[1], [np.nan], [2]])
    assert load_dataset(path, ["k"], missing="keep").feature_values == {}


@pytest.mark.parametrize("name", ["x.arff", "x.csv"])
def test_all_chunks_have_the_values_of_the_whole(tmp_path: Path, name: str) -> None:
    text = HEAD + DENSE if name == "x.arff" else "hue,n,y\nred,1,0\nblue,2,1\nred,3,0\n"
    (tmp_path / name).write_text(text, encoding="utf-8")
    whole = load_dataset(tmp_path / name, labels=-1, categories="ordinal")
    chunks = list(iter_dataset(tmp_path / name, labels=-1, categories="ordinal", chunk_size=1))
    assert [chunk.feature_values for chunk in chunks] == [whole.feature_values] * whole.n_samples
    np.testing.assert_array_equal(np.vstack([chunk.X for chunk in chunks]), whole.X)


@pytest.mark.parametrize("rows", ["dense", "sparse"])
def test_a_missing_category_becomes_the_most_frequent(tmp_path: Path, rows: str) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (60, 3)).astype(float)
    codes[:, 2] = np.tile([3, 1, 2, 0, 1, 3], 10)  # 1 and 3 are as frequent
    codes[rng.random(codes.shape) < 0.2] = np.nan
    codes[:4, 2] = np.nan, 3, 1, np.nan
    ties = codes[:, 2] == 3, codes[:, 2] == 1
    codes[np.flatnonzero(ties[0])[ties[1].sum() :], 2] = codes[np.flatnonzero(ties[1])[ties[0].sum() :], 2] = 0
    texts = [["?" if np.isnan(code) else "abcd"[int(code)] for code in row] for row in codes]
    head = (
        "@relation t\n" + "".join(f"@attribute {name} {{a,b,c,d}}\n" for name in "uvw") + "@attribute y {0,1}\n@data\n"
    )
    lines = {
        "dense": [",".join([*row, "1"]) for row in texts],
        "sparse": ["{" + ",".join(f"{place} {text}" for place, text in enumerate([*row, "1"])) + "}" for row in texts],
    }
    (tmp_path / "x.arff").write_text(head + "\n".join(lines[rows]) + "\n", encoding="utf-8")
    expected = SimpleImputer(strategy="most_frequent", add_indicator=True).fit_transform(codes)
    options = {"labels": ["y"], "categories": "ordinal"}
    marked = load_dataset(tmp_path / "x.arff", **options, missing="indicator")
    np.testing.assert_array_equal(dense(marked.X), expected)
    assert set(marked.categorical_features) == {0, 1, 2}
    np.testing.assert_array_equal(
        dense(load_dataset(tmp_path / "x.arff", **options, missing="mean").X), expected[:, :3]
    )
    np.testing.assert_array_equal(dense(load_dataset(tmp_path / "x.arff", **options, missing="keep").X), codes)
