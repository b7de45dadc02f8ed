"""Mutations of texts: lines, and the cells of a line. Tables (ARFF, CSV, KEEL, LIBSVM) and TOML are such texts."""

import re
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutators.pieces import draw_from, mutate_pieces, some

_NUMBERS = (
    b"0", b"1", b"-0", b"-1", b"2", b"0.5", b"1e308", b"-1e308", b"1e309", b"5e-324", b"1e-400", b"nan", b"inf",
    b"-inf",
    b"NaN", b"Infinity", b"9" * 30, b"0" * 40 + b"1", b"1." + b"3" * 60, b"1_000", b"0x1p3", b"+1", b".5", b"5.", b"1e",
    b"1e+", b"--1", b"1,5", b"\xd9\xa1", b"\xc2\xbd", b"2147483648", b"-9223372036854775809",
    b"18446744073709551616", b"true", b"False", b"yes", b"NA", b"?", b"", b" ", b"null", b"<null>",
)  # fmt: skip
_ORNAMENTS = (
    b"'", b'"', b"''", b'""', b"'a b'", b'"a""b"', b"\\", b"\\'", b"%", b"#", b"{", b"}", b"{}", b"[", b"]", b"(", b",",
    b",,", b";", b"\t", b"\x00", b"\xff", b"\xc3", "é".encode(), "日本".encode(), b"\xe9", b"\xef\xbb\xbf", b"\x1a",
    b"\x0b", b"\x85", "\u2028".encode(), b"\r", b"\n", b"\r\n", b"=1+1", b"@", b"'=1", b"a" * 300, b":", b"1:", b":1",
)  # fmt: skip
_OF_TABLES = (
    b"@relation r\n", b"@relation 'x: -C 2'\n", b"@relation 'x: -C -1'\n", b"@attribute a numeric\n",
    b"@attribute b {0,1}\n", b"@attribute 'c d' {u, 'v w', x}\n", b"@attribute e real [0, 1]\n",
    b"@attribute f integer [0, 9]\n", b"@attribute g string\n", b"@attribute h date\n", b"@inputs a\n", b"@outputs b\n",
    b"@data\n", b"@end\n", b"% comment\n", b"\n", b" \n", b"{0 1, 1 0}\n", b"{1 1}, {5}\n", b"{}\n", b"0,1\n", b"?,?\n",
    b"1,2,3 1:0.5 7:1\n", b" 3:1\n", b"1 1:1 1:2\n", b"# comment\n", b"1 2:1 # x\n", b"a,b,c\n", b'"a","b"\n', b"a;b\n",
    b"2026-01-01T10:00:00Z,a,\n", b"1767261600,b,scan\n", b"1767261600000,b,scan\n", b'{"ts": 1, "host": "a"}\n',
)  # fmt: skip
_OF_TOML = (
    b"name = 'x'\n", b"opens = 2026-01-01\n", b"opens = 0001-01-01T00:00:00\n", b"opens = 9999-12-31T23:59:59-14:00\n",
    b"opens = 10:00:00\n", b"opens = '2026-01-01T00:00:00'\n", b"timezone = 'Europe/Paris'\n", b"[roles]\n", b"[a.b]\n",
    b"[[creators]]\n", b"[strategies.NN]\n", b"a.b.c = 1\n", b"kind = 'detect'\n", b"seeds = [0]\n", b"k = {}\n",
)  # fmt: skip
_TOML_VALUES = (
    b"[]", b"{}", b"''", b"[[]]", b"[0, 1]", b"['a']", b"{a = 1}", b"1", b"-1", b"0.0", b"1e400", b"nan", b"-inf",
    b"true",
    b"2026-01-01", b"0001-01-01T00:00:00", b"9999-12-31T23:59:59-14:00", b"2026-01-01T00:00:00Z", b"10:00:00",
    b"'2026-01-01T00:00:00'", b"9223372036854775808", b"0x" + b"f" * 40, b"9" * 4400, b'"""a\nb"""', b'"\\u0000"',
    b"'/'", b"'..'", b"'Europe'", b"'NN'", b"'detect'", b"[" * 40 + b"]" * 40, b"[" * 1200 + b"]" * 1200,
    b"{a=" * 500 + b"1" + b"}" * 500, b"'" + b"a" * 5000 + b"'",
)  # fmt: skip
_CELLS = re.compile(rb"([\s,;:{}=\[\]]+)")

_CELL = draw_from(_NUMBERS + _ORNAMENTS)


def mutate_table(content: bytes, rng: Random) -> bytes:
    """Change lines and cells of a table."""
    return _mutate(content, rng, _NUMBERS + _ORNAMENTS, _OF_TABLES)


def mutate_toml(content: bytes, rng: Random) -> bytes:
    """Change lines, keys and values of TOML."""
    return _mutate(content, rng, _TOML_VALUES, _OF_TOML)


def mutate_cells(line: bytes, rng: Random, cells: Sequence[bytes] = _NUMBERS + _ORNAMENTS) -> bytes:
    """Change the cells of a line, or what stands between them."""
    pieces = _CELLS.split(line)
    if rng.random() < 0.6:
        # Cells stand at even places: what separates them stays.
        values = pieces[::2]
        place = rng.randrange(len(values))
        pieces[2 * place] = _mutate_cell(values, place, rng, cells)
    else:
        mutate_pieces(pieces, rng, draw_from(cells))
    return b"".join(pieces)


def _mutate_cell(values: Sequence[bytes], place: int, rng: Random, cells: Sequence[bytes]) -> bytes:
    match rng.randrange(4):
        case 0 | 1:
            return rng.choice(cells)
        case 2:
            return rng.choice(values)
        case _:
            where = rng.randint(0, len(values[place]))
            return values[place][:where] + rng.choice(cells) + values[place][where:]


def _mutate(content: bytes, rng: Random, cells: Sequence[bytes], known: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)

    def change() -> None:
        if rng.random() < 0.35 or not lines:
            mutate_pieces(lines, rng, draw_from(known))
        else:
            place = rng.randrange(len(lines))
            lines[place] = mutate_cells(lines[place], rng, cells)

    some(rng, change)
    if rng.random() < 0.02:
        lines = [line.rstrip(b"\r\n") + rng.choice((b"\r\n", b"\r", b"\n\n", b"")) for line in lines]
    return b"".join(lines)
