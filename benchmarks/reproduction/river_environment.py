"""River 0.21.2, the version that the published tables were made with, in an environment of its own."""

import json
import os
import subprocess
from typing import Any

from benchmarks.reproduction.compare import ROOT, require_shared
from benchmarks.reproduction.environments import python_with

RIVER = "0.21.2"


def run_river(cells: dict[str, Any]) -> dict[str, Any]:
    """Run cells, name -> [strategy, stream, settings, order or None]; give name -> {"scores": ..., "R": ...}."""
    python = python_with(f"river-{RIVER}", f"river=={RIVER}", "scipy")
    done = subprocess.run(
        [python, "-m", "benchmarks.reproduction.river_cells", str(require_shared())],
        input=json.dumps(cells),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def tree_settings(grace_period: int, delta: float, tau: float) -> dict[str, float]:
    """Name the parameters of a tree, in the order of the protocol's grids."""
    return {"grace_period": grace_period, "delta": delta, "tau": tau}
