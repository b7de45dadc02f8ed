"""A report states what its energy consists of, and which part of it is wall time."""

import pytest

from mlstream.analysis.costs import energy_shares
from mlstream.analysis.groups import group_runs
from mlstream.records.run_result import PhaseResources
from mlstream.reporting.methods_text import describe_shares, methods_text
from mlstream.reporting.strategy_tables import cost_table
from tests.mlstream.records.run_records import make_card, make_run

CODECARBON = "codecarbon 3.3.2: RAM (power model), CPU (cpu_load, AMD EPYC, 8 W)"


def run_with(strategy="NN", method=CODECARBON, **parts):
    """A run of two phases, whose energy the evaluation shares in equal parts."""
    run = make_run(strategy)
    halves = {f"energy_{part}_kwh": kwh / 2 for part, kwh in parts.items()}
    phase = PhaseResources(wall_time_s=1.0, cpu_time_s=1.0, energy_kwh=sum(parts.values()) / 2, **halves)
    phases = {"select": PhaseResources(energy_ram_kwh=9.0), "online": phase, "evaluate": phase}
    changes = {"phases": phases, "energy_method": method}
    return run.model_copy(update={"resources": run.resources.model_copy(update=changes)})


def test_shares_are_those_of_all_runs_without_the_search():
    runs = [run_with(cpu=1e-6, ram=5e-6, gpu=0.0), run_with("1NN", cpu=1e-6, ram=1e-6, gpu=0.0), make_run("BR_HT")]
    assert energy_shares(runs) == pytest.approx({"processor": 0.25, "memory": 0.75})


def test_a_model_of_memory_is_called_one():
    parts = {"cpu": 1e-6, "ram": 8e-6, "gpu": 1e-6}
    text = describe_shares([run_with(**parts)])
    assert text.startswith("Shares of the energy: processor 10%, memory 80%, GPU 10%. That of memory is not measured")
    assert describe_shares([run_with(method="codecarbon 3.3.2: RAM (meter)", **parts)]).endswith("GPU 10%.")


def test_one_part_alone_has_no_share():
    for run in (make_run(), run_with(cpu=1e-6, ram=0.0, gpu=0.0), run_with(cpu=0.0, ram=0.0, gpu=0.0)):
        assert (energy_shares([run]), describe_shares([run])) == ({}, "")


def test_tables_and_methods_hold_the_parts():
    run = run_with(cpu=1e-6, ram=3e-6, gpu=0.0)
    table = cost_table(group_runs([run])["yeast"])
    cells = {head.title: cell.value for head, cell in zip(table.columns, table.rows[0], strict=True)}
    assert cells["Energy J, online"] == cells["Energy J, evaluate"] == pytest.approx(7.2)
    assert cells["Energy J, processor"] == pytest.approx(3.6)
    assert cells["Energy J, memory"] == pytest.approx(10.8)
    assert "Energy J, GPU" not in cells
    (cost,) = [
        one.text for one in methods_text([run], {"yeast": make_card()}, is_compared=False) if one.title == "Cost"
    ]
    assert "Shares of the energy: processor 25%, memory 75%." in cost
