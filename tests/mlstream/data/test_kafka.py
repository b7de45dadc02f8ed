"""A topic gives each message once, from brokers that librdkafka holds within this process."""

import json
import threading
import time
from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estimators import OnlineLogisticRegression
from mlstream import evaluate
from mlstream.service import SourceWarning, follow_jsonl

pytest.importorskip("confluent_kafka", reason="needs the extra kafka", exc_type=ModuleNotFoundError)

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from mlstream.data import topic_source
from mlstream.data.kafka import follow_kafka

FAST = {"interval_s": 0.01, "timeout_s": 0.05}


class Brokers:
    """A client that holds brokers, whose topics have four partitions."""

    def __init__(self):
        self.producer = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        server = next(iter(self.producer.list_topics(timeout=10).brokers.values()))
        self.config = {"bootstrap.servers": f"{server.host}:{server.port}", "log_level": 0, "fetch.wait.max.ms": 10}

    def send(self, topic, *rows, partition=0):
        for row in rows:
            content = row if isinstance(row, bytes | None) else json.dumps(row).encode()
            self.producer.produce(topic, content, partition=partition)
        assert self.producer.flush(10) == 0

    def follow(self, topic, **options):
        return follow_kafka(topic, ["y"], config=self.config, **{**FAST, **options})


@pytest.fixture
def brokers():
    return Brokers()


def row(number):
    return {"a": number, "y": number % 2}


def rows(source):
    return [x[0] for table in source for x in table.X.tolist()]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(st.integers(0, 3), min_size=1, max_size=12), n_taken=st.integers(0, 4), n_later=st.integers(0, 3)
)
def test_each_message_comes_once_in_the_order_of_its_partition(brokers, places, n_taken, n_later):
    topic, found = f"rows-{time.monotonic_ns()}", []
    for number, partition in enumerate(places):
        brokers.send(topic, row(number), partition=partition)
    first = brokers.follow(topic)
    # A source may be left behind any of its tables.
    found = rows(islice(first, n_taken))
    for number, partition in enumerate(places[:n_later], len(places)):
        brokers.send(topic, row(number), partition=partition)
    found += rows(brokers.follow(topic, start=json.loads(json.dumps(first.position()))))
    sent = list(enumerate(places + places[:n_later]))
    for partition in range(4):
        numbers = [number for number, place in sent if place == partition]
        assert [number for number in found if number in numbers] == numbers
    assert len(found) == len(sent)


def test_messages_are_rows_as_lines_of_a_file_are(brokers, tmp_path):
    objects = [{"p": "tcp", "f": {"n": 3}, "ok": True, "y": 1}, {"p": "udp", "f": {"n": 1}, "ok": False}]
    brokers.send("web.flows", objects[0], None, b" ", json.dumps(objects[1], indent=1).encode())
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, objects)) + "\n")
    options = {"values": {"p": ["tcp", "udp"]}, "categories": "ordinal"}
    (found,) = brokers.follow("web.flows", **options)
    (expected,) = follow_jsonl(tmp_path / "log.jsonl", ["y"], **FAST, **options)
    assert (found.name, found.feature_names) == ("web.flows", expected.feature_names)
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.Y, expected.Y)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (b"{", "an event must be a JSON object"),
        (b"\xff", "an event must be a JSON object in UTF-8. Got other bytes"),
        ({"a": "word", "y": 0}, "column 'a' must be a finite number.* Got 'word'"),
    ],
)
def test_a_broken_message_is_named_and_can_be_passed_over(brokers, broken, rule):
    brokers.send("rows", row(0), row(1), row(2), broken, row(4), partition=2)
    source, found = brokers.follow("rows"), []
    with pytest.raises(ValueError, match=rf"^rows, partition 2, offset 3: {rule}"):
        found.extend(table for table in source)
    assert rows(found) == [0, 1, 2]
    position = source.position()
    assert position["offsets"]["2"] == 3
    position["offsets"]["2"] += 1
    assert rows(brokers.follow("rows", start=position)) == [4]


def test_a_missing_value_is_named_by_its_offset(brokers):
    brokers.send("rows", row(0), {"y": 1})
    with pytest.raises(ValueError, match="rows, partition 0, offset 1: column 'a'"):
        list(brokers.follow("rows"))


def test_stop_ends_a_source_behind_the_messages_of_that_moment_while_others_come(brokers):
    stopped = threading.Event()
    source = brokers.follow("rows", timeout_s=None, stop=stopped.is_set)
    brokers.send("rows", row(0))
    n_given = next(source).n_samples
    brokers.send("rows", *[row(0)] * 4)
    stopped.set()
    for table in source:
        n_given += table.n_samples
        brokers.send("rows", row(0))
    assert n_given >= 5


def test_an_absent_topic_is_waited_for(brokers):
    with pytest.warns(SourceWarning, match="later: it must be a topic of the brokers. Got: Broker: Unknown topic"):
        assert rows(brokers.follow("later")) == []
    source = brokers.follow("later", timeout_s=20)
    threading.Timer(0.1, brokers.send, ["later", row(1)]).start()
    assert rows([next(source)]) == [1]


def test_brokers_that_do_not_answer_are_named_at_the_end(monkeypatch):
    monkeypatch.setattr(topic_source, "_ANSWER_S", 0.05)
    source = follow_kafka("rows", ["y"], config={"bootstrap.servers": "127.0.0.1:9", "log_level": 0}, **FAST)
    with pytest.warns(SourceWarning, match="rows: .* Got: Failed to get metadata: Local: Broker transport failure"):
        assert rows(source) == []


def test_brokers_that_go_away_are_named_at_the_end(brokers, monkeypatch):
    monkeypatch.setattr(topic_source, "_ANSWER_S", 2.0)
    brokers.send("rows", row(1))
    source = brokers.follow("rows")
    assert rows([next(source)]) == [1]
    del brokers.producer
    with pytest.warns(SourceWarning, match="rows: brokers must answer. Got: "):
        assert rows(source) == []


def test_deleted_messages_and_a_topic_that_was_made_again_are_named(brokers):
    # Brokers for trials keep 5 MiB of a partition.
    long = {"long": "x" * 900_000}
    brokers.send("rows", *(row(number) | long for number in range(8)))
    position = {"topic": "rows", "offsets": {"0": 1}}
    options = {"ignore": ["long"], "timeout_s": 0.5}
    with pytest.warns(SourceWarning, match="rows: partition 0 must hold offset 1. Got 3 to 8: messages were deleted"):
        assert rows(brokers.follow("rows", start=position, **options)) == [3, 4, 5, 6, 7]
    position["offsets"]["0"] = 9
    with pytest.warns(SourceWarning, match="rows: partition 0 must hold offset 9. Got 3 to 8"):
        assert rows(brokers.follow("rows", start=position, **options)) == [3, 4, 5, 6, 7]


def test_a_partition_whose_first_message_is_not_known_yet_is_asked_again(brokers, monkeypatch):
    class Slow(Consumer):
        """Does not answer once."""

        has_failed = False

        def get_watermark_offsets(self, *args, **options):
            if not self.has_failed:
                self.has_failed = True
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
            return super().get_watermark_offsets(*args, **options)

    monkeypatch.setattr(topic_source, "Consumer", Slow)
    brokers.send("rows", row(0))
    source = brokers.follow("rows", start={"topic": "rows", "offsets": {"0": 5}})
    with pytest.warns(SourceWarning, match="must hold offset 5. Got 0 to 1"):
        assert rows(source) == [0]


def test_offsets_that_come_again_are_left_out_and_counted(brokers, monkeypatch):
    class Repeating(Consumer):
        """Goes back to the first message of a partition, once."""

        has_repeated = False

        def consume(self, *args, **options):
            found = super().consume(*args, **options)
            if not self.has_repeated and any(message.error() is None for message in found):
                self.has_repeated = True
                self.seek(TopicPartition("rows", 1, 0))
            return found

    monkeypatch.setattr(topic_source, "Consumer", Repeating)
    brokers.send("rows", row(0), row(1), partition=1)
    source = brokers.follow("rows", timeout_s=3)
    assert rows(source) == [0, 1]
    assert source.n_repeated_ == 2


def test_keys_that_come_again_are_left_out_and_counted(brokers):
    brokers.send("rows", *[{"id": "k1"} | row(0)] * 2, partition=1)
    brokers.send("rows", {"id": "k1"} | row(0), partition=2)
    source = brokers.follow("rows", keys=["id"])
    assert (rows(source), source.n_repeated_) == ([0], 2)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"config": {}}, "config must hold bootstrap.servers, .* Got the properties \\[\\]"),
        (
            {"config": {"bootstrap.servers": "x", "auto.offset.reset": "latest"}},
            "none of .* Got the properties .*'auto.offset.reset'",
        ),
        ({"config": {"bootstrap.servers": "x", "zzz": 1}}, 'properties of librdkafka. Got: .*"zzz"'),
        (
            {"start": {"topic": "other", "offsets": {}}},
            "start must be a position in the topic 'rows'. Got {'topic': 'oth",
        ),
        ({"missing": "mean"}, "missing must be error, drop or keep for a live source"),
        ({"timeout_s": 0}, "timeout_s must be a positive number of seconds. Got 0"),
    ],
)
def test_wrong_options_are_refused(options, rule):
    with pytest.raises(ValueError, match=rule):
        follow_kafka("rows", ["y"], **{"config": {"bootstrap.servers": "127.0.0.1:9"}, **options})


def test_a_learner_is_evaluated_on_a_topic(brokers):
    X = np.random.default_rng(0).normal(size=(90, 2))
    Y = X[:, :1] > 0
    brokers.send("rows", *({"a": a, "b": b, "y": bool(y)} for (a, b), (y,) in zip(X.tolist(), Y.tolist(), strict=True)))
    found = evaluate(OnlineLogisticRegression(), brokers.follow("rows"), energy="none")
    expected = evaluate(OnlineLogisticRegression(), iter([(X, Y)]), energy="none")
    assert (found.stream, found.experience_sizes, found.scores) == ("rows", [90], expected.scores)
