"""No public learner, detector or memory is missing from the instances that tests go through."""

import estimators
from estimators import drift
from estimators.detectors import DETECTORS
from tests.estimators.instances import BATCHES, IN_STREAMS, MEMORIES, made


def _public(package):
    return {one for name in package.__all__ if isinstance(one := getattr(package, name), type)}


def test_every_public_estimator_detector_and_memory_has_an_instance():
    instances = [made(name) for name in (*IN_STREAMS, *BATCHES, *MEMORIES, *DETECTORS)]
    made_of = {type(part) for one in instances for part in (one, *one.get_params().values())}
    public = {one for one in _public(estimators) | _public(drift) if hasattr(one, "get_params")}
    assert public - made_of == {estimators.StreamClassifier, drift.DriftDetector}
