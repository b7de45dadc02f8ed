import pytest

from mlstream.analysis.costs import cpu_time_s, energy_kwh, energy_marks, phase_names, wall_time_s
from mlstream.analysis.groups import group_runs
from mlstream.records.run_result import PhaseResources, Resources
from mlstream.reporting.strategy_tables import cost_table
from tests.mlstream.records.run_records import make_failed, make_run


def run_with(energies, strategy="NN", **changes):
    seconds = {"select": 100.0, "online": 2.0, "evaluate": 0.5}
    phases = {
        name: PhaseResources(wall_time_s=seconds[name], cpu_time_s=2 * seconds[name], energy_kwh=energy)
        for name, energy in energies.items()
    }
    resources = {
        "phases": phases,
        "peak_memory_bytes": 5_000_000,
        "model_size_bytes": 800,
        "energy_method": "meter",
        "energy_is_estimate": False,
        "energy_below_resolution": False,
    }
    return make_run(strategy, 0, resources=Resources(**(resources | changes)))


def test_totals_leave_out_the_search_for_parameters():
    run = run_with({"select": 9.0, "online": 1.0, "evaluate": 0.25})
    assert wall_time_s(run) == 2.5
    assert cpu_time_s(run) == 5.0
    assert energy_kwh(run) == 1.25
    assert (wall_time_s(run, "select"), energy_kwh(run, "select")) == (100.0, 9.0)


def test_energy_is_unknown_if_any_part_is():
    run = run_with({"online": 1.0, "evaluate": None})
    assert energy_kwh(run) is None
    assert energy_kwh(run, "online") == 1.0


def test_a_run_without_resources_costs_nothing_known():
    run = make_failed()
    assert (wall_time_s(run), cpu_time_s(run), energy_kwh(run)) == (None, None, None)


@pytest.mark.parametrize(
    ("estimate", "below", "marks"),
    [(False, False, ""), (True, False, "≈"), (False, True, "†"), (True, True, "≈†")],
)
def test_energy_is_marked(estimate, below, marks):
    run = run_with({"online": 1e-8}, energy_is_estimate=estimate, energy_below_resolution=below)
    (group,) = group_runs([run])["yeast"]
    assert energy_marks(group) == marks
    (row,) = cost_table([group]).rows
    assert f"0.036 {marks}".rstrip() in [cell.text for cell in row]


def test_the_table_has_every_phase_that_some_run_has():
    groups = group_runs([run_with({"online": 1.0}), run_with({"select": None, "online": 3.0}, "BR_HT")])["yeast"]
    assert phase_names(groups) == ["select", "online"]
    table = cost_table(groups)
    titles = [head.title for head in table.columns]
    first, second = (dict(zip(titles, row, strict=True)) for row in table.rows)
    assert first["Wall s, select"].value is None
    assert first["Wall s, select"].text == "n/a"
    assert second["Wall s, select"].text == "100"
    assert (second["Energy J, all"].value, second["Energy J, select"].value) == (3.0 * 3.6e6, None)
    assert (first["Peak memory, process"].text, first["Model size"].text) == ("5 MB", "800 B")


@pytest.mark.parametrize(("before", "growth"), [(4_250_000, "750 kB"), (0, "n/a"), (6_000_000, "0 B")])
def test_memory_of_a_learner_is_what_the_process_grew_by(before, growth):
    """Before 0 is a record that lacks it; a process that shrank before the peak did not grow."""
    (group,) = group_runs([run_with({"online": 1.0}, memory_before_bytes=before)])["yeast"]
    table = cost_table([group])
    cells = dict(zip([head.title for head in table.columns], table.rows[0], strict=True))
    assert cells["Memory growth"].text == growth
