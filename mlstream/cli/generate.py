"""Commands that make streams of tables."""

from mlstream.cli.generator_commands import GeneratorCommand

COMMANDS = (
    GeneratorCommand(
        "generate", "Make a stream of tasks from a multi-label table and save it.", "task_stream", "table"
    ),
    GeneratorCommand(
        "scenario",
        "Make a stream of a scenario of continual learning from a multi-label table and save it.",
        "scenario_stream",
        "table",
    ),
    GeneratorCommand(
        "iirc",
        "Make a stream that introduces superclasses first and refines them later (IIRC), and save it.",
        "iirc_stream",
        "table",
    ),
    GeneratorCommand(
        "label-emerging",
        "Make a stream in which labels emerge one group after another, and save it.",
        "emerging_labels_stream",
        "table",
    ),
    GeneratorCommand(
        "carve",
        "Split a multi-label table into environments with roles and save them as a stream.",
        "carve_environments",
        "table",
    ),
)
