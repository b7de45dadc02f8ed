"""Save and load by the ending of a file's name; a folder stands for the stream in it."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from estimators.contract.lazy import needing
from mlstream._support.files import require_plain
from mlstream.formats.key_files import keys_path
from mlstream.formats.npz import load_npz, save_npz
from mlstream.formats.plain_stream import load_tables, save_tables
from mlstream.formats.table_io import card_path, evaluation_path, find_card
from mlstream.streams.stream import Stream

_SUFFIXES = (".npz", ".arff", ".arff.gz", ".train.csv", ".train.csv.gz", ".train.parquet")
# Endings of plain tables. Libraries that find splits by name would load the held-out rows beside one as all there are.
_TABLES = (".csv", ".csv.gz", ".parquet")


@needing("Writing Parquet")
def save(stream: Stream, path: str | os.PathLike[str]) -> None:
    """Write a stream to a file, complete or not at all; a file that exists is replaced.

    Parameters
    ----------
    stream : Stream
        The stream.
    path : path
        ``x.npz``; ``x.arff`` or ``x.arff.gz``, beside which ``x.evaluation.arff`` and ``x.card.json`` are written; or
        ``x.train.parquet``, ``x.train.csv`` or ``x.train.csv.gz``, beside which ``x.test.parquet`` (or as it is called)
        and ``x.card.json`` are written. CSV holds dense streams only.

    Raises
    ------
    ValueError
        If the name ends otherwise, or the format cannot hold the stream.

    Notes
    -----
    The same stream gives the same bytes. `load` gives an equal stream, array by array and type by type; only the list
    of files on its card is empty, for that belongs to files.

    Examples
    --------
    >>> from mlstream import task_stream
    >>> stream = task_stream("yeast")
    >>> save(stream, "yeast.npz")  # doctest: +SKIP
    """
    path = Path(path)
    suffix = _require_suffix(path)
    if suffix == ".npz":
        save_npz(stream, path)
    elif suffix == ".train.parquet":
        from mlstream.formats.parquet_stream import save_parquet

        save_parquet(stream, path)
    else:
        save_tables(stream, path)


@needing("Reading Parquet")
def load(path: str | os.PathLike[str], *, mmap: bool = False, check: bool | None = None) -> Stream:
    """Read a stream that `save` or `publish` wrote.

    Parameters
    ----------
    path : path
        The file; or a folder that holds the files of one stream, of which the NPZ file is read where there is one, else
        the Parquet, ARFF or CSV files that the card lists. Of several streams, the one called ``stream`` is read, as it
        is in a published folder. `verify` also compares the files of such a folder.
    mmap : bool
        Leave the arrays of an NPZ file on disk, read-only, until they are used; for streams larger than memory. The
        file must not be written to meanwhile; to replace it, as `save` does, is harmless.
    check : bool, optional
        Look at checksums and values; by default unless the file is mapped, whose opening then takes no longer than that
        of a small one.

    Returns
    -------
    Stream
        Equal to the one that was written.

    Raises
    ------
    FileNotFoundError
        If the file, or one that belongs to it, is missing, or the folder holds no stream.
    ValueError
        If the file holds no stream of this version, or is not as it was written, or the folder holds several streams
        and none of the name ``stream``.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> folder = getfixture("tmp_path")  # any folder
    >>> save(multiplier_stream("bilab", n_rows=200), folder / "bilab.npz")
    >>> load(folder)[0]
    Experience(70 rows, 4 features, 4 labels; task 2)
    """
    path = Path(path)
    if path.is_dir():
        path = find_stream(path)
    elif not path.suffix and not path.exists():
        raise FileNotFoundError(f"{path} must be the file of a stream, or a folder that holds one. Got nothing there.")
    suffix = _require_suffix(path)
    require_plain(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be a file that exists.")
    if suffix == ".npz":
        return load_npz(path, mmap=mmap, check=check)
    if mmap or check is False:
        raise ValueError(
            f"{path} must be an NPZ file to be mapped into memory, or to be read without checks. "
            f"Got a file that ends in {suffix} instead; `mlstream convert` makes an NPZ file of it."
        )
    if suffix == ".train.parquet":
        from mlstream.formats.parquet_stream import load_parquet

        return load_parquet(path)
    return load_tables(path)


def find_stream(folder: Path) -> Path:
    """Return the file to load of a folder: its only stream, or the published one.

    FileNotFoundError is raised for a folder without a stream, ValueError for several of which none is published.
    """
    found: dict[Path, Path] = {}
    # The fastest reader first.
    for suffix in (".npz", *reversed(_SUFFIXES[1:])):
        for path in sorted(folder.glob(f"*{suffix}")):
            if card_path(path) not in found and path.is_file() and _holds_stream(path):
                found[card_path(path)] = path
    if not found:
        raise FileNotFoundError(
            f"{folder} must hold a stream, such as stream.npz of a published folder. Got a folder without one."
        )
    published = card_path(folder / "stream.npz")
    if len(found) > 1 and published not in found:
        names = ", ".join(path.name for path in found.values())
        raise ValueError(f"{folder} must hold one stream, or the path must name one. Got several: {names}.")
    return found.get(published) or next(iter(found.values()))


def _holds_stream(path: Path) -> bool:
    """Return whether a file is of a stream, by the names in an NPZ file, or by the card beside a file of rows."""
    if path.suffix != ".npz":
        card = find_card(path)
        return card is not None and path.name in [file.name for file in card.files]
    try:
        with ZipFile(path) as archive:
            return "card.npy" in archive.namelist()
    except (BadZipFile, OSError):
        # Its reader says what is wrong with it.
        return True


def files_of(path: Path, *, with_keys: bool = True) -> tuple[Path, ...]:
    """Name the files that `save` writes, of a stream with or without keys; a wrong ending is a ValueError.

    The one asked for comes first.
    """
    suffix = _require_suffix(path)
    if suffix == ".npz":
        return (path,)
    tables = path, evaluation_path(path)
    return *tables, card_path(path), *(map(keys_path, tables) if with_keys and ".arff" in suffix else ())


def _require_suffix(path: Path) -> str:
    name = path.name.lower()
    suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), None)
    if suffix is not None:
        return suffix
    if table := next((ending for ending in _TABLES if name.endswith(ending)), None):
        bare = path.name[: -len(table)]
        rule = (
            f"The name of a stream's file must end in .train{table}, beside which .test{table} lies. Got {path.name!r}"
        )
        way_out = f"`mlstream generate {path} -o {bare}.npz` makes a stream of a table"
        raise ValueError(f"{rule}; call a new file {bare}.train{table}. {way_out}.")
    endings = f"{', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"
    raise ValueError(f"The name of a stream's file must end in {endings}. Got {path.name!r}.")
