"""How far a block of text has been read."""

from typing import NamedTuple


class Place(NamedTuple):
    """State of the reading of a block: position, number of the line, and the counts so far."""

    position: int
    line: int
    n_rows: int
    n_stored: int
