"""The task orders of the IIRC benchmarks, for those who bring the features."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from metrics.validation import require_choice


class _Benchmark(NamedTuple):
    """The file with the orders of a benchmark, and the shares of its rows."""

    file: str
    key: str
    superclass_share: float
    subclass_share: float


_BENCHMARKS = {
    "iirc-cifar100": _Benchmark("cifar100", "iirc", 0.4, 0.8),
    "iirc-imagenet-full": _Benchmark("imagenet", "full", 0.4, 0.8),
    "iirc-imagenet-lite": _Benchmark("imagenet", "lite", 0.4, 0.8),
    "incremental-cifar100": _Benchmark("cifar100", "incremental", 0.002, 1.0),
}
PUBLISHED_ORDERS = tuple(_BENCHMARKS)
_CAP = 8


def published_order(name: str, configuration: int = 0) -> dict[str, Any]:
    """Return the hierarchy, the order and the shares of a benchmark of IIRC, as options of `iirc_stream`.

    Parameters
    ----------
    name : {"iirc-cifar100", "iirc-imagenet-full", "iirc-imagenet-lite", "incremental-cifar100"}
        The benchmark. The table to use it on has a label per class, called as there: "beaver" (CIFAR-100), or
        "n02110341" (ImageNet).
    configuration : int
        Number of the order, from 0: ten were published for CIFAR-100, five for ImageNet.

    Returns
    -------
    dict
        ``hierarchy``, ``introductions``, ``superclass_share``, ``subclass_share``, ``superclass_cap``,
        ``add_superclasses`` (superclasses get a label if the table has none) and ``plain_first``: whether the first
        task holds labels that have no subclass there.

    Raises
    ------
    ValueError
        If the benchmark or the order is unknown.

    Notes
    -----
    The files come from github.com/chandar-lab/IIRC (MIT licence, which lies beside them). That code holds validation
    rows out as well, of 4 to 10 %; `iirc_stream` leaves this to `evaluation_fraction`.

    References
    ----------
    M. Abdelsalam, M. Faramarzi, S. Sodhani, S. Chandar. IIRC: Incremental implicitly-refined classification.
    CVPR, 2021.

    Examples
    --------
    >>> order = published_order("iirc-cifar100", 3)
    >>> len(order["introductions"]), order["hierarchy"]["beaver"]
    (22, 'aquatic_mammals')
    """
    require_choice(name, "name", PUBLISHED_ORDERS)
    benchmark = _BENCHMARKS[name]
    content = _read(benchmark.file)
    orders = content["orders"][benchmark.key]
    if configuration not in range(len(orders)):
        raise ValueError(
            f"configuration must be from 0 to {len(orders) - 1} for {name}. Got {configuration!r} instead."
        )
    introductions = [list(task) for task in orders[configuration]]
    used = set(chain.from_iterable(introductions))
    pairs = ((child, parent) for parent, children in content["subclasses"].items() for child in children)
    parents = {child: parent for child, parent in pairs if {child, parent} <= used}
    return {
        "hierarchy": parents,
        "introductions": introductions,
        "plain_first": not set(introductions[0]) <= set(parents.values()),
        "superclass_share": benchmark.superclass_share,
        "subclass_share": benchmark.subclass_share,
        "superclass_cap": _CAP,
        "add_superclasses": True,
    }


@cache
def _read(file: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(
        (files("mlstream.generators.from_tables") / "published" / f"{file}.json").read_text(encoding="utf-8")
    )
    return content
