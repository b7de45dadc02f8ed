"""Front matter of a card's page: the YAML that dataset hubs read, between two lines of dashes."""

from __future__ import annotations

from collections.abc import Iterator

from mlstream.cards._yaml import write_yaml
from mlstream.cards.licences import hub_licence
from mlstream.cards.terms import stated_terms
from mlstream.streams.card_model import StreamCard

# The Parquet files of a published folder, by configuration and split. Rows of sparse streams are lists in those of
# the first; where that is a table of moderate size, the second has a column per label and feature.
PARQUET = {
    "default": {"train": "stream.train.parquet", "test": "stream.test.parquet"},
    "columns": {"train": "columns.train.parquet", "test": "columns.test.parquet"},
}
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "n>1B")
_TAGS = ("multi-label", "continual-learning", "data-stream", "task-incremental", "tabular")


def front_matter(card: StreamCard) -> str:
    """Write the front matter of a card's page: YAML 1.2 between two lines of dashes.

    Every text is quoted, so that nothing in a name is read as YAML.
    """
    n_rows = sum(task.n_learning + task.n_evaluation for task in card.tasks)
    terms = stated_terms(card)
    licence = hub_licence(terms.licence)
    by = "publisher" if card.terms and card.terms.licence else "source"
    fields = {
        "pretty_name": terms.title,
        "license": licence,
        **({"license_name": f"as-stated-by-the-{by}", "license_link": "README.md"} if licence == "other" else {}),
        "task_categories": ("tabular-classification",),
        "size_categories": (_SIZES[min(max(len(str(n_rows)) - 3, 0), len(_SIZES) - 1)],),
        "tags": _TAGS,
        # Hubs show rows of Parquet files only.
        **({"configs": configs} if (configs := list(_configurations(card))) else {"viewer": False}),
    }
    return f"---\n{write_yaml(fields)}---\n"


def _configurations(card: StreamCard) -> Iterator[dict[str, object]]:
    """List the Parquet files as hubs load them, by configuration; they have no splits without rows."""
    sizes = zip(*((task.n_learning, task.n_evaluation) for task in card.tasks), strict=True)
    n_rows = dict(zip(("train", "test"), map(sum, sizes), strict=True))
    found = {file.name for file in card.files}
    for name, files in PARQUET.items():
        splits = [{"split": split, "path": file} for split, file in files.items() if file in found and n_rows[split]]
        if splits:
            yield {"config_name": name, "data_files": splits}
