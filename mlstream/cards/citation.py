"""A card as CITATION.cff, for those who use a published stream."""

from __future__ import annotations

from collections.abc import Sequence

from mlstream.cards._yaml import write_yaml
from mlstream.cards.licences import spdx_identifier
from mlstream.cards.terms import is_drawn, stated_terms
from mlstream.streams.card_model import CreatorCard, StreamCard

# The format's list of identifiers is older than these.
_NOT_LISTED = {"CDLA-Permissive-2.0"}


def card_citation(card: StreamCard) -> str:
    """Write the citation of a stream, in the Citation File Format 1.2.0.

    The stream is a data set, identified by the hash of its data; its source is among the references. See
    https://citation-file-format.github.io/.
    """
    terms = stated_terms(card)
    citation: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use this stream, please cite its source and the software that made it.",
        "type": "dataset",
        "title": terms.title,
        "abstract": terms.description,
        "authors": _authors(card, terms.people),
        "identifiers": [
            {"type": "other", "value": f"sha256:{card.data_sha256}", "description": "Hash of the stream's arrays"}
        ],
    }
    if terms.homepage:
        citation["url"] = terms.homepage
    if terms.published:
        citation["date-released"] = terms.published
    licence = spdx_identifier(terms.licence)
    if licence and licence not in _NOT_LISTED:
        citation["license"] = licence
    citation["references"] = [
        # What is to be cited for the stream, then for its source.
        *(
            {"type": "generic", "title": text, "authors": [{"name": "as in the title"}]}
            for text in dict.fromkeys((terms.citation, card.source.citation))
            if text
        ),
        {
            "type": "software",
            "title": "mlstream",
            "authors": [{"name": "The mlstream developers"}],
            "version": card.versions.get("mlstream", "unknown"),
        },
    ]
    return write_yaml(citation)


def _authors(card: StreamCard, people: Sequence[CreatorCard]) -> list[dict[str, str]]:
    if people:
        # The format wants each author once, and takes affiliations only of those whose names are split.
        return list({one.name: _author(one) for one in people}.values())
    return [{"name": "The mlstream developers" if is_drawn(card) else f"The authors of {card.source.name}"}]


def _author(creator: CreatorCard) -> dict[str, str]:
    orcid = {"orcid": f"https://orcid.org/{creator.orcid}"} if creator.orcid else {}
    return {"name": creator.name, **orcid}
