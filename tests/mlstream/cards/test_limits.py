"""Known limits are said when, and only when, the card tells of them."""

from mlstream.cards.limits import known_limits
from mlstream.streams.card_model import DropCard, PersistenceCard, StreamCard
from tests.mlstream.small_streams import make_stream


def card_with(**changes: object) -> StreamCard:
    """A card without any limit, and with the changes."""
    card = make_stream().card
    task = card.tasks[0].model_copy(
        update={
            "signature": [0],
            "label_frequencies": [0.5, 0, 0],
            "n_learning": 20,
            "n_evaluation": 0,
            "n_label_sets": 2,
        }
    )
    source = card.source.model_copy(update={"origin": "x.arff", "sha256": "0" * 64, "licence": "MIT"})
    return card.model_copy(update={"tasks": [task], "source": source, "drops": []} | changes)


def limits(what: str, **changes: object) -> list[str]:
    return known_limits(card_with(**{what: getattr(card_with(), what).model_copy(update=changes)}))


def test_a_card_without_limits_has_none() -> None:
    assert known_limits(card_with()) == []


def test_where_the_rows_come_from() -> None:
    assert "drawn, not measured" in limits("source", origin="synthetic", sha256=None)[0]
    assert "cannot make the stream again" in limits("source", origin="memory", sha256=None)[0]
    assert "No licence is stated" in limits("source", licence="")[0]


def test_tasks_by_clusters_are_a_construction() -> None:
    assert "clusters of the label sets of all rows" in limits("generator", name="task_stream")[0]


def test_labels_with_few_rows_are_named_and_the_rest_counted() -> None:
    task = card_with().tasks[0]
    few = task.model_copy(update={"label_frequencies": [0.45, 0, 0]})
    assert "k in task 0." in known_limits(card_with(tasks=[few]))[0]
    assert "and 2 more" in known_limits(card_with(tasks=[few] * 7))[0]


def test_tasks_with_one_label_set_and_dropped_rows_are_said() -> None:
    task = card_with().tasks[0].model_copy(update={"n_label_sets": 1})
    assert "a constant prediction solves: task 0" in known_limits(card_with(tasks=[task]))[0]
    drops = [DropCard(what="rows", reason="no label", count=1234)]
    assert known_limits(card_with(drops=drops))[0].startswith("1,234 of the source's")


def test_labels_that_persist_beyond_chance_are_a_limit() -> None:
    (limit,) = known_limits(card_with(persistence=PersistenceCard(repeated=0.875, by_chance=0.145)))
    assert "right in 87.5% of the rows (14.5% in random order)" in limit
    for persistence in (None, PersistenceCard(repeated=0.6, by_chance=0.59)):
        assert known_limits(card_with(persistence=persistence)) == []
