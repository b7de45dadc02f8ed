"""A challenge on a server, as a team reaches it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import requests
from pydantic import JsonValue, TypeAdapter, ValidationError

from mlstream._support.files import open_plain
from mlstream.challenge.errors import InvalidSubmission, from_reply
from mlstream.challenge.replies import TeamStatus

_STATUS = TypeAdapter(TeamStatus)
_PIECE_BYTES = 2**16
_CONNECT_S, _READ_S = 10.0, 60.0
_FIRST_WAIT_S, _LAST_WAIT_S = 0.1, 2.0

Progress = Callable[[int, int], None]


class RemoteChallenge:
    """A challenge that a server offers.

    Without encryption, the address of the server must be on this machine: a ValueError is raised if it is not valid, or
    the token would travel in clear.
    """

    def __init__(self, url: str, token: str) -> None:
        _require_safe(url)
        self._url = url.rstrip("/")
        self._session = requests.Session()
        self._session.headers["authorization"] = f"Bearer {token}"
        # Proxies and passwords of this machine's configuration are not for this server.
        self._session.trust_env = False

    def submit(self, file: Path, *, progress: Progress | None = None, timeout_s: float = 600.0) -> dict[str, JsonValue]:
        """Send a submission and wait for its score; sent again after a broken line, it counts once.

        `progress` is called with the bytes that were sent, and all. The reply has the keys ``submission``, ``query``,
        ``remaining``, ``score``, and ``in_distribution`` and ``repeats_best`` where they apply. Raises ChallengeError
        as `Challenge.submit` does; OSError if the server cannot be reached; TimeoutError if there is no score in time:
        the submission is stored, and the same command goes on.
        """
        body = _Body(file, progress)
        headers = {"content-type": "application/octet-stream", "x-file-name": quote(file.name)}
        number = self._request("POST", "/api/submissions", data=body, headers=headers)["submission"]
        end, wait = time.monotonic() + timeout_s, _FIRST_WAIT_S
        while (state := self._request("GET", f"/api/submissions/{number}"))["state"] == "scoring":
            if time.monotonic() > end:
                raise TimeoutError(f"Submission {number} is stored and waits for its score. The same command goes on.")
            time.sleep(wait)
            wait = min(2 * wait, _LAST_WAIT_S)
        if state["state"] == "invalid":
            raise InvalidSubmission(state["problem"])
        names = ("submission", "query", "remaining", "score", "in_distribution", "repeats_best")
        return {name: state[name] for name in names if state[name] is not None}

    def status(self) -> TeamStatus:
        """Return budget, submissions and selection of the team."""
        try:
            return _STATUS.validate_python(self._request("GET", "/api/status"))
        except ValidationError:
            raise ConnectionError(
                f"{self._url} must be a server of this version. Got a reply of another kind."
            ) from None

    def select(self, submissions: Sequence[int]) -> None:
        """Choose the submissions that count at the end."""
        self._request("PUT", "/api/selection", json={"submissions": list(submissions)})

    def _request(self, method: str, path: str, **options: Any) -> Any:
        try:
            # A redirect could lead the token elsewhere.
            response = self._session.request(
                method, self._url + path, timeout=(_CONNECT_S, _READ_S), allow_redirects=False, **options
            )
        except requests.RequestException as error:
            raise ConnectionError(
                f"{self._url} must be a server of a challenge. Got no reply ({type(error).__name__}); check "
                "the address, or ask the organiser whether the server runs."
            ) from None
        if response.status_code == requests.codes.no_content:
            return None
        try:
            content = response.json()
        except requests.JSONDecodeError:
            raise ConnectionError(
                f"{self._url} must be a server of a challenge. Got status {response.status_code}."
            ) from None
        if not response.ok:
            _raise(content, self._url)
        return content


class _Body:
    """A file that is sent piece by piece."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._path = path
        self._progress = progress
        with open_plain(path) as file:
            self._n_bytes = os.fstat(file.fileno()).st_size

    def __len__(self) -> int:
        return self._n_bytes

    def __iter__(self) -> Iterator[bytes]:
        n_sent = 0
        with open_plain(self._path) as file:
            while piece := file.read(_PIECE_BYTES):
                yield piece
                n_sent += len(piece)
                if self._progress is not None:
                    self._progress(n_sent, self._n_bytes)


def _require_safe(url: str) -> None:
    parts = urlsplit(url)
    more = parts.username or parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in {"http", "https"} or not parts.hostname or more:
        raise ValueError(
            f"--url must be an address such as https://host.example, without the path of a page. Got {url!r} instead."
        )
    if parts.scheme == "http" and not _is_local(parts.hostname):
        raise ValueError(
            f"--url must begin with https:// beyond this machine: tokens must not travel in clear. Got {url!r} instead."
        )


def _is_local(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _raise(content: Any, url: str) -> None:
    problem = content.get("error") if isinstance(content, dict) else None
    if not isinstance(problem, dict) or not {"code", "message"} <= problem.keys():
        raise ConnectionError(f"{url} must be a server of a challenge. Got an error of another kind.")
    raise from_reply({"reset": datetime.now(UTC).isoformat(), **problem, "error": problem["code"]})
