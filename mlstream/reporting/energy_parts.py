"""Parts of the energy of runs: processor, memory, GPU; and which of them is no measurement."""

from __future__ import annotations

from collections.abc import Sequence

from mlstream.records.run_record import RunResult, total_cost

JOULES_OF_KWH = 3.6e6
# Part of the machine -> field of `PhaseResources`.
_PARTS = {"processor": "energy_cpu_kwh", "memory": "energy_ram_kwh", "GPU": "energy_gpu_kwh"}
# CodeCarbon's own words, in the method of a record.
_MODEL_OF_MEMORY = "RAM (power model)"


def part_j(run: RunResult, part: str) -> float | None:
    """Return the energy of processor, memory or GPU in joules; None where the record does not hold it."""
    kwh = total_cost(run, _PARTS[part])
    return None if kwh is None else kwh * JOULES_OF_KWH


def energy_shares(runs: Sequence[RunResult]) -> dict[str, float]:
    """Return the share of each part of the machine in the energy of all runs that record it by parts.

    Parts that used nothing are left out; the result is empty if fewer than two parts remain.
    """
    joules = {part: sum(part_j(run, part) or 0.0 for run in runs) for part in _PARTS}
    known = {part: used / sum(joules.values()) for part, used in joules.items() if used}
    return known if len(known) > 1 else {}


def describe_shares(runs: Sequence[RunResult]) -> str:
    """Describe what the energy consists of; the text is empty where records do not hold its parts."""
    shares = energy_shares(runs)
    if not shares:
        return ""
    parts = ", ".join(f"{part} {share:.0%}" for part, share in shares.items())
    methods = [run.resources.energy_method for run in runs if run.resources is not None]
    if "memory" not in shares or not any(_MODEL_OF_MEMORY in method for method in methods):
        return f"Shares of the energy: {parts}."
    return (
        f"Shares of the energy: {parts}. That of memory is not measured but a constant power times wall time, so that "
        "whatever makes a run wait, such as other work on the machine, counts as energy."
    )
