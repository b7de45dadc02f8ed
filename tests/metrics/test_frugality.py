"""Frugality: its unit, its limits, and the supplement's printed scores."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metrics import frug

KWH = {"J": 1 / 3.6e6, "kJ": 1 / 3600, "MJ": 1 / 3.6, "Wh": 1e-3, "kWh": 1.0, "MWh": 1e3}


def test_the_scale_sets_what_counts_as_much() -> None:
    for scale, kwh in KWH.items():
        assert frug(0.9, kwh, scale=scale) == pytest.approx(0.9 - 0.5, abs=1e-12)


def test_energy_is_read_in_its_unit() -> None:
    assert frug(0.8, 900, energy_unit="kJ") == frug(0.8, 0.25) == pytest.approx(0.6)
    for unit, kwh in KWH.items():
        assert frug(0.9, 2 / kwh, energy_unit=unit) == pytest.approx(frug(0.9, 2), abs=1e-12)


def test_free_energy_and_endless_energy() -> None:
    assert frug(0.9, 0.0) == 0.9
    assert frug(0.9, 1e308, scale="J") == pytest.approx(-0.1)
    assert frug(0.9, 5e-324) == 0.9


def test_weight() -> None:
    assert frug(0.9, 1.0, w=0.5) == pytest.approx(0.9 - 0.25)
    assert frug(0.9, 1.0, w=0) == 0.9


def test_the_supplements_scores_come_out(shared_data: Callable[[str], Path]) -> None:
    names = ("table02_average_accuracy", "table11_energy_wh", "table08_frugality")
    paths = [shared_data(f"../reference/tables/supp_{name}.csv") for name in names]
    accuracy, energy, printed = ([*csv.reader(path.read_text().splitlines())][1:] for path in paths)
    cells = [
        (float(acc), float(wh), float(score))
        for rows in zip(accuracy, energy, printed, strict=True)
        for acc, wh, score in zip(*(row[1:10] for row in rows), strict=True)
    ]
    assert len(cells) == 17 * 9
    for acc, wh, score in cells:
        assert frug(acc, wh / 1000) == pytest.approx(score, abs=0.0011)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0.9, -1.0), {}, r"energy must be a finite number in \[0, inf\]. Got -1.0"),
        ((0.9, float("nan")), {}, "energy must be a finite number"),
        ((float("inf"), 1.0), {}, "acc must be a finite number"),
        ((0.9, 1.0), {"w": -1}, "w must be a finite number"),
        ((0.9, 1.0), {"energy_unit": "calorie"}, "energy_unit must be one of 'J', .* Got 'calorie'"),
        ((0.9, 1.0), {"scale": "calorie"}, "scale must be one of 'J', .* Got 'calorie'"),
        (([0.9], 1.0), {}, "acc must be a finite number"),
    ],
)
def test_bad_input_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        frug(*arguments, **options)
