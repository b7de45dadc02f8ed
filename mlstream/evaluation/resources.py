"""Costs of a run: time, memory and energy of the learner's calls, and of nothing else."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, get_args

from mlstream.evaluation.cpu_ledger import count_cpu_as, cpu_part
from mlstream.evaluation.energy import CpuSeconds, Energy, Meter, warm_meter
from mlstream.evaluation.settings import EnergyMethod
from mlstream.records.run_result import PhaseResources, Resources

Phase = Literal["online", "predict", "learn", "evaluate"]
_PHASES: tuple[Phase, ...] = get_args(Phase)

# Counters of energy wrap around after some tens of minutes; reading them takes some milliseconds.
MAX_LAP_S = 30.0
_NO_ENERGY = Energy(0.0, 0.0, 0.0)

_PROCESS = Path("/proc/self")
# Linux: writing this number resets the high-water mark of resident memory (man 5 proc, clear_refs).
_RESET_HIGH_WATER = "5"


class Stopwatch:
    """Total time of the blocks that run under it: ``with stopwatch: call()``."""

    def __init__(self) -> None:
        self.wall_time_s = 0.0
        self.cpu_time_s = 0.0

    def __enter__(self) -> Self:
        # The wall clock is the inner one: reading the CPU clock takes ten times longer.
        self._cpu = time.process_time()
        self._wall = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall_time_s += time.perf_counter() - self._wall
        self.cpu_time_s += time.process_time() - self._cpu


class ResourceMeter:
    """A meter of the calls of one learner.

    A call runs under the stopwatch of its phase, within a block: ``with meter.block(), meter.phase("learn"): ...``.
    Memory is read once per block, and energy in laps of many blocks. `cpu_power_w` is the power of a busy core, for the
    method "cpu".
    """

    def __init__(self, energy: EnergyMethod, cpu_power_w: float = 15.0) -> None:
        self._watches: dict[Phase, Stopwatch] = {}
        self._peaks: dict[Phase, int] = {}
        meter: Meter | None = None
        if energy != "none":
            with cpu_part("meters"):
                meter = warm_meter() if energy == "codecarbon" else CpuSeconds(cpu_power_w)
        self._laps = None if meter is None else _Laps(meter, self._watches)
        self._memory = PeakMemory()
        self._memory_before = self._memory.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        count_cpu_as("learners", sum(watch.cpu_time_s for watch in self._watches.values()))
        if self._laps is not None:
            self._laps.close()

    def phase(self, name: Phase) -> Stopwatch:
        """Return the stopwatch of a phase."""
        return self._watches.setdefault(name, Stopwatch())

    @contextmanager
    def block(self) -> Iterator[None]:
        """Watch the memory of some calls; all phases that run in a block share its peak."""
        before = {name: watch.wall_time_s for name, watch in self._watches.items()}
        with cpu_part("meters"):
            if self._laps is not None:
                self._laps.tick()
            self._memory.restart()
        yield
        with cpu_part("meters"):
            peak = self._memory.read()
        for name, watch in self._watches.items():
            if watch.wall_time_s > before.get(name, 0.0):
                self._peaks[name] = max(peak, self._peaks.get(name, 0))

    def report(self, model_size_bytes: int | None) -> Resources:
        """Stop the meter of energy and return all measurements."""
        if self._laps is not None:
            self._laps.close()
        overhead = None if self._laps is None else self._laps.meter.overhead
        return Resources(
            phases={name: self._report_phase(name) for name in _PHASES if name in self._watches},
            peak_memory_bytes=max(self._peaks.values(), default=self._memory_before),
            memory_before_bytes=self._memory_before,
            memory_method=self._memory.method,
            model_size_bytes=model_size_bytes,
            energy_method="none" if self._laps is None else self._laps.meter.method,
            energy_is_estimate=self._laps is not None and self._laps.meter.is_estimate,
            energy_idle_w=None if overhead is None else overhead.idle_w,
            energy_overhead_share=None if overhead is None else overhead.cpu_share,
            energy_below_resolution=self._laps is not None and self._total_s() < self._laps.meter.resolution_s,
        )

    def _report_phase(self, name: Phase) -> PhaseResources:
        watch = self._watches[name]
        energy = {} if self._laps is None else self._laps.energy_of(name)
        return PhaseResources(
            wall_time_s=watch.wall_time_s,
            cpu_time_s=watch.cpu_time_s,
            peak_memory_bytes=self._peaks.get(name),
            **energy,
        )

    def _total_s(self) -> float:
        return sum(watch.wall_time_s for watch in self._watches.values())


class _Laps:
    """Readings of energy, divided among stopwatches.

    A reading takes longer than most calls, so one covers many: the processor's energy is divided by CPU seconds, that
    of memory and GPU by wall seconds. The share of what happens between calls (scoring, for example) is dropped.
    """

    def __init__(self, meter: Meter, watches: Mapping[Phase, Stopwatch]) -> None:
        self.meter = meter
        self._watches = watches
        self._used: dict[Phase, Energy] = {}
        self._began: float | None = None

    def tick(self) -> None:
        """Start a lap, or end one that is too long and start another."""
        if self._began is not None and time.perf_counter() - self._began > MAX_LAP_S:
            self.close()
        if self._began is None:
            self.meter.start()
            self._marks = {name: (watch.wall_time_s, watch.cpu_time_s) for name, watch in self._watches.items()}
            self._began, self._began_cpu = time.perf_counter(), time.process_time()

    def close(self) -> None:
        """End the lap, if there is one."""
        if self._began is None:
            return
        wall, cpu = time.perf_counter() - self._began, time.process_time() - self._began_cpu
        with cpu_part("meters"):
            energy = self.meter.stop()
        self._began = None
        for name, watch in self._watches.items():
            wall_before, cpu_before = self._marks.get(name, (0.0, 0.0))
            wall_share = (watch.wall_time_s - wall_before) / wall
            cpu_share = (watch.cpu_time_s - cpu_before) / cpu
            spent = energy.cpu_kwh * cpu_share, energy.ram_kwh * wall_share, energy.gpu_kwh * wall_share
            self._used[name] = Energy(*map(sum, zip(self._used.get(name, _NO_ENERGY), spent, strict=True)))

    def energy_of(self, name: Phase) -> dict[str, float]:
        """Return the energy of a phase, under the names of the record."""
        used = self._used.get(name, _NO_ENERGY)
        return {"energy_kwh": sum(used)} | {f"energy_{part}": value for part, value in used._asdict().items()}


class PeakMemory:
    """High-water mark of the resident memory of the whole process: Python, its libraries and the data included.

    On Linux the kernel keeps the mark, and it can be reset: nothing between two readings is missed, and a reading takes
    less than 0.1 ms. Elsewhere the mark is that of the whole life of the process, and `method` states so.
    """

    def __init__(self) -> None:
        self.can_reset = self._reset()

    @property
    def method(self) -> str:
        """Description of the figure."""
        since = "during learner calls" if self.can_reset else "since the process started"
        return f"greatest resident memory of the whole process {since}"

    def restart(self) -> None:
        """Reset the mark."""
        if self.can_reset:
            self._reset()

    def read(self) -> int:
        """Return the peak in bytes since `restart`."""
        return _high_water_bytes() if self.can_reset else _lifetime_peak_bytes()

    @staticmethod
    def _reset() -> bool:
        try:
            (_PROCESS / "clear_refs").write_text(_RESET_HIGH_WATER)
            _high_water_bytes()
        except OSError:
            return False
        return True


def _high_water_bytes() -> int:
    with (_PROCESS / "status").open("rb") as status:
        for line in status:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status must hold VmHWM. Got no such line.")


def _lifetime_peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes everywhere but on macOS.
    return peak if sys.platform == "darwin" else peak * 1024
