"""The choices of how columns of a table become features; apart, for the command line needs no more than their names."""

from typing import Literal

Missing = Literal["error", "drop", "mean", "indicator", "keep"]
Categories = Literal["one-hot", "ordinal"]
