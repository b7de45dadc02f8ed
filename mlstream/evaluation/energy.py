"""Energy as CodeCarbon measures or estimates it, offline and without output; or CPU seconds times a stated power."""

from __future__ import annotations

import logging
import os
import time
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

from estimators.contract.lazy import needing
from mlstream.evaluation.settings import EnergyMethod

# Any country will do: it only converts energy to emissions, which are not used.
_COUNTRY = "FRA"
# Modes of CodeCarbon in which the energy of the processor is estimated; in all others a meter is read.
_ESTIMATES = ("cpu_load", "constant")
_JOULES_PER_KWH = 3.6e6
_IDLE_S = 1.0


class Energy(NamedTuple):
    """Energy of a stretch of time, by part of the machine."""

    cpu_kwh: float
    ram_kwh: float
    gpu_kwh: float


class Overhead(NamedTuple):
    """Reading and cost of a meter while nothing is done."""

    # Power that it reads while the process sleeps; records hold readings from which nothing is subtracted.
    idle_w: float
    cpu_share: float  # CPU seconds that it uses in a second, of one core.


class Meter(Protocol):
    """A meter of the energy of a stretch of time."""

    @property
    def method(self) -> str:
        """Description for records."""

    @property
    def is_estimate(self) -> bool:
        """Whether no meter is read."""

    @property
    def resolution_s(self) -> float:
        """Shorter stretches than this have no meaningful energy."""

    @property
    def overhead(self) -> Overhead | None:
        """Its reading and cost while nothing is done; None where it costs nothing."""

    def start(self) -> None:
        """Start to count."""

    def stop(self) -> Energy:
        """Return the energy used since `start`."""


class CpuSeconds:
    """CPU seconds of this process times the power of a busy core: an estimate that needs no meter and takes no time."""

    is_estimate = True
    # The clock of CPU seconds may tick every 10 ms.
    resolution_s = 0.1
    overhead = None

    def __init__(self, power_w: float) -> None:
        self._power_w = power_w
        self._began_s = 0.0

    @property
    def method(self) -> str:
        """Description for records."""
        return f"CPU seconds x {self._power_w:g} W (stated, not measured)"

    def start(self) -> None:
        """Start to count."""
        self._began_s = time.process_time()

    def stop(self) -> Energy:
        """Return the energy used since `start`: that of memory and GPU is not known."""
        return Energy((time.process_time() - self._began_s) * self._power_w / _JOULES_PER_KWH, 0.0, 0.0)


class CodeCarbonMeter:
    """One CodeCarbon tracker, which many runs share because it takes seconds to start one.

    It counts what this process and its children use where the processor has no meter (CPU seconds times a power that
    the model of the processor suggests), and what the whole machine uses where it has one. Memory is always estimated.
    It writes no file, sends nothing, and reads the load once a second in a thread of its own (about 0.5 % of a core). A
    RuntimeError is raised if CodeCarbon cannot start.
    """

    def __init__(self) -> None:
        require_meter("codecarbon")
        from codecarbon import OfflineEmissionsTracker

        # The tracker logs before it applies its own log_level.
        logging.getLogger("codecarbon").setLevel(logging.CRITICAL)
        self._tracker: Any = OfflineEmissionsTracker(
            country_iso_code=_COUNTRY,
            tracking_mode="process",
            output_methods=[],
            allow_multiple_runs=True,
            log_level="critical",
        )
        self._busy = False
        # The first task takes seconds: it detects the hardware.
        self.start()
        self.stop()
        self._parts: list[object] = getattr(self._tracker, "_hardware", [])  # not public
        self._method = (
            f"codecarbon {metadata.version('codecarbon')}: {', '.join(map(_describe, self._parts)) or 'parts unknown'}"
        )
        self._overhead = self._measure_overhead()

    @property
    def method(self) -> str:
        """Description for records."""
        return self._method

    @property
    def is_estimate(self) -> bool:
        """Whether the processor has no meter that can be read, as far as CodeCarbon tells."""
        return not self._parts or any(getattr(part, "_mode", None) in _ESTIMATES for part in self._parts)

    @property
    def resolution_s(self) -> float:
        """Shorter stretches than this have no meaningful energy: clocks of load tick every 10 ms, RAPL's every ms."""
        return 1.0 if self.is_estimate else 0.1

    @property
    def overhead(self) -> Overhead:
        """Its reading and cost in a second of sleep, measured once at the start."""
        return self._overhead

    def start(self) -> None:
        """Start to count; a RuntimeError is raised if it already counts for another run of this process."""
        if self._busy:
            raise RuntimeError(
                "Energy must be measured for one run of a process at a time: use energy='none' for others. Got two."
            )
        try:
            self._tracker.start_task()
        except Exception as error:
            raise RuntimeError(
                f"CodeCarbon must be able to start: use energy='cpu' or 'none' to do without it. Got {error!r}."
            ) from error
        self._busy = True

    def stop(self) -> Energy:
        """Return the energy used since `start`."""
        self._busy = False
        used = self._tracker.stop_task()
        return Energy(used.cpu_energy, used.ram_energy, used.gpu_energy)

    def _measure_overhead(self) -> Overhead:
        cpu_s = time.process_time()
        self.start()
        time.sleep(_IDLE_S)
        energy = self.stop()
        return Overhead(sum(energy) * _JOULES_PER_KWH / _IDLE_S, (time.process_time() - cpu_s) / _IDLE_S)


@needing("energy='codecarbon'", ", or choose energy='cpu' or 'none'")
def require_meter(energy: EnergyMethod) -> None:
    """Raise a ModuleNotFoundError if the package that measures energy is not installed."""
    if energy == "codecarbon" and find_spec("codecarbon") is None:
        raise ModuleNotFoundError(name="codecarbon")


def warm_meter() -> CodeCarbonMeter:
    """Return the meter of this process, started at the first call."""
    return _meter_of(os.getpid())


@cache
def _meter_of(process: int) -> CodeCarbonMeter:  # noqa: ARG001 - a forked process must not use its parent's meter
    return CodeCarbonMeter()


def _describe(part: Any) -> str:
    facts = [str(getattr(part, name)) for name in ("_mode", "_model") if getattr(part, name, None)]
    power = [f"{part._tdp:g} W"] if getattr(part, "_tdp", None) else []
    return f"{type(part).__name__} ({', '.join(facts + power) or 'power model'})"
