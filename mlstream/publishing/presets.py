"""The streams that this project publishes, whose cards are in ``data_cards/``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from mlstream._files import write_text_atomically
from mlstream.card_model import StreamCard, card_schema
from mlstream.cards.page import SCHEDULE, SIGNATURES, card_page
from mlstream.data.datasets import load_dataset
from mlstream.drawing.labels import label_svg
from mlstream.drawing.schedule import schedule_svg
from mlstream.generators import iirc_stream, multiplier_stream, stand_in_stream, task_stream
from mlstream.stream import Stream

SCHEMA = "stream-card.schema.json"

_TABLES = ("yeast", "scene", "slashdot", "reuters-k500", "20ng")
_SYNTHETIC = ("monolab", "bilab", "rand")
# Groups below one hierarchy of Usenet, as they are called in the table; alt, misc and soc have one group each.
_NEWSGROUPS = {
    "comp": ("graphics", "os_ms_windows_misc", "sys.ibm_pc_hardware", "sys.mac_hardware", "windows_x"),
    "rec": ("autos", "motorcycles", "sport.baseball", "sport.hockey"),
    "sci": ("crypt", "electronics", "med", "space"),
}
_TALK = ("politics.guns", "politics.mideast", "politics.pmisc", "religion.rmisc")


def list_presets() -> tuple[str, ...]:
    """List the names of the streams that this project publishes.

    Returns
    -------
    tuple of str
        Names for `make_preset`.

    Examples
    --------
    >>> list_presets()[0]
    'yeast-tasks'
    """
    return tuple(_makers())


def make_preset(name: str) -> Stream:
    """Make one of the streams that this project publishes.

    Parameters
    ----------
    name : str
        A name of `list_presets`.

    Returns
    -------
    Stream
        With seed 0 and default parameters.

    Raises
    ------
    ValueError
        If there is no such stream.
    FileNotFoundError
        If its table is not embedded and cannot be found; the message names the way to get it.
    """
    makers = _makers()
    if name not in makers:
        raise ValueError(f"name must be one of {', '.join(makers)}. Got {name!r} instead.")
    return makers[name]()


def write_cards(folder: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Write the cards of the published streams, as JSON and as pages, and the schema of cards.

    Streams whose table is not on this machine are left out.

    Parameters
    ----------
    folder : path
        An existing folder; cards in it are replaced.

    Yields
    ------
    name, outcome : str
        A stream, and "written" or why it was left out.
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
    """Return the texts of the files that show a card: JSON, the page, and its pictures.

    Parameters
    ----------
    card : StreamCard
        The card.
    name : str
        Start of the names of the files.

    Returns
    -------
    dict of str to str
        File name -> text.
    """
    return {
        f"{name}.card.json": card.model_dump_json(indent=1) + "\n",
        f"{name}.md": card_page(card, prefix=f"{name}."),
        f"{name}.{SIGNATURES}": label_svg(card),
        f"{name}.{SCHEDULE}": schedule_svg(card),
    }


def _makers() -> Mapping[str, Callable[[], Stream]]:
    tables = {f"{table}-tasks": partial(_from_table, table) for table in _TABLES}
    synthetic = {f"synthetic-{matrix}": partial(multiplier_stream, matrix, seed=0) for matrix in _SYNTHETIC}
    refined = {"20ng-iirc": _refine_newsgroups, "imclef07a-iirc": _refine_radiographs}
    return tables | synthetic | refined | {"mediamill-stand-in": stand_in_stream}


def _from_table(table: str) -> Stream:
    return task_stream(load_dataset(table), seed=0)


def _refine_newsgroups() -> Stream:
    """Introduce comp, rec, sci and talk before their newsgroups."""
    parents = {f"{top}.{group}": top for top, groups in _NEWSGROUPS.items() for group in groups}
    parents |= dict.fromkeys(_TALK, "talk")
    return iirc_stream(load_dataset("20ng"), seed=0, hierarchy=parents, add_superclasses=True, labels_per_task=4)


def _refine_radiographs() -> Stream:
    """Introduce the classes of the three levels of a tree from the root down."""
    return iirc_stream(load_dataset("imclef07a"), seed=0, labels_per_task=12)
