"""Refusals of a published stream by hubs and archives, as far as its card tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlstream.cards.croissant_check import list_croissant_errors
from mlstream.cards.openml import has_targets
from mlstream.cards.terms import stated_terms
from mlstream.cards.zenodo import zenodo_licence
from mlstream.streams.card_model import StreamCard

_MIN_ZENODO_TEXT = 3
_MAX_ZENODO_BYTES = 50 * 10**9


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
