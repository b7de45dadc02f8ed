"""Validation of Croissant by its own library, the optional package mlcroissant."""

from __future__ import annotations

import json
import logging
import re

from estimators.contract.lazy import needing
from mlstream.cards.croissant import card_croissant
from mlstream.streams.card_model import StreamCard

_ISSUE = re.compile(r"^  -  (.+)$", re.MULTILINE)
_WARNINGS = re.compile(r"^Found the following \d+ warning", re.MULTILINE)


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
