"""How a table was read, in sentences for pages and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlstream.streams.card_model import ReadingCard

# By field of the card: the sentence, or that of each value.
_SENTENCES: dict[str, str | dict[object, str]] = {
    "missing": {
        "drop": "Rows with a missing value of a feature were left out.",
        "mean": "Missing values of features became the mean of their column.",
        "indicator": "Missing values of features became the mean of their column, and 0/1 features mark them.",
        "keep": "Missing values of features stay NaN.",
    },
    "categories": {
        "one-hot": "Columns of words became 0/1 features, one per value.",
        "ordinal": "Words and other declared values became their number, from 0; their mean is the most frequent one.",
    },
    "separator": "Cells of the file are separated by {}.",
    "decimal": "Numbers have {} before their decimals.",
    "ignore": "Columns that were left out: {}.",
    "keys": "Columns that are the keys of rows: {}.",
    "dates": {
        "epoch": "Dates became seconds since 1970.",
        "parts": "Dates became features for year, month, day, weekday, hour, minute and second.",
    },
    "date_format": "Dates are written as {}.",
    "time": "The times of the rows are in the column {}.",
    "header": {False: "The file has no names of columns, which are called x0, x1 and so on."},
    "present": "A label is present where its column holds {}.",
    "classes": {True: "Each value of a label column is a label of its own."},
    "tags": "The labels of each row are listed in the column {}.",
    "tag_separator": "The labels in that column are separated by {}.",
    "missing_words": "Words for a missing value, beside an empty cell: {}.",
    "n_features": "The file was read with {} features.",
    "format": "The file was read as {}.",
    "n_dropped": "Number of rows that were left out: {}.",
}


def describe_reading(reading: ReadingCard, quote: Callable[[str], str]) -> Iterator[str]:
    """Yield a sentence for each option of a table that was not the default; `quote` writes names and words."""
    for name, value in reading.model_dump(exclude_defaults=True).items():
        sentence = _SENTENCES[name]
        if isinstance(sentence, dict):
            yield sentence[value]
        else:
            values = value if isinstance(value, tuple) else (value,)
            yield sentence.format(", ".join(_quoted(part, quote) for part in values) or "none")


def _quoted(value: str | int, quote: Callable[[str], str]) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return quote(value) if value else "those without a name"
