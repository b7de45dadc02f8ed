"""A topic of Kafka as a live source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

from estimators.contract.lazy import needing
from mlstream._support.reading import ReadingOptions
from mlstream.data.growing_file import Patience
from mlstream.data.json_rows import JsonRows, code_words
from mlstream.data.live_sources import NO_VALUES, REMEMBER, Source, TopicPosition
from mlstream.data.table_files import Choices
from mlstream.streams.tables.columns import make_reading
from mlstream.streams.tables.labels import normalise_rule


def follow_kafka(  # noqa: PLR0913 - what a topic is, and how long it is waited for
    topic: str,
    labels: int | Sequence[str],
    *,
    config: Mapping[str, object],
    values: Mapping[str, Sequence[str]] = NO_VALUES,
    interval_s: float = 0.5,
    timeout_s: float | None = None,
    stop: Callable[[], bool] | None = None,
    start: TopicPosition | None = None,
    remember: int = REMEMBER,
    **options: Unpack[ReadingOptions],
) -> Source:
    """Read the messages of a topic of Kafka, JSON objects, as rows when they come.

    Parameters
    ----------
    topic : str
        Its name; the topic may come later.
    labels : int or sequence of str
        The label columns.
    config : mapping of str to object
        Properties of the client, librdkafka: ``bootstrap.servers``, and what else it needs, such as passwords.
    interval_s : float
        Seconds in which messages are gathered, 10,000 at most, before they are given.
    values, timeout_s, stop, remember
        As for `follow_csv`.
    start : dict, optional
        A `position` of an earlier source, behind which this one goes on; by default, it begins with the first messages
        that the topic holds.
    **options
        Some of `missing`, `categories`, `ignore` and `keys`, as for `load_dataset`.

    Returns
    -------
    Source
        As of `follow_csv`, a table per partition. Its position holds the next offset of each partition.

    Raises
    ------
    ValueError
        As `follow_csv` does, naming partition and offset; or if `config` is wrong, or `start` is of another topic.
    OSError
        When the reading comes to it, if brokers refuse the topic.
    ModuleNotFoundError
        If the extra ``kafka`` is not installed.

    Warns
    -----
    SourceWarning
        If the source ends while the topic is absent or brokers do not answer. Or if messages behind the position were
        deleted: the partition is read from the first that it holds.

    Notes
    -----
    Objects are rows as of `follow_jsonl`; messages without a value are passed over. Rows before a broken message are
    given first, so that the position lies right before it: one more than its offset there passes it over.

    A source that `stop` ends gives all messages that the topic held then. Each partition is in order, rows of several
    are not. An offset that comes again is left out and counted. A row that is sent twice has two offsets, and only its
    `keys` tell. Offsets are not committed: only the position holds them. Partitions are those at the beginning: a
    restart finds new ones.

    Examples
    --------
    Librdkafka holds brokers for trials:

    >>> from confluent_kafka import Producer
    >>> producer = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    >>> server = next(iter(producer.list_topics().brokers.values()))
    >>> producer.produce("flows", b'{"bytes": 40, "scan": 0}', partition=0)
    >>> _ = producer.flush()
    >>> config = {"bootstrap.servers": f"{server.host}:{server.port}"}
    >>> source = follow_kafka("flows", ["scan"], config=config, interval_s=0.01, timeout_s=0.1)
    >>> [table.X.tolist() for table in source], source.position()["offsets"]
    ([[[40.0]]], {'0': 1, '1': 0, '2': 0, '3': 0})
    """
    if start is not None and start.get("topic") != topic:
        raise ValueError(f"start must be a position in the topic {topic!r}. Got {start}.")
    patience = Patience(interval_s, timeout_s, stop)
    options["format"] = "csv"
    choices = Choices(normalise_rule(labels), make_reading(**options), None)
    with needing("mlstream.service.follow_kafka"):
        from mlstream.data.topic_source import TopicSource, make_consumer

    json = JsonRows(code_words(values), choices.reading)
    return TopicSource(topic, make_consumer(config), patience, start, json, choices, remember)
