"""Drift detectors on errors whose probability jumps, side by side with River's, value by value; decisions are compared.

Ours get all values in one call. `LabelDrift` watches a hundred labels in one call; River needs a detector for each.
"""

from typing import Any

import numpy as np
from harness import Contest, main, sized
from river import drift as river
from river.drift import binary

from estimators.drift import ADWIN, DDM, EDDM, HDDMA, HDDMW, KSWIN, DriftDetector, LabelDrift, PageHinkley

N_VALUES, N_WINDOWED, N_LABELS = sized((200_000, 10_000, 100), (2000, 500, 3))

PAIRS: dict[str, tuple[DriftDetector, Any]] = {
    "ADWIN": (ADWIN(), river.ADWIN()),
    "DDM": (DDM(), binary.DDM()),
    "EDDM": (EDDM(), binary.EDDM()),
    "HDDMA": (HDDMA(), binary.HDDMA()),
    "HDDMW": (HDDMW(), binary.HDDMW()),
    "PageHinkley": (PageHinkley(), river.PageHinkley()),
    "KSWIN": (KSWIN(), river.KSWIN(seed=0)),
}


def errors(n: int, n_labels: int = 1) -> Any:
    """Return errors (n, n_labels) whose probability jumps ten times."""
    rng = np.random.default_rng(0)
    chances = np.repeat(rng.uniform(0.05, 0.6, (10, n_labels)), n // 10, axis=0)
    return (rng.random(chances.shape) < chances).astype(float)


def by_us(detector: DriftDetector, values: Any) -> list[int]:
    """Return the rows of drifts, in one call."""
    return np.flatnonzero(detector.reset().update_many(values)).tolist()


def by_river(detector: Any, values: list[float]) -> list[int]:
    """Return the rows of drifts, value by value."""
    detector, drifts = detector.clone(), []
    for row, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected:
            drifts.append(row)
    return drifts


def labels_by_us(table: Any) -> list[int]:
    """Return the cells of drifts, of all labels together."""
    return np.flatnonzero(LabelDrift().update_many(table)).tolist()


def labels_by_river(table: Any) -> list[int]:
    """Return the same cells, by a detector for each label."""
    delta = 0.002 / table.shape[1]
    by_label = [by_river(river.ADWIN(delta=delta), column.tolist()) for column in table.T]
    return sorted(row * table.shape[1] + label for label, rows in enumerate(by_label) for row in rows)


def contest(name: str, values: Any) -> Contest:
    """Pair a detector with River's."""
    (ours, peer), numbers = PAIRS[name], values.tolist()
    title = f"{name}, {len(numbers):,} values"
    return Contest(title, lambda: by_us(ours, values), {"River": lambda: by_river(peer, numbers)}, 0, 0.0, 0, 3)


def contests() -> list[Contest]:
    """Pair every detector with River's."""
    listed = [contest(name, errors(N_WINDOWED if name == "KSWIN" else N_VALUES)[:, 0]) for name in PAIRS]
    table = errors(N_WINDOWED, N_LABELS)
    name = f"ADWIN of {N_LABELS} labels, {len(table):,} rows"
    listed.append(Contest(name, lambda: labels_by_us(table), {"River": lambda: labels_by_river(table)}, 0, 0.0, 0, 3))
    return listed


if __name__ == "__main__":
    main("Drift detectors", contests(), ["numpy", "river"])
