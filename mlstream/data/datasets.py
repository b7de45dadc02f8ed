"""Tables with labels, from files of many dialects or by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Unpack

from mlstream._support.content import FormatError, read_unpacked
from mlstream._support.files import did_you_mean_file, ends_as_folder, require_plain
from mlstream._support.reading import ReadingOptions
from mlstream.data.class_tables import is_hierarchical, read_class_table, read_hierarchical_table
from mlstream.data.downloads import fetch_dataset
from mlstream.data.registry import DataFile, DatasetEntry, find_entry, list_datasets, warn_if_shadowed
from mlstream.data.table_files import Choices, iterate_table, load_table, to_dataset
from mlstream.formats.table_io import find_card, find_format, read_tables
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.columns import BY_DEFAULT, make_reading
from mlstream.streams.tables.labels import LabelRule, PlainRule, normalise_rule

__all__ = ["DatasetEntry", "fetch_dataset", "iter_dataset", "list_datasets", "load_dataset"]


def load_dataset(
    source: str | os.PathLike[str], labels: LabelRule = None, **options: Unpack[ReadingOptions]
) -> Dataset:
    """Read a multi-label table.

    Parameters
    ----------
    source : str or path
        A name that `list_datasets` lists, or the path of an ARFF, CSV (.csv, .tsv), KEEL (.dat), Parquet (.parquet)
        or LIBSVM file (.libsvm, .svm, .svmlight), which may be packed (.gz, .bz2, .xz). A bare name is that of the
        registered data set, also where a file has the same; ``./yeast`` and ``Path("yeast")`` are the file.
    labels : int, sequence of str, path or None
        The label columns: the first n, or the last n if negative; their names; or MULAN's .xml file that names them.
        If None, they are those of the card beside the file, else of an .xml of the same name beside it (MULAN; for
        ``x-train.arff`` and ``x-test.arff`` also ``x.xml``), else of ``-C n`` in the title (MEKA). Those of a KEEL file
        are its outputs; a single one holds classes, of which each is a label. In LIBSVM, the number of labels, or those
        that are read; with `tags`, the tags that are.
    **options
        How the table is read; see Other Parameters.

    Other Parameters
    ----------------
    missing : {"error", "drop", "mean", "indicator", "keep"}
        What becomes of missing values of features: an error, the default; their rows are left out; they become the mean
        of the column, or the most frequent value of a category, the first of several; that, with a 0/1 feature
        ``name is missing`` for each column that has some; or NaN, for learners that take it.
    categories : {"one-hot", "ordinal"}, optional
        What becomes of columns of words: one 0/1 feature ``name=value`` per value, or a category, the number of the
        value, from 0, whose word `feature_values` knows. By default one-hot where the file declares the values (ARFF,
        KEEL), else an error. Nominal columns of ARFF and KEEL whose values are numbers other than 0 and 1 hold these
        numbers, unless this is "one-hot" or "ordinal". With "ordinal", columns of numbers are categories, too, where
        values are declared: also by categories of pandas, enums of polars and dictionaries of Parquet. 0 and 1 keep
        their numbers.
    ignore : sequence of str
        Columns that are not read, such as free text. An empty name stands for all columns without a name.
    keys : sequence of str
        Columns of CSV, Parquet or a frame that say whose a row is, such as a host and a time: they become `keys` of the
        table, never features. In CSV, they are whole numbers, floats or times in ISO 8601 if all are written so, else
        text. Those of an ARFF file lie beside it, in ``x.keys.csv``, and are read with it.
    dates : {"epoch", "parts"}, optional
        What becomes of dates in ISO 8601, or of a type of dates: seconds since 1970; or features ``name.year``,
        ``name.month``, ``name.day``, ``name.weekday`` (0 is Monday), ``name.hour``, ``name.minute`` and
        ``name.second``. Times without a zone are UTC. By default an error.
    date_format : str, optional
        How dates are written, in the codes of `datetime.strptime`, such as ``"%d/%m/%Y %H:%M"``; by default in ISO
        8601. Dates of ARFF have their own.
    time : str, optional
        The column of the times of rows, dates or numbers, for streams in the order of time (``by="time"``). Dates there
        need no `dates`, without which they are no feature.
    present : str, optional
        The value that marks a label, such as "x"; all other values are 0, and so are empty cells where the column holds
        no other value. By default labels hold 0 and 1, -1 and 1, or words for them: true and false, yes and no, t and
        f, y and n, in any case.
    classes : bool
        Make a label ``name=value`` of each value of a label column that holds more than 0 and 1.
    tags : str, optional
        The column that lists the labels of each row, which takes the place of label columns.
    tag_separator : str
        What separates the labels in the column of tags; ";" by default.
    missing_words : sequence of str, optional
        The words for a missing value, beside an empty cell; by default NA, N/A, n/a, #N/A, NaN, nan, <NA>, null, NULL,
        <null> and ?.
    separator : str, optional
        The character between the cells of a CSV file; by default that in the line of names (comma, semicolon, tab or
        bar), and a tab in a .tsv file.
    decimal : {".", ","}
        The character before the decimals of numbers in a CSV file.
    header : bool
        Whether the first line of a CSV file names the columns, as it does by default; else they are called x0, x1, ...
    n_features : int, optional
        The width of X in a LIBSVM file, so that the parts of a table fit together.
    format : {"arff", "csv", "tsv", "keel", "parquet", "libsvm"}, optional
        The format, where the ending of the name does not say it.

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
        If a registered name is also that of a file or folder in the working directory; a feature counts the rows, or
        holds another word in each; or rows without any value, or labels that are not wanted, are left out.

    Notes
    -----
    ARFF files may be dense or sparse, in the dialects of MULAN, MEKA and MOA. What a sparse row leaves out is 0 or the
    first value of a nominal column, as in WEKA. Weights of rows become `sample_weight`.

    As features, too, ``true`` and ``false``, or ``yes`` and ``no``, in any case, are 1 and 0 in CSV and Parquet. Values
    of other words are in alphabetical order; a column has at most 100, and where there are more than 20, each comes
    twice on average. Dates, free text and whole numbers beyond 2**53, which floats round, are refused. In CSV, a first
    column without a name that counts the rows from 0 or 1, as pandas and R write, is left out, and so are empty columns
    without a name at the end.

    In a label column, a missing value is an unknown label. Values that a header declares, and words in quotes, are
    never missing. Means are those of all rows.

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
    reading = make_reading(**options)
    if isinstance(source, str) and source in entries:
        warn_if_shadowed(source, "data set")
        return _load_registered(entries[source], rule, reading)
    path = Path(source)
    _require_table_file(source, list(entries))
    if is_hierarchical(path):
        return _load_hierarchical([path], [read_unpacked(path)], rule, reading)
    return load_table(path, Choices(rule, reading, find_card(path)))


def load_registered(name: str, labels: LabelRule = None, reading: ReadingCard = BY_DEFAULT) -> Dataset:
    """Read a registered table, whatever files lie in the working directory: for names that nobody typed.

    `labels` is as for `load_dataset`. Raises ValueError for an unknown name, FileNotFoundError if the table is not on
    this machine.
    """
    return _load_registered(find_entry(name), normalise_rule(labels), reading)


def _require_table_file(source: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Raise an error, with the nearest name, unless the path is a file."""
    path = Path(source)
    if path.is_dir():
        raise FileNotFoundError(f"{path} must be a file, or the name of a data set. Got a folder instead.")
    require_plain(path)
    if not path.is_file() or ends_as_folder(source):
        raise FileNotFoundError(
            f"{source} must be a file, or the name of a data set, as `mlstream datasets` lists them. "
            f"Got neither{did_you_mean_file(path, names)}"
        )


def iter_dataset(
    source: str | os.PathLike[str],
    labels: LabelRule = None,
    *,
    chunk_size: int = 10_000,
    **options: Unpack[ReadingOptions],
) -> Iterator[Dataset]:
    """Read a multi-label table that may be larger than memory, some rows at a time.

    Parameters
    ----------
    source : path
        A file of any format of `load_dataset`; one in LIBSVM has to fit into memory.
    labels : int, sequence of str, path or None
        The label columns, as for `load_dataset`.
    chunk_size : int
        Rows at a time.
    **options
        As for `load_dataset`, without `classes`, `present`, `tags` and `keys`; `missing` is "error", "drop" or "keep".

    Yields
    ------
    Dataset
        As many rows, fewer where some are left out, the last time what remains. X is a CSR matrix in all if it is one
        in the first. Y is float32 in chunks with an unknown label, uint8 in others. The hash of the file is not known
        yet, and left empty.

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
    require_plain(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be a file that exists.")
    reading = make_reading(**options)
    if reading.missing in {"mean", "indicator"}:
        raise ValueError(
            f"missing must be error, drop or keep for a table that is read in chunks. Got {reading.missing!r}."
        )
    if reading.keeps_words:
        rule = "classes, present and tags must be left out for a table that is read in chunks"
        raise ValueError(f"{rule}: what a label is depends on all rows, which load_dataset reads.")
    if reading.keys:
        raise ValueError("keys must be left out for a table that is read in chunks: those of all rows must differ.")
    # The file is opened when the first rows are asked for, perhaps in another working directory.
    return iterate_table(path.absolute(), Choices(rule, reading, find_card(path)), chunk_size)


def _require_default(reading: ReadingCard, what: str) -> None:
    # Rows may be sorted by any column.
    options = reading.model_dump(exclude_defaults=True, exclude={"time"})
    if options:
        got = ", ".join(f"{name}={value!r}" for name, value in options.items())
        raise ValueError(f"Options must be left out for {what}. Got {got}.")


def _load_registered(entry: DatasetEntry, rule: PlainRule, reading: ReadingCard) -> Dataset:
    paths = entry.require()
    contents = [_read_verified(entry, file, path) for file, path in zip(entry.files, paths, strict=True)]
    if entry.table == "labels":
        tables = read_tables(paths[0], BytesIO(contents[0]), reading)
        own = str(paths[-1]) if entry.labels is None else entry.labels
        dataset = to_dataset(tables, Choices(own if rule is None else rule, reading))
        dataset = replace(dataset, sha256=entry.files[0].sha256)
    elif entry.table == "tree":
        dataset = _load_hierarchical(paths, contents, rule, reading)
    elif rule is None:
        _require_default(reading, f"{entry.name!r}, whose words and missing values have numbers of their own")
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


def _load_hierarchical(
    paths: Sequence[Path], contents: Sequence[bytes], rule: PlainRule, reading: ReadingCard
) -> Dataset:
    given = {"labels": rule} | {name: getattr(reading, name) or None for name in ("present", "classes", "tags")}
    for name, value in given.items():
        if value is not None:
            rule = "must be left out for a table whose labels are its tree of classes"
            raise ValueError(f"{paths[0]}: {name} (--{name}) {rule}. Got {value!r}.")
    find_format(paths[0], reading)
    dataset = read_hierarchical_table(paths, contents, reading)
    if not dataset.n_samples:
        raise FormatError(f"{paths[0]} must hold at least one row. Got a header only.")
    return dataset


def _read_verified(entry: DatasetEntry, file: DataFile, path: Path) -> bytes:
    content = read_unpacked(path)
    got = hashlib.sha256(content).hexdigest()
    if got != file.sha256:
        raise ValueError(f"{path} must hold data set {entry.name!r}, sha256 {file.sha256}. Got {got}.")
    return content
