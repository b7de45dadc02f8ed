"""A card as the metadata that archives take: DataCite with a DOI, Zenodo with a deposit."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from mlstream.cards.licences import licence_page, spdx_identifier
from mlstream.cards.terms import is_drawn, stated_terms
from mlstream.streams.card_model import CreatorCard, StreamCard

KEYWORDS = ("multi-label classification", "data streams", "continual learning")
# Known here, and not on Zenodo's list of licences.
_NOT_LISTED = {"C-UDA-1.0", "CDLA-Permissive-2.0"}


def card_datacite(card: StreamCard) -> str:
    """Write a card as metadata for DataCite, in the JSON of its schema 4.5.

    The schema (https://schema.datacite.org/meta/kernel-4.5/) also demands creators and the year of publication, which
    only the publisher can state. The publisher is ``:tba``, DataCite's word for "to be announced": the archive that
    registers the DOI replaces it.
    """
    terms = stated_terms(card)
    fields: dict[str, object] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Multi-label data stream"},
        "titles": [{"title": terms.title}],
        "creators": [_creator(one) for one in terms.people],
        "publisher": {"name": ":tba"},
        "publicationYear": terms.published[:4],
        "dates": [{"date": terms.published, "dateType": "Issued"}] if terms.published else [],
        "url": terms.homepage,
        "descriptions": [{"description": terms.description, "descriptionType": "Abstract"}],
        "subjects": [{"subject": keyword} for keyword in KEYWORDS],
        "rightsList": _rights(terms.licence),
        "version": card.data_sha256,
        "alternateIdentifiers": [{"alternateIdentifier": card.data_sha256, "alternateIdentifierType": "SHA-256"}],
        "relatedItems": _sources(card),
        "formats": sorted({Path(file.name).suffix[1:].upper() for file in card.files} & {"NPZ", "ARFF", "PARQUET"}),
        "sizes": [f"{sum(file.n_bytes for file in card.files)} bytes"] if card.files else [],
    }
    return json.dumps({name: value for name, value in fields.items() if value}, indent=1, ensure_ascii=False) + "\n"


def _creator(creator: CreatorCard) -> dict[str, object]:
    orcid = {
        "nameIdentifier": f"https://orcid.org/{creator.orcid}",
        "nameIdentifierScheme": "ORCID",
        "schemeUri": "https://orcid.org",
    }
    return {
        "name": creator.name,
        **({"nameIdentifiers": [orcid]} if creator.orcid else {}),
        **({"affiliation": [{"name": creator.affiliation}]} if creator.affiliation else {}),
    }


def _rights(licence: str) -> list[dict[str, str]]:
    identifier = spdx_identifier(licence)
    if identifier is None:
        return [{"rights": licence}] if licence else []
    return [
        {
            "rights": identifier,
            "rightsUri": licence_page(identifier),
            "rightsIdentifier": identifier,
            "rightsIdentifierScheme": "SPDX",
            "schemeUri": "https://spdx.org/licenses/",
        }
    ]


def _sources(card: StreamCard) -> list[dict[str, object]]:
    """Name the table that the stream was made from; drawn rows have none."""
    if is_drawn(card):
        return []
    title = card.source.citation or card.source.name
    return [{"titles": [{"title": title}], "relatedItemType": "Dataset", "relationType": "IsDerivedFrom"}]


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
