"""Submissions without HTTP: folders in an inbox, which the organiser's account empties.

A contestant makes a folder that holds the file and ``token``, and moves it into the inbox by a rename, under the id of
the team. The organiser's account writes ``reply.json`` into it and deletes the rest. Neither follows links.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from pydantic import JsonValue

from mlstream._support.content import clip
from mlstream._support.files import kind_of, open_plain, read_bounded
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import (
    ChallengeError,
    InvalidSubmission,
    StateFailed,
    UnknownToken,
    from_reply,
    to_reply,
)
from mlstream.challenge.replies import Reply, describe_reply
from mlstream.challenge.state.teams import team_of_token
from mlstream.challenge.submissions.files import require_size
from mlstream.challenge.submissions.rows import clean_name

TOKEN, REPLY = "token", "reply.json"
_PART = ".reply.part"
_MAX_TOKEN_BYTES = 4096
_MAX_REPLY_BYTES = 2**16
_TEAM = re.compile(r"[0-9a-f]{12}")
_POLL_S = 0.2
_LISTED = stat.S_IRGRP | stat.S_IROTH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting for whoever would write to a pipe.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


# Name, number and time of change of an entry of the inbox.
_Entry: TypeAlias = tuple[str, int, int]


class Inbox:
    """The organiser's side of an inbox, the folder that submissions are moved into.

    A PermissionError is raised if other accounts can list it, and so find the tokens in it.
    """

    def __init__(self, challenge: Challenge, path: Path) -> None:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _LISTED:
            raise PermissionError(
                f"{path} must be a folder that other accounts cannot list, since tokens lie in it: chmod 1733 {path}. "
                f"Got mode {mode:o} instead."
            )
        self._challenge, self._path = challenge, path
        # What no reply can be written to is not read again and again.
        self._given_up: set[_Entry] = set()

    def empty(self) -> Iterator[str]:
        """Score everything in the inbox that has no reply yet, and yield a line for each folder: what was done."""
        with os.scandir(self._path) as entries:
            found = sorted(_describe(entry) for entry in entries if not entry.name.startswith("."))
        for entry in found:
            if entry not in self._given_up and (line := self._reply_to(entry)):
                yield line

    def _reply_to(self, entry: _Entry) -> str | None:
        name = entry[0]
        shown = clean_name(name)
        if not _TEAM.fullmatch(name):
            self._given_up.add(entry)
            return f"{shown}: refused, for its name is no id of a team"
        try:
            folder = os.open(self._path / name, _FOLDER)
        except OSError:
            self._given_up.add(entry)
            return f"{shown}: refused, for it is no folder"
        try:
            return self._reply_in(folder, name)
        except OSError as error:
            self._given_up.add(entry)
            return f"{shown}: given up, {error.strerror or 'it cannot be read'}"
        finally:
            os.close(folder)

    def _reply_in(self, folder: int, team: str) -> str | None:
        names = os.listdir(folder)
        if REPLY in names:
            return None
        try:
            reply = self._submit(folder, names, team)
            text, line = json.dumps(describe_reply(reply)), f"submission {reply.submission}, query {reply.query}"
        except StateFailed:
            # The organiser's disk, not the submission, which stays where it is.
            raise
        except ChallengeError as error:
            text, line = json.dumps(to_reply(error)), error.code
        _write_reply(folder, text)
        for name in names:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
        return f"{team}: {line}"

    def _submit(self, folder: int, names: list[str], team: str) -> Reply:
        files = [name for name in names if name != TOKEN]
        if len(files) != 1 or len(names) != 2:
            raise InvalidSubmission(f"A folder in the inbox must hold one file and {TOKEN}. Got {len(names)} entries.")
        token = _read_plain(folder, TOKEN, _MAX_TOKEN_BYTES).decode("utf-8", "replace").strip()
        if team_of_token(token) != team:
            raise UnknownToken(
                "The name of a folder in the inbox must be the id of the team. Got another team's token."
            )
        content = _read_plain(folder, files[0], self._challenge.config.max_bytes)
        try:
            return self._challenge.submit(content, token, file_name=files[0])
        except OSError as error:
            raise StateFailed(
                f"{self._challenge.folder.path} must be on a disk with space. Got this error: {error.strerror}. "
                "Check the disk and the permissions of the folder, then run the same command again."
            ) from error


def _describe(entry: os.DirEntry[str]) -> _Entry:
    # Numbers of files are used again, times are not.
    with suppress(FileNotFoundError):
        return entry.name, entry.inode(), entry.stat(follow_symlinks=False).st_ctime_ns
    return entry.name, entry.inode(), 0


def send(file: Path, inbox: Path, token: str, *, timeout_s: float) -> dict[str, JsonValue]:
    """Move a submission into an inbox, which the organiser's account empties, and wait for the reply.

    The reply has the keys that `describe_reply` writes. Raises ChallengeError as the organiser's side
    replied; TimeoutError if there is no reply in time: the submission stays where it is.
    """
    target = inbox / team_of_token(token)
    if target.exists() and not (target / REPLY).exists():
        raise FileExistsError(f"{target} must not be there: an earlier submission waits for its reply.")
    part, old = (inbox / f".{secrets.token_hex(8)}" for _ in range(2))
    part.mkdir()
    try:
        with open_plain(file) as source, (part / clean_name(file.name)).open("wb") as copy:
            shutil.copyfileobj(source, copy)
        (part / TOKEN).write_text(token, encoding="utf-8")
        # The organiser's account writes into it; only who knows the id of the team finds it.
        part.chmod(0o777)
        if target.exists():
            # In one step: half of a folder must not be taken for a submission.
            target.rename(old)
        part.rename(target)
    finally:
        for one in (part, old):
            shutil.rmtree(one, ignore_errors=True)
    return _wait(target, timeout_s)


def _wait(folder: Path, timeout_s: float) -> dict[str, JsonValue]:
    end = time.monotonic() + timeout_s
    while not (folder / REPLY).exists():
        if time.monotonic() > end:
            raise TimeoutError(
                f"{folder / REPLY} must be there after {timeout_s:g} s. Got no reply; it may come later."
            )
        time.sleep(_POLL_S)
    reply = _read_object(folder / REPLY)
    if "error" in reply:
        raise from_reply(reply)
    return reply


def _read_object(path: Path) -> dict[str, JsonValue]:
    text = read_bounded(path, _MAX_REPLY_BYTES)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} must be a JSON object. Got this error: {error}.") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must be a JSON object. Got {clip(repr(content))} instead.")  # noqa: TRY004 - a file holds it
    return content


def _read_plain(folder: int, name: str, max_bytes: int) -> bytes:
    """Read a file of a folder, unless it is a link, or belongs to another account than the folder."""
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        raise InvalidSubmission(f"{clean_name(name)} must be a plain file. Got a link, or nothing.") from None
    found, owner = os.fstat(handle), os.fstat(folder).st_uid
    # A second name of a file may be that of one that only the organiser can read.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_uid != owner:
        os.close(handle)
        is_file = stat.S_ISREG(found.st_mode)
        kind = "one with several names, or of another account" if is_file else kind_of(found.st_mode)
        raise InvalidSubmission(f"{clean_name(name)} must be a plain file of its own. Got {kind}.")
    with os.fdopen(handle, "rb") as file:
        require_size(found.st_size, max_bytes, clean_name(name))
        content = file.read(max_bytes + 1)
    require_size(len(content), max_bytes, clean_name(name))
    return content


def _write_reply(folder: int, text: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(_PART, dir_fd=folder)
    handle = os.open(_PART, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(_PART, REPLY, src_dir_fd=folder, dst_dir_fd=folder)
