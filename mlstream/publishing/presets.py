"""The streams that this project publishes, whose cards are in ``data_cards/``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from mlstream._files import write_text_atomically
from mlstream.card_model import StreamCard, card_schema
from mlstream.cards.page import SCHEDULE, SIGNATURES, card_page
from mlstream.data.datasets import load_registered
from mlstream.generators import iirc_stream, multiplier_stream, stand_in_stream, task_stream
from mlstream.plotting.labels import label_svg
from mlstream.plotting.schedule import schedule_svg
from mlstream.stream import Stream

SCHEMA = "stream-card.schema.json"

_TABLES = ("yeast", "scene", "slashdot", "reuters-k500", "20ng")
_SYNTHETIC = ("monolab", "bilab", "rand")
# Hash of the data of each, which is on its card: it tells other streams of the name apart without making one.
_DATA_SHA256 = {
    "yeast-tasks": "74d398a901e2491da8cc83c0f2bd4d429bfb02a01e2e217d676f0ad6a6e77636",
    "scene-tasks": "eadca67f6506b4d46177b7d025412fe31128e967f04230f4f4454b940f8b9f12",
    "slashdot-tasks": "928b5b402aa9f35df966fc63e1ff1867c76096daf1299a5e0193acc149b31ea8",
    "reuters-k500-tasks": "d166975682eff9e45a3d33defce4a2e93002cdac4e4264d24633dc60c9ba463d",
    "20ng-tasks": "82f4174c5478c2f618a95d95c697e158e6bd1bcfee485555134b7055ae2a9309",
    "synthetic-monolab": "d95a9dc820ab6d7940bf9a761ead2db36b06f7589f9eb30a7690d3950f08114e",
    "synthetic-bilab": "dd8af2400f228e8a79af96278ce8b4edb3c6791e61b39b3e171382fdf3e8c72d",
    "synthetic-rand": "af14d61eff2e4b7febc9f99024cfaae84b73d2386f8428f9ff456df2f7d68923",
    "20ng-iirc": "22fdad2ae7f29f93a20f8f77d7a42bcbe563fea965ec24333a8d36e431f86847",
    "imclef07a-iirc": "ca25e36c071f058d19c0d7f24128382b78963757138a723792e30e0860fe108a",
    "mediamill-stand-in": "aa21b72a6bd3cdce367f67aa1c75954c2f1e7b1dad9550bb86f12fdebc41ebfd",
}
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


def warn_of_other_data(cards: Iterable[StreamCard]) -> None:
    """Warn of streams that have the name of one that this project publishes, and other data.

    Parameters
    ----------
    cards : iterable of StreamCard
        Cards of the streams.

    Warns
    -----
    UserWarning
        Once, with the names of all of them.
    """
    other = dict.fromkeys(
        card.name for card in cards if _DATA_SHA256.get(card.name, card.data_sha256) != card.data_sha256
    )
    if other:
        warnings.warn(
            f"This project publishes other data as {', '.join(other)}, and results on the two can be confused: --name "
            "(name= of the generators) gives a stream another name.",
            stacklevel=3,
        )


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
    return task_stream(load_registered(table), seed=0)


def _refine_newsgroups() -> Stream:
    """Introduce comp, rec, sci and talk before their newsgroups."""
    parents = {f"{top}.{group}": top for top, groups in _NEWSGROUPS.items() for group in groups}
    parents |= dict.fromkeys(_TALK, "talk")
    return iirc_stream(load_registered("20ng"), seed=0, hierarchy=parents, add_superclasses=True, labels_per_task=4)


def _refine_radiographs() -> Stream:
    """Introduce the classes of the three levels of a tree from the root down."""
    return iirc_stream(load_registered("imclef07a"), seed=0, labels_per_task=12)
