"""Snapshots: a learner in one file that holds no code, and says which software wrote it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from zipfile import BadZipFile, ZipFile

from estimators._typing import Attributes
from estimators.contract.lazy import needing
from mlstream._support.files import atomic_path
from mlstream._support.version import __version__

with needing("A snapshot"):
    import skops.io

if TYPE_CHECKING:
    from collections.abc import Iterator

# a learner, or what holds it
Learner: TypeAlias = Any

# of how objects lie in the file; a change of it, or of what learners keep, raises it or the version of mlstream
SCHEMA = 1
_FACTS = "snapshot.json"
_OURS = ("estimators", "mlstream.service")


def save_snapshot(
    path: str | os.PathLike[str],
    served: Learner,
    *,
    notes: Mapping[str, object] | None = None,
    replace: bool = True,
) -> None:
    """Save a learner, or a buffer with its learner, to a file that is complete or absent whenever the process dies.

    Parameters
    ----------
    path : path-like
        The file. Its folder must exist.
    served : object
        A learner of `estimators`, a `FeedbackBuffer` or a `Shadow`.
    notes : mapping, optional
        Values of JSON to keep with it, which `read_snapshot_facts` returns.
    replace : bool
        Whether a file that is there is replaced.

    Raises
    ------
    TypeError
        If the learner holds what no file of skops can: models of River, the label sets of `LabelCombination`, or ids
        that are neither numbers nor texts.
    FileExistsError
        If the file is there, and stays.

    See Also
    --------
    load_snapshot : Load it.

    Notes
    -----
    A ZIP archive as skops writes it, with one JSON file more: the version of the schema, those of the software, the
    class, and the features and labels that the learner knows. A learner that is loaded goes on exactly.

    Examples
    --------
    >>> import tempfile
    >>> from estimators import OnlineLogisticRegression
    >>> from mlstream.service import load_snapshot, read_snapshot_facts, save_snapshot
    >>> learner = OnlineLogisticRegression().begin([[0.0, 0.0]], [[0, 0]], classes=["scan", "worm"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_snapshot(f"{folder}/learner.skops", learner)
    ...     read_snapshot_facts(f"{folder}/learner.skops")["labels"]
    ...     load_snapshot(f"{folder}/learner.skops")
    ['scan', 'worm']
    OnlineLogisticRegression()
    """
    text = json.dumps({**_facts(served), "notes": dict(notes or {})}, indent=1)
    with atomic_path(path, replace=replace) as temporary:
        _dump(served, temporary)
        with ZipFile(temporary, "a") as archive:
            archive.writestr(_FACTS, text)


def load_snapshot(path: str | os.PathLike[str], *, trusted: Iterable[str] = ()) -> Learner:
    """Load what `save_snapshot` has saved.

    Nothing in the file is executed. It may hold classes of `estimators` and of this module, those of NumPy, SciPy and
    scikit-learn that skops trusts, and those that you name.

    Parameters
    ----------
    path : path-like
        The file.
    trusted : iterable of str
        Other classes, such as ``"lightgbm.sklearn.LGBMClassifier"``.

    Returns
    -------
    object
        A learner, buffer or shadow, which goes on where it was saved.

    Raises
    ------
    ValueError
        If the file is not a snapshot, is damaged, holds other classes, or was written with another schema or by another
        minor version of mlstream, whose learners may keep something else. The error says how to go on.

    Notes
    -----
    Other versions of NumPy, SciPy and Python load it; the last bits of what is learnt afterwards may then differ.
    scikit-learn warns where an estimator of its own was made by another version.
    """
    facts = read_snapshot_facts(path)
    _require_same_version(path, facts)
    with _refusing(path):
        found = skops.io.get_untrusted_types(file=path)
        own = [name for name in found if _is_ours(name)]
        if others := sorted(set(found) - set(own) - set(trusted)):
            raise ValueError(
                f"{os.fspath(path)} must hold classes of ours, or trusted ones. Got {', '.join(others)} too; "
                f"trusted={others!r} takes them, if you know who wrote the file."
            )
        return skops.io.load(path, trusted=[*own, *trusted])


def read_snapshot_facts(path: str | os.PathLike[str]) -> Attributes:
    """Read what a snapshot says of itself; any version can be asked.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict
        ``schema`` (int), ``software`` (versions by name), ``holds`` (name of the class), ``features`` (names, or their
        number), ``labels`` (names, or their number), and ``notes``.

    Raises
    ------
    ValueError
        If the file is not a snapshot.
    """
    with _refusing(path), ZipFile(path) as archive:
        facts = json.loads(archive.read(_FACTS))
        if not isinstance(facts["schema"], int) or not isinstance(facts["software"]["mlstream"], str):
            raise TypeError("versions must be a number and a text")
        return dict(facts)


def _facts(served: Learner) -> Attributes:
    learner = served
    while hasattr(learner, "learner") or hasattr(learner, "champion_"):
        learner = learner.champion_ if hasattr(learner, "champion_") else learner.learner
    names = getattr(learner, "feature_names_in_", None)
    labels = getattr(learner, "label_names_", None)
    return {
        "schema": SCHEMA,
        "software": {
            "mlstream": __version__,
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
            "python": platform.python_version(),
        },
        "holds": type(served).__name__,
        "features": getattr(learner, "n_features_in_", None) if names is None else [str(name) for name in names],
        "labels": getattr(learner, "n_labels_", None) if labels is None else [str(name) for name in labels],
    }


def _dump(served: Learner, path: Path) -> None:
    try:
        skops.io.dump(served, path)
    except (TypeError, AttributeError, ValueError, skops.io.exceptions.UnsupportedTypeException) as error:
        raise TypeError(
            f"{type(served).__name__} must hold what a file without code can. Got an error of skops instead: {error}. "
            "Take another learner, and ids that are numbers or texts."
        ) from error


def _require_same_version(path: str | os.PathLike[str], facts: Attributes) -> None:
    """Refuse a snapshot whose learner may keep something else than learners of this version do."""
    written = facts["software"]["mlstream"]
    if facts["schema"] == SCHEMA and written.split(".")[:2] == __version__.split(".")[:2]:
        return
    raise ValueError(
        f"{os.fspath(path)} must be of schema {SCHEMA} and mlstream {__version__}. Got schema {facts['schema']} of "
        f"mlstream {written}. Load it where that version is installed (pip install mlstream-toolkit=={written}); or "
        "let a new learner learn the journals that were kept: DurableBuffer(folder, start, relearn=True)."
    )


def _is_ours(name: str) -> bool:
    """Tell whether a name is that of a class that one of our modules defines, not of one that it imports."""
    module, _, qualified = name.rpartition(".")
    if not any(module == home or module.startswith(f"{home}.") for home in _OURS):
        return False
    try:
        found = getattr(import_module(module), qualified, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module


@contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the many errors of a file that is not a snapshot, or a damaged one, into one that names it."""
    try:
        yield
    except (BadZipFile, KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{os.fspath(path)} must be a snapshot of `save_snapshot`. Got a file that is something else, or damaged "
            f"({type(error).__name__}: {error}); restore it from a backup."
        ) from error
