"""Generators of streams: tables in, streams out.

Names are imported when they are first used: a generator needs a part of the package only.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.generators.from_events.windowed import windowed
    from mlstream.generators.from_tables.clustering import task_stream
    from mlstream.generators.from_tables.emerging_labels import emerging_labels_stream
    from mlstream.generators.from_tables.environments_from_table import carve_environments
    from mlstream.generators.from_tables.hierarchy import discover_hierarchy, hierarchy_from_names
    from mlstream.generators.from_tables.iirc import iirc_stream
    from mlstream.generators.from_tables.published_orders import PUBLISHED_ORDERS, published_order
    from mlstream.generators.from_tables.scenarios import SCENARIOS, scenario_stream
    from mlstream.generators.from_tables.suggestion import Suggestion, draw_suggestion, suggest_n_tasks
    from mlstream.generators.from_tables.surrogates import stand_in_stream
    from mlstream.generators.perturb.delay import delayed_labels
    from mlstream.generators.perturb.perturbations import (
        duplicated_rows,
        missing_features,
        missing_labels,
        noisy_features,
        noisy_labels,
        rare_labels,
        reordered_rows,
    )
    from mlstream.generators.perturb.repetitions import reordered_tasks, resplit_rows
    from mlstream.generators.registry import FROM_NOTHING, FROM_STREAMS, FROM_TABLES, GENERATORS, remake
    from mlstream.generators.synthetic.drifting import drifting_stream
    from mlstream.generators.synthetic.environments import environment_stream
    from mlstream.generators.synthetic.events import synthetic_events
    from mlstream.generators.synthetic.hat_and_shirt import hat_and_shirt_stream
    from mlstream.generators.synthetic.invariant_features import invariant_features
    from mlstream.generators.synthetic.multipliers import multiplier_rows, multiplier_stream

_HOMES = {
    "mlstream.generators.from_events.windowed": ("windowed",),
    "mlstream.generators.from_tables.clustering": ("task_stream",),
    "mlstream.generators.from_tables.emerging_labels": ("emerging_labels_stream",),
    "mlstream.generators.from_tables.environments_from_table": ("carve_environments",),
    "mlstream.generators.from_tables.hierarchy": (
        "discover_hierarchy",
        "hierarchy_from_names",
    ),
    "mlstream.generators.from_tables.iirc": ("iirc_stream",),
    "mlstream.generators.from_tables.published_orders": (
        "PUBLISHED_ORDERS",
        "published_order",
    ),
    "mlstream.generators.from_tables.scenarios": (
        "SCENARIOS",
        "scenario_stream",
    ),
    "mlstream.generators.from_tables.suggestion": (
        "Suggestion",
        "draw_suggestion",
        "suggest_n_tasks",
    ),
    "mlstream.generators.from_tables.surrogates": ("stand_in_stream",),
    "mlstream.generators.perturb.delay": ("delayed_labels",),
    "mlstream.generators.perturb.perturbations": (
        "duplicated_rows",
        "missing_features",
        "missing_labels",
        "noisy_features",
        "noisy_labels",
        "rare_labels",
        "reordered_rows",
    ),
    "mlstream.generators.perturb.repetitions": (
        "reordered_tasks",
        "resplit_rows",
    ),
    "mlstream.generators.registry": (
        "FROM_NOTHING",
        "FROM_STREAMS",
        "FROM_TABLES",
        "GENERATORS",
        "remake",
    ),
    "mlstream.generators.synthetic.drifting": ("drifting_stream",),
    "mlstream.generators.synthetic.environments": ("environment_stream",),
    "mlstream.generators.synthetic.events": ("synthetic_events",),
    "mlstream.generators.synthetic.hat_and_shirt": ("hat_and_shirt_stream",),
    "mlstream.generators.synthetic.invariant_features": ("invariant_features",),
    "mlstream.generators.synthetic.multipliers": (
        "multiplier_rows",
        "multiplier_stream",
    ),
}

__all__ = [
    "FROM_NOTHING",
    "FROM_STREAMS",
    "FROM_TABLES",
    "GENERATORS",
    "PUBLISHED_ORDERS",
    "SCENARIOS",
    "Suggestion",
    "carve_environments",
    "delayed_labels",
    "discover_hierarchy",
    "draw_suggestion",
    "drifting_stream",
    "duplicated_rows",
    "emerging_labels_stream",
    "environment_stream",
    "hat_and_shirt_stream",
    "hierarchy_from_names",
    "iirc_stream",
    "invariant_features",
    "missing_features",
    "missing_labels",
    "multiplier_rows",
    "multiplier_stream",
    "noisy_features",
    "noisy_labels",
    "published_order",
    "rare_labels",
    "remake",
    "reordered_rows",
    "reordered_tasks",
    "resplit_rows",
    "scenario_stream",
    "stand_in_stream",
    "suggest_n_tasks",
    "synthetic_events",
    "task_stream",
    "windowed",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'mlstream.generators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
