"""The readable page of a card."""

import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from mlstream.cards.page import card_page
from mlstream.streams.card_model import DriftCard, DropCard, FileCard, PersistenceCard
from mlstream.streams.stream import Stream
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, make_stream, streams


def rows_of(page: str, title: str) -> list[list[str]]:
    """Cells of the table of a section, head and rule left out."""
    section = re.split(r"^## ", page, flags=re.MULTILINE)
    body = next(part for part in section if part.startswith(title))
    lines = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_tasks_are_listed_with_their_sizes() -> None:
    stream = make_stream()
    found = rows_of(card_page(stream.card), "Tasks")
    assert [row[0] for row in found] == [task.name for task in stream.tasks]
    assert [row[3] for row in found] == [str(len(part)) for part in stream.evaluation_sets]


def test_signatures_are_the_shares_of_rows_with_each_label() -> None:
    stream = make_stream(Shape(evaluation_sizes=(20, 20)))
    for label, row in enumerate(rows_of(card_page(stream.card), "Signatures")):
        assert row[0] == stream.card.label_names[label]
        for task, cell in enumerate(row[1:]):
            parts = [part.Y[part.task_ids == task] for part in stream] + [stream.evaluation_sets[task].Y]
            carried = [bool(Y[label]) for part in parts for Y in part]
            expected = f"{100 * sum(carried) / len(carried):.1f}" if stream.tasks[task].signature[label] else ""
            assert cell == expected


def test_the_schedule_numbers_the_rows() -> None:
    found = rows_of(card_page(make_stream(Shape(sizes=(6, 3))).card), "Schedule")
    assert found == [["1", "task 0", "6", "1 to 6"], ["2", "task 1", "3", "7 to 9"]]


def test_an_experience_without_rows_has_none_in_the_schedule() -> None:
    found = rows_of(card_page(make_stream(Shape(sizes=(6, 0, 3))).card), "Schedule")
    assert found[1] == ["2", "", "0", ""]


def test_hierarchy_drops_and_files_are_shown() -> None:
    drops = [DropCard(what="labels", reason="never | occurs", count=2, names=["p", "q"])]
    files = [FileCard(name="x.npz", n_bytes=1234, sha256="0" * 64)]
    card = make_stream().card.model_copy(update={"label_parents": {"l": "k"}, "drops": drops, "files": files})
    page = card_page(card)
    assert [row[:2] for row in rows_of(page, "Signatures")] == [["k", ""], ["l", "k"], ["m", ""]]
    assert rows_of(page, "Left out") == [["labels", "2", r"never \| occurs", "p, q"]]
    assert rows_of(page, "Files") == [["`x.npz`", "1,234", f"`{'0' * 64}`"]]


def test_drifts_are_shown_if_they_are_known() -> None:
    card = make_stream().card
    assert "## Drifts" not in card_page(card)
    drift = DriftCard(what=["P(X)"], pattern="gradual", start=4, stop=8, before=0, after=1, recurring=False)
    page = card_page(card.model_copy(update={"drifts": [drift]}))
    assert rows_of(page, "Drifts") == [["P(X)", "gradual", "task 0", "task 1", "4", "9", "no"]]


def test_categories_are_counted_where_there_are_some() -> None:
    card = make_stream().card
    assert "features that are categories" not in card_page(card)
    page = card_page(card.model_copy(update={"feature_values": {"a": ("tcp", "udp"), "c": ("x",)}}))
    assert "| features that are categories | 2, of 1 to 2 values: " in page
    assert "nominal, with their words" in page


def test_licence_and_citation_are_said_or_said_to_be_missing() -> None:
    card = make_stream().card
    source = card.source.model_copy(update={"licence": "CC BY 4.0", "citation": "Someone: Something. 2001."})
    assert "Licence: CC BY 4.0\n- To be cited: Someone: Something. 2001." in card_page(
        card.model_copy(update={"source": source})
    )
    assert "Licence: not stated\n- To be cited: not stated" in card_page(card)


@pytest.mark.slow
@given(streams())
def test_no_name_breaks_a_table(stream: Stream) -> None:
    page = card_page(stream.card)
    assert len(rows_of(page, "Signatures")) == len(stream.card.label_names)
    assert {len(row) for row in rows_of(page, "Signatures")} == {1 + len(stream.tasks)}


@pytest.mark.parametrize("name", ["<script>", "a|b", "`x`", "*b*", "[t](u)", "# h"])
def test_names_are_no_markup(name: str) -> None:
    row = rows_of(card_page(make_stream(Shape(label_names=(name, "l"))).card), "Signatures")[0][0]
    assert re.sub(r"\\(.)", r"\1", row) == name
    assert not re.search(r"(?<!\\)[<|`*\[#]", row)


def test_a_name_shown_as_code_stays_code() -> None:
    def check(name: str) -> None:
        card = make_stream().card
        files = [FileCard(name="plain`|name.npz", n_bytes=1, sha256="0" * 64)]
        generator = card.generator.model_copy(update={"name": name})
        versions = {"<i>numpy</i>": "`1`", "[x](y)": "# 2"}
        page = card_page(card.model_copy(update={"generator": generator, "files": files, "versions": versions}))
        tokens = MarkdownIt("commonmark").enable("table").parse(page.partition("\n---\n")[2])
        inline = [token for block in tokens for token in block.children or []]
        assert not [token for token in inline if token.type in {"html_inline", "link_open"}]
        code = [token.content for token in inline if token.type == "code_inline"]
        assert " ".join(name.split()) in [text.strip() for text in code] or not name.strip()
        assert "plain`|name.npz" in code
        assert [token.content for token in tokens if token.type == "html_block"] == []
        headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
        assert "Heading" not in headings

    check_all(
        [
            "a` <script>alert(1)</script> `b",
            "``",
            "`",
            "x\n\n# Heading\n",
            "a``b`c",
            " `a` ",
            "<b>",
            "[t](javascript:x)",
            "a|b",
        ],
        check,
    )


def test_a_description_is_a_paragraph() -> None:
    def check(text: str) -> None:
        page = card_page(make_stream().card.model_copy(update={"description": text}))
        tokens = MarkdownIt("commonmark").parse(page.partition("\n---\n")[2])
        assert [token.type for token in tokens[3:5]] == ["paragraph_open", "inline"]
        assert tokens[4].content.replace("\\", "") == " ".join(text.split())
        assert [child.type for child in tokens[4].children or []] == ["text"] * len(tokens[4].children or [])

    check_all(["- a", "+ a", "1. a", "12) a", "---", "=== x", "# a", "> a", "* a", "    a", "~~~", "```"], check)


def test_persistence_is_shown_where_it_was_measured() -> None:
    card = make_stream().card
    measured = PersistenceCard(repeated=0.875, by_chance=0.145)
    source = card.source.model_copy(update={"persistence": measured})
    page = card_page(card.model_copy(update={"source": source, "persistence": None}))
    assert "of the row before, in the source | 87.5% (14.5% in random order) |" in page
    assert "within experiences |" not in page
