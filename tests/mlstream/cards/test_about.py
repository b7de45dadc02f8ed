"""Statements of the authors: one line where they are wrong, in every form of a card, and kept wherever a card goes."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.cards.about import about_template, read_about
from mlstream.cards.archives import card_datacite, card_zenodo
from mlstream.cards.citation import card_citation
from mlstream.cards.croissant import card_croissant
from mlstream.cards.page import card_page
from mlstream.cards.terms import missing_about, stated_terms, with_terms
from mlstream.formats import load
from mlstream.generators import missing_labels, multiplier_stream, task_stream
from mlstream.publishing.folder import publish, regenerate, verify
from mlstream.streams.card_model import AboutCard, CreatorCard, StreamCard, TermsCard, card_schema
from tests.loops import check_all
from tests.mlstream.small_streams import make_stream

yaml = pytest.importorskip("yaml")

ORCID = "0000-0002-1825-0097"
ABOUT: dict[str, Any] = {
    "data_biases": "Recorded at dawn:\n\n- owls are *rare*",
    "personal_sensitive_information": "Voices of <walkers> were cut out.",
    "data_use_cases": "To compare learners.",
    "data_social_impact": "Fewer fields of wheat.",
    "has_synthetic_data": False,
    "creators": [
        {"name": "Ada Lovelace", "orcid": f"https://orcid.org/{ORCID}", "affiliation": "University | of London"}
    ],
}
TERMS: dict[str, Any] = {
    "licence": "CC-BY-4.0",
    "citation": "Us, 2026",
    "description": "Songs.",
    "published": "2026-11-23",
}
NAMES = [name for name in AboutCard.model_fields if name != "creators"]


def test_every_form_of_the_card_holds_what_is_stated() -> None:
    card = with_terms(make_stream(), about=ABOUT).card
    croissant = json.loads(card_croissant(card))
    assert {key: croissant[key] for key in croissant if key.startswith("rai:") and key != "rai:dataLimitations"} == {
        "rai:dataBiases": ABOUT["data_biases"],
        "rai:personalSensitiveInformation": ABOUT["personal_sensitive_information"],
        "rai:dataUseCases": ABOUT["data_use_cases"],
        "rai:dataSocialImpact": ABOUT["data_social_impact"],
        "rai:hasSyntheticData": False,
    }
    assert croissant["creator"] == [
        {
            "@type": "Person",
            "name": "Ada Lovelace",
            "sameAs": f"https://orcid.org/{ORCID}",
            "affiliation": {"@type": "Organization", "name": "University | of London"},
        }
    ]
    citation = yaml.safe_load(card_citation(card))
    assert citation["authors"] == [{"name": "Ada Lovelace", "orcid": f"https://orcid.org/{ORCID}"}]
    (creator,) = json.loads(card_datacite(card))["creators"]
    assert creator["nameIdentifiers"][0]["nameIdentifier"] == f"https://orcid.org/{ORCID}"
    assert creator["affiliation"] == [{"name": "University | of London"}]
    (creator,) = json.loads(card_zenodo(card))["creators"]
    assert creator == {"name": "Ada Lovelace", "orcid": ORCID, "affiliation": "University | of London"}
    page = card_page(card)
    for text in (
        "### Biases\n\nRecorded at dawn:\n\n\\- owls are \\*rare\\*\n",
        "### Personal and sensitive information\n\nVoices of \\<walkers\\> were cut out.\n",
        "### Uses\n\nTo compare learners.\n",
        "### Social impact\n\nFewer fields of wheat.\n",
        "### Synthetic rows\n\nNo row is synthetic.\n\n## How it was made\n",
        f"- Made by: Ada Lovelace (University \\| of London, [ORCID](https://orcid.org/{ORCID}))\n",
    ):
        assert text in page


def test_without_statements_all_forms_are_as_before() -> None:
    card = make_stream().card
    assert "Responsible use" not in card_page(card)
    assert "about" not in card.model_dump_json()
    found = json.loads(card_croissant(card))
    assert [key for key in found if key.startswith("rai:")] == ["rai:dataLimitations"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_library_of_croissant_reads_every_statement(tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    folder = publish(make_stream(), tmp_path / "out", **TERMS, about=ABOUT)
    metadata = mlcroissant.Dataset(str(folder / "croissant.json")).metadata
    assert (metadata.ctx.issues.errors, metadata.ctx.issues.warnings) == (set(), set())
    assert metadata.data_biases == [ABOUT["data_biases"]]
    assert metadata.personal_sensitive_information == [ABOUT["personal_sensitive_information"]]
    assert metadata.data_use_cases == [ABOUT["data_use_cases"]]
    assert metadata.data_social_impact == ABOUT["data_social_impact"]


@pytest.mark.slow
def test_statements_survive_verify_regenerate_copies_and_a_second_publication(tmp_path: Path) -> None:
    stream = with_terms(task_stream("yeast", n_init=1), about=ABOUT)
    folder = publish(stream, tmp_path / "out")
    stated = stream.card.terms
    assert verify(folder).terms == load(folder / "stream.arff").card.terms == stated
    assert regenerate(verify(folder)).card.terms == stated
    again = publish(load(folder / "stream.npz"), tmp_path / "again")
    assert (again / "croissant.json").read_bytes() == (folder / "croissant.json").read_bytes()
    publish(load(folder / "stream.npz"), folder, force=True, about={"data_biases": "Other."})
    assert verify(folder).terms.about == stated.about.model_copy(update={"data_biases": "Other."})


def test_a_stream_that_was_made_of_another_is_not_published_yet() -> None:
    about = ABOUT | {"has_synthetic_data": True}
    stream = with_terms(multiplier_stream("rand", n_rows=50), published="2026-11-23", about=about)
    terms = missing_labels(stream, rate=0.5).card.terms
    assert terms == stream.card.terms.model_copy(update={"published": None})


def test_statements_are_completed_key_by_key_and_taken_back() -> None:
    stream = with_terms(make_stream(), about={"data_biases": " a\r\nb ", "has_synthetic_data": False})
    stream = with_terms(stream, about={"data_use_cases": "c"})
    assert stream.card.terms.about == AboutCard(data_biases="a\nb", has_synthetic_data=False, data_use_cases="c")
    stream = with_terms(stream, about={"data_biases": "", "data_use_cases": " "})
    assert stream.card.terms == TermsCard(about=AboutCard(has_synthetic_data=False))
    assert with_terms(stream, about={"has_synthetic_data": None}).card == make_stream().card
    assert with_terms(stream, about={}).card == stream.card


def test_creators_are_stated_by_name_or_with_more() -> None:
    alone = with_terms(make_stream(), about={"creators": ABOUT["creators"]})
    ada = CreatorCard(name="Ada Lovelace", orcid=ORCID, affiliation="University | of London")
    assert (stated_terms(alone.card).creators, stated_terms(alone.card).people) == (("Ada Lovelace",), (ada,))
    both = with_terms(alone, creators=["Bob", "Ada Lovelace"])
    assert stated_terms(both.card).people == (CreatorCard(name="Bob"), ada)
    with pytest.raises(
        ValueError, match=r"^about.creators must be among the creators .* creators = \[\]. Got 'Ada Love"
    ):
        with_terms(alone, creators=["Bob"])


def test_a_statement_of_another_form_is_one_line_that_names_the_key() -> None:
    def check(case: tuple[Any, str]) -> None:
        about, message = case
        with pytest.raises(ValueError, match=message) as caught:
            with_terms(make_stream(), about=about)
        assert "\n" not in str(caught.value)

    check_all(
        [
            (3, r"^about must be a table\. Got 3"),
            ({"bias": "x"}, r"^Keys of about must be among data_biases, .*, creators\. Got 'bias' instead\.$"),
            ({"data_biases": ["x"]}, r"^about\.data_biases must be text\. Got \['x'\] \(a list\) instead\.$"),
            ({"data_biases": "\x1b[31m"}, r"^data_biases must be text without control characters"),
            ({"data_biases": "x" * 50_001}, r"^about.data_biases must have at most 50000 characters"),
            ({"has_synthetic_data": 1}, r"^about\.has_synthetic_data must be true or false\. Got 1"),
            ({"creators": ["Ada"]}, r"^about\.creators\.0 must be a table\. Got 'Ada'"),
            ({"creators": [{"orcid": ORCID}]}, r"^about\.creators\.0\.name must be given"),
            (
                {"creators": [{"name": "A", "orcid": "0000-0002-1825-0098"}]},
                r"^orcid must be an ORCID such as 0000-.* Got '0",
            ),
            ({"creators": [{"name": "A", "orcid": f"http://evil/{ORCID}"}]}, r"^orcid must be an ORCID"),
        ],
        check,
    )


def test_rows_that_were_drawn_are_synthetic_whatever_is_stated() -> None:
    drawn = multiplier_stream("rand", n_rows=50)
    assert "has_synthetic_data" not in missing_about(drawn.card)
    with pytest.raises(ValueError, match=r"^has_synthetic_data must be true, for the rows were drawn\. Got false\.$"):
        with_terms(drawn, about={"has_synthetic_data": False})


@pytest.mark.slow
def test_publishing_warns_in_one_line_of_what_is_empty(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    stream = task_stream("yeast", n_init=1)
    publish(stream, tmp_path / "a", about={"data_biases": "b", "has_synthetic_data": False})
    (warned,) = recwarn.list
    assert str(warned.message) == (
        "The stream should state its personal_sensitive_information, data_use_cases, data_social_impact "
        "(--about FILE.toml): conferences ask for them."
    )
    recwarn.clear()
    publish(stream, tmp_path / "b", about=ABOUT)
    assert recwarn.list == []
    assert missing_about(stream.card) == NAMES


# Those of the documentation of ORCID.
@pytest.mark.parametrize("orcid", [ORCID, "0000-0001-5109-3700", "0000-0002-1694-233X"])
def test_orcids_are_told_from_those_with_a_slip(orcid: str) -> None:
    assert CreatorCard(name="A", orcid=orcid).orcid == orcid
    for place, digit in enumerate(orcid[:-1]):
        if digit.isdigit():
            slip = f"{orcid[:place]}{(int(digit) + 1) % 10}{orcid[place + 1 :]}"
            with pytest.raises(ValueError, match="must be an ORCID"):
                CreatorCard(name="A", orcid=slip)


def test_the_template_explains_every_key_and_states_nothing(tmp_path: Path) -> None:
    template = about_template()
    assert max(map(len, template.splitlines())) <= 100
    for field in AboutCard.model_fields.values():
        assert field.description in re.sub(r"\n# ", " ", template)
    path = tmp_path / "about.toml"
    path.write_text(template, encoding="utf-8")
    assert with_terms(make_stream(), about=read_about(path)).card == make_stream().card
    uncommented = re.sub(r"^# (?=\[|\w+ = )", "", template, flags=re.MULTILINE)
    assert list(tomllib.loads(uncommented)) == list(AboutCard.model_fields)
    path.write_text(uncommented, encoding="utf-8")
    assert stated_terms(with_terms(make_stream(), about=read_about(path)).card).people[0].orcid == ORCID


@pytest.mark.parametrize(
    "content", [b"\xff", b"a = ", b"data_biases = 3", b"x = " + b"[" * 10_000, b"x = " + b"9" * 5000]
)
def test_a_file_that_is_wrong_is_one_line_that_names_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "about.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
        read_about(path)
    assert "\n" not in str(caught.value)


LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])


@given(st.text(LETTERS | st.sampled_from("\n\t"), max_size=200).filter(str.strip))
def test_every_text_comes_back_from_json_as_it_was(text: str) -> None:
    card = with_terms(make_stream(), about={"data_biases": text}).card
    assert StreamCard.model_validate_json(card.model_dump_json()) == card
    assert json.loads(card_croissant(card))["rai:dataBiases"] == text.strip()


def test_the_schema_accepts_and_refuses_what_the_card_does() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(card_schema()))
    card = json.loads(with_terms(make_stream(), about=ABOUT).card.model_dump_json())
    assert list(validator.iter_errors(card)) == []
    for changes in (
        {"data_biases": 3},
        {"bias": "x"},
        {"has_synthetic_data": 1},
        {"creators": []},
    ):
        wrong = card | {"terms": {"about": card["terms"]["about"] | changes}}
        assert list(validator.iter_errors(wrong))
        with pytest.raises(ValueError, match=next(iter(changes))):
            StreamCard.model_validate_json(json.dumps(wrong))
