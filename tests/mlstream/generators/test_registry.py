"""Every generator's card makes its stream again."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mlstream.cards.description import hash_data
from mlstream.generators import (
    GENERATORS,
    carve_environments,
    delayed_labels,
    drifting_stream,
    duplicated_rows,
    emerging_labels_stream,
    environment_stream,
    hat_and_shirt_stream,
    iirc_stream,
    missing_features,
    missing_labels,
    multiplier_stream,
    noisy_features,
    noisy_labels,
    rare_labels,
    remake,
    reordered_rows,
    reordered_tasks,
    resplit_rows,
    scenario_stream,
    stand_in_stream,
    task_stream,
)
from mlstream.generators.registry import FROM_NOTHING, FROM_TABLES
from mlstream.streams.card_model import GeneratorCard, StreamCard
from tests.loops import check_all
from tests.mlstream.generators.tables import make_table

RNG = np.random.default_rng(0)
KEYS = {"host": np.arange(90) % 7, "start": np.datetime64("2026-01-01T00:00") + np.arange(90)}
TABLE = replace(make_table(RNG.integers(0, 2, (90, 5)), RNG.random((90, 3))), keys=KEYS)


@cache
def base():
    return task_stream(TABLE, n_tasks=2, seed=2)


MAKERS = {
    "task_stream": lambda: task_stream(TABLE, n_tasks=2, seed=4, order=(1, 0, 0, 1), stratified=True, name="mine"),
    "multiplier_stream": lambda: multiplier_stream(
        [[1, 0.4], [0.2, 3]], seed=2, n_rows=30, noise=0.1, order="interleaved", window=6
    ),
    "emerging_labels_stream": lambda: emerging_labels_stream(TABLE, first_labels=2, labels_per_task=1, seed=3),
    "iirc_stream": lambda: iirc_stream(
        TABLE, seed=3, hierarchy={"y1": "y0", "y2": "y1", "y3": "y0"}, information="complete", first_labels=1
    ),
    "carve_environments": lambda: carve_environments(TABLE, ("train", "unseen"), by="features", seed=1),
    "drifting_stream": lambda: drifting_stream(
        "rbf", n_rows=40, drift_in=("P(X)", "P(Y|X)", "dependence"), pattern="incremental", window=8, order=None, seed=3
    ),
    "environment_stream": lambda: environment_stream(("train", "test"), n_rows=40, encoding="numeric", seed=5),
    "hat_and_shirt_stream": lambda: hat_and_shirt_stream(n_copies=2, seed=1),
    "stand_in_stream": lambda: stand_in_stream(seed=2, n_tasks=3, n_init=1),
    "scenario_stream": lambda: scenario_stream(TABLE, "blurred-boundary", n_tasks=2, seed=1),
    "delayed_labels": lambda: delayed_labels(
        base(), delay={"y1": 3, "y2": 9}, jitter=4, per="row", predict_first=True, seed=1
    ),
    "duplicated_rows": lambda: duplicated_rows(base(), rate=0.5, seed=1),
    "missing_features": lambda: missing_features(base(), rate=0.5, seed=1),
    # A stream made of a stream made of a stream.
    "missing_labels": lambda: missing_labels(noisy_labels(base(), rate=0.2, seed=3), rate=0.5, per="row", seed=1),
    "noisy_features": lambda: noisy_features(base(), scale=0.5, seed=1),
    "noisy_labels": lambda: noisy_labels(base(), rate=0.5, seed=1),
    "rare_labels": lambda: rare_labels(base(), keep={"y1": 0.4}, seed=1),
    "reordered_rows": lambda: reordered_rows(base(), seed=1),
    "reordered_tasks": lambda: reordered_tasks(base(), seed=1),
    "resplit_rows": lambda: resplit_rows(base(), seed=1),
}
# Streams are not changed by those who read them, so that one of each is enough for all tests.
STREAMS = {name: cache(make) for name, make in MAKERS.items()}


def test_generators_from_tables_warn_that_weights_are_not_kept(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", replace(TABLE, sample_weight=np.linspace(0, 2, 90)))

    def check(name):
        with pytest.warns(UserWarning, match=r"table: streams do not keep sample_weight, the weights of rows"):
            MAKERS[name]()

    check_all(FROM_TABLES, check)


def test_every_row_keeps_its_key():
    def check(name):
        stream = STREAMS[name]()
        assert stream.card.keys == ["host", "start"]
        for part in (*stream.experiences, *stream.evaluation_sets):
            np.testing.assert_array_equal(part.keys, TABLE.keys[part.row_ids])

    check_all(GENERATORS.keys() - FROM_NOTHING, check)


def test_every_generator_is_here():
    assert STREAMS.keys() == GENERATORS.keys()


@pytest.mark.slow
def test_a_card_read_from_json_makes_the_same_stream():
    def check(name):
        stream = STREAMS[name]()
        card = StreamCard.model_validate_json(stream.card.model_dump_json())
        assert card.generator.name == name
        again = remake(card.generator, lambda: TABLE)
        assert hash_data(again) == card.data_sha256
        assert again.card == card

    check_all(STREAMS, check)


def test_an_unknown_generator_is_refused():
    with pytest.raises(ValueError, match=r"must be one of .*task_stream.* Got 'magic' instead"):
        remake(GeneratorCard(name="magic", parameters={}, seed=0), lambda: TABLE)
