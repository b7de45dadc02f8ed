"""The registered tables that somebody looks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mlstream._support.files import did_you_mean
from mlstream.data.registry import DatasetEntry, index_folder, list_datasets

Bounds = tuple[int | None, int | None]


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
