"""Each message of the page of questions is the one that the command prints."""

import re

import pytest

from mlstream import cli
from tests.pages import pages

PAGE = pages()["faq"].read_text(encoding="utf-8")
# A literal block with a command, and the error that it prints.
EXAMPLES = re.findall(r"^ +\$ mlstream (.+)\n +(Error: .+)$", PAGE, re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Enter a folder with a table that lacks a value, and one with words."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a,b,red,blue\n1,2,1,0\n3,,0,1\n4,5,1,0\n6,7,0,1\n")
    (tmp_path / "words.csv").write_text("a,c,red,blue\n1,x,1,0\n3,y,0,1\n4,x,1,0\n6,y,0,1\n")


def test_every_error_of_the_page_has_its_command():
    assert len(EXAMPLES) == PAGE.count("Error: ") - len(re.findall(r"^ +\w+Error: ", PAGE, re.MULTILINE)) > 5


@pytest.mark.parametrize(("command", "message"), EXAMPLES)
def test_the_command_prints_the_message(command, message, folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["mlstream", *command.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    pattern = ".+".join(map(re.escape, message.split(" ... ")))
    assert re.fullmatch(pattern, capsys.readouterr().err.splitlines()[-1])
