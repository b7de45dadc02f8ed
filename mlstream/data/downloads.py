"""Downloads of named tables: resumed, from one mirror after the other, and kept only if the hash is right.

`pooch` compares hashes and moves what is right to its place in one step; what arrives until then lies in a file of
its own beside that place, so that a connection that was cut is taken up where it ended.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from estimators.contract.lazy import needing
from mlstream._support.content import FormatError, read_unpacked
from mlstream.data.registry import DataFile, DatasetEntry, Download, Progress, find_entry

_LOG = logging.getLogger("mlstream")
_OFFLINE = "MLSTREAM_OFFLINE"
_TIMEOUT_S = 30.0


def fetch_dataset(
    name: str, *, offline: bool | None = None, progress: Progress | None = None, timeout_s: float = _TIMEOUT_S
) -> tuple[Path, ...]:
    """Find the files of a named table, and download those that are not on this machine.

    Parameters
    ----------
    name : str
        A name that `list_datasets` lists.
    offline : bool, optional
        Open no connection. By default, whether the variable MLSTREAM_OFFLINE is set, and not to 0.
    progress : callable, optional
        Told, as bytes arrive, the address, how many bytes there are and how many there will be.
    timeout_s : float
        Seconds in which all headers must arrive, and after which a connection without a byte of the file is given up;
        so is one that sends less than 1 kB a second.

    Returns
    -------
    tuple of Path
        The files: of the installed package, of the folder that MLSTREAM_DATA names, or downloaded, in this order.

    Raises
    ------
    ValueError
        If there is no such table.
    FileNotFoundError
        If a file is not on this machine, and there is no address to download it from, or no connection is allowed.
    OSError
        If no address sends the right file; the message lists what each did. Nothing wrong is kept.

    Notes
    -----
    Downloads are kept in the folder that MLSTREAM_CACHE names, by default the cache of the system. A file is there
    under its name only when it is complete and its SHA-256 is right.

    Examples
    --------
    >>> [path.name for path in fetch_dataset("yeast")]
    ['yeast.csv.gz']
    """
    entry = find_entry(name)
    return tuple(_find(entry, file) or _download(entry, file, offline, progress, timeout_s) for file in entry.files)


def _find(entry: DatasetEntry, file: DataFile) -> Path | None:
    path = entry.locate(file)
    if path is None or path.parent != entry.cache:
        return path
    # What was downloaded long ago may have been spoilt since: it is downloaded again.
    try:
        content = read_unpacked(path)
    except FormatError:
        return None
    return path if hashlib.sha256(content).hexdigest() == file.sha256 else None


def _download(
    entry: DatasetEntry, file: DataFile, offline: bool | None, progress: Progress | None, timeout_s: float
) -> Path:
    if offline is None:
        offline = os.environ.get(_OFFLINE, "0") not in {"", "0"}
    if offline:
        raise FileNotFoundError(f"{entry.missing()} No connection is allowed (offline).")
    if not file.downloads:
        raise FileNotFoundError(entry.missing())
    failures = []
    for source in file.downloads:
        _LOG.info("Downloading %s from %s", file.name, source.url)
        try:
            return retrieve(source, entry.cache, progress=progress, timeout_s=timeout_s)
        except (OSError, ValueError) as error:
            failures.append(f"{source.url}: {' '.join(str(error).split())}")
    raise OSError(
        f"{file.name} of data set {entry.name!r} must be sent by one of its addresses. Nothing was kept that is wrong. "
        f"Got {'; '.join(failures)}"
    )


@needing("Downloading a table")
def retrieve(
    source: Download, folder: Path, *, progress: Progress | None = None, timeout_s: float = _TIMEOUT_S
) -> Path:
    """Download a file into a folder, or find it there; an earlier download that was cut off is continued.

    Raises OSError or ValueError if the address cannot be reached, or sends anything but the file.
    """
    import pooch

    from mlstream.data._connections import ResumingDownloader

    downloader = ResumingDownloader(source, folder, progress=progress, timeout_s=timeout_s)
    options = {"known_hash": f"sha256:{source.sha256}", "fname": source.file_name, "path": folder}
    with _alone(folder / f".{source.sha256}.lock"):
        begun = downloader.part.exists()
        try:
            return Path(pooch.retrieve(source.url, **options, downloader=downloader))
        except ValueError:
            if not begun:
                raise
        # What had been begun earlier may have been wrong from the start, and is gone now.
        return Path(pooch.retrieve(source.url, **options, downloader=downloader))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process at a time download a file: the next one finds it, or goes on where the other was killed."""
    from filelock import lock_descriptor

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        lock_descriptor(file.fileno())
        yield
