"""Refusals of a published stream by hubs and archives, as far as its card tells."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence

from estimators.contract.lazy import needing
from mlstream.cards.archives import zenodo_licence
from mlstream.cards.croissant import card_croissant
from mlstream.cards.openml import has_targets
from mlstream.cards.terms import stated_terms
from mlstream.streams.card_model import StreamCard

_MIN_ZENODO_TEXT = 3
_MAX_ZENODO_BYTES = 50 * 10**9
_ISSUE = re.compile(r"^  -  (.+)$", re.MULTILINE)
_WARNINGS = re.compile(r"^Found the following \d+ warning", re.MULTILINE)


def list_refusals(card: StreamCard, hubs: Sequence[str] = ()) -> list[str]:
    """List what hubs would refuse of a published stream: a sentence for each hub, with the options that mend it.

    The card lists the files of the published folder. By default, the hubs are all but Croissant, whose validation
    raises ImportError if mlcroissant is not installed. An unknown hub raises ValueError.
    """
    require_hubs(hubs)
    asked_for = hubs or _HUBS.keys() - {"croissant"}
    asked = [(title, ", ".join(reasons(card))) for hub, (title, reasons) in _HUBS.items() if hub in asked_for]
    return [f"{title} would refuse it: {reasons}." for title, reasons in asked if reasons]


def require_hubs(hubs: Sequence[str]) -> None:
    """Refuse a name that is not that of a hub."""
    if unknown := set(hubs) - _HUBS.keys():
        raise ValueError(f"hub (--for) must be one of {', '.join(_HUBS)}. Got {min(unknown)!r} instead.")


def list_croissant_errors(card: StreamCard) -> list[str]:
    """List the errors, without warnings, that mlcroissant finds in the Croissant metadata of a card.

    Raises ImportError if mlcroissant is not installed.
    """
    with needing("Validating Croissant"):
        import mlcroissant
    # It logs what it only recommends, which the page of the card states already.
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        mlcroissant.Dataset(jsonld=json.loads(card_croissant(card)))
    except mlcroissant.ValidationError as error:
        errors = _WARNINGS.split(str(error))[0]
        return [issue.rstrip(".") for issue in _ISSUE.findall(errors)] or [str(error).splitlines()[0]]
    finally:
        logger.setLevel(level)
    return []


def _openml(card: StreamCard) -> Iterator[str]:
    if not any(file.name.endswith(".arff") for file in card.files):
        yield "no ARFF (--arff)"
    if not has_targets(card):
        yield "names of labels as targets: letters, digits and _-.() only, 1,024 characters in all"


def _datacite(card: StreamCard) -> Iterator[str]:
    terms = stated_terms(card)
    if not terms.creators:
        yield "no creator (--creator)"
    if not terms.published:
        yield "no date of publication (--published)"


def _zenodo(card: StreamCard) -> Iterator[str]:
    terms = stated_terms(card)
    if not terms.creators:
        yield "no creator (--creator)"
    if len(terms.title) < _MIN_ZENODO_TEXT:
        yield f"a title of fewer than {_MIN_ZENODO_TEXT} characters (--title)"
    if zenodo_licence(terms.licence) is None:
        yield "to be open without a licence that it lists (--licence)"
    if sum(file.n_bytes for file in card.files) > _MAX_ZENODO_BYTES:
        yield "more than 50 GB"


def _huggingface(card: StreamCard) -> Iterator[str]:
    # Folders of versions that wrote no Parquet.
    if not any(file.name.endswith(".parquet") for file in card.files):
        yield "no Parquet, so that it shows and loads no rows (publish it again with --force)"


def _croissant(card: StreamCard) -> Iterator[str]:
    yield from _huggingface(card)
    yield from list_croissant_errors(card)


_HUBS: dict[str, tuple[str, Callable[[StreamCard], Iterator[str]]]] = {
    "openml": ("OpenML", _openml),
    "datacite": ("DataCite", _datacite),
    "zenodo": ("Zenodo", _zenodo),
    "huggingface": ("Hugging Face", _huggingface),
    "croissant": ("Croissant", _croissant),
}
