"""Mutations of a list of pieces, whatever they are: lines, cells, tags, members of an archive, values of JSON."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

Piece = TypeVar("Piece")

_MOST_COPIES = 40


def mutate_pieces(pieces: list[Piece], rng: Random, odd: Callable[[Random], Piece]) -> None:
    """Change a list in place: drop, repeat, swap or replace a piece, or insert one.

    Parameters
    ----------
    pieces : list
        The pieces.
    rng : Random
        What draws.
    odd : callable
        Draws a piece that few files hold.
    """
    if not pieces:
        pieces.append(odd(rng))
        return
    place = rng.randrange(len(pieces))
    match rng.randrange(6):
        case 0:
            del pieces[place]
        case 1:
            copies = rng.choice((1, 1, 1, 2, rng.randrange(_MOST_COPIES)))
            pieces[place:place] = [pieces[place]] * copies
        case 2:
            other = rng.randrange(len(pieces))
            pieces[place], pieces[other] = pieces[other], pieces[place]
        case 3:
            pieces.insert(place, odd(rng))
        case 4:
            pieces[place] = rng.choice(pieces)
        case _:
            pieces[place] = odd(rng)


def some(rng: Random, change: Callable[[], Any]) -> None:
    """Change once, more rarely several times."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        change()


def draw_from(values: Sequence[Piece]) -> Callable[[Random], Piece]:
    """Return what draws one of some values."""
    return lambda rng: rng.choice(values)
