"""Terms: stated once, and in every form of a card; whatever a text holds, it stays a text."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mlstream.cards.citation import card_citation
from mlstream.cards.croissant import card_croissant
from mlstream.cards.front_matter import front_matter
from mlstream.cards.openml import card_openml
from mlstream.cards.page import card_page
from mlstream.cards.terms import advise_on_terms, missing_terms, require_name, stated_terms, with_terms
from mlstream.data.datasets import load_dataset
from mlstream.formats import load, save
from mlstream.generators import missing_labels, multiplier_stream, task_stream
from mlstream.publishing.folder import publish, regenerate, verify
from mlstream.streams.card_model import AboutCard, StreamCard, TermsCard, card_schema, load_card
from mlstream.streams.stream import Stream
from tests.loops import check_all
from tests.mlstream.small_streams import make_stream

yaml = pytest.importorskip("yaml")

ALL: dict[str, Any] = {
    "title": "Birds: their songs # 1",
    "description": "Songs of birds.\n\n- recorded at dawn",
    "licence": "CC-BY-4.0",
    "citation": "@misc{birds,\n  title={Birds}\n}",
    "creators": ["Ada Lovelace", "José Ñ", "Institut d'ornithologie"],
    "homepage": "https://example.org/birds?a=1&b=2",
    "published": "2026-11-23",
}
ABOUT: dict[str, Any] = {
    "data_biases": "Dawn only.",
    "personal_sensitive_information": "None.",
    "data_use_cases": "To compare learners.",
    "data_social_impact": "Small.",
    "has_synthetic_data": False,
}
NASTY = [
    "<script>alert(1)</script>",
    "say \"hi\" or 'ho'",
    "key: value",
    "# no comment",
    "- item",
    "--- \n...\n---",
    "{a: b}",
    "!!python/object/apply:os.system [ls]",
    "&a *a",
    "%x @y `z`",
    "]]> &lt; &amp;",
    "</pre></html>",
    "| a | b |",
    "null",
    "1e5",
    "é 日本 🐦",
    "x " * 5_000,
]
_LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
LINES = st.text(_LETTERS, min_size=1, max_size=40).filter(str.strip) | st.sampled_from(
    [one for one in NASTY if "\n" not in one and len(one) < 300]
)
PARAGRAPHS = st.lists(LINES | st.sampled_from(NASTY), min_size=1, max_size=4).map("\n".join)


def named(**terms: Any) -> StreamCard:
    return with_terms(make_stream(), **terms).card


def read_front_matter(card: StreamCard) -> dict[str, Any]:
    return yaml.safe_load(front_matter(card).removeprefix("---\n").removesuffix("---\n"))


def test_a_card_without_terms_is_written_as_before() -> None:
    card = make_stream().card
    assert card.terms is None
    assert "terms" not in json.loads(card.model_dump_json())
    assert with_terms(make_stream(), licence="", creators=[]).card == card


def test_what_is_stated_is_all_that_is_written() -> None:
    card = named(licence="CC-BY-4.0")
    assert json.loads(card.model_dump_json())["terms"] == {"licence": "CC-BY-4.0"}
    assert StreamCard.model_validate_json(card.model_dump_json()) == card


def test_terms_are_completed_replaced_and_taken_back() -> None:
    stream = with_terms(make_stream(), licence="CC-BY-4.0", creators=["a", "b"])
    stream = with_terms(stream, creators=["c"], title=" T ")
    assert stream.card.terms == TermsCard(licence="CC-BY-4.0", creators=["c"], title="T")
    stream = with_terms(stream, creators=[], title="", licence="")
    assert stream.card == make_stream().card


def test_the_terms_of_the_source_hold_where_the_publisher_states_none() -> None:
    stream = task_stream(load_dataset("yeast"), n_init=1)
    source = stream.card.source
    terms = stated_terms(stream.card)
    assert (terms.title, terms.licence, terms.citation) == ("yeast-tasks", source.licence, source.citation)
    own = with_terms(stream, licence="ODbL-1.0").card
    assert stated_terms(own).licence == "ODbL-1.0"
    assert own.source == source
    page = card_page(own)
    assert (
        "- Licence: [ODbL-1.0](https://spdx.org/licenses/ODbL-1.0.html)\n- Licence of the source: Public rese" in page
    )


def test_every_form_of_the_card_holds_every_term() -> None:
    card = named(name="birds", **ALL)
    description = f"{ALL['description']}\n\n{card.description}"
    found = read_front_matter(card)
    assert (found["pretty_name"], found["license"]) == (ALL["title"], "cc-by-4.0")

    cff = yaml.safe_load(card_citation(card))
    assert (cff["title"], cff["abstract"], cff["license"]) == (ALL["title"], description, "CC-BY-4.0")
    assert ([one["name"] for one in cff["authors"]], cff["url"]) == (ALL["creators"], ALL["homepage"])
    assert cff["references"][0]["title"] == ALL["citation"]

    croissant = json.loads(card_croissant(card))
    assert (croissant["name"], croissant["alternateName"]) == ("birds", ALL["title"])
    assert (croissant["description"], croissant["url"]) == (description, ALL["homepage"])
    assert (croissant["license"], croissant["citeAs"]) == (
        "https://spdx.org/licenses/CC-BY-4.0.html",
        ALL["citation"],
    )
    assert [one["name"] for one in croissant["creator"]] == ALL["creators"]

    openml = [(one.tag.rpartition("}")[2], one.text or "") for one in ET.fromstring(card_openml(card))]  # noqa: S314
    assert ("name", "birds") in openml
    assert ("licence", "CC-BY-4.0") in openml
    # Its texts are ASCII.
    assert [text for tag, text in openml if tag == "creator"] == ["Ada Lovelace", "Jose N", "Institut d'ornithologie"]
    text = dict(openml)["description"]
    assert all(part in text for part in (ALL["title"], "Songs of birds.", "Jose N", ALL["homepage"]))

    page = card_page(card)
    for part in ("# Birds: their songs \\# 1\n", "Songs of birds.\n", "\\- recorded at dawn\n", "| name | birds |"):
        assert part in page
    assert "- Made by: Ada Lovelace, José Ñ, Institut d'ornithologie\n- Homepage: <https://example.org/birds?" in page
    assert "- Published: 2026-11-23\n" in page
    assert (cff["date-released"], croissant["datePublished"]) == (ALL["published"], ALL["published"])
    assert "- To be cited:\n\n  ```\n  @misc{birds,\n    title={Birds}\n  }\n  ```\n" in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_accepts_every_term(tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    folder = publish(make_stream(), tmp_path / "out", name="birds", **ALL)
    metadata = mlcroissant.Dataset(str(folder / "croissant.json")).metadata
    assert metadata.ctx.issues.errors == set()
    assert [one.name for one in metadata.creators] == ALL["creators"]
    assert (metadata.license, metadata.url) == (["https://spdx.org/licenses/CC-BY-4.0.html"], ALL["homepage"])
    assert metadata.cite_as == ALL["citation"]


@given(LINES, PARAGRAPHS, LINES, PARAGRAPHS, st.lists(LINES, min_size=1, max_size=3))
def test_every_text_comes_back_from_yaml_and_json_as_it_was(
    title: str, description: str, licence: str, citation: str, creators: list[str]
) -> None:
    require_same(TermsCard(title=title, description=description, licence=licence, citation=citation, creators=creators))


def test_texts_that_look_like_yaml_or_html_come_back_too() -> None:
    def check(text: str) -> None:
        line = text.replace("\n", " ")[:300]
        require_same(TermsCard(title=line, description=text, licence=line, citation=text, creators=[line]))

    check_all(NASTY, check)


def require_same(own: TermsCard) -> None:
    """Compare terms with what other readers find in the forms of the card."""
    card = make_stream().card.model_copy(update={"terms": own})
    assert StreamCard.model_validate_json(card.model_dump_json()) == card
    assert read_front_matter(card)["pretty_name"] == own.title
    cff, croissant = yaml.safe_load(card_citation(card)), json.loads(card_croissant(card))
    text = f"{own.description}\n\n{card.description}"
    assert (cff["title"], cff["abstract"], cff["references"][0]["title"]) == (own.title, text, own.citation)
    assert [one["name"] for one in cff["authors"]] == list(dict.fromkeys(own.creators or ()))
    assert (croissant.get("alternateName", card.name), croissant["description"]) == (own.title, text)
    assert (croissant["citeAs"], [one["name"] for one in croissant["creator"]]) == (own.citation, own.creators)
    ET.fromstring(card_openml(card))  # noqa: S314 - our own text


@given(LINES, PARAGRAPHS, LINES, PARAGRAPHS, st.lists(LINES, min_size=1, max_size=3))
def test_no_text_adds_html_headings_or_links_to_the_page(
    title: str, description: str, licence: str, citation: str, creators: list[str]
) -> None:
    own = TermsCard(title=title, description=description, licence=licence, citation=citation, creators=creators)
    card = make_stream().card
    plain = kinds(card.model_copy(update={"terms": TermsCard(title="t", licence="l", creators=["c"])}))
    found = kinds(card.model_copy(update={"terms": own}))
    assert found == plain


def kinds(card: StreamCard) -> dict[str, int]:
    """Count what could do harm or mislead, as another renderer of Markdown sees it."""
    page = card_page(card).partition("\n---\n")[2]
    tokens = [
        one
        for token in MarkdownIt("commonmark").enable("table").parse(page)
        for one in [token, *(token.children or [])]
    ]
    counted = ("heading_open", "html_block", "html_inline", "link_open", "image", "hr", "table_open", "list_item_open")
    return {kind: sum(token.type == kind for token in tokens) for kind in counted}


def test_a_term_of_another_form_is_one_line_that_names_it() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        terms, message = case
        with pytest.raises(ValueError, match=message) as caught:
            with_terms(make_stream(), **terms)
        assert "\n" not in str(caught.value)

    check_all(
        [
            ({"title": "a\nb"}, r"title must be one line of text, without control characters\. Got 'a\\nb'\.$"),
            ({"licence": "x" * 301}, r"licence must have at most 300 characters"),
            (
                {"description": "a\x00b"},
                r"description must be text without control characters\. Got the character '\\x00'",
            ),
            ({"description": "x" * 50_001}, r"description must have at most 50000 characters"),
            ({"creators": ["a", ""]}, r"creators must be one line of text"),
            ({"creators": "Ada"}, r"creators must be a list"),
            (
                {"homepage": "example.org"},
                r"homepage must be an address that begins with http:// or https://\. Got 'exam",
            ),
            ({"homepage": "javascript:alert(1)"}, r"homepage must be an address"),
            ({"homepage": "https://a/<b>"}, r"homepage must be an address"),
            ({"homepage": "https://a/b c"}, r"homepage must be an address"),
            ({"title": "\udc80"}, r"title must be"),
            ({"title": 3}, r"title must be text"),
        ],
        check,
    )


def test_an_unknown_term_lists_those_that_there_are() -> None:
    with pytest.raises(TypeError, match=r"among name, title, .*published, about\. Got 'license' instead"):
        with_terms(make_stream(), license="MIT")  # type: ignore[call-arg]


def test_a_name_that_no_file_can_bear_is_refused() -> None:
    def check(name: str) -> None:
        with pytest.raises(ValueError, match=r"^name must be the name of a file, 1 to 100 characters: .* instead\.$"):
            require_name(name)

    check_all(
        ["", " ", ".", "..", ".hidden", "a/b", "a\\b", "a:b", "a*", "a\nb", "a.", "a ", "-rf", "CON", "nul.txt"], check
    )


@pytest.mark.parametrize("name", ["x" * 101, "a\x1b", "a\udc80", "a\u2028b"])
def test_names_that_are_too_long_or_no_text_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^name must be"):
        with_terms(make_stream(), name=name)


@pytest.mark.parametrize("name", ["birds", "birds-2", "b", "own [1]", "é 日本", "v1.2", "x" * 100])
def test_other_names_are_taken(name: str, tmp_path: Path) -> None:
    stream = with_terms(make_stream(), name=name)
    save(stream, tmp_path / f"{name}.npz")
    assert load(tmp_path / f"{name}.npz").card.name == name


def test_a_near_miss_of_a_licence_is_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"^The licence 'CC-BY' is not an SPDX identifier; did you mean CC-BY-4\.0\?$"):
        with_terms(make_stream(), licence="CC-BY")


def test_a_single_word_is_no_licence() -> None:
    with pytest.warns(UserWarning, match=r"^The licence 'nope' is not an SPDX identifier; state one"):
        card = with_terms(make_stream(), licence=" nope ").card
    assert any("'nope' is not an SPDX identifier" in advice for advice in advise_on_terms(card))


@pytest.mark.parametrize(
    "licence", ["All rights reserved", "cc by 4.0", "CC0", "MIT (see LICENSE)", "", "Artistic-2.0", "CC-BY-NC-ND-2.0"]
)
def test_words_and_identifiers_are_licences(licence: str, recwarn: pytest.WarningsRecorder) -> None:
    with_terms(make_stream(), licence=licence)
    assert recwarn.list == []


def test_publishing_warns_of_a_near_miss_that_is_not_replaced(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    stream = make_stream()
    source = stream.card.source.model_copy(update={"licence": "Apache", "citation": "us"})
    stream = stream.with_card(stream.card.model_copy(update={"source": source}))
    with pytest.warns(UserWarning, match=r"'Apache' is not an SPDX identifier; did you mean Apache-2\.0\?"):
        publish(stream, tmp_path / "a", about=ABOUT)
    recwarn.clear()
    publish(stream, tmp_path / "b", licence="MIT", about=ABOUT)
    assert recwarn.list == []


def test_what_is_missing_depends_on_what_the_source_states() -> None:
    own = make_stream()
    assert missing_terms(own.card) == ["licence", "citation", "description", "creators"]
    assert missing_terms(with_terms(own, licence="MIT", description="d").card) == ["citation", "creators"]
    assert missing_terms(with_terms(own, **ALL).card) == []
    assert missing_terms(task_stream(load_dataset("yeast"), n_init=1).card) == []
    drawn = multiplier_stream("rand", n_rows=50)
    assert missing_terms(drawn.card) == ["licence"]
    source = own.card.source.model_copy(update={"licence": "MIT", "citation": "me"})
    assert missing_terms(own.card.model_copy(update={"source": source})) == []


def test_publishing_warns_in_one_line_of_what_nobody_states(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    publish(make_stream(), tmp_path / "a", creators=["Ada"], about=ABOUT)
    (warned,) = recwarn.list
    assert str(warned.message) == (
        "The stream should state its licence (--licence), citation (--citation), description (--description): "
        "without a licence, nobody may reuse it."
    )
    assert warned.filename == __file__
    recwarn.clear()
    publish(make_stream(), tmp_path / "b", **ALL, about=ABOUT)
    publish(task_stream(load_dataset("yeast"), n_init=1), tmp_path / "c", about=ABOUT)
    assert recwarn.list == []


@pytest.mark.slow
def test_a_published_stream_is_completed_in_its_place_and_made_again(tmp_path: Path) -> None:
    stream = with_terms(task_stream(load_dataset("yeast"), n_init=1, name="first"), title="T", about=ABOUT)
    folder = publish(stream, tmp_path / "out")
    publish(load(folder / "stream.npz"), folder, force=True, name="second", homepage="https://example.org")
    card = verify(folder)
    assert (card.name, card.terms) == (
        "second",
        TermsCard(title="T", homepage="https://example.org", about=AboutCard(**ABOUT)),
    )
    assert load(folder / "stream.arff").card.terms == card.terms
    again = regenerate(card)
    assert again.card == load(folder / "stream.npz").card


@pytest.mark.parametrize("suffix", ["npz", "arff", "train.csv", "train.parquet"])
def test_terms_travel_with_every_format(tmp_path: Path, suffix: str) -> None:
    stream = with_terms(make_stream(), name="birds", **ALL)
    save(stream, tmp_path / f"s.{suffix}")
    assert load(tmp_path / f"s.{suffix}").card == stream.card


def test_a_stream_that_was_made_of_another_has_its_terms_but_not_its_title() -> None:
    stream = with_terms(multiplier_stream("rand", n_rows=50), **ALL)
    changed = missing_labels(stream, rate=0.5)
    assert changed.card.terms == TermsCard(**ALL).model_copy(update={"title": None, "published": None})
    assert stated_terms(changed.card).title == "synthetic-rand-missing-labels"
    only_title = with_terms(multiplier_stream("rand", n_rows=50), title="T")
    assert missing_labels(only_title, rate=0.5).card.terms is None


@pytest.mark.slow
def test_a_table_beside_the_card_of_a_stream_has_the_terms_of_the_stream(tmp_path: Path) -> None:
    save(with_terms(make_stream(), **ALL), tmp_path / "s.arff")
    table = load_dataset(tmp_path / "s.arff")
    assert (table.licence, table.citation) == (ALL["licence"], ALL["citation"])


def test_the_schema_accepts_and_refuses_what_the_card_does() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(card_schema()))
    card = json.loads(named(**ALL).model_dump_json())
    assert list(validator.iter_errors(card)) == []
    for changes in ({"licence": 3}, {"license": "MIT"}, {"creators": []}, {"title": "x" * 301}):
        wrong = card | {"terms": card["terms"] | changes}
        assert list(validator.iter_errors(wrong))
        with pytest.raises(ValueError, match=r"terms|licence|license|creators|title"):
            StreamCard.model_validate_json(json.dumps(wrong))


def test_a_card_from_a_stranger_holds_terms_of_their_form_only(tmp_path: Path) -> None:
    card = json.loads(named(**ALL).model_dump_json())
    card["terms"]["homepage"] = "javascript:alert(1)"
    (tmp_path / "x.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=re.escape("homepage must be an address that begins with http")):
        load_card(tmp_path / "x.json")


def test_a_stream_shares_its_arrays_with_the_one_under_another_card() -> None:
    stream = make_stream()
    other: Stream = with_terms(stream, name="other")
    assert other.experiences is stream.experiences
    assert stream.card.name != "other"
