"""Front matter of a card's page: the YAML that dataset hubs read, between two lines of dashes."""

from __future__ import annotations

from mlstream.card_model import StreamCard
from mlstream.cards._yaml import write_yaml

# Start of a licence as stated -> its name at hubs.
_LICENCES = {
    "mit": "mit",
    "bsd-3-clause": "bsd-3-clause",
    "apache-2.0": "apache-2.0",
    "cc0": "cc0-1.0",
    "cc by 4.0": "cc-by-4.0",
    "cc-by-4.0": "cc-by-4.0",
    "cc by-sa 4.0": "cc-by-sa-4.0",
    "cc-by-sa-4.0": "cc-by-sa-4.0",
}
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "n>1B")
_TAGS = ("multi-label", "continual-learning", "data-stream", "task-incremental", "tabular")


def front_matter(card: StreamCard) -> str:
    """Write the front matter of a card's page.

    Parameters
    ----------
    card : StreamCard
        The card.

    Returns
    -------
    str
        YAML 1.2 between two lines of dashes: name, licence, kind of task, size, tags. Every text is quoted, so that
        nothing in a name is read as YAML.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> print(front_matter(multiplier_stream("rand").card).splitlines()[1])
    pretty_name: "synthetic-rand"
    """
    return f"---\n{write_yaml(_fields(card))}---\n"


def licence_name(licence: str) -> str:
    """Return the name of a licence at hubs: "unknown" if no licence is stated, "other" if it has no name there."""
    stated = licence.strip().lower()
    known = (name for start, name in _LICENCES.items() if stated.startswith(start))
    return next(known, "other" if stated else "unknown")


def _fields(card: StreamCard) -> dict[str, object]:
    n_rows = sum(task.n_learning + task.n_evaluation for task in card.tasks)
    licence = licence_name(card.source.licence)
    return {
        "pretty_name": card.name,
        "license": licence,
        **({"license_name": "as-stated-by-the-source", "license_link": "README.md"} if licence == "other" else {}),
        "task_categories": ("tabular-classification",),
        "size_categories": (_SIZES[min(max(len(str(n_rows)) - 3, 0), len(_SIZES) - 1)],),
        "tags": _TAGS,
        # Hubs that show rows can read neither NPZ nor ARFF.
        "viewer": False,
    }
