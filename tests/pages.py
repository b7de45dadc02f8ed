"""The pages of docs/ that people wrote, without those that a build leaves behind."""

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = ("_build/", "_templates/", "auto_examples/", "api/generated/", "sg_execution_times")


def pages() -> dict[str, Path]:
    """Return the path of every page by its name, such as ``learners/trees``."""
    names = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in sorted(DOCS.rglob("*.rst"))}
    return {name: path for name, path in names.items() if not name.startswith(GENERATED)}
