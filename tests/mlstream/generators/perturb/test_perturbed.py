"""A perturbed stream keeps what was not perturbed, and its card holds both calls."""

from dataclasses import replace

import numpy as np
import pytest

from mlstream.generators import multiplier_stream
from mlstream.generators.perturb.perturbed import perturbed_stream
from mlstream.streams.card_model import GeneratorCard


def test_the_card_holds_both_calls_and_the_rows_lost():
    stream = multiplier_stream("bilab", n_rows=40, seed=3)
    halves = [
        replace(part, **{name: getattr(part, name)[::2] for name in ("X", "Y", "task_ids", "row_ids")})
        for part in stream
    ]
    found = perturbed_stream(stream, halves, GeneratorCard(name="fewer_rows", parameters={"step": 2}, seed=5))
    generator = found.card.generator
    assert (generator.name, generator.seed, generator.parameters["step"]) == ("fewer_rows", 5, 2)
    assert generator.parameters["base"] == stream.card.generator.model_dump(mode="json")
    assert found.card.name == "synthetic-bilab-fewer-rows"
    assert [(drop.what, drop.reason, drop.count) for drop in found.card.drops] == [("rows", "fewer rows", 56)]
    assert found.evaluation_sets is stream.evaluation_sets
    assert found.tasks is stream.tasks
    np.testing.assert_array_equal(found.experiences[1].X, stream.experiences[1].X[::2])


def test_an_experience_without_rows_is_named():
    stream = multiplier_stream("bilab", n_rows=40)
    first, second, *others = stream.experiences
    empty = replace(second, **{name: getattr(second, name)[:0] for name in ("X", "Y", "task_ids", "row_ids")})
    with pytest.raises(ValueError, match=r"must keep a row. Got 0 rows in experience 1 after nothing"):
        perturbed_stream(stream, [first, empty, *others], GeneratorCard(name="nothing", parameters={}, seed=0))
