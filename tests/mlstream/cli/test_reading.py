"""The options that state the terms of a stream, and what is said where terms are missing."""

import json
import re
from pathlib import Path

import pytest
from typer.main import get_command

from mlstream.cards.terms import StreamTerms
from mlstream.cli import app
from mlstream.cli.generator_commands import GENERATE
from mlstream.cli.reading import FLAGS
from mlstream.formats import load
from mlstream.streams.card_model import AboutCard, TermsCard, load_card
from tests.mlstream.cli.commands import invoke, make, write_table

TYPED = (
    *("--title", "Birds: # 1", "--description", "Songs.\n\nOf birds.", "--license", "CC-BY-4.0"),
    *("--citation", "Me. 2026.", "--creator", "Ada", "--creator", "Bob", "--homepage", "https://example.org"),
    *("--published", "2026-11-23"),
)
ABOUT = {
    "data_biases": "Dawn only.",
    "personal_sensitive_information": "None.",
    "data_use_cases": "To compare learners.",
    "data_social_impact": "Small.",
    "has_synthetic_data": False,
}
STATED = TermsCard(
    title="Birds: # 1",
    description="Songs.\n\nOf birds.",
    licence="CC-BY-4.0",
    citation="Me. 2026.",
    creators=["Ada", "Bob"],
    homepage="https://example.org",
    published="2026-11-23",
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "toy.arff")


def test_options_are_the_terms_with_the_help_of_the_card() -> None:
    assert tuple(FLAGS) == tuple(StreamTerms.__annotations__)
    commands = {"publish": get_command(app).commands["publish"]}
    commands |= {command.name: command.build() for command in GENERATE}
    assert len(commands) == 6
    for command in commands.values():
        found = {one.name: one for one in command.params}
        assert "--name" in found["name"].opts
        for term, field in TermsCard.model_fields.items():
            assert FLAGS[term] in found[term].opts
            assert found[term].default is None
            assert found[term].help.startswith(field.description)


@pytest.mark.parametrize("command", [("generate",), ("scenario", "online"), ("label-emerging",), ("carve",)])
def test_commands_that_make_streams_of_tables_state_terms(
    command: tuple[str, ...], table: Path, tmp_path: Path
) -> None:
    stream = make(command[0], table, *command[1:], "--name", "birds", *TYPED, output=tmp_path / "s.npz")
    assert (stream.card.name, stream.card.terms) == ("birds", STATED)


def test_publish_completes_and_replaces_terms(table: Path, tmp_path: Path) -> None:
    make("generate", table, "--tasks", 2, *TYPED, output=tmp_path / "s.npz")
    about = write_about(tmp_path)
    typed = ("--name", "better", "--licence", "MIT", "--about", about)
    result = invoke("publish", tmp_path / "s.npz", tmp_path / "out", *typed)
    assert result.exit_code == 0, result.exception
    card = load_card(tmp_path / "out" / "stream.card.json")
    changes = {"licence": "MIT", "about": AboutCard(**ABOUT)}
    assert (card.name, card.terms) == ("better", STATED.model_copy(update=changes))
    again = tmp_path / "again.npz"
    assert invoke("regenerate", tmp_path / "out", "--table", table, "-o", again).exit_code == 0
    assert again.read_bytes() == (tmp_path / "out" / "stream.npz").read_bytes()


@pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")
def test_verify_advises_what_to_add_and_publishing_onto_itself_adds_it(table: Path, tmp_path: Path) -> None:
    make("generate", table, "--tasks", 2, output=tmp_path / "s.npz")
    out = tmp_path / "out"
    invoke("publish", tmp_path / "s.npz", out, "--description", "d")
    result = invoke("verify", out)
    assert result.exit_code == 0
    assert result.output.splitlines()[1:] == [
        "Advice: The stream should state its licence (--licence), citation (--citation), creators (--creator): "
        "without a licence, nobody may reuse it.",
        f"Advice: The stream should state its {', '.join(ABOUT)} (--about FILE.toml): conferences ask for them.",
        "Advice: DataCite would refuse it: no creator (--creator), no date of publication (--published).",
        "Advice: Zenodo would refuse it: no creator (--creator), to be open without a licence that it lists "
        "(--licence).",
    ]
    added = ("--licence", "CC-BY-4.0", "--citation", "c", "--creator", "Ada", "--published", "2026-11-23")
    assert invoke("publish", out, out, "--force", *added, "--about", write_about(tmp_path)).exit_code == 0
    assert invoke("verify", out).output == f"{out} is complete and unchanged.\n"
    assert load_card(out / "stream.card.json").terms == TermsCard(
        description="d",
        licence="CC-BY-4.0",
        citation="c",
        creators=["Ada"],
        published="2026-11-23",
        about=AboutCard(**ABOUT),
    )


def write_about(folder: Path) -> Path:
    path = folder / "about.toml"
    # Strings, booleans and days are written in JSON as in TOML.
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in ABOUT.items()), encoding="utf-8")
    return path


def test_the_template_is_printed_without_a_stream_and_filled_in_it_is_taken(table: Path, tmp_path: Path) -> None:
    result = invoke("publish", "--about-template")
    assert result.exit_code == 0
    filled = re.sub(r'^(\w+) = ""$', lambda line: f'{line[1]} = "{ABOUT[line[1]]}"', result.output, flags=re.MULTILINE)
    examples = r"^# (?=\[\[creators\]\]|\w+ = )"
    (tmp_path / "about.toml").write_text(re.sub(examples, "", filled, flags=re.MULTILINE), encoding="utf-8")
    stream = make("generate", table, "--tasks", 2, "--about", tmp_path / "about.toml", output=tmp_path / "s.npz")
    about = stream.card.terms.about
    assert about.model_copy(update={"creators": None}) == AboutCard(**ABOUT)
    assert [one.name for one in about.creators] == ["Ada Lovelace"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("data_biases = 3", r"about\.toml: about\.data_biases must be text\. Got 3 \(a whole number\) instead\."),
        ("data_bias = 'x'", r"about\.toml: Keys of about must be among data_biases, .* Got 'data_bias' instead\."),
        ("data_biases = ", r"about\.toml must be TOML\. Got this: "),
        ("[[creators]]\nname = 'A'\norcid = '1'", r"about\.toml: orcid must be an ORCID such as .* Got '1'\."),
    ],
)
def test_a_file_about_the_data_that_is_wrong_is_one_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text(content, encoding="utf-8")
    result = invoke("publish", tmp_path / "absent.npz", tmp_path / "out", "--about", tmp_path / "about.toml")
    assert re.search(message, str(result.exception))
    assert "\n" not in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["about.toml"]


def test_a_near_miss_of_a_licence_is_one_line(table: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"'CC BY' is not an SPDX identifier; did you mean CC-BY-4.0\?"):
        make("generate", table, "--tasks", 2, "--licence", "CC BY", output=tmp_path / "s.npz")
    assert load(tmp_path / "s.npz").card.terms == TermsCard(licence="CC BY")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--homepage", "example.org"), "--homepage must be an address that begins with http:// or https://. Got 'ex"),
        (("--published", "23 Nov"), "--published must be a date, YYYY-MM-DD. Got '23 Nov'"),
        (("--title", "a\nb"), "--title must be one line of text"),
        (("--creator", ""), "--creator must be one line of text"),
        (("--licence", "x" * 301), "--licence must have at most 300 characters"),
        (("--description", "\x1b[31m"), "--description must be text without control characters"),
        (("--name", "a/b"), "--name must be the name of a file, 1 to 100 characters"),
        (("--name", ""), "--name must be the name of a file"),
    ],
)
def test_a_term_of_another_form_names_the_option_before_any_work(
    typed: tuple[str, ...], message: str, table: Path, tmp_path: Path
) -> None:
    for arguments in (
        ("generate", tmp_path / "absent.arff", "-o", tmp_path / "s.npz"),
        ("carve", tmp_path / "absent.arff", "-o", tmp_path / "s.npz"),
        ("publish", tmp_path / "absent.npz", tmp_path / "out"),
    ):
        result = invoke(*arguments, *typed)
        assert str(result.exception).startswith(message)
        assert "\n" not in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["toy.arff"]


def test_inspect_shows_the_terms(table: Path, tmp_path: Path) -> None:
    make("generate", table, "--tasks", 2, *TYPED, output=tmp_path / "s.npz")
    shown = invoke("inspect", tmp_path / "s.npz").output
    assert "toy-tasks: Songs. Of birds. Tasks from" in shown
    assert "Title: Birds: # 1; made by: Ada, Bob; licence: CC-BY-4.0; to be cited: Me. 2026.; homepage: https" in shown
    make("generate", table, "--tasks", 2, output=tmp_path / "t.npz")
    assert "Licence: not stated; to be cited: not stated" in invoke("inspect", tmp_path / "t.npz").output


def test_the_terms_are_on_the_card_beside_other_formats(table: Path, tmp_path: Path) -> None:
    make("generate", table, "--tasks", 2, *TYPED, output=tmp_path / "s.train.csv")
    assert json.loads((tmp_path / "s.card.json").read_text())["terms"]["creators"] == ["Ada", "Bob"]
