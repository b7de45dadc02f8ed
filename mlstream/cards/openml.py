"""A card as the description that OpenML requires with an upload of the ARFF file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from xml.sax.saxutils import escape

from mlstream.cards.licences import spdx_identifier
from mlstream.cards.limits import has_unknown_labels
from mlstream.cards.terms import stated_terms
from mlstream.streams.card_model import StreamCard

_NOT_CASUAL = re.compile(r"[^a-zA-Z0-9_\-.(),]+")
# Targets are split by commas, so that a name with a comma would be two.
_NAMEABLE = re.compile(r"[a-zA-Z0-9_\-.()]+")
_MAX_NAME_LENGTH = 128
_MAX_TARGET_LENGTH = 1024
_MAX_DESCRIPTION_LENGTH = 16384
_MAX_CITATION_LENGTH = 1024
# Those of running text that have no other form in Unicode.
_PLAIN = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201c\u201d", "-----''\"\"")
_UNKNOWN = "?"


def card_openml(card: StreamCard) -> str:
    """Write a card as a description for OpenML: XML of the schema ``openml.data.upload``.

    Elements follow the schema's order, alphabets and lengths (https://www.openml.org/api/v1/xsd/openml.data.upload). In
    the name, other characters become ``_``. Texts may hold ASCII only: letters lose their accents, and what has no such
    form becomes ``?``. Texts that are too long end in ``...``. Targets and creators that do not fit are left out.
    """
    lines = (f"  <oml:{tag}>{escape(text)}</oml:{tag}>" for tag, text in _elements(card))
    head = '<oml:data_set_description xmlns:oml="http://openml.org/openml">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</oml:data_set_description>", ""])


def has_targets(card: StreamCard) -> bool:
    """Return whether the labels can be OpenML's targets: their names within its alphabet and length."""
    return all(map(_NAMEABLE.fullmatch, card.label_names)) and len(",".join(card.label_names)) <= _MAX_TARGET_LENGTH


def _elements(card: StreamCard) -> Iterator[tuple[str, str]]:
    yield "name", _NOT_CASUAL.sub("_", card.name)[:_MAX_NAME_LENGTH] or "_"
    yield "description", _basic_latin(_describe(card), _MAX_DESCRIPTION_LENGTH)
    yield "format", "Sparse_ARFF" if card.rows is not None and card.rows.sparse else "ARFF"
    terms = stated_terms(card)
    creators = (_basic_latin(creator, _MAX_NAME_LENGTH) for creator in terms.creators)
    yield from (("creator", creator) for creator in creators if _UNKNOWN not in creator)
    if licence := spdx_identifier(terms.licence):
        yield "licence", licence
    if has_targets(card):
        yield "default_target_attribute", ",".join(card.label_names)
    yield "version_label", card.data_sha256
    if terms.citation:
        yield "citation", _basic_latin(terms.citation, _MAX_CITATION_LENGTH)
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


def _basic_latin(text: str, max_length: int) -> str:
    """Write a text in printable ASCII, in one line, and end it with dots where it is too long."""
    letters = unicodedata.normalize("NFKD", text.translate(_PLAIN))
    bare = (character for character in letters if not unicodedata.combining(character))
    line = "".join(_UNKNOWN if character > "~" else character if character >= " " else " " for character in bare)
    return line if len(line) <= max_length else f"{line[: max_length - 3]}..."
