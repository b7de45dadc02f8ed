"""A real MLflow server on this machine, with its embedded database."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

PATIENCE_S = 120
QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}


@contextmanager
def run_mlflow(folder: Path) -> Iterator[str]:
    """Give the address of a server that keeps everything in `folder`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}", "--artifacts-destination", str(folder)]
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=os.environ | QUIET, stdout=log, stderr=log)
        try:
            _wait_for(server, f"{address}/health", folder / "log.txt")
            yield address
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(server: subprocess.Popen, health: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            requests.get(health, timeout=5).raise_for_status()
        except requests.RequestException:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"MLflow did not start: {log.read_text()[-2000:]}") from None
            time.sleep(0.1)
        else:
            return
