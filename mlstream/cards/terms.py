"""The terms of a stream: stated by its publisher or by its source, and what is still missing."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict, Unpack

from pydantic import ValidationError

from mlstream._support.validation_errors import describe_error
from mlstream.cards.licences import is_spdx_expression, nearest_identifier, spdx_identifier
from mlstream.streams.card_model import AboutCard, CreatorCard, StreamCard, TermsCard
from mlstream.streams.stream import Stream

_MAX_NAME = 100
# What Windows refuses in the names of files, which is more than others do.
_BARRED = r"/\\:*?\"<>|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_NAME = re.compile(rf"[^\s.~{_BARRED}-]([^{_BARRED}]*[^\s.{_BARRED}])?")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


class StreamTerms(TypedDict, total=False):
    """Keyword arguments of `with_terms`."""

    name: str
    title: str
    description: str
    licence: str
    citation: str
    creators: Sequence[str]
    homepage: str
    published: str
    about: Mapping[str, object]


class StatedTerms(NamedTuple):
    """The terms that hold for a stream (see `with_terms`); empty where nobody states them."""

    title: str  # the name where no title is stated
    description: str  # followed by the sentence about how the stream was made
    licence: str
    citation: str
    creators: tuple[str, ...]
    homepage: str
    published: str
    about: AboutCard  # what only the creators know; rows that our generators drew are synthetic in any case
    people: tuple[CreatorCard, ...]  # the creators, with the ORCID and the affiliation that are stated


def with_terms(stream: Stream, **terms: Unpack[StreamTerms]) -> Stream:
    """State the terms of a stream: what its card, its page and the forms of its card state about it.

    Parameters
    ----------
    stream : Stream
        The stream.
    **terms
        Those to state; the others stay as they are. ``name``: short name, which files can bear, 100 characters at most.
        ``title``: one line; by default the name. ``description``: what the data are, where they are from, and what they
        are for. ``licence``: an SPDX identifier such as CC-BY-4.0, or other words. ``citation``: what those who use the
        stream are to cite. ``creators``: sequence of names, of people or organisations. ``homepage``: an address with
        ``http://`` or ``https://``. ``published``: date of publication, YYYY-MM-DD. ``about``: a dictionary of what
        only those who made the data know, with the keys ``data_biases``, ``personal_sensitive_information``,
        ``data_use_cases``, ``data_social_impact``, ``has_synthetic_data`` (bool) and ``creators`` (dictionaries with
        ``name``, ``orcid`` and ``affiliation``); keys that are left out stay as they are. An empty text takes back what
        was stated: the licence and the citation of the source hold again.

    Returns
    -------
    Stream
        The same data under the new card.

    Raises
    ------
    ValueError
        If a term is too long, or is not of its form; or if rows that were drawn are stated not to be synthetic.

    Warns
    -----
    UserWarning
        If the licence is nearly an SPDX identifier, or is a single word that is no identifier.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> stream = with_terms(multiplier_stream("rand"), licence="CC-BY-4.0", creators=["Ada Lovelace"])
    >>> stream.card.terms.licence, stream.card.terms.creators
    ('CC-BY-4.0', ['Ada Lovelace'])
    """
    unknown = terms.keys() - StreamTerms.__annotations__.keys()
    if unknown:
        raise TypeError(f"Terms must be among {', '.join(StreamTerms.__annotations__)}. Got {min(unknown)!r} instead.")
    given: dict[str, object] = {**terms}
    card = stream.card
    if "name" in given:
        card = card.model_copy(update={"name": require_name(str(given.pop("name")))})
    if given:
        card = card.model_copy(update={"terms": change_terms(card.terms, given)})
    if is_drawn(card) and stated_terms(card).about.has_synthetic_data is False:
        raise ValueError("has_synthetic_data must be true, for the rows were drawn. Got false.")
    if doubt := describe_doubt(terms.get("licence", "")):
        warnings.warn(doubt, stacklevel=2)
    return stream.with_card(card)


def require_name(name: str) -> str:
    """Return the name of a stream, or raise ValueError if not every system allows it as a name of a file.

    A name has at most 100 characters.
    """
    if not _NAME.fullmatch(name) or _DEVICE.fullmatch(name) or len(name) > _MAX_NAME:
        raise ValueError(
            f'name must be the name of a file, 1 to {_MAX_NAME} characters: no / \\ : * ? " < > | or control '
            f"character, no . - ~ or blank at its start, no . or blank at its end. Got {_shorten(name)!r} instead."
        )
    return name


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_NAME else f"{text[:_MAX_NAME]}..."


def stated_terms(card: StreamCard) -> StatedTerms:
    """Return the terms that hold for a stream: those of its publisher, else those of its source."""
    own = card.terms or TermsCard()
    about = own.about or AboutCard()
    described = {one.name: one for one in about.creators or ()}
    named = [described.get(name) or CreatorCard(name=name) for name in own.creators or ()]
    people = tuple(named or about.creators or ())
    return StatedTerms(
        title=own.title or card.name,
        description="\n\n".join(text for text in (own.description, card.description) if text),
        licence=own.licence or card.source.licence,
        citation=own.citation or card.source.citation,
        creators=tuple(one.name for one in people),
        homepage=own.homepage or "",
        published=own.published or "",
        about=about,
        people=people,
    )


def is_drawn(card: StreamCard) -> bool:
    """Return whether our generators drew the rows, so that no table has them."""
    return card.source.origin == "synthetic"


def missing_terms(card: StreamCard) -> list[str]:
    """List the terms that others need, and nobody states: licence, citation, description and creators.

    A source that states its licence and citation, as registered data sets do, is described enough; rows that were drawn
    need a licence only.
    """
    if card.source.licence and card.source.citation:
        return []
    own = card.terms or TermsCard()
    stated = {
        "licence": own.licence or card.source.licence,
        "citation": own.citation or card.source.citation,
        "description": own.description,
        "creators": stated_terms(card).creators,
    }
    wanted = ("licence",) if is_drawn(card) else tuple(stated)
    return [term for term in wanted if not stated[term]]


def describe_missing(card: StreamCard) -> str:
    """Describe in one line which terms nobody states, and the options that state them; empty if none is missing."""
    missing = missing_terms(card)
    if not missing:
        return ""
    options = ", ".join(f"{term} (--{term.removesuffix('s')})" for term in missing)
    why = ": without a licence, nobody may reuse it" if "licence" in missing else ""
    return f"The stream should state its {options}{why}."


def missing_about(card: StreamCard) -> list[str]:
    """List the keys of `about`, creators excluded, that conferences ask for, only the authors know, and are not stated.

    Rows that were drawn are synthetic in any case.
    """
    about = stated_terms(card).about
    wanted = [name for name in AboutCard.model_fields if name != "creators"]
    return [
        name
        for name in wanted
        if getattr(about, name) is None and not (name == "has_synthetic_data" and is_drawn(card))
    ]


def describe_missing_about(card: StreamCard) -> str:
    """Describe in one line what conferences ask for, and nobody states; empty if nothing is missing."""
    missing = ", ".join(missing_about(card))
    if not missing:
        return ""
    return f"The stream should state its {missing} (--about FILE.toml): conferences ask for them."


def advise_on_terms(card: StreamCard) -> list[str]:
    """List what the publisher of a stream should mend before a hub or a conference takes it, a sentence each."""
    meant = describe_doubt(stated_terms(card).licence)
    return [advice for advice in (describe_missing(card), describe_missing_about(card), meant) if advice]


def describe_doubt(licence: str) -> str:
    """Describe in one line why a licence may be a slip; empty if it is an SPDX identifier, or words of its own.

    A single word is no description of terms: hubs would list it as a licence of its own, which nobody can look up.
    """
    if meant := nearest_identifier(licence):
        return f"The licence {licence!r} is not an SPDX identifier; did you mean {meant}?"
    if len(licence.split()) != 1 or spdx_identifier(licence) or is_spdx_expression(licence):
        return ""
    return (
        f"The licence {_shorten(licence.strip())!r} is not an SPDX identifier; state one, such as CC-BY-4.0, or the "
        "terms in a sentence."
    )


def change_terms(terms: TermsCard | None, given: Mapping[str, object]) -> TermsCard | None:
    """Return terms with some of them changed, or taken back where they are empty; None where nothing is stated."""
    about = given.get("about")
    unknown = about.keys() - AboutCard.model_fields.keys() if isinstance(about, Mapping) else ()
    if unknown:
        raise ValueError(
            f"Keys of about must be among {', '.join(AboutCard.model_fields)}. Got {min(unknown)!r} instead."
        )
    stated = {} if terms is None else terms.model_dump()
    try:
        found = TermsCard.model_validate(_merge(stated, given))
    except ValidationError as error:
        raise ValueError(describe_error(error)) from None
    return found if found.model_dump() else None


def _merge(stated: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """Replace what is given, in a table key by key, and leave out what is empty."""
    changed = {**stated, **{name: _tidy(value, stated.get(name)) for name, value in given.items()}}
    return {name: value for name, value in changed.items() if value is not None and value not in ("", [], {})}


def _tidy(value: object, stated: object = None) -> object:
    """Take off what surrounds a text; line breaks are those of Unix. Tables complete the one that is stated."""
    if isinstance(value, str):
        return value.strip().replace("\r\n", "\n")
    if isinstance(value, Mapping):
        return _merge(stated if isinstance(stated, Mapping) else {}, value)
    return [_tidy(one) for one in value] if isinstance(value, Sequence) else value
