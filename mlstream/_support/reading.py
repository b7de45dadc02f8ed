"""The choices of how a table is read; apart, for the command line needs no more than their names."""

from typing import Literal, TypedDict

Missing = Literal["error", "drop", "mean", "indicator", "keep"]
Categories = Literal["one-hot", "ordinal"]
Dates = Literal["epoch", "parts"]
TableFormat = Literal["arff", "csv", "tsv", "keel", "parquet", "libsvm"]


class ReadingOptions(TypedDict, total=False):
    """The options of `load_dataset`, whose defaults `ReadingCard` holds."""

    missing: Missing
    categories: Categories | None
    separator: str | None
    decimal: Literal[".", ","]
    ignore: list[str] | tuple[str, ...]
    keys: list[str] | tuple[str, ...]
    dates: Dates | None
    date_format: str | None
    time: str | None
    header: bool
    present: str | None
    classes: bool
    tags: str | None
    tag_separator: str
    missing_words: list[str] | tuple[str, ...] | None
    n_features: int | None
    format: TableFormat | None
