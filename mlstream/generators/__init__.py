"""Generators of streams: tables in, streams out.

Names are imported when they are first used: a generator needs a part of the package only.
"""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.generators.from_events.live import LiveWindows as LiveWindows
    from mlstream.generators.from_events.windowed import windowed as windowed
    from mlstream.generators.from_tables.clustering import task_stream as task_stream
    from mlstream.generators.from_tables.emerging_labels import emerging_labels_stream as emerging_labels_stream
    from mlstream.generators.from_tables.environments_from_table import carve_environments as carve_environments
    from mlstream.generators.from_tables.hierarchy import discover_hierarchy as discover_hierarchy
    from mlstream.generators.from_tables.hierarchy import hierarchy_from_names as hierarchy_from_names
    from mlstream.generators.from_tables.iirc import iirc_stream as iirc_stream
    from mlstream.generators.from_tables.label_schedule import PUBLISHED_ORDERS as PUBLISHED_ORDERS
    from mlstream.generators.from_tables.label_schedule import published_order as published_order
    from mlstream.generators.from_tables.scenarios import SCENARIOS as SCENARIOS
    from mlstream.generators.from_tables.scenarios import scenario_stream as scenario_stream
    from mlstream.generators.from_tables.suggestion import Suggestion as Suggestion
    from mlstream.generators.from_tables.suggestion import draw_suggestion as draw_suggestion
    from mlstream.generators.from_tables.suggestion import suggest_n_tasks as suggest_n_tasks
    from mlstream.generators.from_tables.surrogates import stand_in_stream as stand_in_stream
    from mlstream.generators.perturb.delay import delayed_labels as delayed_labels
    from mlstream.generators.perturb.perturbations import duplicated_rows as duplicated_rows
    from mlstream.generators.perturb.perturbations import missing_features as missing_features
    from mlstream.generators.perturb.perturbations import missing_labels as missing_labels
    from mlstream.generators.perturb.perturbations import noisy_features as noisy_features
    from mlstream.generators.perturb.perturbations import noisy_labels as noisy_labels
    from mlstream.generators.perturb.perturbations import rare_labels as rare_labels
    from mlstream.generators.perturb.perturbations import reordered_rows as reordered_rows
    from mlstream.generators.perturb.repetitions import reordered_tasks as reordered_tasks
    from mlstream.generators.perturb.repetitions import resplit_rows as resplit_rows
    from mlstream.generators.registry import FROM_NOTHING as FROM_NOTHING
    from mlstream.generators.registry import FROM_STREAMS as FROM_STREAMS
    from mlstream.generators.registry import FROM_TABLES as FROM_TABLES
    from mlstream.generators.registry import GENERATORS as GENERATORS
    from mlstream.generators.registry import remake as remake
    from mlstream.generators.synthetic.drifting import drifting_stream as drifting_stream
    from mlstream.generators.synthetic.environments import environment_stream as environment_stream
    from mlstream.generators.synthetic.environments import hat_and_shirt_stream as hat_and_shirt_stream
    from mlstream.generators.synthetic.environments import invariant_features as invariant_features
    from mlstream.generators.synthetic.events import synthetic_events as synthetic_events
    from mlstream.generators.synthetic.multipliers import multiplier_rows as multiplier_rows
    from mlstream.generators.synthetic.multipliers import multiplier_stream as multiplier_stream
else:
    __getattr__, __dir__, __all__ = attach(__name__)
