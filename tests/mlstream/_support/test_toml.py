"""TOML of people: depth is refused before the parser, whose time grows with its square, and nothing else is."""

import re
import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlstream._support.toml import parse_toml
from tests.loops import check_all

TEXTS = st.text(st.sampled_from("a.[]{}'\"\\#= \n\t"), max_size=80)
KEYS = st.lists(st.sampled_from(["a", "b-1", '"a.b"', "'#'", '"\\""', '"]"']), min_size=1, max_size=49).map(" . ".join)
STRINGS = st.one_of(
    TEXTS.map(lambda text: '"""' + text.replace("\\", "\\\\").replace('"', '\\"') + '"""'),
    TEXTS.map(lambda text: "'''" + text.replace("'", "") + "''''"),
    TEXTS.map(lambda text: "'" + text.replace("'", "").replace("\n", "") + "'"),
    st.sampled_from([f'"{"1." * 60}"', '"\\\\"', "''", '""', '""""a""""', "1.5", "2026-07-01", "'1.0.0'"]),
)
VALUES = st.recursive(
    STRINGS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda values: f"[{' #]['.join(['', ''])}\n{', '.join(values)}]"),
        inner.map(lambda value: f"{{a.b = {value}}}"),
    ),
    max_leaves=8,
)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(" = ".join), KEYS.map("[{}]".format), KEYS.map("[[{}]]".format), TEXTS.map("#{}".format)
)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def test_what_is_far_too_deep_never_reaches_the_parser(monkeypatch):
    def check(content):
        with pytest.raises(ValueError, match=r"^x\.toml must be TOML of at most 50 levels\. Got more\.$"):
            parse_toml(content.encode(), "x.toml")

    def parse(_):
        raise AssertionError("parsed")

    monkeypatch.setattr(tomllib, "loads", parse)
    dotted = "a." * 20_000 + "a"
    check_all(
        [
            f"{dotted} = 1",
            f"[{dotted}]",
            f"[[{dotted}]]",
            f"x = '''a.\n''' # '\n{dotted} = 1",
            f"x = {{{dotted} = 1}}",
            '\'a.b\' . "a\\".b" . ' * 30 + "a = 1",
            f"x = {'[' * 51}",
            f"x = {'{a = ' * 51}",
            f"x = [{'[], ' * 99}{'[{a = ' * 26}",
        ],
        check,
    )


@given(st.lists(LINES, max_size=6).map("\n".join))
@example(f"{'a.' * 48}a = 1")
@example(f"x = {'[' * 49}{']' * 49}")
@example('x = "[[[["\n' * 20)
def test_every_other_file_is_read_as_the_parser_reads_it(content):
    try:
        expected = tomllib.loads(content)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            parse_toml(content.encode(), "x.toml")
        return
    if depth(expected) > 50:
        with pytest.raises(ValueError, match="levels"):
            parse_toml(content.encode(), "x.toml")
    else:
        assert parse_toml(content.encode(), "x.toml") == expected


def test_an_error_about_a_long_key_is_short_and_has_its_place():
    table = f"[{'a' * 100_000}]\n"
    with pytest.raises(ValueError, match=r"Cannot declare \('aaa.*\.\.\. \(at line 2, column 100002\)\.$") as caught:
        parse_toml(2 * table.encode(), "x.toml")
    assert len(str(caught.value)) < 500
