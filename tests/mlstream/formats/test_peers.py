"""What we write is read back equal by the programs that people rely on, and what they spoil is read as it stands here.

MOA, WEKA and MEKA come in one archive with CapyMOA; `MLSTREAM_MOA_JAR` names another.
"""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import arff
import numpy as np
import pytest
from scipy import sparse
from scipy.io import arff as scipy_arff

from mlstream.data.datasets import load_dataset
from mlstream.data.registry import list_datasets
from mlstream.formats.arff.writer import format_arff
from mlstream.streams.tables.mulan import format_labels, read_labels
from tests.loops import check_all

FEATURES = ("Att1", "two words", "50%", "a,b", "{x}", "it's", 'say "hi"', "é", "日本")
LABELS = ("Class1", "beach & sea", "Class_3")
READER = Path(__file__).with_name("ReadArff.java")


def make_table(*, is_sparse: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, len(FEATURES))) * 10.0 ** rng.integers(-9, 9, (20, len(FEATURES)))
    Y = (rng.random((20, len(LABELS))) < 0.4).astype(np.uint8)
    if not is_sparse:
        return X, Y
    X *= rng.random(X.shape) < 0.3
    X[3] = Y[3] = 0
    return sparse.csr_array(X), Y


TABLES = {"dense": make_table(is_sparse=False), "sparse": make_table(is_sparse=True)}


def write(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.arff"
    text = "".join(format_arff(*TABLES[kind], FEATURES, LABELS, title="my stream: a test"))
    path.write_text(text, encoding="utf-8")
    return path


def expected(kind: str) -> Any:
    X, Y = TABLES[kind]
    return np.hstack([Y, X.toarray() if sparse.issparse(X) else X])


def find_jar() -> Path:
    if not shutil.which("javac"):
        pytest.skip("needs Java (javac)")
    spec = find_spec("capymoa")
    folders = (spec.submodule_search_locations if spec else None) or []
    jar = Path(os.environ.get("MLSTREAM_MOA_JAR", next((f"{folder}/jar/moa.jar" for folder in folders), "")))
    if not jar.is_file():
        pytest.skip("needs MOA: the package capymoa, or MLSTREAM_MOA_JAR")
    return jar


@pytest.fixture(scope="module")
def read_by_java(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[str]]:
    """Lines that MOA and MEKA print of both tables, in one start of Java."""
    jar, folder = find_jar(), tmp_path_factory.mktemp("java")
    jobs = [(program, kind) for program in ("moa", "meka") for kind in TABLES]
    arguments = [part for program, kind in jobs for part in (program, str(write(folder, kind)))]
    command = ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), str(READER), *arguments, "", "1-3"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    parts = [part.splitlines()[1:] for part in printed.split("# ")[1:]]
    return dict(zip(jobs, parts, strict=False))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
def test_moa_reads_it_equal(read_by_java: dict[tuple[str, str], list[str]], kind: str) -> None:
    rows = [[float(cell) for cell in line.split()] for line in read_by_java["moa", kind]]
    np.testing.assert_array_equal(rows, expected(kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
def test_meka_reads_it_equal_and_finds_the_labels(read_by_java: dict[tuple[str, str], list[str]], kind: str) -> None:
    n_labels, names, *rows = read_by_java["meka", kind]
    assert int(n_labels) == len(LABELS)
    assert names.rstrip("\t").split("\t") == [*LABELS, *FEATURES]
    np.testing.assert_array_equal([[float(cell) for cell in line.split()] for line in rows], expected(kind))


@pytest.mark.parametrize("kind", TABLES)
def test_scikit_multilearn_reads_it_equal(tmp_path: Path, kind: str) -> None:
    skmultilearn = pytest.importorskip("skmultilearn.dataset", reason="needs scikit-multilearn(-ng)")
    options = {"label_count": 3, "label_location": "start", "load_sparse": kind == "sparse"}
    X, Y = skmultilearn.load_from_arff(str(write(tmp_path, kind)), **options)
    np.testing.assert_array_equal(np.hstack([Y.toarray(), X.toarray()]), expected(kind))


def test_mulan_finds_the_labels_of_a_published_folder(tmp_path: Path) -> None:
    path = write(tmp_path, "dense")
    path.with_suffix(".xml").write_text(format_labels(LABELS, {LABELS[2]: LABELS[0]}), encoding="utf-8")
    assert sorted(read_labels(path.with_suffix(".xml")).names) == sorted(LABELS)
    # MULAN takes the columns that the file names, in the order of the table.
    table = load_dataset(path, labels=path.with_suffix(".xml"))
    assert (table.label_names, dict(table.label_parents)) == (LABELS, {LABELS[2]: LABELS[0]})


WORDS = ("tcp", "two words", "50%", "it's", 'say "hi"', "a,b", "{x}", "é", "?", "7")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_liac_arff_reads_the_words_of_categories(*, is_sparse: bool) -> None:
    codes = np.random.default_rng(0).integers(0, len(WORDS), (40, 1)).astype(float)
    X = np.hstack([codes, codes + 0.5])
    table = format_arff(
        sparse.csr_array(X) if is_sparse else X, np.ones((40, 1), np.uint8), ("c", "n"), ("y",), title="t",
        values={"c": WORDS},
    )  # fmt: skip
    read = arff.loads("".join(table), return_type=arff.DENSE)
    assert read["attributes"][1:] == [("c", list(WORDS)), ("n", "NUMERIC")]
    assert [row[1:] for row in read["data"]] == [[WORDS[int(code)], number] for code, number in X]


def test_scipy_and_river_read_the_words_of_categories(tmp_path: Path) -> None:
    codes, words = np.array([2.0, 0, 1, 1]), ("udp", "tcp", "icmp")
    path = tmp_path / "x.arff"
    table = format_arff(codes[:, None], np.ones((4, 1), np.uint8), ("c",), ("y",), title="t", values={"c": words})
    path.write_text("".join(table), encoding="utf-8")
    expected = [words[int(code)] for code in codes]
    rows, header = scipy_arff.loadarff(str(path))
    assert header["c"] == ("nominal", words)
    assert [cell.decode() for cell in rows["c"]] == expected
    stream = pytest.importorskip("river.stream", reason="needs River")
    assert [x["c"] for x, _ in stream.iter_arff(str(path), target="y")] == expected


HEAD = "@relation t\n@attribute a numeric\n@attribute b numeric\n@attribute y {0,1}\n@data\n"
# What a peer spoils or refuses, and what stands there: features, then the label.
SPOILT = {
    "River gives labels as text": (HEAD + "1,2,1\n3,4,0\n", [[1, 2, 1], [3, 4, 0]]),
    "scikit-multilearn drops trailing columns of zeros": (HEAD + "{0 1}\n{1 2}\n", [[1, 0, 0], [0, 2, 0]]),
    "scikit-multilearn drops trailing rows of zeros": (HEAD + "{0 1,2 1}\n{}\n", [[1, 0, 1], [0, 0, 0]]),
    "SciPy refuses sparse rows": (HEAD + "{0 1,2 1}\n{1 3}\n", [[1, 0, 1], [0, 3, 0]]),
    "SciPy refuses names with a quote of the other kind": (
        HEAD.replace("a numeric", '"it\'s a" numeric') + "1,2,1\n",
        [[1, 2, 1]],
    ),
    "liac-arff refuses MOA's trailing commas": (HEAD + "1,2,1,\n3,4,0,\n", [[1, 2, 1], [3, 4, 0]]),
    "liac-arff refuses fractions for labels": (HEAD + "1,2,1.0\n3,4,0.0\n", [[1, 2, 1], [3, 4, 0]]),
    "liac-arff refuses comments behind rows": (HEAD + "1,2,1 % first\n3,4,0\n", [[1, 2, 1], [3, 4, 0]]),
    "scikit-multilearn takes a first value that is left out for 0, when it reads sparse rows": (
        HEAD.replace("{0,1}", "{1,0}") + "{0 1}\n{1 2,2 0}\n",
        [[1, 0, 1], [0, 2, 0]],
    ),
}


def test_what_peers_spoil_is_read_as_it_stands(tmp_path: Path) -> None:
    def check(case: tuple[int, str]) -> None:
        number, title = case
        folder = tmp_path / str(number)
        folder.mkdir()
        text, rows = SPOILT[title]
        path = folder / "x.arff"
        path.write_text(text, encoding="utf-8")
        table = load_dataset(path, labels=-1)
        X = table.X.toarray() if sparse.issparse(table.X) else table.X
        np.testing.assert_array_equal(np.hstack([X, table.Y]), rows)

    check_all(enumerate(SPOILT), check)


def test_river_gives_labels_as_text(tmp_path: Path) -> None:
    stream = pytest.importorskip("river.stream", reason="needs River")
    path = tmp_path / "x.arff"
    path.write_text(SPOILT["River gives labels as text"][0], encoding="utf-8")
    assert [y for _, y in stream.iter_arff(str(path), target="y")] == ["1", "0"]


def test_a_first_value_left_out_is_lost_where_rows_stay_sparse() -> None:
    text, _ = SPOILT["scikit-multilearn takes a first value that is left out for 0, when it reads sparse rows"]
    values, _, columns = arff.loads(text, return_type=arff.COO)["data"]
    assert ("1", 2) not in zip(values, columns, strict=True)


@pytest.mark.parametrize("title", [title for title in SPOILT if title.startswith("liac-arff refuses")])
def test_liac_arff_refuses(title: str) -> None:
    with pytest.raises(arff.ArffException):
        arff.loads(SPOILT[title][0])


@pytest.mark.parametrize("title", [title for title in SPOILT if title.startswith("SciPy refuses")])
def test_scipy_refuses(tmp_path: Path, title: str) -> None:
    path = tmp_path / "x.arff"
    path.write_text(SPOILT[title][0], encoding="utf-8")
    with pytest.raises((NotImplementedError, ValueError, OSError)):
        scipy_arff.loadarff(str(path))


def test_scikit_multilearn_drops_columns(tmp_path: Path) -> None:
    skmultilearn = pytest.importorskip("skmultilearn.dataset", reason="needs scikit-multilearn(-ng)")
    path = tmp_path / "x.arff"
    path.write_text(SPOILT["scikit-multilearn drops trailing columns of zeros"][0], encoding="utf-8")
    X, Y = skmultilearn.load_from_arff(str(path), label_count=1, label_location="end", load_sparse=True)
    assert X.shape[1] + Y.shape[1] < 3


def test_real_yeast_is_river_s_yeast() -> None:
    datasets = pytest.importorskip("river.datasets", reason="needs River")
    if "yeast" not in {entry.name for entry in list_datasets()}:
        pytest.skip("needs the table of Yeast")
    yeast = load_dataset("yeast")
    for (x, y), row, labels in zip(datasets.Yeast().take(50), yeast.X, yeast.Y, strict=False):
        assert list(x.values()) == row.tolist()
        assert [int(value) for value in y.values()] == labels.tolist()
