"""What is compiled, or loaded, is so before the clock of a run starts."""

import json
import subprocess
import sys

import pytest

from estimators.strategies import STRATEGIES, make_strategy
from mlstream import evaluate
from mlstream.evaluation import energy
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.warm_up import warm_up
from tests.mlstream.evaluation import warm_up_paths
from tests.mlstream.evaluation.streams import make_stream


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_run_meets_no_compiled_function_that_its_warm_up_has_not(layout):
    command = [sys.executable, warm_up_paths.__file__, layout]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {one["learner"]: one for one in map(json.loads, printed.splitlines())}
    assert found.keys() == {*STRATEGIES, *warm_up_paths.OTHERS}
    assert {name: one["late"] for name, one in found.items() if one["late"]} == {}
    # All but the baselines of counts, and learners in plain NumPy, are compiled.
    assert sum(one["loaded"] > 0 for one in found.values()) > len(found) / 2


def test_the_meter_of_energy_is_started_before_a_run_that_needs_it():
    learner, stream = make_strategy("mean"), make_stream()
    energy._meter_of.cache_clear()
    warm_up(learner, stream, Settings(energy="none"))
    assert energy._meter_of.cache_info().misses == 0
    warm_up(learner, stream, Settings(energy="codecarbon"))
    assert energy._meter_of.cache_info().misses == 1
    evaluate(learner, stream, energy="codecarbon")
    assert energy._meter_of.cache_info().misses == 1
