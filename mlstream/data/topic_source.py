"""The messages of a topic of Kafka, partition by partition."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from mlstream._support.content import FormatError, at
from mlstream.data._event_blocks import read_objects
from mlstream.data._event_cells import Block
from mlstream.data.growing_file import Patience, SourceWarning
from mlstream.data.json_rows import JsonRows
from mlstream.data.live_sources import Source, TopicPosition
from mlstream.data.table_files import Choices
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.table import Table

_N_MESSAGES = 10_000
# A broker that does not answer in this time is asked again.
_ANSWER_S = 5.0
# A source has offsets of its own, and has to know where a partition ends.
_OURS = {"auto.offset.reset": "error", "enable.auto.commit": False, "enable.partition.eof": True}
# They may pass: the topic comes, or the brokers come back.
_PASSING = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
}


class _Event(NamedTuple):
    """A message, or something else that a partition tells."""

    partition: int
    offset: int
    content: bytes
    error: KafkaError | None


class TopicSource(Source):
    """A source that reads the messages of all partitions of a topic."""

    def __init__(
        self,
        topic: str,
        consumer: Consumer,
        patience: Patience,
        start: TopicPosition | None,
        json: JsonRows,
        choices: Choices,
        remember: int,
    ) -> None:
        self._topic, self._consumer, self._patience, self._json = topic, consumer, patience, json
        self._partitions: list[int] = []
        self._offsets = {int(partition): offset for partition, offset in (start or {"offsets": {}})["offsets"].items()}
        super().__init__(choices, remember)

    def __next__(self) -> Dataset:
        # A dot in the name of a topic begins no ending.
        return replace(super().__next__(), name=self._topic)

    def _place(self) -> TopicPosition:
        return TopicPosition(topic=self._topic, offsets={str(key): self._offsets[key] for key in sorted(self._offsets)})

    def _tables(self) -> Iterator[Table]:
        try:
            self._partitions = self._wait_for_partitions()
            if self._partitions:
                self._assign()
                yield from self._follow()
        except KafkaException as error:
            self._require_passing(error.args[0])
            self._warn(f"brokers must answer. Got: {error.args[0].str()}; the source ends before the last message")
        finally:
            self._consumer.close()

    def _wait_for_partitions(self) -> list[int]:
        while True:
            is_over = self._patience.is_over()
            try:
                found = self._consumer.list_topics(self._topic, timeout=_ANSWER_S).topics[self._topic]
            except KafkaException as error:
                trouble = error.args[0]
            else:
                trouble = found.error
                if trouble is None:
                    return sorted(found.partitions)
            self._require_passing(trouble)
            if is_over:
                self._warn(f"it must be a topic of the brokers. Got: {trouble.str()}; the source ends without a row")
                return []
            self._patience.sleep()

    def _assign(self) -> None:
        starts = ((partition, self._offsets.get(partition, OFFSET_BEGINNING)) for partition in self._partitions)
        self._consumer.assign([TopicPartition(self._topic, partition, offset) for partition, offset in starts])

    def _follow(self) -> Iterator[Table]:
        ends: dict[int, int] | None = None
        while True:
            # Ends stay those of the moment at which `stop` returned True, even if messages go on coming.
            ends = (ends or self._find_ends()) if self._patience.is_over() else None
            if ends and all(self._offsets.get(partition, -1) >= end for partition, end in ends.items()):
                return
            yield from self._look()

    def _find_ends(self) -> dict[int, int]:
        """Return the ends of all partitions; none if an offset lies behind its end, which brokers refuse soon."""
        # One request to each broker. An answer waits until the broker has ended a fetch, half a second at most.
        wanted = [TopicPartition(self._topic, partition, OFFSET_END) for partition in self._partitions]
        found = self._consumer.offsets_for_times(wanted, timeout=_ANSWER_S)
        for place in found:
            if place.error is not None:
                raise KafkaException(place.error)
        ends = {place.partition: place.offset for place in found}
        return ends if all(self._offsets.get(partition, 0) <= end for partition, end in ends.items()) else {}

    def _look(self) -> Iterator[Table]:
        messages: defaultdict[int, list[_Event]] = defaultdict(list)
        others = []
        for event in map(_read, self._consumer.consume(_N_MESSAGES, timeout=self._patience.interval_s)):
            if event.error is None:
                messages[event.partition].append(event)
            else:
                others.append((event, event.error))
        if messages:
            self._patience.renew()
        for partition, some in messages.items():
            yield from self._new_rows(partition, some)
        for event, error in others:
            self._take_error(event, error)
        # ends of partitions without rows
        self._given = self._place()

    def _take_error(self, event: _Event, error: KafkaError) -> None:
        if error.code() == KafkaError._PARTITION_EOF:
            # Behind the last message there may be marks of transactions, which have offsets, too.
            self._offsets[event.partition] = max(event.offset, self._offsets.get(event.partition, 0))
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            self._go_to_first(event.partition)
        else:
            self._require_passing(error)

    def _go_to_first(self, partition: int) -> None:
        place = TopicPartition(self._topic, partition)
        try:
            first, end = self._consumer.get_watermark_offsets(place, timeout=_ANSWER_S)
        except KafkaException as error:
            self._require_passing(error.args[0])
            # Once brokers answer again, they refuse the same offset again.
            self._assign()
            return
        rule = f"partition {partition} must hold offset {self._offsets.get(partition)}"
        got = f"Got {first} to {end}: messages were deleted, or the topic was made again; it is read from its first"
        self._warn(f"{rule}. {got}")
        self._offsets[partition] = first
        self._assign()

    def _new_rows(self, partition: int, messages: Sequence[_Event]) -> Iterator[Table]:
        """Give the rows of messages whose offsets are new."""
        new = [message for message in messages if message.offset >= self._offsets.get(partition, 0)]
        self.n_repeated_ += len(messages) - len(new)
        if new:
            yield from self._tables_until_broken(partition, new)

    def _tables_until_broken(self, partition: int, messages: Sequence[_Event]) -> Iterator[Table]:
        """Give the rows of messages; those before a broken one come before its error, and the position lies between."""
        try:
            tables = list(map(self._json.to_table, self._blocks(partition, messages)))
        except FormatError:
            if len(messages) == 1:
                raise
            half = len(messages) // 2
            yield from self._tables_until_broken(partition, messages[:half])
            yield from self._tables_until_broken(partition, messages[half:])
            return
        self._offsets[partition] = messages[-1].offset + 1
        yield from tables

    def _blocks(self, partition: int, messages: Sequence[_Event]) -> Iterator[Block]:
        path, unit = Path(self._topic), f"partition {partition}, offset"
        numbered = ((message.offset, _decode(message, at(path, message.offset, unit))) for message in messages)
        return read_objects(((offset, text) for offset, text in numbered if text.strip()), path, None, unit)

    def _require_passing(self, error: KafkaError) -> None:
        if error.code() not in _PASSING:
            raise OSError(f"{self._topic}: brokers must give the messages of the topic. Got: {error.str()}.")

    def _warn(self, text: str) -> None:
        warnings.warn(f"{self._topic}: {text}.", SourceWarning, stacklevel=2)


def _read(message: Message) -> _Event:
    # Only errors of the client itself lack a partition and an offset, and these do not look at them.
    partition, offset = cast(int, message.partition()), cast(int, message.offset())
    return _Event(partition, offset, message.value() or b"", message.error())


def _decode(message: _Event, where: str) -> str:
    try:
        return message.content.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{where}: an event must be a JSON object in UTF-8. Got other bytes.") from None


def make_consumer(config: Mapping[str, object]) -> Consumer:
    """Return a client with the properties of a user, and those that a source needs."""
    if "bootstrap.servers" not in config or {*config} & {*_OURS}:
        got = f"Got the properties {sorted(config)}"
        raise ValueError(f"config must hold bootstrap.servers, and none of {', '.join(_OURS)}. {got}.")
    try:
        return Consumer({"group.id": "mlstream", **config, **_OURS})
    except (KafkaException, TypeError, ValueError) as error:
        got = error.args[0].str() if isinstance(error, KafkaException) else str(error)
        raise ValueError(f"config must hold properties of librdkafka. Got: {got}.") from None
