"""Real tables that can be named instead of given as a file, and the choice of those that somebody looks for."""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from estimators.contract.lazy import needing
from mlstream._support.content import PACKED
from mlstream._support.files import did_you_mean

_FOLDER = "MLSTREAM_DATA"
_CACHE = "MLSTREAM_CACHE"

Index: TypeAlias = Callable[[Path], Mapping[str, Path]]
# Told, as bytes arrive, the address, how many bytes there are and how many there will be.
Progress: TypeAlias = Callable[[str, int, int], None]
Bounds = tuple[int | None, int | None]


@dataclass(frozen=True, kw_only=True)
class Download:
    """An address that a file can be downloaded from."""

    url: str  # Http or https.
    sha256: str  # Hash of what it sends, packed or not.
    n_bytes: int  # Bytes that it sends.

    @property
    def file_name(self) -> str:
        """Last part of the address."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file of a table; hash and size are of its content, unpacked."""

    name: str  # May be packed (.gz, .bz2, .xz) on disk.
    sha256: str
    n_bytes: int
    downloads: tuple[Download, ...] = ()  # Addresses to try in turn; empty if none is known.

    @property
    def names_labels(self) -> bool:
        """Whether it is MULAN's file, which is never packed."""
        return self.name.endswith(".xml")

    def find_in(self, folder: Path, index: Index | None = None) -> Path | None:
        """Look the file up anywhere below a folder, packed or not."""
        paths = (index or index_folder)(folder)
        names = [self.name + suffix for suffix in (("",) if self.names_labels else ("", *PACKED))]
        return next((paths[name] for name in names if name in paths), None)


@dataclass(frozen=True, kw_only=True)
class DatasetEntry:
    """A table that is known by name.

    Parameters
    ----------
    name : str
        What `load_dataset` takes.
    domain : str
        What the rows are: text, images, music and so on.
    files : tuple of DataFile
        Its files; the rows of one follow those of the other. MULAN's .xml, which names the labels, is the last.
    table : {"labels", "class first", "class last", "tree"}
        How to parse it: a multi-label table; a table of one class a row, which is the first or the last column; or a
        table whose last column holds paths through a tree of classes.
    labels : int, tuple of str or None
        Label columns of a multi-label table: the first n, the last n if negative, or their names. If None, MULAN's .xml
        names them.
    n_samples, n_features : int, optional
        Its size, where it is known.
    n_labels : int
        Number of labels; each class is one.
    licence, citation : str
        Terms of use, and what to cite.
    package : str
        Name of the installed package and the folder in it that holds the files; empty for all others.
    part_of : str
        Name of the table that holds these rows and others; empty for whole tables.
    """

    name: str
    domain: str
    files: tuple[DataFile, ...]
    table: Literal["labels", "class first", "class last", "tree"] = "labels"
    labels: int | tuple[str, ...] | None = None
    n_samples: int | None = None
    n_features: int | None = None
    n_labels: int
    licence: str
    citation: str
    package: str = ""
    part_of: str = ""

    @property
    def where(self) -> str:
        """The paths of its files, or how to get them."""
        paths = self.find()
        if paths is not None:
            return f"embedded ({self.package.partition('/')[0]})" if self.package else str(paths[0])
        if self.package:
            return self._install
        put = f"set {_FOLDER} to a folder that holds {' and '.join(file.name for file in self.files)}"
        return f"mlstream datasets fetch {self.name}, or {put}" if self.is_downloadable else put

    @property
    def is_downloadable(self) -> bool:
        """Whether an address is known for each of its files."""
        return all(file.downloads for file in self.files)

    @property
    def cache(self) -> Path:
        """Folder that downloads of its files are kept in."""
        return cache_folder() / self.name

    def locate(self, file: DataFile, index: Index | None = None) -> Path | None:
        """Look one of its files up: in its package, below the folder that MLSTREAM_DATA names, among the downloads."""
        return next((path for folder in self._folders() if folder and (path := file.find_in(folder, index))), None)

    def _folders(self) -> Iterator[Path | None]:
        if self.package:
            yield _folder_in_package(self.package)
            return
        yield local_folder()
        yield _if_readable(self.cache)

    def find(self, index: Index | None = None) -> tuple[Path, ...] | None:
        """Look all its files up; None if one is missing.

        Whoever looks for many tables gives an `index` that remembers folders: ``functools.cache(index_folder)``.
        """
        paths = [self.locate(file, index) for file in self.files]
        return tuple(path for path in paths if path) if all(paths) else None

    def require(self) -> tuple[Path, ...]:
        """Look up all its files; an error describes how to get a missing one."""
        paths = self.find()
        if paths is None:
            raise FileNotFoundError(self.missing())
        return paths

    def missing(self) -> str:
        """Say what to do to have its files."""
        got = f"no such file: {self._install}" if self.package else describe_folder()
        return f"Data set {self.name!r} must be {self._wanted()}. Got {got}."

    @property
    def _install(self) -> str:
        return f"pip install {self.package.partition('/')[0]}"

    def _wanted(self) -> str:
        names = " and ".join(file.name for file in self.files if not file.names_labels)
        if self.package:
            return f"in the package {self.package}, as {names}"
        fetched = f"fetched by `mlstream datasets fetch {self.name}`, or " if self.is_downloadable else ""
        headers = "".join(f" and {file.name}" for file in self.files if file.names_labels)
        return f"{fetched}in the folder that {_FOLDER} names, as {names} ({', '.join(PACKED)}){headers}"


def index_folder(folder: Path) -> dict[str, Path]:
    """List everything below a folder by its name: the first in alphabetical order of those of a name."""
    paths: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        paths.setdefault(path.name, path)
    return paths


def list_datasets() -> tuple[DatasetEntry, ...]:
    """List the tables that can be named.

    Returns
    -------
    tuple of DatasetEntry
        Name, size, terms of use and citation of each; `where` holds the paths of its files, or how to get them. Those
        with `part_of` hold the training or test rows of another.

    Examples
    --------
    >>> [entry.name for entry in list_datasets()][:3]
    ['yeast', 'yeast-osc-mlc', 'scene']
    """
    return _entries()


def find_entry(name: str) -> DatasetEntry:
    """Look up an entry by its name; an error has the nearest one."""
    entries = {entry.name: entry for entry in list_datasets()}
    if name not in entries:
        hint = did_you_mean(name, entries)
        raise ValueError(f"A data set must be one that `mlstream datasets` lists. Got {name!r} instead{hint}")
    return entries[name]


def warn_if_shadowed(name: str, what: str, folder: str | os.PathLike[str] = ".") -> None:
    """Warn, at the caller's caller, that a name is taken for a registered one although a file or folder has it too.

    What a bare name means must not depend on the folder in which a program happens to run.
    """
    path = Path(folder) / name
    if os.path.lexists(path):
        kind = "folder" if path.is_dir() else "file"
        warnings.warn(
            f"{name!r} is the registered {what}, not the {kind} of that name: write ./{name} for the {kind}.",
            stacklevel=3,
        )


@needing("Downloading a table", ", or set MLSTREAM_CACHE to a folder")
def cache_folder() -> Path:
    """Folder of all downloads: what MLSTREAM_CACHE names, or the place that the system keeps for such files."""
    if folder := os.environ.get(_CACHE):
        return Path(folder)
    import pooch

    return Path(pooch.os_cache("mlstream"))


@cache
def _entries() -> tuple[DatasetEntry, ...]:
    content = tomllib.loads(Path(__file__).with_name("registry.toml").read_text(encoding="utf-8"))
    return tuple(entry for record in content["dataset"] for entry in _read_entries(record, content))


def _read_entries(record: dict[str, Any], content: dict[str, Any]) -> Iterator[DatasetEntry]:
    """Read a table, and its parts after it."""
    labels = record.get("labels")
    entry = DatasetEntry(
        **{key: value for key, value in record.items() if key != "parts"}
        | {
            "files": tuple(_read_file(file, content["folders"]) for file in record["files"]),
            "labels": tuple(labels) if isinstance(labels, list) else labels,
            "licence": content["licences"][record["licence"]],
            "citation": content["citations"][record["citation"]],
        }
    )
    yield entry
    for part in record.get("parts", ()):
        rows = _read_file(part, content["folders"])
        yield replace(
            entry,
            name=f"{entry.name}-{part['part']}",
            n_samples=part.get("n_samples"),
            files=(rows, *(file for file in entry.files if file.names_labels)),
            part_of=entry.name,
        )


def _read_file(record: dict[str, Any], folders: dict[str, list[str]]) -> DataFile:
    # What an address sends is the file itself unless it is listed with a hash of its own.
    plain = {"sha256": record["sha256"], "n_bytes": record["n_bytes"]}
    urls = [folder + record["name"] for name in record.get("folders", ()) for folder in folders[name]]
    downloads = [*(plain | {"url": url} for url in urls), *record.get("downloads", ())]
    return DataFile(name=record["name"], **plain, downloads=tuple(Download(**download) for download in downloads))


def local_folder() -> Path | None:
    """Return the folder that MLSTREAM_DATA names, if the variable is set."""
    folder = os.environ.get(_FOLDER)
    return Path(folder) if folder else None


def describe_folder() -> str:
    """Describe the variable MLSTREAM_DATA, for errors."""
    return f"{_FOLDER}={os.environ[_FOLDER]}" if os.environ.get(_FOLDER) else f"no variable {_FOLDER}"


def _if_readable(folder: Path) -> Path | None:
    """Return a folder that this user may read: after `su`, the home is that of another user, who has the downloads."""
    return folder if os.access(folder, os.R_OK | os.X_OK, effective_ids=True) else None


def _folder_in_package(package: str) -> Path | None:
    name, _, folder = package.partition("/")
    # Finding a package does not import it.
    spec = find_spec(name)
    locations = (spec.submodule_search_locations if spec else None) or []
    return next((Path(location) / folder for location in locations), None)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Choice of tables by words, sizes and place."""

    text: str = ""  # Words that must all be in its name, domain, licence or citation, in any case.
    # Bounds, both included, of `n_samples`, `n_features` and `n_labels`; an unknown size is within no bound.
    sizes: Mapping[str, Bounds] = field(default_factory=dict)
    only_local: bool = False  # Only tables whose files are on this machine.
    with_parts: bool = False  # Also tables that hold a part of the rows of another.

    def find(self) -> list[tuple[DatasetEntry, tuple[Path, ...] | None]]:
        """List the tables, with the paths of their files, or None for those that are not on this machine.

        A ValueError is raised if there is no such table.
        """
        index = cache(index_folder)
        chosen = [(entry, entry.find(index)) for entry in list_datasets() if self._fits(entry)]
        found = [(entry, paths) for entry, paths in chosen if paths or not self.only_local]
        if not found:
            raise ValueError(self._refuse())
        return found

    def _fits(self, entry: DatasetEntry) -> bool:
        described = " ".join((entry.name, entry.domain, entry.licence, entry.citation)).casefold()
        return (
            (self.with_parts or not entry.part_of)
            and all(word in described for word in self.text.casefold().split())
            and all(_is_within(getattr(entry, size), bounds) for size, bounds in self.sizes.items())
        )

    def _refuse(self) -> str:
        hint = did_you_mean(self.text, [entry.name for entry in list_datasets()])
        wanted = f"{self.text!r} and the options" if self.text else "The options"
        parts = "" if self.with_parts else ", or add --parts for training and test parts"
        return f"{wanted} must fit at least one data set. Drop one{parts}. Got no data set{hint}"


def describe_dataset(entry: DatasetEntry, paths: tuple[Path, ...] | None) -> dict[str, object]:
    """Describe a table for programs, as JSON can hold it: sizes, terms, label rule, and files with their addresses.

    Sizes are None if unknown; the label rule is a number of columns, names, or the .xml that has them. The path of a
    file is None unless all files are on this machine.
    """
    headers = [file.name for file in entry.files if file.names_labels]
    places = [str(path) for path in paths] if paths else [None] * len(entry.files)
    files = [
        {
            "name": file.name,
            "sha256": file.sha256,
            "n_bytes": file.n_bytes,
            "urls": [download.url for download in file.downloads],
            "path": place,
        }
        for file, place in zip(entry.files, places, strict=True)
    ]
    terms = ("name", "part_of", "domain", "n_samples", "n_features", "n_labels", "table", "licence", "citation")
    return {term: getattr(entry, term) for term in terms} | {
        "labels": headers[0] if headers else entry.labels,
        "files": files,
    }


def _is_within(size: int | None, bounds: Bounds) -> bool:
    least, most = bounds
    if size is None:
        return least is None and most is None
    return (least is None or size >= least) and (most is None or size <= most)
