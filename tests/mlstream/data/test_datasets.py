"""Tables by path and by name, against the counts that were documented when the files were collected."""

import gzip
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from scipy import sparse

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.data.registry import list_datasets
from mlstream.publishing.folder import regenerate
from mlstream.publishing.presets import make_preset

Locate = Callable[[str], Path]

TEXT = "@relation '{title}'\n@attribute a numeric\n@attribute c {{red,blue}}\n@attribute y {{0,1}}\n@data\n{rows}"

# Rows, features, labels, mean number of labels of a row, of PROVENANCE.md; whether the features come out sparse.
REAL = {
    "yeast": (2417, 103, 14, 4.2371, False),
    "yeast-osc-mlc": (2417, 103, 14, 4.2371, False),
    "scene": (2407, 294, 6, 1.0740, False),
    "slashdot": (3782, 1079, 22, 1.1809, True),
    "reuters-k500": (6000, 500, 103, 1.4622, True),
    "20ng": (19300, 1006, 20, 1.0289, True),
    "synthetic_monolab": (4000, 4, 4, 0.4958, False),
    "synthetic_bilab": (4000, 4, 4, 0.9948, False),
    "synthetic_rand": (4000, 4, 4, 1.9263, False),
    "bibtex": (7395, 1836, 159, 2.4019, True),
    "corel5k": (5000, 499, 374, 3.5220, True),
    "tmc2007-500": (28596, 500, 22, 2.1579, True),
    "ohsumed": (13929, 1002, 23, 1.6631, True),
    "imdb": (120919, 1001, 28, 1.9997, True),
    "autos": (205, 25, 6, 1, False),
    "letter": (20000, 16, 26, 1, False),
    "hypothyroid": (3772, 29, 4, 1, False),
    "satimage": (6435, 36, 6, 1, False),
    "imclef07a": (11006, 80, 96, 3.0, False),
}
SLOW = {"imdb"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.arff"
    path.write_text(TEXT.format(title="t", rows="1,red,1\n2,blue,0\n"), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in REAL]
)
def test_every_named_table_is_as_documented(name: str, shared_data: Locate, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "yeast":
        monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("multilabel").parent))
    table, entry = load_dataset(name), next(entry for entry in list_datasets() if entry.name == name)
    n_samples, n_features, n_labels, cardinality, is_sparse = REAL[name]
    assert (*table.X.shape, table.Y.shape[1]) == (n_samples, n_features, n_labels)
    assert (entry.n_samples, entry.n_features, entry.n_labels) == (n_samples, n_features, n_labels)
    assert round(float(table.Y.sum(axis=1).mean()), 4) == cardinality
    assert isinstance(table.X, sparse.csr_array) == is_sparse
    assert (table.name, table.source, table.licence) == (name, name, entry.licence)
    assert len(entry.files) > 1 or table.sha256 == entry.files[0].sha256


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("bibtex.arff.gz", None, (7395, 1836, 159, 2.4019)),
        ("bibtex.arff.gz", -159, (7395, 1836, 159, 2.4019)),
        ("tmc2007-500.arff.gz", None, (28596, 500, 22, 2.1579)),
        ("Corel5k-sparse.arff", "Corel5k.xml", (5000, 499, 374, 3.5220)),
        ("OHSUMED-F.arff.gz", None, (13929, 1002, 23, 1.6631)),
    ],
)
def test_real_files_of_mulan_and_meka_are_as_documented(
    shared_data: Locate, name: str, labels: str | int | None, expected: tuple[float, ...]
) -> None:
    rule = shared_data(f"multilabel-extra/{labels}") if isinstance(labels, str) else labels
    table = load_dataset(shared_data(f"multilabel-extra/{name}"), rule)
    assert (*table.X.shape, table.Y.shape[1], round(float(table.Y.sum(axis=1).mean()), 4)) == expected
    assert isinstance(table.X, sparse.csr_array)
    assert set(np.unique(table.X.data)) == {1.0}


@pytest.mark.slow
def test_a_large_real_file_is_as_documented(shared_data: Locate) -> None:
    table = load_dataset(shared_data("multilabel-extra/Imdb.arff.gz"))
    assert (*table.X.shape, table.Y.shape[1]) == (120919, 1001, 28)
    assert round(float(table.Y.sum(axis=1).mean()), 4) == 1.9997


def test_two_files_of_yeast_hold_the_same_rows(shared_data: Locate) -> None:
    one = load_dataset("yeast")
    other = load_dataset(shared_data("multilabel/Yeast.arff.gz"))
    rows = [np.hstack([table.X, table.Y]) for table in (one, other)]
    np.testing.assert_allclose(*(table[np.lexsort(table.T)] for table in rows))


def test_a_real_file_with_missing_values_is_one_error_with_its_line(shared_data: Locate) -> None:
    with pytest.raises(FormatError, match=r"hypothyroid.arff, line 113: column 'TBG' must have a value in every row"):
        load_dataset(shared_data("uci/hypothyroid.arff"), -1)


def test_a_real_file_with_a_column_of_paths_has_its_tree_and_no_other_labels(shared_data: Locate) -> None:
    path = shared_data("hierarchical/image_clef_test.arff")
    table = load_dataset(path)
    assert (*table.X.shape, table.Y.shape[1]) == (1006, 80, 96)
    # One path from a root to a leaf, three nodes long, in every row; 8 of the 96 nodes are roots.
    assert (table.Y.sum(axis=1) == 3).all()
    assert len(table.label_parents) == 96 - 8
    with pytest.raises(
        ValueError, match=r"labels .* must be left out for a table whose labels are its tree of classes. Got -1"
    ):
        load_dataset(path, -1)


def test_yeast_is_read_in_under_half_a_second_of_the_processor() -> None:
    def seconds() -> float:
        start = time.process_time()
        load_dataset("yeast")
        return time.process_time() - start

    assert min(seconds() for _ in range(3)) < 0.5


def test_a_table_by_path_knows_where_it_is_from(path: Path) -> None:
    table = load_dataset(path, -1)
    assert (table.name, table.source, table.label_rule) == ("x", str(path), -1)
    assert (table.feature_names, table.label_names) == (("a", "c=red", "c=blue"), ("y",))
    np.testing.assert_array_equal(table.X, [[1, 1, 0], [2, 0, 1]])
    np.testing.assert_array_equal(table.Y, [[1], [0]])


def test_a_packed_table_is_the_same_table(path: Path) -> None:
    packed = path.with_name("y.arff.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    one, other = load_dataset(path, ["y"]), load_dataset(str(packed), ("y",))
    assert (one.sha256, one.label_rule) == (other.sha256, other.label_rule)
    np.testing.assert_array_equal(one.X, other.X)


def test_a_csv_file_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,y\n1.5,1\n2,0\n", encoding="utf-8")
    table = load_dataset(tmp_path / "x.csv", 1 - 2)
    np.testing.assert_array_equal(np.hstack([table.X, table.Y]), [[1.5, 1], [2, 0]])


def test_a_hierarchy_comes_with_mulans_file(path: Path) -> None:
    xml = '<labels><label name="y"><label name="a"/></label></labels>'
    path.with_suffix(".xml").write_text(xml, encoding="utf-8")
    path.write_text(TEXT.format(title="t", rows="1,red,1\n0,blue,0\n"), encoding="utf-8")
    table = load_dataset(path)
    assert (table.label_names, dict(table.label_parents)) == (("a", "y"), {"a": "y"})


def test_a_table_of_classes_has_no_other_labels(shared_data: Locate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("uci")))
    with pytest.raises(ValueError, match=r"labels must be None for 'autos', whose labels are its classes. Got -2"):
        load_dataset("autos", -2)


def test_another_rule_overrides_that_of_a_name() -> None:
    table = load_dataset("yeast", -2)
    assert (table.label_names, table.X.shape[1], table.label_rule) == (("Class13", "Class14"), 115, -2)


@pytest.mark.parametrize("source", ["no-such-name", "no/such/file.arff"])
def test_what_is_neither_a_name_nor_a_file_is_one_error(source: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"{source} must be a file, or the name of a data set, as `mlstream "):
        load_dataset(source)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="must be a file"):
        load_dataset(tmp_path)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ("", -1, "x.arff must hold at least one row. Got a header only"),
        ("1,red,1\n1,red\n", -1, "x.arff, line 7: a row must hold 3 values. Got 2"),
        ("1,red,1\n", None, "x.arff: labels must be given as a number of columns, names, or a MULAN .xml file"),
        ("1,red,1\n", -2, "x.arff: label 'c' must be 0 or 1. Got the values 'red, blue'"),
        ("1,red,1\n3,red,1\n", ["a"], "x.arff, line 7: label 'a' must be 0 or 1. Got 3"),
    ],
)
def test_every_defect_is_one_error(path: Path, rows: str, labels: int | list[str] | None, message: str) -> None:
    path.write_text(TEXT.format(title="t", rows=rows), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        load_dataset(path, labels)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["multilabel/Reuters-K500.arff", "multilabel/Yeast.arff.gz"])
@pytest.mark.parametrize("chunk_size", [1000, 10**9])
def test_chunks_are_the_table_in_pieces(shared_data: Locate, name: str, chunk_size: int) -> None:
    path = shared_data(name)
    whole, chunks = load_dataset(path, labels=5), list(iter_dataset(path, labels=5, chunk_size=chunk_size))
    sizes = [chunk.n_samples for chunk in chunks]
    assert sum(sizes) == whole.n_samples
    assert set(sizes[:-1]) <= {chunk_size}
    assert {(chunk.label_names, chunk.feature_names) for chunk in chunks} == {(whole.label_names, whole.feature_names)}
    assert {sparse.issparse(chunk.X) for chunk in chunks} == {sparse.issparse(whole.X)}
    join = sparse.vstack if sparse.issparse(whole.X) else np.vstack
    assert np.abs(join([chunk.X for chunk in chunks]) - whole.X).max() == 0
    np.testing.assert_array_equal(np.vstack([chunk.Y for chunk in chunks]), whole.Y)


def test_a_word_after_many_rows_of_numbers_needs_an_option_in_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlstream.formats.csv_blocks._BLOCK_BYTES", 2**10)
    monkeypatch.setattr("mlstream.formats.lines.BLOCK_BYTES", 2**10)
    path = tmp_path / "x.csv"
    path.write_text("a,y\n" + "1,0\n" * 5000 + "x,1\n", encoding="utf-8")
    chunks = iter_dataset(path, labels=-1, chunk_size=100)
    assert next(chunks).X.tolist() == [[1.0]] * 100
    with pytest.raises(FormatError, match=r"x.csv, line 5002: column 'a' must be .* Got 'x'; categories= or --cat"):
        list(chunks)
    (*_, last) = iter_dataset(path, labels=-1, chunk_size=5000, categories="ordinal")
    assert (last.X.tolist(), last.Y.tolist()) == ([[1]], [[1]])


def test_chunks_of_a_file_without_rows_or_of_no_rows_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.arff"
    path.write_text("@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a real\n@data\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"x.arff must hold at least one row. Got a header only"):
        list(iter_dataset(path))
    with pytest.raises(ValueError, match=r"chunk_size must be at least 1. Got 0 instead."):
        list(iter_dataset(path, chunk_size=0))
    with pytest.raises(FileNotFoundError, match=r"absent.arff must be a file that exists"):
        list(iter_dataset(tmp_path / "absent.arff"))


def read_chunks(path: Path) -> int:
    return sum(chunk.n_samples for chunk in iter_dataset(path, chunk_size=2000))


# Since NumPy 2.5, an array that is resized counts twice while it moves.
TABLE_TIMES = 2.0 if np.lib.NumpyVersion(np.__version__) < "2.5.0" else 2.5


@pytest.mark.parametrize(("read", "times"), [(load_dataset, TABLE_TIMES), (read_chunks, 0.8)])
def test_memory_is_bounded_by_the_result(tmp_path: Path, read: Any, times: float) -> None:
    path, n_rows, n_features = tmp_path / "x.arff", 30_000, 100
    head = "@relation 'x: -C 1'\n@attribute y {0,1}\n" + "".join(f"@attribute a{i} real\n" for i in range(n_features))
    row = ",".join(["1", *(f"0.{number}" for number in range(n_features))])
    path.write_text(f"{head}@data\n" + f"{row}\n" * n_rows, encoding="utf-8")
    read(path)
    tracemalloc.start()
    read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < times * n_rows * (8 * n_features + 1)


def test_a_table_whose_title_is_older_than_its_columns_is_never_read_with_words_for_labels(path: Path) -> None:
    title = "t: -C 1-weka.filters.unsupervised.attribute.StringToWordVector"
    path.write_text(
        f"@relation '{title}'\n@attribute word {{0,1}}\n@attribute a real\n@attribute y {{0,1}}\n@data\n1,5,0\n0,6,1\n",
        encoding="utf-8",
    )
    assert load_dataset(path).label_names == ("word",)
    path.with_suffix(".xml").write_text('<labels><label name="y"/></labels>', encoding="utf-8")
    for read in (load_dataset, lambda path: next(iter_dataset(path))):
        with pytest.raises(FormatError, match=r"Got 1 column \('word'\) by -C, 1 column \('y'\) by x\.xml"):
            read(path)
    assert load_dataset(path, path.with_suffix(".xml")).Y.ravel().tolist() == [0, 1]


@pytest.mark.parametrize("make", ["mkdir", "touch"])
def test_a_registered_name_is_not_shadowed_by_a_file_or_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: str, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.chdir(tmp_path)
    getattr(Path("yeast"), make)()
    kind = "folder" if make == "mkdir" else "file"
    message = f"^'yeast' is the registered data set, not the {kind} of that name: write ./yeast for the {kind}\\.$"
    with pytest.warns(UserWarning, match=message) as warned:
        table = load_dataset("yeast")
    assert (table.X.shape, warned[0].filename) == ((2417, 103), __file__)
    for path in ("./yeast", Path("yeast")):
        with pytest.raises((FileNotFoundError, ValueError), match=r"^yeast must|yeast"):
            load_dataset(path)
    # Names that nobody typed are those of the data sets.
    assert regenerate(make_preset("yeast-tasks").card).card.source.name == "yeast"
    assert recwarn.list == []


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**53 + 1, -(2**53) - 1])
@pytest.mark.parametrize("suffix", ["csv", "arff", "dat", "parquet"])
def test_a_whole_number_next_to_the_largest_exact_one_is_refused(tmp_path: Path, suffix: str, number: int) -> None:
    path, head = tmp_path / f"x.{suffix}", "@relation r\n@attribute i real\n@attribute y {0,1}\n"
    if suffix == "parquet":
        pq.write_table(pa.table({"i": [1, number], "y": [0, 1]}), path)
    else:
        heads = {"csv": "i,y\n", "arff": f"{head}@data\n", "dat": f"{head}@inputs i\n@outputs y\n@data\n"}
        path.write_text(f"{heads[suffix]}1,0\n{number},1\n")
    if abs(number) <= 2**53:
        assert load_dataset(path, labels=["y"]).X.tolist() == [[1], [number]]
        return
    with pytest.raises(FormatError, match=rf"column 'i' must hold whole numbers of at most 2\*\*53.*Got '?{number}"):
        load_dataset(path, labels=["y"])
