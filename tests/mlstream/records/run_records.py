"""A campaign made by hand: records and cards as the protocol writes them, without any learner."""

import math
from pathlib import Path

import numpy as np

from mlstream.records.run_record import save_card, save_run
from mlstream.records.run_result import Curve, PhaseResources, Resources, RunResult
from mlstream.streams.card_model import (
    DropCard,
    ExperienceCard,
    GeneratorCard,
    ScenarioCard,
    SourceCard,
    StreamCard,
    TaskCard,
)

TASKS = ("task 0", "task 1", "task 2", "task 3")
ORDER = (3, 1, 0, 2, 3, 1, 0, 2)
SIZES = (260, 226, 194, 166, 260, 226, 194, 166)
N_LABELS = 14
VERSIONS = {"mlstream": "0.1.0", "numpy": "2.4.6", "python": "3.11.9"}
MACHINE = {"cpu": "Example CPU, 2 cores", "system": "Linux 6.1"}

# Final level, speed of learning, loss when another task comes, seconds, kWh.
STRATEGIES = {
    "NN": (0.70, 5.0, 0.06, 0.021, 1.3e-7),
    "NN_TL": (0.74, 6.0, 0.01, 0.023, 1.4e-7),
    "BR_HT": (0.66, 3.0, 0.02, 4.1, 3.4e-5),
    "1NN": (0.68, 4.0, 0.0, 0.34, 2.6e-6),
    "last_class": (0.53, 9.0, 0.0, 0.004, 2e-8),
    "prior_distribution": (0.51, 9.0, 0.01, 0.003, 1.5e-8),
}


def make_card(name: str = "yeast", tasks: tuple[str, ...] = TASKS, n_labels: int = N_LABELS) -> StreamCard:
    """Describe a stream whose tasks are visited as ORDER says."""
    rng = np.random.default_rng(7)
    return StreamCard(
        name=name,
        description="Four tasks from clusters of label vectors, each visited twice, in a seeded order.",
        source=SourceCard(
            name="Yeast",
            origin="yeast",
            licence="CC BY 4.0",
            citation="Elisseeff and Weston (2001), A kernel method for multi-labelled classification.",
            sha256="ab" * 32,
            n_samples=2417,
        ),
        generator=GeneratorCard(name="task_stream", parameters={"n_tasks": 4, "variant": "standard"}, seed=0),
        scenario=ScenarioCard(name="task-based", boundary="abrupt", task_identity="training"),
        versions=VERSIONS,
        feature_names=[f"Att{column + 1}" for column in range(103)],
        label_names=[f"Class{label + 1}" for label in range(n_labels)],
        tasks=[_make_task(task, place, n_labels, rng) for place, task in enumerate(tasks)],
        experiences=[ExperienceCard(tasks=[j], n_samples=n) for j, n in zip(ORDER, SIZES, strict=True)],
        drops=[DropCard(what="features", reason="constant", count=1, names=["Att9"])],
        data_sha256="cd" * 32,
    )


def make_run(strategy: str = "NN", seed: int = 0, stream: str = "yeast", **changes: object) -> RunResult:
    """Record a run that finished, with figures as a real learner gives them."""
    level, speed, loss, seconds, kwh = STRATEGIES.get(strategy, STRATEGIES["NN"])
    rng = np.random.default_rng([seed, len(strategy), ord(strategy[0])])
    R = _make_matrix(level, speed, loss, rng)
    curve = _make_curve(level, speed, loss, rng)
    phases = {
        "online": PhaseResources(wall_time_s=seconds, cpu_time_s=seconds, energy_kwh=kwh),
        "evaluate": PhaseResources(wall_time_s=seconds / 3, cpu_time_s=seconds / 3, energy_kwh=kwh / 3),
    }
    record: dict[str, object] = {
        "strategy": strategy,
        "estimator": f"{strategy.replace('_', '')}Classifier(random_state={seed})",
        "parameters": {"learning_rate": 0.01},
        "seed": seed,
        "stream": stream,
        "stream_sha256": "cd" * 32,
        "task_names": list(TASKS),
        "order": [[task] for task in ORDER],
        "experience_sizes": list(SIZES),
        "label_space": "task",
        "settings": {"one_class": "skip", "time_cap_s": 10_800.0},
        "uses_task": strategy == "NN_TL",
        "status": "done",
        "scores": _make_scores(R, curve, kwh),
        "curves": {"ba_macro": curve},
        "R": {"ba_macro": R},
        "resources": Resources(
            phases=phases,
            peak_memory_bytes=210_000_000,
            model_size_bytes=12_480,
            energy_method="codecarbon 3.3 (offline, CPU load x stated power)",
            energy_is_estimate=True,
            energy_below_resolution=kwh < 1e-7,
        ),
        "versions": VERSIONS,
        "machine": MACHINE,
    }
    return RunResult.model_validate(record | changes)


def make_failed(strategy: str = "1NN", seed: int = 1, stream: str = "yeast") -> RunResult:
    """Record a run that failed before it measured anything."""
    error = 'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\nValueError: X must be finite.'
    nothing = {"scores": {}, "curves": {}, "R": {}, "resources": None}
    return make_run(strategy, seed, stream, status="failed", error=error, **nothing)


def make_capped(strategy: str = "BR_HT", seed: int = 0, stream: str = "yeast") -> RunResult:
    """Record a run that reached its cap in the sixth experience."""
    whole = make_run(strategy, seed, stream)
    curve, R = whole.curves["ba_macro"], whole.R["ba_macro"]
    seen = [n for n in curve.n_rows if n <= sum(SIZES[:5]) + 100]
    cut = Curve(
        n_rows=seen,
        cumulative=curve.cumulative[: len(seen)],
        windowed=curve.windowed[: len(seen)],
        window=curve.window,
    )
    measured = [row if step < 6 else [None] * len(row) for step, row in enumerate(R)]
    return make_run(strategy, seed, stream, status="capped", curves={"ba_macro": cut}, R={"ba_macro": measured})


def write_campaign(
    directory: Path, streams: tuple[str, ...] = ("yeast",), strategies: tuple[str, ...] | None = None
) -> Path:
    """Write two seeds of every strategy on every stream: one run failed, one strategy capped."""
    for stream in streams:
        save_card(make_card(stream), directory)
        for strategy in strategies or tuple(STRATEGIES):
            for seed in (0, 1):
                save_run(_make_any(strategy, seed, stream), directory)
    return directory


def _make_any(strategy: str, seed: int, stream: str) -> RunResult:
    if strategy == "BR_HT":
        return make_capped(strategy, seed, stream)
    return make_failed(strategy, seed, stream) if (strategy, seed) == ("1NN", 1) else make_run(strategy, seed, stream)


def _make_task(name: str, place: int, n_labels: int, rng: np.random.Generator) -> TaskCard:
    shares = np.round(rng.beta(0.6, 1.8, n_labels), 3)
    shares[rng.permutation(n_labels)[: place % 3]] = 0.0
    n = SIZES[ORDER.index(place % 4)]
    return TaskCard(
        name=name,
        signature=np.flatnonzero(shares).tolist(),
        label_frequencies=shares.tolist(),
        cardinality=float(shares.sum()),
        n_label_sets=40 + 7 * place,
        n_learning=2 * n,
        n_evaluation=round(n * 6 / 7),
    )


def _make_matrix(level: float, speed: float, loss: float, rng: np.random.Generator) -> list[list[float | None]]:
    skill, rows = np.zeros(4), []
    for task in (None, *ORDER):
        if task is not None:
            skill *= 1 - 4 * loss
            skill += 0.15 * (1 - skill)
            skill[task] += (1 - skill[task]) * (1 - math.exp(-speed / 3))
        rows.append(np.round(0.5 + (level - 0.5) * skill * 1.05 + rng.normal(0, 0.008, 4), 4).tolist())
    return rows


def _make_curve(level: float, speed: float, loss: float, rng: np.random.Generator) -> Curve:
    n_rows = [*range(20, sum(SIZES), 20), sum(SIZES)]
    starts = np.cumsum((0, *SIZES[:-1]))
    windowed = []
    for n in n_rows:
        age = n - starts[np.searchsorted(starts, n, side="left") - 1]
        learnt = 1 - math.exp(-speed * n / 600)
        dip = 1.5 * loss * math.exp(-age / 60)
        windowed.append(round(0.5 + (level - 0.5) * learnt - dip + rng.normal(0, 0.012), 4))
    cumulative = (np.cumsum(windowed) / np.arange(1, len(windowed) + 1)).round(4)
    return Curve(n_rows=n_rows, cumulative=[None, *cumulative[1:].tolist()], windowed=windowed, window=100)


def _make_scores(R: list[list[float | None]], curve: Curve, kwh: float) -> dict[str, float | None]:
    matrix = np.array(R)
    acc = float(matrix[-1].mean())
    return {
        "ba_macro": curve.cumulative[-1],
        "precision_at_k": 0.58 + 0.2 * (acc - 0.5),
        "rmse": 0.62 - 0.5 * acc,
        "acc": acc,
        "bwt": float((matrix[-1] - matrix[5:9].max(axis=0)).mean()),
        "fwt": float((matrix[1] - matrix[0]).mean()),
        "fm": None if kwh < 2e-8 else float((matrix.max(axis=0) - matrix[-1]).mean()),
        "frug_kwh": acc - kwh / (1 + kwh),
        "frug_kj": acc - 3600 * kwh / (1 + 3600 * kwh),
    }
