"""Time and energy of a run, measured alike in two environments: NumPy and CodeCarbon are all that this needs."""

import importlib.util
import time
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.reproduction.compare import ROOT

_JOULES_PER_KWH = 3.6e6


class Cost(NamedTuple):
    """The time and energy that one run took.

    Parameters
    ----------
    wall_s, cpu_s : float
        Seconds, by the clock and of all threads of the process.
    energy_j : float
        Joules of processor, memory and GPU.
    n_runs : int
        Runs over which these are means.
    """

    wall_s: float
    cpu_s: float
    energy_j: float
    n_runs: int


def start_meter():
    """Start mlstream's meter of energy from its file: where published code runs, mlstream is not installed."""
    path = ROOT / "mlstream" / "protocol" / "energy.py"
    spec = importlib.util.spec_from_file_location("energy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CodeCarbonMeter()


def measure(run: Callable[[], None], meter, least_s: float) -> Cost:
    """Repeat a run until it has lasted long enough for the meter."""
    meter.start()
    wall, cpu, n_runs = time.perf_counter(), time.process_time(), 0
    while n_runs == 0 or time.perf_counter() - wall < least_s:
        run()
        n_runs += 1
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    energy_j = sum(meter.stop()) * _JOULES_PER_KWH
    return Cost(wall / n_runs, cpu / n_runs, energy_j / n_runs, n_runs)
