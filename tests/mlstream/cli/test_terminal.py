"""Names and files show what they hold, and give the terminal no orders."""

import json
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.challenge.client import RemoteChallenge
from mlstream.challenge.errors import TeamRefused
from mlstream.cli import console
from mlstream.cli.app import main
from mlstream.cli.errors import escape_orders, plain_text
from mlstream.cli.safe_console import SafeConsole

# Escape, its one-byte form, bell, carriage return, backspace, delete, and two that turn text around.
HOSTILE = "a\x1b[2J\x9b\x07\r\x08\x7f\u202e\u2066b"
ORDERS = set(HOSTILE) - set("a[2Jb")


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["mlstream", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        shown = "".join(capsys.readouterr())
        assert not ORDERS & set(shown)
        return stopped.value.code, shown

    return run


@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "{}"),
        ("convert", "{}", "-o", "{}.npz"),
        ("{}",),
        ("inspect", "--{}"),
        ("run", "{}.toml"),
        ("run", "there{}.toml"),
        ("report", "{}"),
        ("inspect", "there{}.csv"),
        ("inspect", "there{}.csv", "--labels", "{}"),
        ("verify", "{}"),
        ("challenge", "status", "{}", "--token-file", "{}"),
        ("challenge", "submit", "{}", "--url", "http://{}", "--token-file", "t"),
        ("arena", "verify", "{}"),
    ],
)
def test_errors_about_hostile_names_are_plain(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").write_text("token")
    (tmp_path / f"there{HOSTILE}.toml").write_bytes(f'"{HOSTILE}" = \x1b'.encode())
    (tmp_path / f"there{HOSTILE}.csv").write_bytes(f"x,{HOSTILE[:5]}\n1,{HOSTILE[:5]}\n".encode())
    code, shown = run(*(part.format(HOSTILE) for part in command))
    assert code
    assert shown


@pytest.mark.filterwarnings("default")
def test_lines_tables_and_warnings_are_plain(run, monkeypatch):
    def show(**_options):
        warnings.warn(HOSTILE, UserWarning, stacklevel=1)
        console.print_line(f"{HOSTILE}\nsecond line\tend")
        console.show_lines((HOSTILE,), [(HOSTILE,)])

    monkeypatch.setitem(main.__globals__, "app", show)
    code, shown = run()
    assert code == 0
    assert "second line" in shown
    assert shown.count("a?[2J") == 4


def test_what_a_server_says_is_plain(run, monkeypatch, tmp_path):
    def refuse(*_arguments, **_options):
        raise TeamRefused(HOSTILE)

    monkeypatch.setattr(RemoteChallenge, "submit", refuse)
    (tmp_path / "t").write_text("token")
    code, shown = run(
        "challenge", "submit", tmp_path / "t", "--url", "https://host.example", "--token-file", tmp_path / "t"
    )
    assert (code, shown) == (1, "Error: a?[2J?? ????b\n")


def test_a_terminal_gets_the_colours_that_are_ours_and_no_others(capsys):
    SafeConsole(force_terminal=True, color_system="standard", highlight=False).print("[bold]name[/bold]", HOSTILE)
    shown = capsys.readouterr().out
    assert "\x1b[1mname\x1b[0m" in shown
    assert not ORDERS & set(shown.replace("\x1b[1mname\x1b[0m", ""))


@given(st.text())
def test_json_with_escapes_means_the_same(text):
    shown = escape_orders(json.dumps([text], ensure_ascii=False))
    assert json.loads(shown) == [text]
    assert not ORDERS & set(shown)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_text_without_orders_stays(text):
    assert plain_text(text) == text
