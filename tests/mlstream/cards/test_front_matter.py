"""What dataset hubs read of a card: plain YAML, whatever a name holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.cards.front_matter import front_matter
from mlstream.cards.licences import hub_licence
from mlstream.streams.card_model import StreamCard
from tests.loops import check_all
from tests.mlstream.small_streams import make_stream

yaml = pytest.importorskip("yaml")


def named(name: str, licence: str = "MIT", n_learning: int = 5) -> StreamCard:
    card = make_stream().card
    tasks = [card.tasks[0].model_copy(update={"n_learning": n_learning, "n_evaluation": 0})]
    source = card.source.model_copy(update={"licence": licence})
    return card.model_copy(update={"name": name, "source": source, "tasks": tasks})


def read(card: StreamCard) -> dict[str, object]:
    text = front_matter(card)
    assert text.startswith("---\n")
    assert text.endswith("\n---\n")
    return yaml.safe_load(text[4:-5])


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_name_is_read_as_it_is(name: str) -> None:
    found = read(named(name))
    assert found["pretty_name"] == name
    assert found["task_categories"] == ["tabular-classification"]
    assert found["viewer"] is False


def test_no_name_is_yaml() -> None:
    def check(name: str) -> None:
        found = read(named(name))
        assert found["pretty_name"] == name
        assert found.keys() == {"pretty_name", "license", "task_categories", "size_categories", "tags", "viewer"}

    check_all(
        ["!!python/object/apply:os.system [ls]", "a: b", "---\nx: 1", "*a", "&a", "{a: b}", "yes", "1", "~", "# x"],
        check,
    )


def test_licences_have_the_names_of_hubs() -> None:
    def check(case: tuple[str, str]) -> None:
        stated, name = case
        assert hub_licence(stated) == name
        found = read(named("x", licence=stated))
        assert found["license"] == name
        assert ("license_link" in found) == (name == "other")

    check_all(
        [
            ("MIT (github.com/eliot-leguy/OSC-MLC)", "mit"),
            ("CC BY 4.0", "cc-by-4.0"),
            ("", "unknown"),
            ("Public research data", "other"),
            ("BSD-3-Clause", "bsd-3-clause"),
            ("cc0", "cc0-1.0"),
            ("ODbL-1.0", "odbl"),
            ("GPL-3.0-or-later", "gpl-3.0"),
            ("Mitigated", "other"),
            ("MIT, but ask us", "other"),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("n_rows", "size"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (43_907, "10K<n<100K"), (10**9, "n>1B"), (10**14, "n>1B")],
)
def test_sizes_are_those_that_hubs_know(n_rows: int, size: str) -> None:
    assert read(named("x", n_learning=n_rows))["size_categories"] == [size]
