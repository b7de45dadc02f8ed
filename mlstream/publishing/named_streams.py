"""Streams by what a user types: a file, a published folder, or the name of a stream that this project publishes."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from mlstream.data.registry import warn_if_shadowed
from mlstream.formats import load
from mlstream.publishing.presets import list_presets, make_preset
from mlstream.stream import Stream


def open_named(name: str, folder: str | os.PathLike[str] = ".") -> Stream:
    """Load a stream from a file or a published folder, or generate one that this project publishes.

    Parameters
    ----------
    name : str
        A name of `mlstream.publishing.presets.list_presets`, or a path. A bare name is that of the published stream,
        also where a file or folder has the same: ``./yeast-tasks`` is the path.
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

    Warns
    -----
    UserWarning
        If the name of a published stream is also that of a file or folder.
    """
    if name in list_presets():
        warn_if_shadowed(name, "stream", folder)
        return make_preset(name)
    path = Path(folder) / name
    if path.is_dir():
        path = path / "stream.npz"
    if path.is_file():
        return load(path)
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(Path(name).name, [*list_presets(), *beside], n=1)
    hint, names = f"; did you mean {near[0]!r}?" if near else ".", ", ".join(list_presets())
    raise FileNotFoundError(
        f"A stream must be a file, a published folder, or one of {names}. Got {name!r} instead{hint}"
    )
