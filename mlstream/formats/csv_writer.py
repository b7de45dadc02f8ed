"""CSV as every reader takes it: names, then rows of numbers, labels first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from mlstream._spreadsheets import guard_text
from mlstream.formats.arff.writer import format_dense_rows
from mlstream.stream import Features, Indicator


def format_csv(X: Features, Y: Indicator, names: Sequence[str]) -> Iterator[str]:
    """Write a table as the text of a CSV file.

    Parameters
    ----------
    X : ndarray of float32 or float64, shape (n_samples, n_features)
        Features, finite.
    Y : ndarray of uint8, shape (n_samples, n_labels)
        Labels.
    names : sequence of str
        Names of the columns: labels first.

    Yields
    ------
    str
        The text, piece by piece; numbers are read back as the same bits. Names that a spreadsheet would take for a
        formula begin with an apostrophe, which `read_csv` takes off again.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, or numbers of another type, or a name has more than one line.
    """
    broken = [name for name in names if "\n" in name or "\r" in name]
    if broken:
        raise ValueError(f"Names must be of one line to be written as CSV. Got {broken[0]!r}.")
    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow(map(guard_text, names))
    yield head.getvalue()
    yield from format_dense_rows(X, Y)
