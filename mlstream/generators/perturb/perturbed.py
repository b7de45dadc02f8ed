"""The stream that a perturbation makes of another one, with the calls that made both on its card."""

from __future__ import annotations

from collections.abc import Sequence

from mlstream.cards.description import describe_again
from mlstream.generators.synthetic.concepts import carry_drifts
from mlstream.streams.card_model import DropCard, GeneratorCard
from mlstream.streams.stream import Experience, Stream, StreamParts


def perturbed_stream(stream: Stream, experiences: Sequence[Experience], call: GeneratorCard) -> Stream:
    """Replace the experiences of a stream by changed ones; tasks and evaluation sets stay.

    The card gains the perturbation, the generator of the stream before, the number of rows lost, and the new places of
    the drifts. Raises ValueError if an experience holds no row.
    """
    for number, experience in enumerate(experiences):
        if not len(experience):
            raise ValueError(f"Every experience must keep a row. Got 0 rows in experience {number} after {call.name}.")
    parts = StreamParts(stream.tasks, tuple(experiences), stream.evaluation_sets)
    words = call.name.replace("_", " ")
    card = describe_again(
        stream.card,
        parts,
        name=f"{stream.card.name}-{call.name.replace('_', '-')}",
        description=f"{stream.card.description} Learning rows have {words}.",
        generator=with_base(call, stream),
    )
    lost = stream.n_samples - sum(len(experience) for experience in experiences)
    drops = [DropCard(what="rows", reason=words, count=lost)] if lost > 0 else []
    drifts = carry_drifts(stream, experiences)
    return Stream(parts, card.model_copy(update={"drops": [*card.drops, *drops], "drifts": drifts}))


def with_base(call: GeneratorCard, stream: Stream) -> GeneratorCard:
    """Add the generator of the stream before to the call of a perturbation, as the parameter "base"."""
    base = stream.card.generator.model_dump(mode="json")
    return call.model_copy(update={"parameters": {**call.parameters, "base": base}})
