"""The first event of a challenge: the files that never change, by their hashes."""

from __future__ import annotations

import json
from datetime import datetime

from mlstream._support.files import sha256_of
from mlstream.challenge.folder import OrganiserFolder, make_private
from mlstream.challenge.state.store import Store


def begin_state(folder: OrganiserFolder, now: datetime) -> None:
    """Make the empty state of a challenge, once its rules, manifest and truth are there.

    A FileExistsError is raised if there is a state: a budget is never set back.
    """
    make_private(folder.scratch)
    names = [folder.config, folder.manifest, *sorted(folder.truth.iterdir())]
    files = {str(path.relative_to(folder.path)): sha256_of(path) for path in names}
    store = Store(folder.state)
    try:
        store.create()
        with store.write(now) as state:
            state.add("creations", files=json.dumps(files))
    finally:
        store.close()
