"""A card as CITATION.cff, for those who use a published stream."""

from __future__ import annotations

from mlstream.card_model import StreamCard
from mlstream.cards._yaml import write_yaml
from mlstream.cards.front_matter import licence_name

_SPDX = {"mit": "MIT", "bsd-3-clause": "BSD-3-Clause", "apache-2.0": "Apache-2.0", "cc0-1.0": "CC0-1.0"}
_SPDX |= {"cc-by-4.0": "CC-BY-4.0", "cc-by-sa-4.0": "CC-BY-SA-4.0"}


def card_citation(card: StreamCard) -> str:
    """Write the citation of a stream, in the Citation File Format 1.2.0.

    Parameters
    ----------
    card : StreamCard
        The card.

    Returns
    -------
    str
        YAML: the stream as a data set, identified by the hash of its data, and its source among the references.

    References
    ----------
    .. [1] `Citation File Format <https://citation-file-format.github.io/>`_.
    """
    source, is_drawn = card.source, card.source.origin == "synthetic"
    citation: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use this stream, please cite its source and the software that made it.",
        "type": "dataset",
        "title": card.name,
        "abstract": card.description,
        "authors": [{"name": "The mlstream developers" if is_drawn else f"The authors of {source.name}"}],
        "identifiers": [
            {"type": "other", "value": f"sha256:{card.data_sha256}", "description": "Hash of the stream's arrays"}
        ],
    }
    if licence := _SPDX.get(licence_name(source.licence)):
        citation["license"] = licence
    citation["references"] = [
        *(
            [{"type": "generic", "title": source.citation, "authors": [{"name": "as in the title"}]}]
            * bool(source.citation)
        ),
        {
            "type": "software",
            "title": "mlstream",
            "authors": [{"name": "The mlstream developers"}],
            "version": card.versions.get("mlstream", "unknown"),
        },
    ]
    return write_yaml(citation)
