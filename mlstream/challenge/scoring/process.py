"""The process that reads submissions and scores them: requests on its standard input, replies on its output.

It replies with scores, a line about the file of the contestant, that this file has changed, or that it failed. No text
of an error that it did not expect leaves it.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mlstream._support.files import read_bounded
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.scoring.scorer import Scorer
from mlstream.challenge.submissions.files import read_submission

# Beside what a submission takes: libraries, and the truth.
_BASE_BYTES = 8 * 2**30
_COPIES = 16


class _Changed(Exception):  # noqa: N818 - a reply of its own, as the process words it
    """A stored file is no longer what its team sent."""


def serve(scorer: Scorer, folder: OrganiserFolder, requests: Iterator[str]) -> Iterator[str]:
    """Yield a reply for each request, both as JSON.

    A request has ``kind`` ("public" or "final"), ``sha256`` of the file, and ``name`` for errors. A reply has
    ``scores``, or ``invalid`` with a line, or ``changed`` if the file is not the one that was sent, or ``disk`` with
    the file that could not be read, or ``failed``.
    """
    for request in requests:
        try:
            reply: dict[str, object] = {"scores": _score(scorer, folder, **json.loads(request))}
        except InvalidSubmission as error:
            reply = {"invalid": str(error)}
        except _Changed:
            reply = {"changed": True}
        except Exception as error:
            reply = _describe_failure(error)
        yield json.dumps(reply)


def main() -> None:
    """Serve the organiser's folder that the first argument names."""
    folder = OrganiserFolder(Path(sys.argv[1]))
    try:
        scorer = Scorer(folder)
        _bound_memory(scorer)
        for reply in serve(scorer, folder, iter(sys.stdin.readline, "")):
            sys.stdout.write(f"{reply}\n")
            sys.stdout.flush()
    except OSError as error:
        # Before the first request, which gets this reply.
        sys.stdin.readline()
        sys.stdout.write(json.dumps(_describe_failure(error)) + "\n")


def _describe_failure(error: Exception) -> dict[str, object]:
    if isinstance(error, OSError) and error.filename:
        return {"disk": f"{error.filename}: {error.strerror}"}
    return {"failed": True}


def _score(scorer: Scorer, folder: OrganiserFolder, *, kind: str, sha256: str, name: str) -> object:
    content = read_bounded(folder.submissions / sha256, scorer.config.max_bytes)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise _Changed
    prob = read_submission(content, scorer.layout, name)
    return scorer.score_final(prob) if kind == "final" else scorer.score_public(prob)


def _bound_memory(scorer: Scorer) -> None:
    """Let a file that unpacks to more than its reader expects end this process only."""
    n_bytes = _BASE_BYTES + _COPIES * scorer.layout.max_unpacked_bytes
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main()
