"""Calls of the command line in this process, and small tables to call it on."""

from typer.testing import CliRunner

from mlstream.cli import app
from mlstream.formats import load

HEADER = "@relation 'toy: -C {n_labels}'\n{labels}{features}@data\n"


def invoke(*arguments):
    """Run a command; give its result, whose exception is what went wrong."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def make(*arguments, output):
    """Run a command that writes a stream, and load it."""
    result = invoke(*arguments, "-o", output)
    assert result.exit_code == 0, result.output or result.exception
    return load(output)


def write_table(path, label_names=("k", "l", "m", "n"), label_sets=("1100", "0110", "0011", "1001"), n_copies=12):
    """Write rows of two features, every label set as often."""
    labels = "".join(f"@attribute {name} {{0,1}}\n" for name in label_names)
    features = "".join(f"@attribute {name} numeric\n" for name in ("x", "t"))
    rows = [
        ",".join([*label_set, str(place % 3), str((place * len(label_sets) + number) / 2)])
        for place in range(n_copies)
        for number, label_set in enumerate(label_sets)
    ]
    path.write_text(
        HEADER.format(n_labels=len(label_names), labels=labels, features=features) + "\n".join(rows) + "\n",
        encoding="utf-8",
    )
    return path
