"""The reproduction of published values fails by a learner that learns otherwise; a reason excuses no other value."""

import pytest

from benchmarks.reproduction import networks
from benchmarks.reproduction.compare import Reading, Value, report
from estimators import make_strategy
from tests.loops import check_all

READING = Reading(0.5, "the print has a slip", tolerance=0.01)


def test_the_exit_status_is_that_of_values_neither_matched_nor_explained(capsys):
    cases = {
        "near": ([Value("a", 0.7, 0.7004, tolerance=0.0005)], 0),
        "far": ([Value("a", 0.7, 0.7006, tolerance=0.0005)], 1),
        "as read": ([Value("a", 0.7, 0.505, instead=READING)], 0),
        "neither": ([Value("a", 0.7, 0.6, instead=READING)], 1),
        "nan": ([Value("a", 0.7, float("nan"), tolerance=1.0, instead=READING)], 1),
        "texts": ([Value("a", "x", "x"), Value("b", "x", "y")], 1),
        "text as read": ([Value("a", "x", "y", instead=Reading("y", "the print has a slip"))], 0),
        "a multiple of 256": ([Value(str(place), 0.0, 1.0) for place in range(256)], 1),
    }

    def check(name):
        values, status = cases[name]
        assert report("source", values) == status
        assert ("Neither matched nor explained" in capsys.readouterr().out) == bool(status)

    check_all(cases, check)


def test_a_value_is_printed_before_the_next_is_computed(capsys):
    def values():
        yield Value("a", 0.7, 0.7)
        assert "a" in capsys.readouterr().out
        yield Value("b", 0.7, 0.7)

    assert report("source", values()) == 0


@pytest.mark.parametrize(("rate", "status"), [(0.1, 0), (0.05, 1), (0.2, 1)])
def test_a_network_with_another_learning_rate_fails(rate, status, shared_data, monkeypatch):
    monkeypatch.setattr(networks, "require_shared", lambda: shared_data("osc-mlc").parent)
    assert networks.main(["--seeds", "3"], {"NN1": make_strategy("NN", learning_rate=rate)}) == status


def test_every_cell_has_its_own_tolerance_and_every_reading_its_cell():
    assert networks.TOLERANCES.keys() == networks.LEARNERS.keys()
    cells = {
        f"{name} {stream} {score}"
        for name in networks.LEARNERS
        for stream in networks.published.NAMES
        for score in ("BA", "ACC")
    }
    assert networks.INSTEAD.keys() <= cells
