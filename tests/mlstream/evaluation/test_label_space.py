"""The labels that count are those of the task, of the tasks seen so far row by row, or all."""

import numpy as np
import pytest

from mlstream.evaluation.label_space import CountedLabels, resolve_label_space
from mlstream.evaluation.predictions import no_predictions
from mlstream.evaluation.scoring import count_known_only
from mlstream.generators import SCENARIOS, missing_labels
from tests.loops import check_all
from tests.mlstream.evaluation.slow import counted
from tests.mlstream.evaluation.streams import make_stream

STREAM = make_stream()


def by_row(mask, experience):
    return np.broadcast_to(mask, experience.Y.shape)


@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
def test_labels_that_count_online_are_those_of_a_loop_over_rows(label_space):
    seen, expected = set(), []
    for experience in STREAM:
        for task in experience.task_ids.tolist():
            seen.add(task)
            expected.append(counted(STREAM, task, seen, label_space))
    masks = CountedLabels(STREAM, label_space).online()
    found = np.concatenate([by_row(mask, part) for mask, part in zip(masks, STREAM, strict=True)])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
def test_labels_that_count_on_held_out_rows_follow_the_experiences_learnt(label_space):
    labels = CountedLabels(STREAM, label_space)
    for step in range(len(STREAM) + 1):
        seen = {task for part in STREAM.experiences[:step] for task in part.task_ids.tolist()}
        for task in range(STREAM.n_tasks):
            expected = counted(STREAM, task, seen | {task}, label_space)
            np.testing.assert_array_equal(labels.held_out(step, task), expected)


def test_labels_of_a_task_that_comes_in_the_middle_of_an_experience_count_from_its_first_row_on():
    stream = make_stream(visits=((0, 1),), sizes=(30,))
    mask = next(CountedLabels(stream, "seen").online())
    entry = int(np.argmax(stream.experiences[0].task_ids == 1))
    assert mask[:entry].sum(axis=1).tolist() == [3] * entry
    assert mask[entry:].all()


@pytest.mark.parametrize("label_space", ["task", "seen", "all"])
@pytest.mark.parametrize("per", ["label", "row"])
def test_labels_that_are_missing_count_nowhere(label_space, per):
    stream = missing_labels(STREAM, rate=0.4, per=per, seed=1)
    whole = CountedLabels(STREAM, label_space).online()
    torn = CountedLabels(stream, label_space).online()
    for before, found, old, new in zip(whole, torn, STREAM, stream, strict=True):
        lost = np.isnan(new.Y)
        assert lost.any()
        scored = count_known_only(new.Y, no_predictions(*new.Y.shape), found)
        np.testing.assert_array_equal(by_row(scored.mask, new), by_row(before, old) & ~lost)


def test_the_default_label_space_is_that_of_the_scenario():
    def check(scenario):
        card = STREAM.card
        card = card.model_copy(update={"scenario": card.scenario.model_copy(update={"name": scenario})})
        expected = "seen" if scenario in {"class-incremental", "task-free", "label-emerging", "iirc"} else "task"
        assert resolve_label_space(None, card) == expected
        for asked in ("task", "seen", "all"):
            assert resolve_label_space(asked, card) == asked

    check_all([*SCENARIOS, "iirc", "label-emerging", "environments", "by hand"], check)
