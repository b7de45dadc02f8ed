"""Published streams as files, handed to an environment that has NumPy and not our readers of tables."""

from pathlib import Path

import numpy as np

from tests.estimators.published import Published


def write(stream: Published, path: Path) -> None:
    """Write a stream as NPZ."""
    parts = {"experience": stream.experiences, "evaluation": stream.evaluations}
    arrays = {
        f"{part}_{number}_{kind}": array
        for part, pairs in parts.items()
        for number, pair in enumerate(pairs)
        for kind, array in zip("XY", pair, strict=True)
    }
    np.savez(path, order=np.array(stream.order), masks=stream.masks, **arrays)


def read(path: Path) -> Published:
    """Read a stream that `write` wrote."""
    with np.load(path) as file:
        order, masks = file["order"].tolist(), file["masks"]
        experiences = [(file[f"experience_{s}_X"], file[f"experience_{s}_Y"]) for s in range(len(order))]
        evaluations = [(file[f"evaluation_{t}_X"], file[f"evaluation_{t}_Y"]) for t in range(len(masks))]
    return Published(order, experiences, evaluations, masks)
