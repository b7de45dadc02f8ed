"""The token by which a server knows the organiser; the folder holds its hash only."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from mlstream._support.files import read_bounded, write_text_atomically
from mlstream.challenge.folder import OrganiserFolder

_MAX_BYTES = 1000
_NOBODY = "0" * 64


def new_organiser_token(folder: OrganiserFolder) -> str:
    """Draw a token, in place of the one before; it cannot be shown again."""
    token = f"organiser-{secrets.token_urlsafe(32)}"
    write_text_atomically(folder.organiser_token, _hash(token) + "\n")
    return token


def is_organiser(folder: OrganiserFolder, token: str) -> bool:
    """Return whether a token is the organiser's, in the same time for all that are not."""
    try:
        expected = read_bounded(folder.organiser_token, _MAX_BYTES).decode().strip()
    except FileNotFoundError:
        expected = _NOBODY
    return hmac.compare_digest(_hash(token), expected)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
