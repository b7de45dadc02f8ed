"""The organiser's folder: truth and state, which nobody else may read, apart from what is public."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

PRIVATE = 0o700
_OTHERS = 0o077


@dataclass(frozen=True)
class OrganiserFolder:
    """Paths of the files of a challenge."""

    path: Path

    @property
    def config(self) -> Path:
        """The rules."""
        return self.path / "challenge.toml"

    @property
    def manifest(self) -> Path:
        """Facts about environments and labels."""
        return self.path / "manifest.json"

    @property
    def truth(self) -> Path:
        """Folder of the true labels, a file for each hidden environment."""
        return self.path / "truth"

    @property
    def salt(self) -> Path:
        """Key of row ids and of categories."""
        return self.path / "salt.key"

    @property
    def stream(self) -> Path:
        """The original stream, with its card."""
        return self.path / "stream.npz"

    @property
    def state(self) -> Path:
        """Teams, submissions, scores and the log."""
        return self.path / "state.sqlite"

    @property
    def submissions(self) -> Path:
        """Folder of the files that teams sent, each named by its hash."""
        return self.path / "submissions"

    @property
    def organiser_token(self) -> Path:
        """Hash of the token by which the organiser is known to the server."""
        return self.path / "organiser.key"

    @property
    def scratch(self) -> Path:
        """Folder of files that are on their way to another."""
        return self.path / "scratch"


def require_private(path: str | os.PathLike[str]) -> None:
    """Raise a PermissionError for a folder that other accounts may enter, or that another account owns.

    The message says how to make it private. A NotADirectoryError is raised if there is no such folder.
    """
    path = Path(path)
    if path.is_symlink() or not path.is_dir():
        raise NotADirectoryError(f"{path} must be the organiser's folder. Got no folder there.")
    found = path.stat()
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{path} must be owned by the account that runs this. Got a folder of another account.")
    if found.st_mode & _OTHERS:
        if not OrganiserFolder(path).manifest.exists():
            raise NotADirectoryError(f"{path} must be the organiser's folder, which `create` made. Got another folder.")
        mode = stat.S_IMODE(found.st_mode)
        raise PermissionError(f"{path} must be open to its owner only: chmod 700 {path}. Got mode {mode:o} instead.")


def make_private(path: Path) -> None:
    """Make a folder that only its owner may enter."""
    path.mkdir(mode=PRIVATE)
    # The umask may have taken permissions from the owner, too.
    path.chmod(PRIVATE)


def require_apart(organiser: str | os.PathLike[str], bundle: str | os.PathLike[str]) -> None:
    """Raise a ValueError for a public bundle inside the organiser's folder, or the reverse; neither need exist."""
    private, public = Path(organiser).resolve(), Path(bundle).resolve()
    if private == public or private in public.parents or public in private.parents:
        raise ValueError(
            f"The bundle, which is public, and the organiser's folder must lie apart, neither inside the other. "
            f"Got {public} and {private}."
        )
