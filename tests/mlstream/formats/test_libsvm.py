"""Multi-label LIBSVM files."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from mlstream._support.content import FormatError
from mlstream.data.datasets import load_dataset
from mlstream.formats.libsvm import read_libsvm

PATH = Path("x.svm")


def test_labels_and_features_are_read_by_their_numbers() -> None:
    rows = read_libsvm(b"# a comment\n1,3 1:0.5 4:-2e3\n 2:1\n12 1:1 # end\n", PATH)
    assert rows.label_names == ("1", "3", "12")
    assert rows.Y.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert rows.X.toarray().tolist() == [[0.5, 0, 0, -2000], [0, 1, 0, 0], [1, 0, 0, 0]]


def test_what_scikit_learn_writes_is_read_as_it_was(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((50, 30)) * (rng.random((50, 30)) < 0.3))
    Y = (rng.random((50, 4)) < 0.5).astype(int)
    X[0, 29], Y[0] = 1.0, 1
    path = tmp_path / "x.svm"
    dump_svmlight_file(X, Y, str(path), multilabel=True, zero_based=False)
    table = load_dataset(path)
    # It writes sixteen digits, which is one too few.
    np.testing.assert_allclose(table.X.toarray(), X.toarray(), rtol=1e-14)
    np.testing.assert_array_equal(table.Y, Y)
    assert (table.feature_names[:2], table.label_names) == (("f0", "f1"), ("0", "1", "2", "3"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 1:1\n1 x\n", "x.svm, line 2: a row must be labels and index:value. Got '1 x'"),
        (b"1 9999999999:1\n", "x.svm, line 1: a row must be labels and index:value"),
        (b"1 2:1 1:1\n", "x.svm must be a LIBSVM file. Got: "),
        (b"1 1:1e999\n", "x.svm must hold finite numbers"),
        (b" 1:1\n", "x.svm must have at least one label. Got 0"),
        (b"", "x.svm must"),
        (b"\x00", "x.svm, line 1"),
    ],
)
def test_other_content_is_one_error(content: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_libsvm(content, PATH)


def test_labels_are_in_the_file_already(tmp_path: Path) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"labels must be None for x.svm, whose rows name theirs. Got 2 instead."):
        load_dataset(tmp_path / "x.svm", labels=2)
