"""Two threads of clients that predict, while feedback streams in: p50 and p99 of the service in milliseconds.

python examples/service/load.py                     # --seconds 20 --rows 1
"""

import argparse
import http.client
import json
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

APP = Path(__file__).with_name("app.py")
Times = dict[str, list[float]]


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def post(connection: http.client.HTTPConnection, path: str, body: dict[str, object]) -> dict[str, object]:
    """Send a request, and return its reply."""
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    reply = connection.getresponse()
    content = json.loads(reply.read())
    if reply.status != 200:
        raise ValueError(content["error"])
    return dict(content)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return when the service answers."""
    while process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise RuntimeError(f"The service has ended with status {process.returncode}.")


def predict(
    port: int, name: str, n_rows: int, until: float, times: Times, done: "queue.Queue[list[str] | None]"
) -> None:
    """Predict rows one call after the other, and hand on their ids."""
    connection, rng = http.client.HTTPConnection("127.0.0.1", port), np.random.default_rng(len(name))
    call = 0
    while time.perf_counter() < until:
        ids = [f"{name}-{call}-{row}" for row in range(n_rows)]
        body = {"ids": ids, "X": rng.random((n_rows, 4)).tolist()}
        start = time.perf_counter()
        post(connection, "/predict", body)
        times["predict"].append(time.perf_counter() - start)
        done.put(ids)
        call += 1
    done.put(None)


def learn(port: int, n_threads: int, times: Times, done: "queue.Queue[list[str] | None]") -> None:
    """Give feedback for all that was predicted, in calls of what has come meanwhile."""
    connection, rng = http.client.HTTPConnection("127.0.0.1", port), np.random.default_rng(0)
    while n_threads:
        parts = [done.get()]
        while not done.empty() and len(parts) < 50:
            parts.append(done.get())
        n_threads -= parts.count(None)
        if ids := [row_id for part in parts if part for row_id in part][:1000]:
            labels = [{"scan": int(label)} for label in rng.random(len(ids)) < 0.05]
            start = time.perf_counter()
            post(connection, "/feedback", {"ids": ids, "labels": labels})
            times["feedback"].append(time.perf_counter() - start)


def measure(port: int, seconds: float, n_rows: int) -> Times:
    """Return the seconds of each call, after some that are not counted."""
    for length, times in ((2.0, {"predict": [], "feedback": []}), (seconds, {"predict": [], "feedback": []})):
        done: queue.Queue[list[str] | None] = queue.Queue()
        until = time.perf_counter() + length
        names = (f"{length}a", f"{length}bb")
        threads = [threading.Thread(target=predict, args=(port, name, n_rows, until, times, done)) for name in names]
        threads.append(threading.Thread(target=learn, args=(port, len(names), times, done)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return times


def main() -> None:
    """Start the service in an empty folder, and print what it takes."""
    parser = argparse.ArgumentParser(description="p50 and p99 of the service")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rows", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        process = subprocess.Popen([sys.executable, APP, folder, "--port", str(port)])
        try:
            wait_for(port, process)
            times = measure(port, options.seconds, options.rows)
        finally:
            process.terminate()
            process.wait()
    for name, values in times.items():
        p50, p99 = np.percentile(values, (50, 99)) * 1e3
        print(f"{name:9} {len(values):6} calls   p50 {p50:6.2f} ms   p99 {p99:6.2f} ms")


if __name__ == "__main__":
    main()
