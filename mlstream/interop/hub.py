"""Hubs of data sets: upload of a published folder, with the extra ``hub``, and streams from what `datasets` loads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estimators.contract.lazy import needing
from mlstream.cards.description import hash_data
from mlstream.formats.parquet_stream import restore_rows
from mlstream.publishing.folder import verify
from mlstream.streams.card_model import StreamCard, load_card
from mlstream.streams.stream import Stream

if TYPE_CHECKING:
    import pyarrow as pa


# The hub writes it itself, and needs it.
_HUB_FILES = {".gitattributes"}


def upload(
    folder: str | os.PathLike[str],
    repository: str,
    *,
    endpoint: str | None = None,
    token: str | None = None,
    private: bool = True,
) -> str:
    """Upload a published folder to a hub of data sets with the interface of the Hugging Face Hub.

    Parameters
    ----------
    folder : path
        The folder; it is verified first.
    repository : str
        ``OWNER/NAME``; made if it does not exist.
    endpoint : str, optional
        Address of the hub; by default the variable HF_ENDPOINT, or huggingface.co.
    token : str, optional
        Permission to write there; by default that of ``hf auth login``, or the variable HF_TOKEN.
    private : bool
        Whether a repository that is made is visible to its owner only.

    Returns
    -------
    str
        Address of the commit. It holds the files of the folder and no other: one commit replaces all, so that the hub
        shows the old files or the new ones.

    Raises
    ------
    ValueError
        If the folder is not as it was published, or `repository` is not a valid name.
    ImportError
        If the extra is not installed.
    OSError
        If the hub cannot be reached or refuses; its files are then unchanged.
    """
    folder = Path(folder)
    card = verify(folder)
    with needing("Uploading"):
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    api = HfApi(endpoint=endpoint, token=token, library_name="mlstream")
    # Its library would take ~ at the beginning of a relative path for the user's home.
    place, names = folder.absolute(), sorted(path.name for path in folder.iterdir())
    with _hub_errors(api.endpoint):
        api.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        gone = {*api.list_repo_files(repository, repo_type="dataset")} - {*names} - _HUB_FILES
        commit = api.create_commit(
            repository,
            [
                *(CommitOperationAdd(path_in_repo=name, path_or_fileobj=place / name) for name in names),
                *(CommitOperationDelete(path_in_repo=name, is_folder=False) for name in sorted(gone)),
            ],
            repo_type="dataset",
            commit_message=f"Publish {card.name}, data {card.data_sha256[:12]}",
        )
    return str(commit.commit_url)


@contextmanager
def _hub_errors(endpoint: str) -> Iterator[None]:
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        # What its library raises depends on the transport that it uses, which changes with its versions.
        raise OSError(f"The hub at {endpoint} must accept the upload. Got {_describe(error)}") from error


def _describe(error: BaseException) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return text if error.__cause__ is None else f"{text} ({_describe(error.__cause__)})"


def from_datasets(rows: Mapping[str, Any], card: StreamCard | str | os.PathLike[str]) -> Stream:
    """Make a stream of the rows that ``datasets.load_dataset(FOLDER)`` returns.

    Parameters
    ----------
    rows : mapping of str to datasets.Dataset
        All rows of the configuration ``default`` in their order: those to learn from are ``train``, those of the
        evaluation sets ``test``.
    card : StreamCard or path
        The card of the folder, or its file, ``stream.card.json``.

    Returns
    -------
    Stream
        The stream that was published, array by array and type by type.

    Raises
    ------
    ValueError
        If rows are missing or in another order, or the card is that of another folder.
    TypeError
        If `rows` holds no splits, or streams them.
    """
    if not isinstance(rows, Mapping) or not hasattr(rows.get("train"), "num_rows"):
        rule = "rows must be what datasets.load_dataset returns without `split` and `streaming`"
        raise TypeError(f"{rule}. Got {type(rows).__name__}.")
    card = card if isinstance(card, StreamCard) else load_card(card)
    stream = restore_rows(_to_arrow(rows, "train"), _to_arrow(rows, "test"), card)
    if hash_data(stream) != card.data_sha256:
        raise ValueError("rows must be all that were published, in their order. Got others, or another order.")
    return stream


def _to_arrow(rows: Mapping[str, Any], split: str) -> pa.Table:
    if split in rows:
        return rows[split].with_format("arrow")[:]
    # The library has no splits without rows.
    return rows["train"].with_format("arrow")[:0]
