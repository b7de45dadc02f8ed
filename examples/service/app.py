"""A learner in service over HTTP, whose state survives ``kill -9``.

    python examples/service/app.py STATE                # a folder, which is made; --port 8000

    curl -H 'content-type: application/json' localhost:8000/predict -d '{"ids": ["a"], "X": [[0.5, 1.0, 0.2, 0.1]]}'
    curl -H 'content-type: application/json' localhost:8000/feedback -d '{"ids": ["a"], "labels": [{"scan": 1}]}'
    curl localhost:8000/metrics                         # for Prometheus; /monitor is a page, and /health says ok

With ``"reasons": 3`` in a prediction, each alarm comes with the three features that add most to its score.

It listens on this machine only, and asks nobody who they are: put a proxy that does before it.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Annotated, Any

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictInt, StrictStr
from sklearn.preprocessing import StandardScaler
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from estimators import AlarmBudget, OnlineLogisticRegression, PrequentialCalibrator, StreamPipeline
from mlstream.service import DurableBuffer, FeedbackBuffer, Monitor, MonitorCollector

FEATURES = ["duration", "bytes", "ports", "failures"]
LABELS = ["scan", "worm"]
BUDGET, PERIOD = 50, 1000
MAX_ROWS, MAX_WAITING, MAX_REASONS = 1000, 100_000, 100
MAX_BODY_BYTES = 2**20

Id = StrictInt | StrictStr


class Rows(BaseModel):
    """Rows to predict, with an id of the client's choice for each."""

    model_config = ConfigDict(extra="forbid")
    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_ROWS)]
    X: list[list[FiniteFloat]]
    reasons: Annotated[StrictInt, Field(ge=0, le=MAX_REASONS)] = 0


class Feedback(BaseModel):
    """Labels of rows that were predicted: 0 or 1 by name; those that are not named stay unknown."""

    model_config = ConfigDict(extra="forbid")
    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_ROWS)]
    labels: list[dict[str, StrictInt]]


def start() -> FeedbackBuffer:
    """Return what a new folder begins with: at most 50 alarms in 1000 rows, and labels that may appear later."""
    regression = OnlineLogisticRegression(0.1, on_new_labels="grow")
    scaled = StreamPipeline([("scale", StandardScaler()), ("learn", regression)])
    learner = AlarmBudget(PrequentialCalibrator(scaled), budget=BUDGET, period=PERIOD)
    empty = np.zeros((1, len(FEATURES))), np.zeros((1, len(LABELS)), dtype=np.uint8)
    return FeedbackBuffer(learner.begin(*empty, classes=LABELS), expiry=MAX_WAITING)


def build_app(served: DurableBuffer) -> "Bounded":
    """Return the application around a buffer."""
    app, watched, registry = FastAPI(title="A learner in service"), Watched(), CollectorRegistry()
    registry.register(MonitorCollector({"served": watched.monitor}))
    registry.register(RowCounts(served))

    @app.post("/predict")
    def predict(rows: Rows) -> dict[str, Any]:
        require_width(rows)
        alarms, proba = served.predict(rows.ids, rows.X)
        watched.predicted(rows.ids, rows.X, alarms, proba)
        learner = served.buffer.learner
        reply = {"labels": learner.label_names_, "alarms": alarms.tolist(), "probabilities": proba.tolist()}
        return reply | ({"reasons": explain(learner, rows, alarms)} if rows.reasons else {})

    @app.post("/feedback")
    def learn(feedback: Feedback) -> dict[str, int]:
        if len(feedback.labels) != len(feedback.ids):
            raise ValueError(f"labels must be of {len(feedback.ids)} rows, as ids are. Got {len(feedback.labels)}.")
        served.learn(feedback.ids, feedback.labels)
        watched.learnt(feedback.ids, feedback.labels, served.buffer.learner.label_names_)
        return {"learnt": len(feedback.ids)}

    @app.get("/metrics")
    def count() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    @app.get("/monitor")
    def show() -> HTMLResponse:
        with TemporaryDirectory() as folder:
            return HTMLResponse(watched.monitor.page(Path(folder) / "page.html").read_text(encoding="utf-8"))

    @app.get("/health")
    def check() -> dict[str, str]:
        served.require_healthy()
        return {"status": "ok", "snapshot_error": served.snapshot_error_}

    app.add_exception_handler(ValueError, lambda _, error: refuse(422, str(error)))
    app.add_exception_handler(RequestValidationError, refuse_body)
    app.add_exception_handler(HTTPException, lambda _, error: refuse(error.status_code, str(error.detail)))  # type: ignore[attr-defined]
    app.add_exception_handler(OSError, lambda _, error: refuse(503, str(error)))
    return Bounded(app)


def require_width(rows: Rows) -> None:
    """Refuse rows that do not match ids or features, as a table needs all of one width."""
    if len(rows.X) != len(rows.ids):
        raise ValueError(f"X must have a row for each of {len(rows.ids)} ids. Got {len(rows.X)} rows.")
    for row_id, row in zip(rows.ids, rows.X, strict=True):
        if len(row) != len(FEATURES):
            raise ValueError(f"X must have {len(FEATURES)} features in each row. Got {len(row)} for id {row_id!r}.")


def refuse(status: int, message: str) -> Response:
    """Return an error as JSON: one message."""
    return JSONResponse({"error": message}, status)


def refuse_body(_: Request, error: Exception) -> Response:
    """Say what is wrong first with a body, and where."""
    first = error.errors()[0]  # type: ignore[attr-defined]
    return refuse(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def explain(learner: AlarmBudget, rows: Rows, alarms: np.ndarray) -> list[list[dict[str, Any]]]:
    """Return for each row why its alarms were raised, by the learner as it is now: it may have learnt since then."""
    why = replace(learner.explain(rows.X), feature_names=tuple(FEATURES))
    return [
        [
            {
                "label": why.label_names[label],
                "scale": why.scale,
                "score": float(why.scores[row, label]),
                "base": float(why.base[label]),
                "features": dict(why.top(rows.reasons, label=label, row=row)),
            }
            for label in np.flatnonzero(raised).tolist()
        ]
        for row, raised in enumerate(alarms)
    ]


class Watched:
    """A monitor, and what was predicted for rows until their labels come. It begins with the process."""

    def __init__(self) -> None:
        self.monitor = Monitor(window=PERIOD, budget=BUDGET, feature_names=FEATURES, label_names=LABELS)
        self._waiting: dict[Id, tuple[np.ndarray, np.ndarray]] = {}
        self._lock = Lock()

    def predicted(self, ids: list[Id], X: list[list[float]], alarms: np.ndarray, proba: np.ndarray) -> None:
        """Take rows with what was predicted for them."""
        self.monitor.update(X, alarms, y_proba=proba)
        with self._lock:
            self._waiting.update(zip(ids, zip(alarms, proba, strict=True), strict=True))
            while len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]

    def learnt(self, ids: list[Id], labels: list[dict[str, int]], names: list[str]) -> None:
        """Take labels of rows that this process has predicted."""
        for row_id, known in zip(ids, labels, strict=True):
            with self._lock:
                found = self._waiting.pop(row_id, None)
            if found is not None:
                # labels that were new to the learner had not been predicted
                self.monitor.feedback([known.get(name, np.nan) for name in names[: len(found[0])]], *found)


class RowCounts(Collector):
    """Numbers of rows for Prometheus, of the whole life of the folder."""

    def __init__(self, served: DurableBuffer) -> None:
        self._served = served

    def collect(self) -> Iterator[Metric]:
        """Yield a counter by what became of rows, and how many wait."""
        buffer = self._served.buffer
        rows = CounterMetricFamily("rows", "Rows, by what became of them.", labels=["state"])
        for state in ("predicted", "learnt", "expired", "dropped"):
            rows.add_metric([state], getattr(buffer, f"n_{state}_"))
        yield rows
        yield GaugeMetricFamily("rows_waiting", "Rows that wait for labels.", len(buffer))


class Bounded:
    """An application that gets no body beyond a limit, whatever its header says."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, which is small, and hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body, more = b"", True
        while more and len(body) <= MAX_BODY_BYTES:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if more or len(body) > MAX_BODY_BYTES:
            await refuse(413, f"A body must be of {MAX_BODY_BYTES:,} bytes at most. Got more.")(scope, receive, send)
            return
        messages: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Message:
            return next(messages, None) or await receive()

        await self._app(scope, again, send)


@contextmanager
def opened(folder: Path) -> Iterator[DurableBuffer]:
    """Open a folder, and take a snapshot at the end, so that the next start is fast."""
    with DurableBuffer(folder, start) as served:
        yield served
        served.snapshot()


def main() -> None:
    """Serve a folder until the process is stopped."""
    parser = argparse.ArgumentParser(description="A learner in service over HTTP")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    with opened(options.folder) as served:
        uvicorn.run(build_app(served), port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
