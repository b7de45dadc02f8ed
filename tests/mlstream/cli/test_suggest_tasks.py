"""The command that suggests a number of tasks."""

from tests.mlstream.cli.commands import invoke, make, write_table


def test_a_number_of_tasks_is_suggested_and_drawn(tmp_path):
    table = write_table(tmp_path / "toy.arff", label_sets=("1100", "1000", "0011", "0001"))
    picture = tmp_path / "suggestion.png"
    result = invoke("suggest-tasks", table, "--max-tasks", 4, "--starts", 3, "--picture", picture)
    assert result.exit_code == 0
    assert "Suggested: 2 tasks.\nDrew" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_where_every_number_is_merged_one_task_is_suggested_and_other_rules_are_named(tmp_path):
    table = write_table(tmp_path / "toy.arff", label_sets=("1000", "0100", "0010"))
    result = invoke("suggest-tasks", table)
    assert "Suggested: 1 task.\nOf every other number," in result.output
    assert "are merged: `mlstream scenario TABLE task-based` finds tasks by other rules (--by features" in result.output
    made = invoke("generate", table, "--tasks", 1, "--output", tmp_path / "one.npz")
    assert "instead of" not in made.output
    assert make("scenario", table, "task-based", "--by", "features", output=tmp_path / "four.npz").n_tasks == 4
