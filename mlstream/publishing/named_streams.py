"""Streams by what a user types: a file, a published folder, or the name of a stream that this project publishes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from mlstream._support.files import did_you_mean_file, ends_as_folder, nearest_first, require_plain
from mlstream.data.registry import list_datasets, warn_if_shadowed
from mlstream.formats.io import find_stream, load
from mlstream.publishing.presets import list_presets, make_preset
from mlstream.streams.stream import Stream

StreamLike: TypeAlias = Stream | str | os.PathLike[str]


def as_stream(source: StreamLike) -> Stream:
    """Return the stream that a user means: a Stream as it is, or whatever `open_named` loads for a name or a path.

    Anything else, such as a table, raises a TypeError.
    """
    if isinstance(source, Stream):
        return source
    if isinstance(source, str):
        return open_named(source)
    if isinstance(source, os.PathLike):
        # A bare name is that of a published stream, a path never is.
        return open_named(str(Path(source).absolute()))
    raise TypeError(
        "stream must be a Stream, its file or published folder, or the name of a stream. "
        f"Got {type(source).__name__} instead; task_stream makes a stream of a table."
    )


def open_named(name: str, folder: str | os.PathLike[str] = ".") -> Stream:
    """Load a stream from a file or a folder that holds one, or generate one that this project publishes.

    A bare name means the published stream, and warns if a file or folder has the same name: ``./yeast-tasks`` is the
    path. `folder` is where relative paths start. X and Y of an NPZ file stay in it, read-only: the file is checked in
    constant memory, and must not be written to meanwhile; to replace it is harmless. Raises FileNotFoundError, which
    names the nearest name, or ValueError if the file does not hold a stream.
    """
    if name in list_presets():
        warn_if_shadowed(name, "stream", folder)
        return make_preset(name)
    path = Path(folder) / name
    is_folder = path.is_dir()
    path = find_stream(path) if is_folder else path
    if path.is_file() and (is_folder or not ends_as_folder(name)):
        return load(path, mmap=path.suffix.lower() == ".npz", check=True)
    if not path.is_dir():
        require_plain(path)
    raise FileNotFoundError(
        f"A stream must be a file, a published folder, or one of {nearest_first(name, list_presets())}. "
        f"Got {name!r} instead{_way_out(name, path)}"
    )


def _way_out(name: str, path: Path) -> str:
    if any(name == entry.name for entry in list_datasets()):
        return f", a data set; `mlstream generate {name} -o {name}.npz` makes a stream of it."
    return did_you_mean_file(path, [*list_presets(), *(entry.name for entry in list_datasets())])
