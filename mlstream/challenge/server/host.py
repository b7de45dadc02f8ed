"""State that all requests to a server share: the challenge, the bundle, and the work that goes on behind replies."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

from mlstream._support.files import is_plain, read_bounded, write_text_atomically
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import ChallengeError, InvalidSubmission
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.making.bundle import SUMS, find_changed, is_list_of, read_sums
from mlstream.challenge.replies import Reservation
from mlstream.challenge.state.submitting import sweep_scratch
from mlstream.challenge.state.teams import NOBODY, hash_secret

_KEY_BYTES = 32
_MAX_TOKEN_BYTES = 1000
# A full disk, or a clock that is wrong, takes someone to mend.
_AGAIN_S, _MAX_AGAIN_S = 30.0, 3600.0
# Where uvicorn's own lines go.
_LOG = logging.getLogger("uvicorn.error")


class Host:
    """A challenge as a server offers it.

    The files of the public bundle, if there is one, can be downloaded. `names` are those under which the server may be
    asked for, besides those of this machine. If what travels is encrypted, here or by a proxy (`is_encrypted`), cookies
    are kept from plain connections. `n_scoring` is how many submissions are scored at once.
    """

    def __init__(
        self,
        challenge: Challenge,
        bundle: Path | None = None,
        *,
        names: frozenset[str] = frozenset(),
        is_encrypted: bool = False,
        n_scoring: int = 1,
    ) -> None:
        self.challenge = challenge
        self.bundle = bundle
        self.names = names
        self.is_encrypted = is_encrypted
        self._n_scoring = n_scoring
        # Forms of an earlier process are refused: its pages are reloaded first.
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._workers: ThreadPoolExecutor | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Score what is reserved, from the rest of an earlier process on, until the block ends."""
        with ThreadPoolExecutor(self._n_scoring, "score") as workers:
            self._workers = workers
            workers.submit(self._score_rest)
            try:
                yield
            finally:
                self._workers = None

    def score_later(self, reservation: Reservation, n_failures: int = 0) -> None:
        """Score a reserved submission after those before it; if that fails, again later."""
        # Without workers the server is about to end; the next one scores what is reserved.
        if self._workers is not None:
            self._workers.submit(self._score, reservation, n_failures)

    def is_organiser(self, token: str) -> bool:
        """Return whether a token is the organiser's, in the same time for all that are not."""
        try:
            expected = read_bounded(self.challenge.folder.organiser_token, _MAX_TOKEN_BYTES).decode().strip()
        except FileNotFoundError:
            expected = NOBODY
        return hmac.compare_digest(hash_secret(token), expected)

    def form_token(self, session: str) -> str:
        """Return the text by which a form proves that it comes from a page of this server (against CSRF)."""
        return hmac.digest(self._key, session.encode(), "sha256").hex()

    def is_form_token(self, session: str, token: str) -> bool:
        """Return whether a form comes from a page of this server, made for this session."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode("utf-8", "surrogatepass"))

    def _score(self, reservation: Reservation, n_failures: int) -> None:
        try:
            self.challenge.complete(reservation)
        except InvalidSubmission as error:
            _LOG.info("submission %d: %s", reservation.submission, error.code)
        except (ChallengeError, OSError) as error:
            wait_s = min(_AGAIN_S * 2**n_failures, _MAX_AGAIN_S)
            _LOG.warning("submission %d, again in %d s: %s", reservation.submission, wait_s, error)
            later = Timer(wait_s, self.score_later, (reservation, n_failures + 1))
            later.daemon = True
            later.start()

    def _score_rest(self) -> None:
        sweep_scratch(self.challenge.folder)
        for reservation in self.challenge.waiting():
            self.score_later(reservation)


def list_bundle(bundle: Path) -> list[Path]:
    """Return the files of a bundle: those in its list, and no link or whatever else came into the folder later."""
    listed = {SUMS, *read_sums(bundle)}
    return [path for path in sorted(bundle.iterdir()) if path.name in listed and is_plain(path)]


def require_bundle(bundle: Path, expected_sha256: str) -> None:
    """Raise a ValueError for a folder that is not the bundle of a challenge as it was made.

    `expected_sha256` is the hash of its SHA256SUMS, from the manifest.
    """
    if not is_list_of(bundle, expected_sha256):
        raise ValueError(f"{bundle} must be the bundle of this challenge, as `create` made it. Got another {SUMS}.")
    for path in find_changed(bundle):
        raise ValueError(f"{path} must be as `create` made it. Got a changed file, or none there.")


def new_organiser_token(folder: OrganiserFolder) -> str:
    """Draw the organiser's token, in place of the one before; it cannot be shown again, for only its hash is stored."""
    token = f"organiser-{secrets.token_urlsafe(32)}"
    write_text_atomically(folder.organiser_token, hash_secret(token) + "\n")
    return token
