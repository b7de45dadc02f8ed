"""The registry of generators, and streams made again from their cards."""

from __future__ import annotations

from collections.abc import Callable

from mlstream.generators._parameters import Generator
from mlstream.generators.from_tables.clustering import task_stream
from mlstream.generators.from_tables.emerging_labels import emerging_labels_stream
from mlstream.generators.from_tables.environments_from_table import carve_environments
from mlstream.generators.from_tables.iirc import iirc_stream
from mlstream.generators.from_tables.scenarios import scenario_stream
from mlstream.generators.from_tables.surrogates import stand_in_stream
from mlstream.generators.perturb import perturbations as perturb
from mlstream.generators.perturb import repetitions
from mlstream.generators.perturb.delay import delayed_labels
from mlstream.generators.synthetic.drifting import drifting_stream
from mlstream.generators.synthetic.environments import environment_stream, hat_and_shirt_stream
from mlstream.generators.synthetic.multipliers import multiplier_stream
from mlstream.streams.card_model import GeneratorCard
from mlstream.streams.stream import Dataset, Stream

FROM_TABLES: dict[str, Generator] = {
    "carve_environments": carve_environments,
    "emerging_labels_stream": emerging_labels_stream,
    "iirc_stream": iirc_stream,
    "scenario_stream": scenario_stream,
    "task_stream": task_stream,
}
FROM_NOTHING: dict[str, Generator] = {
    "drifting_stream": drifting_stream,
    "environment_stream": environment_stream,
    "hat_and_shirt_stream": hat_and_shirt_stream,
    "multiplier_stream": multiplier_stream,
    "stand_in_stream": stand_in_stream,
}
FROM_STREAMS: dict[str, Generator] = {
    "delayed_labels": delayed_labels,
    "duplicated_rows": perturb.duplicated_rows,
    "missing_features": perturb.missing_features,
    "missing_labels": perturb.missing_labels,
    "noisy_features": perturb.noisy_features,
    "noisy_labels": perturb.noisy_labels,
    "rare_labels": perturb.rare_labels,
    "reordered_rows": perturb.reordered_rows,
    "reordered_tasks": repetitions.reordered_tasks,
    "resplit_rows": repetitions.resplit_rows,
}
GENERATORS = FROM_TABLES | FROM_NOTHING | FROM_STREAMS


def remake(call: GeneratorCard, find_table: Callable[[], Dataset]) -> Stream:
    """Make a stream again from the call of its generator on its card.

    Parameters
    ----------
    call : GeneratorCard
        Name, parameters and seed.
    find_table : callable
        Returns the table that the stream was made from; called only if there is one.

    Returns
    -------
    Stream
        The same stream, under the same versions.

    Raises
    ------
    ValueError
        If the generator is unknown here.

    Examples
    --------
    >>> stream = multiplier_stream("rand", seed=1, n_rows=50)
    >>> remake(stream.card.generator, find_table=None).card == stream.card
    True
    """
    if call.name not in GENERATORS:
        raise ValueError(f"The generator must be one of {', '.join(sorted(GENERATORS))}. Got {call.name!r} instead.")
    parameters = dict(call.parameters)
    if call.name in FROM_STREAMS:
        base = GeneratorCard.model_validate(parameters.pop("base"))
        return GENERATORS[call.name](remake(base, find_table), **parameters, seed=call.seed)
    tables = () if call.name in FROM_NOTHING else (find_table(),)
    return GENERATORS[call.name](*tables, **parameters, seed=call.seed)
