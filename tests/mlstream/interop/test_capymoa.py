"""Streams for CapyMOA, against the stream that CapyMOA makes of the same arrays; Java runs in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PEERS = Path(sys.prefix) / "peers"
PROGRAM = """
import json
import numpy as np
from capymoa.classifier import HoeffdingTree
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream
from mlstream.generators import multiplier_stream
from mlstream.interop import to_capymoa
from tests.mlstream.small_streams import Shape, make_stream

def accuracy(stream):
    learner = HoeffdingTree(schema=stream.get_schema(), grace_period=50)
    return prequential_evaluation(stream, learner)["cumulative"].accuracy()

stream = multiplier_stream("rand", n_rows=1500)
X, Y = (np.vstack([getattr(part, name) for part in stream]) for name in "XY")
label = stream.card.label_names[1]
one, sets = to_capymoa(stream, label), to_capymoa(stream)
codes = {row: code for code, row in enumerate(dict.fromkeys(map(tuple, Y.tolist())))}
found = {
    "one": [accuracy(one), accuracy(NumpyStream(X, Y[:, 1]))],
    "sets": [accuracy(sets), accuracy(NumpyStream(X, np.array([codes[row] for row in map(tuple, Y.tolist())])))],
    "again": [accuracy(one), len(one)],
    "rows": len(X),
    "names": [*one.get_schema().get_numeric_attributes(), str(one)] == [*stream.card.feature_names, stream.card.name],
    "values": list(one.get_schema().get_label_values()),
    "combinations": list(sets.get_schema().get_label_values()) == ["".join(map(str, row)) for row in codes],
}
small = make_stream(Shape(sparse=True))
found["sparse"] = [
    [row.x.tolist() for row in to_capymoa(small)] == np.vstack([part.X.toarray() for part in small]).tolist(),
    [row.y_label for row in to_capymoa(small, "l")] == [str(y) for part in small for y in part.Y[:, 1].tolist()],
]
for name, arguments in {
    "unknown": (make_stream(Shape(unknown=0.3)), None),
    "no label": (small, "red"),
    "a feature": (make_stream(Shape(feature_names=("k", "b", "c", "d"))), "k"),
}.items():
    try:
        to_capymoa(*arguments)
    except ValueError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> Any:
    if not (PEERS / "jpype").exists():
        pytest.skip("needs CapyMOA with JPype: `make test-full` installs them")
    path = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path, str(PEERS)])
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=True
    ).stdout
    return json.loads(printed.decode().splitlines()[-1])


@pytest.mark.slow
def test_learners_of_capymoa_score_as_on_its_own_stream(found: Any) -> None:
    assert found["one"][0] == found["one"][1] == found["again"][0]
    assert found["sets"][0] == found["sets"][1]
    assert found["again"][1] == found["rows"]


@pytest.mark.slow
def test_the_schema_has_our_names(found: Any) -> None:
    assert found["names"]
    assert found["values"] == ["0", "1"]
    assert found["combinations"]


@pytest.mark.slow
def test_sparse_rows_and_labels_arrive(found: Any) -> None:
    assert found["sparse"] == [True, True]


@pytest.mark.slow
def test_streams_that_capymoa_cannot_take_are_refused(found: Any) -> None:
    assert "Every label must be known for CapyMOA" in found["unknown"]
    assert found["no label"] == "label must be one of the labels ['k', 'l', 'm']. Got 'red' instead."
    assert found["a feature"] == "The class must have another name than the features. Got 'k' for both instead."


def test_where_capymoa_is_missing_the_error_says_so() -> None:
    program = "import sys; sys.modules['capymoa'] = None; from mlstream.interop import to_capymoa; to_capymoa(None)"
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "to_capymoa needs the module capymoa: pip install capymoa, and Java." in failed.stderr
