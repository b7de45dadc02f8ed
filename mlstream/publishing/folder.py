"""A folder for others: complete and verified, or absent."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from scipy import sparse

from mlstream._support.files import atomic_folder, is_plain, open_plain, sha256_of, write_text_atomically
from mlstream.cards.archives import card_datacite, card_zenodo
from mlstream.cards.citation import card_citation
from mlstream.cards.croissant import card_croissant
from mlstream.cards.description import hash_data, measure
from mlstream.cards.front_matter import PARQUET
from mlstream.cards.openml import card_openml
from mlstream.cards.page import SCHEDULE, SIGNATURES, card_page
from mlstream.cards.terms import (
    StreamTerms,
    describe_doubt,
    describe_missing,
    describe_missing_about,
    stated_terms,
    with_terms,
)
from mlstream.formats import load, save
from mlstream.formats.key_files import keys_path
from mlstream.formats.parquet_rows import StreamRows
from mlstream.formats.table_io import card_path, describe_file, evaluation_path
from mlstream.generators import remake
from mlstream.plotting.labels import label_svg
from mlstream.plotting.schedule import schedule_svg
from mlstream.publishing.presets import list_presets, make_preset
from mlstream.publishing.source_tables import (
    describe_dropped_keys,
    find_table,
    have_same_keys,
    require_own_table,
    without_folders,
    without_keys,
)
from mlstream.streams.card_model import FileCard, StreamCard, card_schema, load_card
from mlstream.streams.stream import Stream
from mlstream.streams.tables.mulan import format_labels

_LOG = logging.getLogger("mlstream")

NPZ = "stream.npz"
ARFF = "stream.arff"
EVALUATION = evaluation_path(Path(ARFF)).name
LABELS = "stream.xml"
CARD = card_path(Path(ARFF)).name
PAGE = "README.md"
SCHEMA = "stream-card.schema.json"
CROISSANT = "croissant.json"
OPENML = "openml.xml"
CITATION = "CITATION.cff"
DATACITE = "datacite.json"
ZENODO = ".zenodo.json"
SUMS = "SHA256SUMS"

_ROWS, _COLUMNS = (tuple(files.values()) for files in PARQUET.values())
_KEYS = tuple(keys_path(Path(name)).name for name in (ARFF, EVALUATION))
_DATA = (NPZ, *_ROWS, *_COLUMNS, ARFF, EVALUATION, *_KEYS, LABELS)
# Files of which a folder holds all or none: earlier versions wrote neither Parquet nor metadata of archives, columns
# are for small sparse streams, and `arff` and keys are choices.
_PLAIN = (ARFF, EVALUATION, LABELS, OPENML)
_GROUPS = (_ROWS, _COLUMNS, _PLAIN, _KEYS, (DATACITE, ZENODO))
# The largest sparse stream that is written as columns, too.
_MAX_COLUMNS, _MAX_CELLS = 2_000, 20_000_000
_TEXTS = (PAGE, SIGNATURES, SCHEDULE, SCHEMA, CROISSANT, OPENML, CITATION, DATACITE, ZENODO)
_LISTED = (*_DATA, CARD, *_TEXTS)
# Far more than the files of a folder need, far less than memory.
_MAX_SUMS_BYTES = 2**20
_MAX_NAMED = 5
_SUM = re.compile(r"([0-9a-f]{64})  ([^/\\]+)")


def publish(
    stream: Stream,
    folder: str | os.PathLike[str],
    *,
    arff: bool = True,
    force: bool = False,
    keep_keys: bool = False,
    **terms: Unpack[StreamTerms],
) -> Path:
    """Write a stream as a folder for others; the folder appears when it is complete and verified, or not at all.

    The folder is ready for a hub of data sets or an archive: all that it states follows from the card and the data.

    Parameters
    ----------
    stream : Stream
        The stream.
    folder : path
        The folder to make, in one that exists.
    arff : bool
        Also write plain rows, as ARFF. Without them, the folder of a stream that lies in a file is written and verified
        in constant memory, and a fraction of the time.
    force : bool
        Replace a published folder that is there, in one step: at any moment the old one or the new one is there. It
        must hold a card and nothing that `publish` does not write; whatever else is in it is listed, and nothing is
        replaced.
    keep_keys : bool
        Publish the keys of rows, such as hosts or people, which are left out by default: they are personal data. The
        card states that they were.
    **terms
        Name, title, description, licence, citation, creators, homepage, published and about, as for `with_terms`: they
        complete or replace what the stream states.

    Returns
    -------
    Path
        The folder. It holds ``stream.npz``; ``stream.train.parquet`` and ``stream.test.parquet``, which hubs and the
        library `datasets` load (and for a sparse stream of at most 2,000 columns and 20 million cells
        ``columns.train.parquet`` and ``columns.test.parquet``); ``stream.arff`` and ``stream.evaluation.arff`` with
        ``stream.xml`` (their labels, for MULAN) and, if they are kept, keys in ``stream.keys.csv`` and
        ``stream.evaluation.keys.csv``; the card as ``stream.card.json`` with its JSON Schema, as the page
        ``README.md`` with its pictures, and as ``croissant.json``, ``openml.xml``, ``datacite.json`` and
        ``.zenodo.json``; ``CITATION.cff``; and ``SHA256SUMS``. The same stream gives the same bytes, under the same
        version of pyarrow. Without ARFF there are neither ``stream.xml`` nor ``openml.xml``, which are about it.

    Raises
    ------
    FileExistsError
        If `folder` exists and `force` is not set, or it is not a published folder or holds anything else.
    OSError
        If it cannot be written, or this system cannot replace it in one step.
    ValueError
        If a term is too long, or is not of its form.

    Warns
    -----
    UserWarning
        If nobody states the licence, or other terms that those who would use the stream need; if `about` lacks what
        conferences ask for; if the licence is nearly an SPDX identifier; or if keys are left out.
    """
    folder = Path(folder)
    if force:
        _require_replaceable(folder)
    elif os.path.lexists(folder):
        raise FileExistsError(f"{folder} must not exist yet: --force replaces a published folder.")
    dropped = () if keep_keys else stream.key_names
    stream = stream if keep_keys else without_keys(stream)
    stream = with_terms(stream.with_card(without_folders(stream.card)), **terms)
    with atomic_folder(folder, replace=force) as temporary:
        _write(stream, temporary, arff=arff)
        verify(temporary)
        if force:
            # Something may have been put there meanwhile.
            _require_replaceable(folder)
    _LOG.info("Published %s in %s, read again and compared", stream.card.name, folder)
    # A licence that is stated in this call has been looked at.
    doubt = "" if "licence" in terms else describe_doubt(stated_terms(stream.card).licence)
    left_out = describe_dropped_keys(dropped)
    for advice in filter(None, (left_out, describe_missing(stream.card), describe_missing_about(stream.card), doubt)):
        warnings.warn(advice, stacklevel=2)
    return folder


def verify(folder: str | os.PathLike[str]) -> StreamCard:
    """Read a published folder again, and compare files with hashes, data with the card, and formats with each other.

    Parameters
    ----------
    folder : path
        The folder.

    Returns
    -------
    StreamCard
        Its card.

    Raises
    ------
    ValueError
        If a file is missing, changed or not listed, the arrays are not as the card describes them, or the Parquet or
        ARFF files, where there are any, and the NPZ file differ. The message lists all that differs.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} must be a published folder. Got no folder there.")
    # What the files hold can be compared only once they are the files that were written.
    found = list(_compare_files(folder)) or list(_compare_contents(folder))
    if found:
        raise ValueError(f"{folder} must be as it was published. Got: {'; '.join(found)}.")
    return load_card(folder / CARD)


def regenerate(card: StreamCard, *, table: str | os.PathLike[str] | None = None) -> Stream:
    """Make a stream again from its card, and the table that it was made from.

    Parameters
    ----------
    card : StreamCard
        The card.
    table : path, optional
        The file of the table, under any name, packed or not. By default, a registered table is found by its name, and
        any other by the name of its file: in the working directory, or below the folder that the variable MLSTREAM_DATA
        names.

    Returns
    -------
    Stream
        The same stream: its data have the hash that the card states.

    Raises
    ------
    ValueError
        If the generator is unknown here, the table is not the one whose hash is on the card, or the data come out
        differently (other versions of NumPy or scikit-learn may cause that).
    FileNotFoundError
        If the table is not found.

    Examples
    --------
    >>> from mlstream import task_stream
    >>> card = task_stream("yeast", seed=1).card
    >>> regenerate(card).card == card
    True
    """
    if table is not None:
        require_own_table(card.source)
    try:
        stream = remake(card.generator, lambda: find_table(card.source, table))
    except (TypeError, KeyError) as error:
        raise ValueError(
            f"The parameters on the card must be those of {card.generator.name}. Got: {error}. "
            f"The card was made by mlstream {card.versions.get('mlstream', '(unknown)')}; install that version."
        ) from error
    if stream.card.data_sha256 != card.data_sha256:
        changed = ", ".join(_changed_versions(card, stream.card)) or "no version changed"
        raise ValueError(
            f"The regenerated data must have the hash on the card, {card.data_sha256}. "
            f"Got {stream.card.data_sha256} ({changed})."
        )
    stream = stream if card.keys else without_keys(stream)
    # They are the publisher's, who may also have renamed the stream.
    return stream.with_card(stream.card.model_copy(update={"name": card.name, "terms": card.terms}))


def write_cards(folder: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Write the cards of the published streams, as JSON and as pages, and the schema of cards, into an existing folder.

    Streams whose table is not on this machine are left out. Yields each name with "written", or why it was left out.
    """
    write_text_atomically(Path(folder) / SCHEMA, card_schema())
    for name in list_presets():
        try:
            card = make_preset(name).card
        except FileNotFoundError as error:
            yield name, f"left out: {error}"
            continue
        for file, text in card_files(card, name).items():
            write_text_atomically(Path(folder) / file, text)
        yield name, "written"


def card_files(card: StreamCard, name: str) -> dict[str, str]:
    """Return the texts of the files that show a card, by file name: JSON, the page, and its pictures."""
    return {
        f"{name}.card.json": card.model_dump_json(indent=1) + "\n",
        f"{name}.md": card_page(card, prefix=f"{name}."),
        f"{name}.{SIGNATURES}": label_svg(card),
        f"{name}.{SCHEDULE}": schedule_svg(card),
    }


def _require_replaceable(folder: Path) -> None:
    """Refuse to replace anything that `publish` did not write."""
    if not os.path.lexists(folder):
        return
    rule = f"{folder} must be a published folder to be replaced"
    if folder.is_symlink() or not folder.is_dir():
        raise FileExistsError(f"{rule}. Got a link or a file; remove it first.")
    present = sorted(folder.iterdir())
    strange = [path for path in present if path.name not in {*_LISTED, SUMS} or not is_plain(path)]
    if strange:
        more = f" and {len(strange) - _MAX_NAMED} more" if len(strange) > _MAX_NAMED else ""
        got = ", ".join(repr(path.name) for path in strange[:_MAX_NAMED])
        raise FileExistsError(f"{rule}, and hold nothing else. Got {got}{more}; move them elsewhere first.")
    try:
        load_card(folder / CARD)
    except (OSError, ValueError):
        raise FileExistsError(
            f"{rule}, with a valid {CARD} in it. Got no valid card; remove the folder first."
        ) from None


def _write(stream: Stream, folder: Path, *, arff: bool) -> None:
    save(stream, folder / NPZ)
    rows = StreamRows(stream)
    rows.write(*(folder / name for name in _ROWS))
    if _fits_columns(stream):
        StreamRows(stream, as_columns=True).write(*(folder / name for name in _COLUMNS))
    card = stream.card.model_copy(update={"rows": rows.layout})
    if arff:
        save(stream, folder / ARFF)
        card = load_card(folder / CARD)
        write_text_atomically(folder / LABELS, format_labels(card.label_names, card.label_parents))
    card = card.model_copy(update={"files": _describe_data(folder)})
    write_text_atomically(folder / CARD, card.model_dump_json(indent=1))
    for name, text in _write_texts(card).items():
        if arff or name not in _PLAIN:
            write_text_atomically(folder / name, text)
    names = sorted(path.name for path in folder.iterdir())
    write_text_atomically(folder / SUMS, "".join(f"{sha256_of(folder / name)}  {name}\n" for name in names))


def _fits_columns(stream: Stream) -> bool:
    """Return whether a stream is sparse and small enough for Parquet files with a column per label and feature."""
    X = stream.experiences[0].X
    width, n_rows = stream.n_features + stream.n_labels, stream.n_samples + sum(map(len, stream.evaluation_sets))
    is_small = width <= _MAX_COLUMNS and width * n_rows <= _MAX_CELLS
    return sparse.issparse(X) and is_small


def _describe_data(folder: Path) -> list[FileCard]:
    return [describe_file(folder / name, name) for name in _DATA if (folder / name).is_file()]


def _write_texts(card: StreamCard) -> dict[str, str]:
    return {
        PAGE: card_page(card),
        SIGNATURES: label_svg(card),
        SCHEDULE: schedule_svg(card),
        SCHEMA: card_schema(),
        CROISSANT: card_croissant(card),
        OPENML: card_openml(card),
        CITATION: card_citation(card),
        DATACITE: card_datacite(card),
        ZENODO: card_zenodo(card),
    }


def _compare_files(folder: Path) -> Iterator[str]:
    present = {path.name for path in folder.iterdir()}
    if not is_plain(folder / SUMS):
        yield f"{SUMS} is {'not a plain file' if SUMS in present else 'missing'}"
        return
    with open_plain(folder / SUMS) as file:
        lines = file.read(_MAX_SUMS_BYTES).decode("utf-8", "replace").splitlines()
    sums = {match.group(2): match.group(1) for match in map(_SUM.fullmatch, lines) if match}
    if len(sums) < len(lines):
        yield f"{SUMS} holds a line that is not a hash and a name"
    left_out = {name for group in _GROUPS if (sums.keys() | present).isdisjoint(group) for name in group}
    for name in sorted({*sums, *_LISTED} - left_out | present - {SUMS}):
        if name not in present:
            yield f"{name} is missing"
        elif name not in sums:
            yield f"{name} is not listed in {SUMS}"
        elif not is_plain(folder / name):
            yield f"{name} is not a plain file"
        elif sha256_of(folder / name) != sums[name]:
            yield f"{name} has changed"


def _compare_contents(folder: Path) -> Iterator[str]:
    try:
        card, stream = load_card(folder / CARD), load(folder / NPZ, mmap=True, check=True)
        plain = load(folder / ARFF) if (folder / ARFF).is_file() else None
    except ValueError as error:
        yield str(error).removesuffix(".")
        return
    if card.files != _describe_data(folder):
        yield f"{CARD} lists other files"
    if stream.card != card.model_copy(update={"files": [], "rows": None}):
        yield f"the card in {NPZ} is not {CARD}"
    for field, value in measure(stream, shared_rows=card.scenario.shared_rows)._asdict().items():
        # Cards of older versions lack some measures.
        if getattr(card, field) is not None and getattr(card, field) != value:
            yield f"{field} on the card are not those of {NPZ}"
    if plain is not None:
        yield from _compare_arff(plain, stream)
    yield from _compare_parquet(folder, stream)


def _compare_arff(plain: Stream, stream: Stream) -> Iterator[str]:
    if hash_data(plain) != stream.card.data_sha256:
        yield f"the data in {ARFF} are not those on the card"
    if not have_same_keys(plain, stream):
        yield f"the keys beside {ARFF} are not those of {NPZ}"


def _compare_parquet(folder: Path, stream: Stream) -> Iterator[str]:
    for names, as_columns in ((_ROWS, False), (_COLUMNS, True)):
        train, test = (folder / name for name in names)
        if train.is_file() and not StreamRows(stream, as_columns=as_columns).are_in(train, test):
            yield f"the rows in {train.name} and {test.name} are not those of {NPZ}"


def _changed_versions(old: StreamCard, new: StreamCard) -> Iterator[str]:
    for package in sorted(old.versions.keys() | new.versions.keys()):
        before, now = old.versions.get(package, "none"), new.versions.get(package, "none")
        if before != now:
            yield f"{package} {before} then, {now} now"
