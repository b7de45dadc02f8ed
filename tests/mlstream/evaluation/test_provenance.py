"""A record says what was run, in words that are the same in every process."""

import json
import math

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier

from mlstream.evaluation.provenance import describe_machine, describe_run, installed_versions, to_json
from mlstream.evaluation.settings import Settings
from tests.mlstream.evaluation.streams import make_stream


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        ((1, [2, "a"]), [1, [2, "a"]]),
        ({"a": (1,), 2: None}, {"a": [1], "2": None}),
        (math.inf, "inf"),
        (range(2), "range(0, 2)"),
    ],
)
def test_parameters_become_json(value, expected):
    assert to_json(value) == expected
    json.dumps(to_json(value), allow_nan=False)


def test_no_address_of_this_process_is_written_down():
    assert to_json(test_no_address_of_this_process_is_written_down).startswith("<function test_no_address")
    assert " at 0x" not in to_json([object(), {"f": len, "g": lambda: 0}])[0]


def test_parameters_of_nested_estimators_are_there():
    estimator = MultiOutputClassifier(SGDClassifier(alpha=0.25))
    description = describe_run(estimator, make_stream(), 3, Settings())
    assert description["parameters"]["estimator__alpha"] == 0.25
    inner = "SGDClassifier(alpha=0.25, random_state=3)"
    assert description["parameters"]["estimator"] == inner
    assert description["estimator"] == f"MultiOutputClassifier(estimator={inner})"


def test_versions_and_machine_are_those_of_here():
    versions, machine = installed_versions(), describe_machine()
    assert versions["numpy"] == np.__version__
    assert set(versions) >= {"python", "mlstream", "scikit-learn"}
    assert all(machine.values())
    assert set(machine) == {"system", "processor", "cores", "memory"}
