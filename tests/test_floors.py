"""The lowest versions that are tested are those that are promised."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def floors() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    # An extra may be made of other extras of ours.
    others = [line for line in promised if not line.startswith("mlstream-toolkit")]
    return dict(re.match(r"([\w-]+)>=([\d.]+)", line).groups() for line in others)


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_every_pin_is_a_floor_and_every_needed_package_has_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {line.partition(">=")[0] for line in project["dependencies"]}
    assert pins().items() <= floors().items()
    assert needed <= pins().keys()
