"""The choices of an evaluation are checked before anything is run."""

import math

import numpy as np
import pytest

from mlstream.evaluation.settings import Settings, require_seed
from tests.loops import check_all


def test_a_choice_that_is_none_is_refused_in_one_sentence():
    def check(case):
        choice, message = case
        with pytest.raises(ValueError, match=message):
            Settings(**choice)

    check_all(
        [
            ({"label_space": "tasks"}, "label_space must be one of 'task', 'seen', 'all'. Got 'tasks' instead"),
            ({"one_class": None}, "one_class must be one of 'skip', 'recall', 'river'. Got None"),
            ({"energy": "rapl"}, "energy must be one of 'codecarbon', 'cpu', 'none'. Got 'rapl'"),
            ({"energy": "watt"}, "energy must be one of 'codecarbon'"),
            ({"n_checkpoints": 0}, "n_checkpoints must be a whole number, at least 1. Got 0"),
            ({"chunk_size": 1.5}, "chunk_size must be a whole number, at least 1. Got 1.5"),
            ({"window": True}, "window must be a whole number, at least 1. Got True"),
            ({"cpu_power_w": None}, "cpu_power_w must be a positive number. Got None"),
            ({"metrics": "lrap"}, "metrics must be a list of names. Got 'lrap' instead"),
            ({"metrics": ["f1"]}, "metrics must be among hamming_loss, .*, lrap.* Got 'f1' instead"),
            ({"metrics": ["hamming_los"]}, "Got 'hamming_los' instead; did you mean 'hamming_loss'?"),
            ({"metrics": ["lrap", "lrap"]}, r"metrics must hold each name once. Got \['lrap', 'lrap'\] instead"),
            ({"also_decide": "half"}, "also_decide must be a list of names. Got 'half' instead"),
            (
                {"also_decide": ["one"]},
                "each of also_decide must be one of .* Got 'one' instead",
            ),
            ({"also_decide": ["half"] * 2}, r"also_decide must hold each name once. Got \['half', 'half'\] instead"),
            ({"also_decide": ["own"]}, "also_decide must hold other rules than decision. Got 'own' in both"),
            ({"references": 1}, "references must be True or False. Got 1"),
            ({"time_cap_s": 0}, "time_cap_s must be a positive number, or inf for no cap. Got 0"),
            ({"time_cap_s": math.nan}, "time_cap_s must be a positive number, or inf for no cap. Got nan"),
        ],
        check,
    )


def test_an_unknown_choice_is_refused_by_name():
    with pytest.raises(TypeError, match="windows"):
        Settings(windows=3)


def test_a_record_repeats_every_choice_that_can_change_it():
    kept = Settings(window=7, time_cap_s=math.inf).as_json()
    assert (kept["window"], kept["time_cap_s"]) == (7, None)
    left_out = {"label_space", "chunk_size", "cpu_power_w", "metrics", "warm_up_rows", "decision", "also_decide"} | {
        "label_budget"
    }
    assert set(Settings.__dataclass_fields__) - set(kept) == left_out
    assert Settings(warm_up_rows=0).as_json()["warm_up_rows"] == 0
    assert Settings(metrics=["lrap"]).as_json()["metrics"] == ["lrap"]
    assert Settings(energy="cpu", cpu_power_w=7.0).as_json()["cpu_power_w"] == 7.0


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, None])
def test_a_seed_is_what_scikit_learn_takes(seed):
    with pytest.raises(ValueError, match="seed must be a whole number from 0"):
        require_seed(seed)
    assert type(require_seed(np.int64(3))) is int
