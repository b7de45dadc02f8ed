"""The service of examples/service is killed at random moments, and loses nothing that it has acknowledged."""

import http.client
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from mlstream.service import DurableBuffer, Journal

SERVICE = Path(__file__).parents[1] / "examples/service"
ROOT = SERVICE.parents[1]
N_KILLS = 3


def load_program(name):
    spec = importlib.util.spec_from_file_location(f"service_{name}", SERVICE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


app, load = load_program("app"), load_program("load")


class Served:
    """The service in a process of its own, on a folder."""

    def __init__(self, folder):
        self.port = load.free_port()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, SERVICE / "app.py", folder, "--port", str(self.port)]
        self.process = subprocess.Popen(command, env=environment, cwd=folder)
        load.wait_for(self.port, self.process)

    def send(self, method, path, content=None, length=None):
        """Return status and body of a reply."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"content-type": "application/json"} | ({} if length is None else {"content-length": length})
            connection.request(method, path, content, headers)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        finally:
            connection.close()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    one = Served(tmp_path_factory.mktemp("state"))
    yield one
    one.stop()


def be_a_client(port, name, seed, acknowledged):
    """Predict rows and give feedback until the service dies; note what it has acknowledged."""
    rng, connection = np.random.default_rng(seed), http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        for call in range(10_000):
            ids = [f"{name}-{call}-{row}" for row in range(3)]
            load.post(connection, "/predict", {"ids": ids, "X": rng.random((3, 4)).tolist()})
            labels = [{"scan": int(one)} for one in rng.random(2) < 0.5]
            load.post(connection, "/feedback", {"ids": ids[:2], "labels": labels})
            acknowledged.update(ids[:2])
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()


def live_until_killed(folder, life, acknowledged):
    """Serve two clients, and kill the service once a random number of rows has been learnt, at any point of a call."""
    served = Served(folder)
    clients = [
        threading.Thread(target=be_a_client, args=(served.port, f"{life}{client}", [life, client], acknowledged))
        for client in range(2)
    ]
    enough = len(acknowledged) + int(np.random.default_rng(life).integers(1, 50))
    for client in clients:
        client.start()
    while len(acknowledged) < enough:
        clients[0].join(0.001)
    served.stop(signal.SIGKILL)
    for client in clients:
        client.join()


def test_no_kill_loses_what_was_acknowledged_and_the_state_is_that_of_the_calls(tmp_path):
    acknowledged, folder = set(), tmp_path / "state"
    folder.mkdir()
    for life in range(N_KILLS):
        live_until_killed(folder, life, acknowledged)
    with Journal(folder) as journal:
        calls = [json.loads(record) for record in journal.records()]
    learnt, oracle = set(), app.start()
    for kind, ids, *rest in calls:
        if kind == "predict":
            oracle.predict(ids, np.array(rest[0]))
        else:
            oracle.learn(ids, [dict(pairs) for pairs in rest[0]["names"]])
            assert learnt.isdisjoint(ids)
            learnt.update(ids)
    assert acknowledged <= learnt
    # of each client at most the call that the kill cut off
    assert len(learnt - acknowledged) <= 2 * 2 * N_KILLS
    with DurableBuffer(folder, app.start) as again:
        assert again.buffer.n_learnt_ == len(learnt)
        assert list(again.buffer._rows) == list(oracle._rows)
        X = np.random.default_rng(0).random((100, 4))
        assert_array_equal(again.buffer.learner.predict_proba(X), oracle.learner.predict_proba(X))
        assert again.buffer.learner.threshold_ == oracle.learner.threshold_


WRONG = {
    "too narrow": ("/predict", {"ids": ["x"], "X": [[1, 2]]}, "4 features"),
    "rows of several widths": ("/predict", {"ids": ["x", "y"], "X": [[1, 2, 3, 4], [1]]}, "4 features"),
    "too few rows": ("/predict", {"ids": ["x", "y"], "X": [[1, 2, 3, 4]]}, "a row for each of 2 ids"),
    "NaN": ("/predict", '{"ids": ["x"], "X": [[NaN, 2, 3, 4]]}', "finite"),
    "an id that waits": ("/predict", {"ids": ["a"], "X": [[1, 2, 3, 4]]}, "waits for its labels"),
    "an id twice": ("/predict", {"ids": ["x", "x"], "X": [[1, 2, 3, 4]] * 2}, "each id once"),
    "no id": ("/predict", {"ids": [None], "X": [[1, 2, 3, 4]]}, "ids"),
    "a field missing": ("/predict", {"ids": ["x"]}, "X"),
    "too many rows": ("/predict", {"ids": list(range(1001)), "X": [[1, 2, 3, 4]] * 1001}, "1000"),
    "no JSON": ("/predict", "{", "JSON"),
    "never predicted": ("/feedback", {"ids": ["nobody"], "labels": [{"scan": 1}]}, "never predicted"),
    "feedback twice": ("/feedback", {"ids": ["a", "a"], "labels": [{"scan": 1}] * 2}, "each id once"),
    "too few labels": ("/feedback", {"ids": ["a"], "labels": []}, "of 1 rows"),
    "no label": ("/feedback", {"ids": ["a"], "labels": [{"scan": 7}]}, "0, 1"),
}


def test_a_wrong_request_is_one_message_and_changes_nothing(served):
    assert served.send("POST", "/predict", json.dumps({"ids": ["a"], "X": [[0.5, 1, 0, 0]]}))[0] == 200
    before = served.send("GET", "/metrics")
    for name, (path, body, message) in WRONG.items():
        status, reply = served.send("POST", path, body if isinstance(body, str) else json.dumps(body))
        assert (status, list(json.loads(reply))) == (422, ["error"]), name
        assert message in json.loads(reply)["error"], name
    for length in (None, "5000000000"):
        status, reply = served.send("POST", "/predict", " " * (app.MAX_BODY_BYTES + 1), length)
        assert (status, "bytes at most" in reply) == (413, True)
    assert served.send("GET", "/nowhere")[0] == 404
    assert served.send("GET", "/metrics") == before
    assert before[0] == 200
    assert 'rows_total{state="predicted"} 1.0\n' in before[1]
    assert served.send("POST", "/feedback", json.dumps({"ids": ["a"], "labels": [{"worm": 1, "new": 1}]}))[0] == 200
    assert json.loads(served.send("GET", "/health")[1]) == {"status": "ok", "snapshot_error": ""}


def test_alarms_have_reasons_and_the_monitor_sees_them(tmp_path):
    served = Served(tmp_path)
    rng = np.random.default_rng(0)
    X, reasons = rng.random((2000, 4)), []
    for start in range(0, 2000, 50):
        ids = [f"r{row}" for row in range(start, start + 50)]
        rows = {"ids": ids, "X": X[start : start + 50].tolist(), "reasons": 4}
        found = json.loads(served.send("POST", "/predict", json.dumps(rows))[1])
        assert [len(row) for row in found["reasons"]] == [sum(row) for row in found["alarms"]]
        reasons += [one for row in found["reasons"] for one in row]
        labels = [{"scan": int(x[2] > 0.9), "worm": int(x[0] > 0.9)} for x in X[start : start + 50]]
        assert served.send("POST", "/feedback", json.dumps({"ids": ids, "labels": labels}))[0] == 200
    assert len(reasons) > 20
    for one in reasons:
        assert one["base"] + sum(one["features"].values()) == pytest.approx(one["score"], abs=1e-9)
    named = [next(iter(one["features"])) == {"scan": "ports", "worm": "duration"}[one["label"]] for one in reasons]
    assert np.mean(named[-20:]) > 0.8
    families = {one.name: one for one in text_string_to_metric_families(served.send("GET", "/metrics")[1])}
    numbers = {sample.name: sample.value for sample in families["mlstream_rows"].samples}
    assert numbers["mlstream_rows_total"] >= 2000
    assert {sample.labels["state"] for sample in families["rows"].samples} >= {"learnt", "expired"}
    status, page = served.send("GET", "/monitor")
    assert (status, page.startswith("<!doctype html>"), "worm" in page) == (200, True, True)
    served.stop()


def test_the_load_is_measured(served):
    times = load.measure(served.port, 0.2, 2)
    assert min(map(len, times.values())) > 0
    assert min(min(seconds) for seconds in times.values()) > 0
