"""A card as the description that OpenML requires with an upload of the ARFF file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

from mlstream.card_model import StreamCard
from mlstream.cards.licences import spdx_identifier
from mlstream.cards.limits import has_unknown_labels
from mlstream.cards.terms import stated_terms

_NOT_CASUAL = re.compile(r"[^a-zA-Z0-9_\-.(),]+")
# Targets are split by commas, so that a name with a comma would be two.
_NAMEABLE = re.compile(r"[a-zA-Z0-9_\-.()]+")
_BASIC_LATIN = re.compile(r"[\x20-\x7e]{1,128}")
_MAX_NAME_LENGTH = 128
_MAX_TARGET_LENGTH = 1024


def card_openml(card: StreamCard) -> str:
    """Write a card as a description for OpenML.

    Parameters
    ----------
    card : StreamCard
        The card.

    Returns
    -------
    str
        XML of the schema ``openml.data.upload``: its elements, in its order, within its alphabets and lengths. What
        does not fit is left out, except the name, in which other characters become ``_``.

    References
    ----------
    .. [1] `OpenML's schema of uploads <https://www.openml.org/api/v1/xsd/openml.data.upload>`_.
    """
    lines = (f"  <oml:{tag}>{escape(_printable(text))}</oml:{tag}>" for tag, text in _elements(card))
    head = '<oml:data_set_description xmlns:oml="http://openml.org/openml">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</oml:data_set_description>", ""])


def _elements(card: StreamCard) -> Iterator[tuple[str, str]]:
    yield "name", _NOT_CASUAL.sub("_", card.name)[:_MAX_NAME_LENGTH] or "_"
    yield "description", _describe(card)
    yield "format", "Sparse_ARFF" if card.rows is not None and card.rows.sparse else "ARFF"
    terms = stated_terms(card)
    yield from (("creator", creator) for creator in terms.creators if _BASIC_LATIN.fullmatch(creator))
    if licence := spdx_identifier(terms.licence):
        yield "licence", licence
    target = ",".join(card.label_names)
    if all(map(_NAMEABLE.fullmatch, card.label_names)) and len(target) <= _MAX_TARGET_LENGTH:
        yield "default_target_attribute", target
    yield "version_label", card.data_sha256
    if terms.citation:
        yield "citation", terms.citation
    yield from (("tag", tag) for tag in ("multi_label", "data_stream", "continual_learning"))


def _describe(card: StreamCard) -> str:
    visits = "; ".join(
        f"{' + '.join(card.tasks[task].name for task in experience.tasks)} ({experience.n_samples})"
        for experience in card.experiences
    )
    terms = stated_terms(card)
    title = f"{terms.title}. " if terms.title != card.name else ""
    by = f" By {', '.join(terms.creators)}." if terms.creators else ""
    homepage = f" {terms.homepage}" if terms.homepage else ""
    licence = terms.licence or "not stated"
    unknown = ", ? where one is unknown" if has_unknown_labels(card) else ""
    return (
        f"{title}{terms.description}{by} The first {len(card.label_names)} attributes are labels{unknown}. Rows are in "
        f"stream order, to be learnt from first to last; experiences (rows): {visits}. Licence: {licence}.{homepage}"
    )


def _printable(text: str) -> str:
    """Leave out what XML cannot hold."""
    return "".join(character if character.isprintable() else " " for character in text)
