"""Teams: names, tokens, invitations and merges."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from collections.abc import Mapping

from mlstream._support.content import show
from mlstream.challenge.errors import TeamRefused, UnknownToken
from mlstream.challenge.state.store import Reading, Writing

_MAX_NAME = 40
_ID_BYTES = 6
_SECRET_BYTES = 32
_RULE = "The token must be that of a team, as the registration or `mlstream challenge join` showed it."
_TOKEN = re.compile(r"mlc-([0-9a-f]{12})-[A-Za-z0-9_-]{43}")
# The hash of no token.
NOBODY = "0" * 64
# Scripts that share the shapes of letters.
_ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC"})
# Characters that Python calls printable, of which nothing is seen.
_INVISIBLE = ("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION", "HANGUL CHOSEONG FILLER", "HANGUL JUNGSEONG FILLER")
_BLANK = frozenset("\u034f\u17b4\u17b5\u2800")


def add_team(state: Writing, name: str, invitation: str | None = None) -> str:
    """Add a team and return its token, of which only the hash is stored.

    The name must be printable, at most 40 characters, and differ from every other team's in more than case, or
    TeamRefused is raised. An invitation is used up; UnknownToken is raised if it is unknown or used.
    """
    code = None if invitation is None else _use_invitation(state, invitation)
    folded = _fold(name)
    if state.first("SELECT 1 FROM teams WHERE folded = ?", folded):
        raise TeamRefused(
            f"A team must have a name of its own, in upper or lower case. Got {show(name)}, which exists."
        )
    team = secrets.token_hex(_ID_BYTES)
    token = f"mlc-{team}-{secrets.token_urlsafe(_SECRET_BYTES)}"
    state.add("teams", id=team, name=name, folded=folded, token_hash=hash_secret(token), invitation=code)
    return token


def add_invitation(state: Writing) -> str:
    """Add an invitation; return its code, of which only the hash is stored."""
    code = f"invite-{secrets.token_urlsafe(_SECRET_BYTES)}"
    state.add("invitations", hash=hash_secret(code))
    return code


def find_team(state: Reading, token: str) -> str:
    """Return the id of the team that a token belongs to, after merges; UnknownToken is raised if it is no team's."""
    match = _TOKEN.fullmatch(token)
    row = state.first("SELECT token_hash FROM teams WHERE id = ?", match.group(1)) if match else None
    # The same work for a team that does not exist.
    is_right = hmac.compare_digest(hash_secret(token), NOBODY if row is None else row["token_hash"])
    if match is None or not is_right:
        raise UnknownToken(f"{_RULE} Got another.")
    return root_of(state, match.group(1))


def team_of_token(token: str) -> str:
    """Return the id of the team that a token names, without checking its secret.

    UnknownToken is raised if it does not look like a token.
    """
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise UnknownToken(f"{_RULE} Got another text.")
    return match.group(1)


def add_merge(state: Writing, kept: str, other: str, team_size: int) -> None:
    """Merge two teams by their names: what both sent, and used, is the first one's from now on.

    TeamRefused is raised if a name is unknown, both are one team, or the team would be too large.
    """
    first, second = (_find_named(state, name) for name in (kept, other))
    if first == second:
        raise TeamRefused(f"Two teams must differ to be merged. Got {show(kept)} and {show(other)}, which are one.")
    size = len(members_of(state, first)) + len(members_of(state, second))
    if size > team_size:
        raise TeamRefused(f"A team must be merged of {team_size} at most (team_size). Got {size}.")
    state.add("merges", other=second, kept=first)


def root_of(state: Reading, team: str) -> str:
    """Return the team that a team is now a part of: itself, unless it was merged into another."""
    return _follow(_merges(state), team)


def members_of(state: Reading, team: str) -> list[str]:
    """Return the ids of all teams that are one with a team now, first of the one that the others were merged into."""
    roots = roots_of(state)
    kept = roots.get(team, team)
    return [kept, *(other for other, root in roots.items() if root == kept and other != kept)]


def roots_of(state: Reading) -> dict[str, str]:
    """Return for each team the one that it is now a part of."""
    kept = _merges(state)
    return {team: _follow(kept, team) for (team,) in state.rows("SELECT id FROM teams ORDER BY time, id")}


def names_of(state: Reading) -> dict[str, str]:
    """Return the names of all teams, by id."""
    return {row["id"]: row["name"] for row in state.rows("SELECT id, name FROM teams")}


def hash_secret(secret: str) -> str:
    """Return the hash of a token or code, which is all that is stored of it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _merges(state: Reading) -> dict[str, str]:
    return {row["other"]: row["kept"] for row in state.rows("SELECT other, kept FROM merges")}


def _follow(kept: Mapping[str, str], team: str) -> str:
    while team in kept:
        team = kept[team]
    return team


def _find_named(state: Reading, name: str) -> str:
    row = state.first("SELECT id FROM teams WHERE folded = ?", _fold(name))
    if row is None:
        raise TeamRefused(f"A team must exist to be merged. Got {show(name)}, which is no team's name.")
    return root_of(state, row["id"])


def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name)
    if not 1 <= len(name) <= _MAX_NAME or len(plain) > _MAX_NAME or not plain.isprintable() or plain != plain.strip():
        raise TeamRefused(
            f"A team's name must be of 1 to {_MAX_NAME} printable characters, without blanks at its ends. "
            f"Got {show(name)}."
        )
    if _looks_like_another(plain):
        raise TeamRefused(
            "A team's name must not mix Latin, Greek and Cyrillic letters, nor hold invisible ones: it could be taken "
            f"for another's. Got {name!a}."
        )
    return " ".join(plain.casefold().split())


def _looks_like_another(name: str) -> bool:
    names = {letter: unicodedata.name(letter, "") for letter in name}
    scripts = {named.partition(" ")[0] for letter, named in names.items() if letter.isalpha()}
    return len(scripts.intersection(_ALIKE)) > 1 or any(
        named.startswith(_INVISIBLE) or letter in _BLANK for letter, named in names.items()
    )


def _use_invitation(state: Reading, code: str) -> str:
    found = hash_secret(code)
    is_known = state.first("SELECT 1 FROM invitations WHERE hash = ?", found)
    if not is_known or state.first("SELECT 1 FROM teams WHERE invitation = ?", found):
        raise UnknownToken("An invitation must be one that the organiser made and nobody used. Got another.")
    return found
