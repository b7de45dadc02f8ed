"""Multi-label LIBSVM files (``1,3 2:0.5 7:1``) as tables, through scikit-learn."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mlstream._support.content import FormatError, at, require_room, show
from mlstream.streams.stream import Indicator

SUFFIXES = (".libsvm", ".svm", ".svmlight")

_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
# Features are numbered by up to seven digits, which bounds the width that a few bytes can claim.
_ROW = re.compile(rf"\s*(?:[0-9]{{1,6}}(?:,[0-9]{{1,6}})*)?(?:[ \t]+[0-9]{{1,7}}:{_NUMBER})*\s*(?:#.*)?".encode())


class LabelledTable(NamedTuple):
    """The content of a file."""

    X: sparse.csr_array
    Y: Indicator
    label_names: tuple[str, ...]


def read_libsvm(content: bytes, path: Path) -> LabelledTable:
    """Read the unpacked content of a multi-label LIBSVM file.

    The format has no header: X is as wide as the greatest index asks for, and features are numbered from 0 if any index
    is 0, else from 1. Labels are those that occur, named by their numbers and in their order. Raises FormatError if a
    line is anything else than labels and rising ``index:value``, or no label occurs.
    """
    from sklearn.datasets import load_svmlight_file

    for number, line in enumerate(content.splitlines(), 1):
        if not _ROW.fullmatch(line):
            got = show(line[:200].decode("latin-1"))
            raise FormatError(f"{at(path, number)}: a row must be labels and index:value. Got {got}.")
    try:
        X, labels = load_svmlight_file(BytesIO(content), multilabel=True)
    except ValueError as error:
        raise FormatError(f"{path} must be a LIBSVM file. Got: {error}.") from None
    names = sorted({int(label) for row in labels for label in row})
    if not names:
        raise FormatError(f"{path} must have at least one label. Got 0.")
    require_room(len(labels) * len(names), len(content), f"{path}: {len(labels):,} rows of {len(names):,} labels")
    if not np.isfinite(X.data).all():
        raise FormatError(f"{path} must hold finite numbers. Got another.")
    places = {label: place for place, label in enumerate(names)}
    Y = np.zeros((len(labels), len(names)), np.uint8)
    for row, present in zip(Y, labels, strict=True):
        row[[places[int(label)] for label in present]] = 1
    return LabelledTable(sparse.csr_array(X), Y, tuple(map(str, names)))
