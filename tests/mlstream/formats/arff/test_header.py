"""The header of an ARFF file: titles, names and their quotes."""

from pathlib import Path

import pytest

from mlstream._support.content import FormatError
from mlstream.formats.arff.header import parse_header, unquote
from tests.loops import check_all

PATH = Path("x.arff")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("@relation plain", "plain"),
        ("@RELATION 'in quotes: -C 3'", "in quotes: -C 3"),
        ('@relation "in quotes: -C -3" % and a comment', "in quotes: -C -3"),
        ("@relation no quotes: -C 3", "no quotes: -C 3"),
        ("@relation 'it\\'s'", "it's"),
    ],
)
def test_the_title_is_the_relation(line: str, title: str) -> None:
    header = parse_header([line, "@attribute a real", "@data"], PATH)
    assert (header.relation, header.n_lines) == (title, 3)


def test_quotes_and_escapes_are_taken_off() -> None:
    def check(case: tuple[str, str]) -> None:
        token, text = case
        assert unquote(token) == text

    check_all(
        [
            ("plain", "plain"),
            ("'a b'", "a b"),
            ('"it\'s"', "it's"),
            (r"'it\'s 5\% \\ \"'", "it's 5% \\ \""),
            (r"'a\nb\tc\rd'", "a\nb\tc\rd"),
            (r"'\u001E\101'", "\x1eA"),
            (r"'\9\ud800\x'", "9ud800x"),
            (r"back\slash", r"back\slash"),
            ("'", "'"),
            ("''", ""),
        ],
        check,
    )


def test_a_hostile_line_is_refused_in_linear_time() -> None:
    values = "{" + "a" * 300_000 + " ," * 300_000
    with pytest.raises(FormatError, match="must list its values"):
        parse_header([f"@attribute x {values}", "@data"], PATH)
