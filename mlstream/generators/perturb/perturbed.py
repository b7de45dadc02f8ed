"""The stream that a perturbation makes of another one, with the recipe of both on its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from mlstream.card_model import DropCard, GeneratorCard
from mlstream.cards.description import describe_again
from mlstream.generators.synthetic.drift_truth import carry_drifts
from mlstream.stream import Experience, Stream, StreamParts


def perturbed_stream(
    stream: Stream, experiences: Sequence[Experience], name: str, parameters: Mapping[str, JsonValue], seed: int
) -> Stream:
    """Put changed experiences in the place of those of a stream; tasks and evaluation sets stay.

    Parameters
    ----------
    stream : Stream
        The stream before.
    experiences : sequence of Experience
        What its experiences became.
    name : str
        Name of the perturbation, a function.
    parameters : mapping of str to JSON values
        What the perturbation was given, the stream and the seed left out.
    seed : int
        Its seed.

    Returns
    -------
    Stream
        Its card tells the perturbation, the recipe of the stream before, the rows lost, and where drifts are now.

    Raises
    ------
    ValueError
        If an experience holds no row.
    """
    for number, experience in enumerate(experiences):
        if not len(experience):
            raise ValueError(f"Every experience must keep a row. Got none in experience {number} after {name}.")
    parts = StreamParts(stream.tasks, tuple(experiences), stream.evaluation_sets)
    words = name.replace("_", " ")
    recipe = {**parameters, "base": stream.card.generator.model_dump(mode="json")}
    card = describe_again(
        stream.card,
        parts,
        name=f"{stream.card.name}-{name.replace('_', '-')}",
        description=f"{stream.card.description} Learning rows have {words}.",
        generator=GeneratorCard(name=name, parameters=recipe, seed=seed),
    )
    lost = stream.n_samples - sum(len(experience) for experience in experiences)
    drops = [DropCard(what="rows", reason=words, count=lost)] if lost > 0 else []
    drifts = carry_drifts(stream, experiences)
    return Stream(parts, card.model_copy(update={"drops": [*card.drops, *drops], "drifts": drifts}))
