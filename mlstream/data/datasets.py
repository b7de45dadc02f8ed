"""Tables with labels, from files of many dialects or by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from io import BytesIO
from itertools import chain
from pathlib import Path

from scipy import sparse

from mlstream.card_model import StreamCard
from mlstream.cards.terms import stated_terms
from mlstream.data.class_tables import read_class_table
from mlstream.data.downloads import fetch_dataset
from mlstream.data.hierarchical_tables import is_hierarchical, read_hierarchical_table
from mlstream.data.registry import DataFile, DatasetEntry, find_entry, list_datasets, warn_if_shadowed
from mlstream.formats.content import FormatError, UnpackedFile, bare_path, read_unpacked, stem
from mlstream.formats.labels import LabelRule, PlainRule, choose_labels, normalise_rule
from mlstream.formats.libsvm import SUFFIXES, read_libsvm
from mlstream.formats.lines import Readable
from mlstream.formats.plain_stream import find_card
from mlstream.formats.table import Table, part_all, regroup
from mlstream.formats.table_io import read_tables
from mlstream.stream import Dataset

__all__ = ["DatasetEntry", "fetch_dataset", "iter_dataset", "list_datasets", "load_dataset"]


def load_dataset(source: str | os.PathLike[str], labels: LabelRule = None) -> Dataset:
    """Read a multi-label table.

    Parameters
    ----------
    source : str or path
        A name that `list_datasets` lists, or the path of an ARFF, CSV, Parquet (.parquet) or
        LIBSVM file (.libsvm, .svm, .svmlight), which may be packed (.gz, .bz2, .xz). A bare name is that of the
        registered data set, also where a file has the same; ``./yeast`` and ``Path("yeast")`` are the file.
    labels : int, sequence of str, path or None
        The label columns: the first n, or the last n if negative; their names; or MULAN's .xml file that names them.
        If None, they are those of the card beside the file, else of an .xml of the same name beside it (MULAN; for
        ``x-train.arff`` and ``x-test.arff`` also ``x.xml``), else of ``-C n`` in the title (MEKA).

    Returns
    -------
    Dataset
        Labels in the order of the file, or of `labels` where these are names; a missing value of a label is NaN,
        unknown. X is float64; it is a CSR matrix if the file is in sparse notation and less than a quarter of X is
        stored.

    Raises
    ------
    FileNotFoundError
        If there is no such file; for a named table, the message describes what to do.
    ValueError
        If the file breaks its format, a feature has a missing value, or a label is not 0 or 1; the message names the
        file and the line. If `labels` is None, and the title and the .xml beside the file name different labels.

    Warns
    -----
    UserWarning
        If a registered name is also that of a file or folder in the working directory.

    Notes
    -----
    ARFF files may be dense or sparse, in the dialects of MULAN, MEKA and MOA. What a sparse row leaves out is 0 or the
    first value of a nominal column, as in WEKA. Nominal features whose values are all numbers become numbers; any other
    nominal feature becomes one 0/1 column per value, called ``name=value``. Columns of text or dates, and rows with
    weights, are refused.

    A missing value is ``?`` in ARFF, an empty cell in CSV, and null or NaN in Parquet; no other spelling is read, and
    LIBSVM has none. In a label column it is an unknown label, in any other an error.

    Where the last column holds paths through a tree of classes, as Clus writes them (``2/1/3``), each class is a label,
    and the table comes with the hierarchy.

    Named tables of one class a row (Autos, Letter, Hypothyroid, Satimage) have one label per class. There, values that
    are no numbers are numbered in alphabetical order, and missing ones are -1, less than all others: a tree can tell
    them apart by one split.

    No connection is opened: `fetch_dataset` downloads.

    References
    ----------
    .. [1] `The ARFF format <https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/>`_.

    Examples
    --------
    >>> yeast = load_dataset("yeast")
    >>> yeast.X.shape, yeast.Y.shape, yeast.label_names[0]
    ((2417, 103), (2417, 14), 'Class1')
    """
    entries, rule = {entry.name: entry for entry in list_datasets()}, normalise_rule(labels)
    if isinstance(source, str) and source in entries:
        warn_if_shadowed(source, "data set")
        return _load_registered(entries[source], rule)
    path = Path(source)
    _require_table_file(path, list(entries))
    if is_hierarchical(path):
        return _load_hierarchical([path], [read_unpacked(path)], rule)
    with UnpackedFile(path) as file:
        if bare_path(path).suffix.lower() in SUFFIXES:
            dataset = _read_numbered(path, file.read_all(), rule)
        else:
            dataset = _read(path, file, rule, find_card(path))
    return replace(dataset, sha256=file.sha256)


def load_registered(name: str, labels: LabelRule = None) -> Dataset:
    """Read a registered table, whatever files lie in the working directory: for names that nobody typed.

    Parameters
    ----------
    name : str
        A name that `list_datasets` lists.
    labels : int, sequence of str, path or None
        As for `load_dataset`.

    Returns
    -------
    Dataset
        The table.

    Raises
    ------
    ValueError
        If there is no such name.
    FileNotFoundError
        If the table is not on this machine; the message describes what to do.
    """
    return _load_registered(find_entry(name), normalise_rule(labels))


def _require_table_file(path: Path, names: Sequence[str]) -> None:
    """Raise an error, with the nearest name, unless the path is a file."""
    if path.is_dir():
        raise FileNotFoundError(f"{path} must be a file, or the name of a data set. Got a folder instead.")
    if not path.is_file():
        near = get_close_matches(str(path), names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise FileNotFoundError(
            f"{path} must be a file, or the name of a data set ({', '.join(names)}). Got neither{hint}"
        )


def iter_dataset(
    source: str | os.PathLike[str], labels: LabelRule = None, *, chunk_size: int = 10_000
) -> Iterator[Dataset]:
    """Read a multi-label table that may be larger than memory, some rows at a time.

    Parameters
    ----------
    source : path
        An ARFF or CSV file, which may be packed (.gz, .bz2, .xz).
    labels : int, sequence of str, path or None
        The label columns, as for `load_dataset`.
    chunk_size : int
        Rows at a time.

    Yields
    ------
    Dataset
        As many rows, the last time what remains. X is a CSR matrix in all if it is one in the first. Y is float32 in
        chunks with an unknown label, uint8 in others. The hash of the file is not known yet, and left empty.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        As `load_dataset` does, when the reading comes to the place.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     np.savetxt(path, [[0.5, 1], [0.7, 0], [0.9, 1]], fmt="%g", delimiter=",", header="a,y", comments="")
    ...     for rows in iter_dataset(path, labels=["y"], chunk_size=2):
    ...         print(rows.X.ravel(), rows.Y.ravel())
    [0.5 0.7] [1 0]
    [0.9] [1]
    """
    if chunk_size < 1:
        raise ValueError(f"chunk_size must be at least 1. Got {chunk_size} instead.")
    path, rule = Path(source), normalise_rule(labels)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be a file that exists.")
    card, first = find_card(path), None
    with UnpackedFile(path) as file:
        for table in regroup(read_tables(path, file), chunk_size):
            chunk = _take(table, [table], rule, card)
            first = first or chunk
            yield chunk if sparse.issparse(chunk.X) == sparse.issparse(first.X) else _convert(chunk)
    if first is None:
        raise FormatError(f"{path} must hold at least one row. Got a header only.")


def _load_registered(entry: DatasetEntry, rule: PlainRule) -> Dataset:
    paths = entry.require()
    contents = [_read_verified(entry, file, path) for file, path in zip(entry.files, paths, strict=True)]
    if entry.table == "labels":
        dataset = _read(paths[0], BytesIO(contents[0]), entry.labels if rule is None else rule, None)
        dataset = replace(dataset, sha256=entry.files[0].sha256)
    elif entry.table == "tree":
        dataset = _load_hierarchical(paths, contents, rule)
    elif rule is None:
        dataset = read_class_table(paths, contents, class_first=entry.table == "class first")
    else:
        raise ValueError(f"labels must be None for {entry.name!r}, whose labels are its classes. Got {rule!r} instead.")
    return replace(
        dataset,
        name=entry.name,
        source=entry.name,
        licence=entry.licence,
        citation=entry.citation,
        label_rule=None if rule is None else dataset.label_rule,
    )


def _load_hierarchical(paths: Sequence[Path], contents: Sequence[bytes], rule: PlainRule) -> Dataset:
    if rule is not None:
        raise ValueError(f"labels must be None for {paths[0]}, whose labels are its tree of classes. Got {rule!r}.")
    dataset = read_hierarchical_table(paths, contents)
    if not dataset.n_samples:
        raise FormatError(f"{paths[0]} must hold at least one row. Got a header only.")
    return dataset


def _read_verified(entry: DatasetEntry, file: DataFile, path: Path) -> bytes:
    content = read_unpacked(path)
    got = hashlib.sha256(content).hexdigest()
    if got != file.sha256:
        raise ValueError(f"{path} must hold data set {entry.name!r}, sha256 {file.sha256}. Got {got}.")
    return content


def _read(path: Path, source: Readable, rule: PlainRule, card: StreamCard | None) -> Dataset:
    tables = read_tables(path, source)
    # The first holds the columns, and perhaps no row.
    first = next(tables)
    dataset = _take(first, chain([first], tables), rule, card)
    if not dataset.n_samples:
        raise FormatError(f"{path} must hold at least one row. Got a header only.")
    return dataset


def _read_numbered(path: Path, content: bytes, rule: PlainRule) -> Dataset:
    if rule is not None:
        raise ValueError(f"labels must be None for {path.name}, whose rows name theirs. Got {rule!r} instead.")
    X, Y, label_names = read_libsvm(content, path)
    names = tuple(f"f{index}" for index in range(X.shape[1]))
    return Dataset(X, Y, names, label_names, name=stem(path), source=str(path))


def _take(head: Table, tables: Iterable[Table], rule: PlainRule, card: StreamCard | None) -> Dataset:
    columns, parents = choose_labels(head, rule, card)
    names = head.names
    label_names = tuple(names[index] for index in columns)
    X, Y, feature_names = part_all(tables, columns)
    terms = stated_terms(card) if card else None
    # A card or an .xml file beside the table may be lost: names are enough to read the table alone.
    return Dataset(
        X,
        Y,
        feature_names,
        label_names,
        name=stem(head.path),
        source=str(head.path),
        licence=terms.licence if terms else "",
        citation=terms.citation if terms else "",
        label_rule=rule if isinstance(rule, int) else label_names,
        label_parents=parents,
    )


def _convert(chunk: Dataset) -> Dataset:
    return replace(chunk, X=chunk.X.toarray() if sparse.issparse(chunk.X) else sparse.csr_array(chunk.X))
