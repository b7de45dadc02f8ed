"""The streams that this project publishes, whose cards are in ``data_cards/``.

Generators are imported when a stream is made: names and summaries can be listed at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from mlstream import generators

if TYPE_CHECKING:
    from mlstream.streams.card_model import StreamCard
    from mlstream.streams.stream import Dataset, Stream

# Groups below one hierarchy of Usenet, as they are called in the table; alt, misc and soc have one group each.
_NEWSGROUPS = {
    "comp": ("graphics", "os_ms_windows_misc", "sys.ibm_pc_hardware", "sys.mac_hardware", "windows_x"),
    "rec": ("autos", "motorcycles", "sport.baseball", "sport.hockey"),
    "sci": ("crypt", "electronics", "med", "space"),
}
_TALK = ("politics.guns", "politics.mideast", "politics.pmisc", "religion.rmisc")


class Preset(NamedTuple):
    """A stream that this project publishes, and its size."""

    summary: str
    make: Callable[[], Stream]  # Makes the stream, with seed 0 and default parameters.
    data_sha256: str  # Hash of its data, as on its card.
    n_rows: int  # Rows to learn, in all visits.
    n_features: int
    n_labels: int
    n_tasks: int
    n_experiences: int


def list_presets() -> tuple[str, ...]:
    """List the names of the streams that this project publishes, for `make_preset`."""
    return tuple(PRESETS)


def make_preset(name: str) -> Stream:
    """Make one of the streams that this project publishes, with seed 0 and default parameters.

    A ValueError is raised for an unknown name, a FileNotFoundError for a table that is neither embedded nor found; its
    message names the way to get it.
    """
    if name not in PRESETS:
        raise ValueError(f"name must be one of {', '.join(PRESETS)}. Got {name!r} instead.")
    return PRESETS[name].make()


def warn_of_other_data(cards: Iterable[StreamCard]) -> None:
    """Warn once of all streams that have the name of one that this project publishes, and other data."""
    published = {name: preset.data_sha256 for name, preset in PRESETS.items()}
    other = dict.fromkeys(card.name for card in cards if published.get(card.name, card.data_sha256) != card.data_sha256)
    if other:
        warnings.warn(
            f"This project publishes other data as {', '.join(other)}, and results on the two can be confused: --name "
            "(name= of the generators) gives a stream another name.",
            stacklevel=3,
        )


def _load(table: str) -> Dataset:
    from mlstream.data.datasets import load_registered

    return load_registered(table)


def _from_table(table: str) -> Stream:
    return generators.task_stream(_load(table), seed=0)


def _by_multipliers(matrix: str) -> Stream:
    return generators.multiplier_stream(matrix, seed=0)


def _refine_newsgroups() -> Stream:
    """Introduce comp, rec, sci and talk before their newsgroups."""
    parents = {f"{top}.{group}": top for top, groups in _NEWSGROUPS.items() for group in groups}
    parents |= dict.fromkeys(_TALK, "talk")
    return generators.iirc_stream(_load("20ng"), seed=0, hierarchy=parents, add_superclasses=True, labels_per_task=4)


def _refine_radiographs() -> Stream:
    """Introduce the classes of the three levels of a tree from the root down."""
    return generators.iirc_stream(_load("imclef07a"), seed=0, labels_per_task=12)


def _stand_in() -> Stream:
    return generators.stand_in_stream()


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "yeast-tasks": Preset(
            "Genes of yeast and their functions: tasks from their label sets.",
            partial(_from_table, "yeast"),
            "e82acccdb3f5deb5700a8e0fea5dbb1d9469c1def0c2fc864f21823446661af6",
            *(1690, 103, 14, 4, 8),
        ),
        "scene-tasks": Preset(
            "Photographs and what they show: tasks from their label sets.",
            partial(_from_table, "scene"),
            "b1342bd9553163a75ca8bdef0aea629abb4795c2a151b35637dbd09e8f66c8fe",
            *(1682, 294, 6, 4, 8),
        ),
        "slashdot-tasks": Preset(
            "Articles of Slashdot and their subjects: tasks from their label sets.",
            partial(_from_table, "slashdot"),
            "39ceb9f9ca09ed64c9504be0feec366b0c036282e6161329bdc313c7b6052761",
            *(2645, 1079, 20, 4, 8),
        ),
        "reuters-k500-tasks": Preset(
            "News of Reuters and their subjects: tasks from their label sets.",
            partial(_from_table, "reuters-k500"),
            "d521a5ce03b1a1679349f4a7a22115ce4fbed66b944a1c9eacee143c5e9fc527",
            *(4198, 500, 99, 4, 8),
        ),
        "20ng-tasks": Preset(
            "Messages of 20 newsgroups: tasks from their label sets.",
            partial(_from_table, "20ng"),
            "b4e0b966eb1961fc6315e96145951c5212028efa263513ffaf277d28ddba2a68",
            *(13509, 1006, 20, 4, 8),
        ),
        "synthetic-monolab": Preset(
            "Drawn rows: each task has one label, a threshold on one feature.",
            partial(_by_multipliers, "monolab"),
            "d95a9dc820ab6d7940bf9a761ead2db36b06f7589f9eb30a7690d3950f08114e",
            *(2800, 4, 4, 4, 8),
        ),
        "synthetic-bilab": Preset(
            "Drawn rows: each task has two labels, each a threshold on one feature.",
            partial(_by_multipliers, "bilab"),
            "dd8af2400f228e8a79af96278ce8b4edb3c6791e61b39b3e171382fdf3e8c72d",
            *(2800, 4, 4, 4, 8),
        ),
        "synthetic-rand": Preset(
            "Drawn rows: every task has four labels, with thresholds of its own.",
            partial(_by_multipliers, "rand"),
            "af14d61eff2e4b7febc9f99024cfaae84b73d2386f8428f9ff456df2f7d68923",
            *(2800, 4, 4, 4, 8),
        ),
        "20ng-iirc": Preset(
            "Messages of 20 newsgroups: first their hierarchies, then the groups (IIRC).",
            _refine_newsgroups,
            "22fdad2ae7f29f93a20f8f77d7a42bcbe563fea965ec24333a8d36e431f86847",
            *(16119, 1006, 24, 6, 6),
        ),
        "imclef07a-iirc": Preset(
            "Radiographs by a tree of codes: first its trunk, then branches (IIRC).",
            _refine_radiographs,
            "ca25e36c071f058d19c0d7f24128382b78963757138a723792e30e0860fe108a",
            *(11735, 80, 96, 9, 9),
        ),
        "mediamill-stand-in": Preset(
            "Drawn rows, as many as mediamill has, to test speed; not its data.",
            _stand_in,
            "2d66f2bb155be7274f31289ab1376df64693a18cc609e0da1d04c9316a05b681",
            *(29522, 120, 101, 4, 8),
        ),
    }
)
