"""How far a block of text has been read."""

from typing import NamedTuple


class Place(NamedTuple):
    """Where the reading of a block is: position, number of the line, and what was found before."""

    position: int
    line: int
    n_rows: int
    n_stored: int
