"""Mutations of the files of a stream, which lie in one archive; the card lists them as they are then."""

import hashlib
import json
from random import Random

from tests.fuzz.mutators.archives import Member, mutate_files, unzip, zip_up
from tests.fuzz.mutators.json_texts import mutate_json
from tests.fuzz.mutators.pieces import some


def mutate_stream(content: bytes, rng: Random) -> bytes:
    """Change some files, and correct their hashes, as anybody could."""
    members = unzip(content)
    if not members:
        raise ValueError("The archive must hold files.")

    def change() -> None:
        place = rng.randrange(len(members))
        name, inner = members[place]
        members[place] = name, (mutate_json if name.endswith(".json") else mutate_files)(inner, rng)

    some(rng, change)
    return zip_up([_list_files(member, members) for member in members], packed=True)


def _list_files(member: Member, members: list[Member]) -> Member:
    name, inner = member
    if not name.endswith(".json"):
        return member
    card = json.loads(inner)
    if not isinstance(card, dict):
        return member
    card["files"] = [
        {"name": other, "n_bytes": len(rows), "sha256": hashlib.sha256(rows).hexdigest()}
        for other, rows in members
        if other != name
    ]
    return name, json.dumps(card).encode("utf-8", "surrogatepass")
