"""Time, memory and energy are those of the learner's calls, phase by phase."""

import sys
import time

import numpy as np
import pytest

from mlstream.evaluation import energy, resources
from mlstream.evaluation.energy import Energy, Overhead
from mlstream.evaluation.resources import PeakMemory, ResourceMeter, Stopwatch

MEGABYTE = 2**20


class Clock:
    """A wall clock and a CPU clock that move only when they are told to, in place of the module ``time``."""

    def __init__(self):
        self.wall_s = self.cpu_s = 100.0

    def perf_counter(self):
        return self.wall_s

    def process_time(self):
        return self.cpu_s

    def sleep(self, seconds):
        self.wall_s += seconds

    def burn(self, seconds):
        self.wall_s += seconds
        self.cpu_s += seconds


@pytest.fixture
def clock(monkeypatch):
    """Let the meters read a clock of the test: other programs and threads cannot disturb it."""
    clock = Clock()
    monkeypatch.setattr(resources, "time", clock)
    monkeypatch.setattr(energy, "time", clock)
    return clock


def test_a_stopwatch_adds_up_what_runs_under_it_and_nothing_else(clock):
    watch = Stopwatch()
    for _ in range(3):
        with watch:
            clock.sleep(0.02)
        clock.sleep(0.02)
    assert (watch.wall_time_s, watch.cpu_time_s) == (pytest.approx(0.06), 0.0)
    with watch:
        clock.burn(0.05)
    clock.burn(0.05)
    assert (watch.wall_time_s, watch.cpu_time_s) == (pytest.approx(0.11), pytest.approx(0.05))


def test_a_stopwatch_reads_the_clocks_of_the_system():
    watch = Stopwatch()
    with watch:
        time.sleep(0.02)
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
    assert watch.wall_time_s >= 0.02
    assert watch.cpu_time_s >= 0.01


def test_each_phase_has_its_own_time_and_peak():
    meter = ResourceMeter("none")
    with meter.block():
        with meter.phase("learn"):
            time.sleep(0.03)
        with meter.phase("predict"):
            time.sleep(0.01)
    np.ones(2**26, dtype=np.uint8)
    with meter.block(), meter.phase("evaluate"):
        time.sleep(0.01)
    report = meter.report(7)
    assert list(report.phases) == ["predict", "learn", "evaluate"]
    assert report.phases["learn"].wall_time_s >= 0.03
    assert report.phases["learn"].energy_kwh is None
    # What was taken between two blocks is not the learner's.
    assert report.peak_memory_bytes == max(phase.peak_memory_bytes for phase in report.phases.values())
    if "during learner calls" in report.memory_method:
        assert report.peak_memory_bytes - report.memory_before_bytes < 2**25
    assert (report.model_size_bytes, report.energy_method, report.energy_below_resolution) == (7, "none", False)


class FakeMeter:
    """Uses one unit of each energy a second, whoever works."""

    method, is_estimate, resolution_s, overhead = "fake", True, 0.05, Overhead(idle_w=3.0, cpu_share=0.25)

    def __init__(self, clock=time):
        self.clock, self.began, self.n_laps = clock, None, 0

    def start(self):
        assert self.began is None
        self.began = self.clock.perf_counter(), self.clock.process_time()

    def stop(self):
        wall, cpu = self.clock.perf_counter() - self.began[0], self.clock.process_time() - self.began[1]
        self.began = None
        self.n_laps += 1
        return Energy(cpu_kwh=cpu, ram_kwh=wall, gpu_kwh=2 * wall)


@pytest.mark.parametrize("longest_lap_s", [30.0, 0.0])
def test_energy_is_shared_out_by_time_and_what_happens_between_calls_is_nobodys(clock, monkeypatch, longest_lap_s):
    fake = FakeMeter(clock)
    monkeypatch.setattr(resources, "warm_meter", lambda: fake)
    monkeypatch.setattr(resources, "MAX_LAP_S", longest_lap_s)
    with ResourceMeter("codecarbon") as meter:
        for name, seconds in (("online", 0.06), ("evaluate", 0.02), ("online", 0.06)):
            with meter.block(), meter.phase(name):
                clock.burn(seconds)
            clock.burn(0.03)
        report = meter.report(0)
    assert fake.n_laps == (1 if longest_lap_s else 3)
    for phase in report.phases.values():
        assert phase.energy_cpu_kwh == pytest.approx(phase.cpu_time_s)
        assert phase.energy_ram_kwh == pytest.approx(phase.wall_time_s)
        assert phase.energy_gpu_kwh == pytest.approx(2 * phase.wall_time_s)
        assert phase.energy_kwh == pytest.approx(
            phase.energy_cpu_kwh + phase.energy_ram_kwh + phase.energy_gpu_kwh, rel=1e-12
        )
    assert (report.energy_method, report.energy_is_estimate, report.energy_below_resolution) == ("fake", True, False)


def test_without_a_meter_energy_is_cpu_seconds_times_the_stated_power(clock):
    with ResourceMeter("cpu", cpu_power_w=36.0) as meter:
        with meter.block(), meter.phase("learn"):
            clock.burn(0.2)
        with meter.block(), meter.phase("evaluate"):
            clock.sleep(0.05)
        report = meter.report(0)
    for phase in report.phases.values():
        assert phase.energy_kwh == pytest.approx(phase.cpu_time_s * 1e-5, abs=1e-15)
        assert phase.energy_gpu_kwh == 0
    assert report.energy_is_estimate
    assert "36 W" in report.energy_method
    assert (report.energy_idle_w, report.energy_overhead_share) == (None, None)


def test_what_the_meter_reads_when_idle_and_takes_itself_is_told(monkeypatch):
    monkeypatch.setattr(resources, "warm_meter", FakeMeter)
    report = ResourceMeter("codecarbon").report(0)
    assert (report.energy_idle_w, report.energy_overhead_share) == (3.0, 0.25)


def test_a_short_run_is_marked_and_a_failed_one_stops_the_meter(monkeypatch):
    fake = FakeMeter()
    monkeypatch.setattr(resources, "warm_meter", lambda: fake)
    with pytest.raises(ZeroDivisionError), ResourceMeter("codecarbon") as meter, meter.block(), meter.phase("online"):
        1 / 0  # noqa: B018 - a learner that fails
    assert fake.began is None
    with ResourceMeter("codecarbon") as meter:
        with meter.block(), meter.phase("online"):
            pass
        assert meter.report(0).energy_below_resolution


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc of Linux")
def test_what_was_taken_and_given_back_between_two_readings_counts_once():
    peak = PeakMemory()
    if not peak.can_reset:
        pytest.skip("this system does not let a process reset its high-water mark")
    before = peak.read()
    np.ones(64 * MEGABYTE, dtype=np.uint8)
    assert 60 * MEGABYTE < peak.read() - before < 80 * MEGABYTE
    peak.restart()
    assert abs(peak.read() - before) < 8 * MEGABYTE
    assert "during learner calls" in peak.method


def test_where_the_mark_cannot_be_reset_it_is_that_of_the_process_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "_PROCESS", tmp_path / "absent")
    peak = PeakMemory()
    first = peak.read()
    peak.restart()
    assert peak.read() >= first > MEGABYTE
    assert peak.method == "greatest resident memory of the whole process since the process started"
