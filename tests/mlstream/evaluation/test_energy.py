"""Energy comes from one CodeCarbon tracker per process, offline, in silence, and without a file."""

import logging
import socket
import time

import pytest

from mlstream.evaluation.energy import warm_meter


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network is not to be used")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


@pytest.mark.slow
def test_energy_grows_with_the_work_and_nothing_is_written_said_or_sent(tmp_path, monkeypatch, capfd, no_network):
    monkeypatch.chdir(tmp_path)
    meter = warm_meter()
    used = []
    for seconds in (0.1, 0.5):
        meter.start()
        burn(seconds)
        used.append(meter.stop())
    assert 0 < used[0].cpu_kwh < used[1].cpu_kwh
    assert min(energy.ram_kwh for energy in used) > 0
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("codecarbon").level == logging.CRITICAL


@pytest.mark.slow
def test_one_meter_serves_a_process_and_says_what_it_is():
    meter = warm_meter()
    assert warm_meter() is meter
    assert meter.method.startswith("codecarbon ")
    assert "CPU (" in meter.method
    assert meter.resolution_s == (1.0 if meter.is_estimate else 0.1)
    assert meter.overhead.idle_w > 0
    assert 0 <= meter.overhead.cpu_share < 1


def test_two_runs_of_a_process_are_not_measured_at_a_time():
    meter = warm_meter()
    meter.start()
    try:
        with pytest.raises(RuntimeError, match="one run of a process at a time"):
            meter.start()
    finally:
        meter.stop()


def test_a_tracker_that_cannot_start_says_what_to_do(monkeypatch):
    meter = warm_meter()
    monkeypatch.setattr(meter._tracker, "start_task", lambda: 1 / 0)
    with pytest.raises(RuntimeError, match=r"CodeCarbon must .*: use energy='cpu' or 'none' .* Got ZeroDivisionError"):
        meter.start()
