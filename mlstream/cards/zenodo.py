"""A card as the metadata that Zenodo takes with a deposit."""

from __future__ import annotations

import json
from html import escape

from mlstream.cards.datacite import KEYWORDS
from mlstream.cards.licences import spdx_identifier
from mlstream.cards.terms import stated_terms
from mlstream.streams.card_model import StreamCard

# Known here, and not on Zenodo's list of licences.
_NOT_LISTED = {"C-UDA-1.0", "CDLA-Permissive-2.0"}


def card_zenodo(card: StreamCard) -> str:
    """Write a card as ``.zenodo.json`` (https://developers.zenodo.org/#representation).

    Zenodo also demands creators, which only the publisher can state. A stream without a licence that Zenodo lists is
    deposited closed: an open deposit without one would get Zenodo's own default.
    """
    terms = stated_terms(card)
    licence = zenodo_licence(terms.licence)
    fields: dict[str, object] = {
        "upload_type": "dataset",
        "title": terms.title,
        "creators": [one.model_dump() for one in terms.people],
        "description": "".join(f"<p>{escape(part)}</p>" for part in terms.description.split("\n\n")),
        "access_right": "open" if licence else "closed",
        "license": licence,
        "publication_date": terms.published,
        "keywords": list(KEYWORDS),
        "notes": f"SHA-256 of the stream's arrays: {card.data_sha256}. SHA256SUMS has the hash of every file.",
        "references": list(dict.fromkeys(text for text in (terms.citation, card.source.citation) if text)),
        "related_identifiers": (
            [{"identifier": terms.homepage, "relation": "isDescribedBy", "scheme": "url"}] if terms.homepage else []
        ),
    }
    return json.dumps({name: value for name, value in fields.items() if value}, indent=1, ensure_ascii=False) + "\n"


def zenodo_licence(licence: str) -> str | None:
    """Return the identifier of a licence at Zenodo, which is SPDX's in lower case; None if it is not on its list."""
    identifier = spdx_identifier(licence)
    return identifier.lower() if identifier and identifier not in _NOT_LISTED else None
