"""Streams by what a user types: a file, a published folder, or the name of a stream that this project publishes."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from mlstream.formats import load
from mlstream.publishing.presets import list_presets, make_preset
from mlstream.stream import Stream

StreamLike: TypeAlias = Stream | str | os.PathLike[str]


def as_stream(source: StreamLike) -> Stream:
    """Return the stream that a user means.

    Parameters
    ----------
    source : Stream, str or path
        A Stream, which is returned as it is; or for `open_named` a file, a published folder, or a name.

    Returns
    -------
    Stream
        The stream.

    Raises
    ------
    TypeError
        If `source` is something else, such as a table.
    FileNotFoundError
        If there is no such file or name.
    """
    if isinstance(source, Stream):
        return source
    if isinstance(source, str | os.PathLike):
        return open_named(os.fspath(source))
    raise TypeError(
        "stream must be a Stream, its file or published folder, or the name of a stream. "
        f"Got {type(source).__name__} instead; task_stream makes a stream of a table."
    )


def open_named(name: str, folder: str | os.PathLike[str] = ".") -> Stream:
    """Load a stream from a file or a published folder, or generate one that this project publishes.

    Parameters
    ----------
    name : str
        A path, or a name of `mlstream.publishing.presets.list_presets`.
    folder : path
        Folder that relative paths start from.

    Returns
    -------
    Stream
        The stream.

    Raises
    ------
    FileNotFoundError
        If it is neither a path nor a name; the message names the nearest.
    ValueError
        If the file does not hold a stream.
    """
    path = Path(folder) / name
    if path.is_dir():
        path = path / "stream.npz"
    if path.is_file():
        return load(path)
    if name in list_presets():
        return make_preset(name)
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(Path(name).name, [*list_presets(), *beside], n=1)
    hint, names = f"; did you mean {near[0]!r}?" if near else ".", ", ".join(list_presets())
    raise FileNotFoundError(
        f"A stream must be a file, a published folder, or one of {names}. Got {name!r} instead{hint}"
    )
