"""Online networks, side by side with the same network in lean PyTorch: one row a step, one forward pass, fused Adam.

Asked for, on Yeast (d = 103, l = 14), synthetic_rand (d = l = 4) and Slashdot (d = 1079, sparse): the ratios that a
prototype reached, and ten times lean PyTorch for one call per row. Both learn the same rows from the same weights;
answers are compared where float32 replay does not make a network chaotic.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from harness import Contest, main
from scipy import sparse

from estimators.strategies import make_strategy
from mlstream import load_dataset

SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
N_ROWS = {"NN": 4000, "NN_TL": 4000, "NN_TLH": 4000, "NN_TLH_memories": 300, "NN_TLH_mini_memories": 2000}
DEMANDS = {
    "Yeast": {"NN": 100, "NN_TL": 100, "NN_TLH": 23, "NN_TLH_memories": 24, "NN_TLH_mini_memories": 14},
    "synthetic_rand": {"NN": 1000, "NN_TL": 1000, "NN_TLH": 190, "NN_TLH_mini_memories": 90},
    "Slashdot": {"NN_TLH": 88},
}
TOLERANCES = {"NN": 1e-5, "NN_TL": 1e-5}

Table = tuple[Any, np.ndarray]


def tables() -> dict[str, Table]:
    """Read what is there: Yeast is embedded, the others are shared files."""
    found = {"Yeast": load_dataset("yeast")}
    for name, labels in (("synthetic_rand", -4), ("Slashdot", None)):
        path = SHARED / "multilabel" / f"{name}.arff"
        if path.exists():
            found[name] = load_dataset(path, labels)
    return {name: (data.X, np.asarray(data.Y)) for name, data in found.items()}


def mask_of(Y: np.ndarray) -> np.ndarray:
    """Let the first half of the labels count, then the second."""
    half = Y.shape[1] // 2
    mask = np.zeros(Y.shape, dtype=bool)
    mask[: len(Y) // 2, : half + 1] = True
    mask[len(Y) // 2 :, half:] = True
    return mask


def lean_torch(name: str, X: np.ndarray, Y: np.ndarray, mask: np.ndarray) -> Callable[[], np.ndarray]:
    """Write the strategy in PyTorch, as fast as it goes there."""
    learner = make_strategy(name).set_params(random_state=0).begin(X[:1], Y[:1])
    n_draws = 5 if "memories" in name else 0
    features, labels, masks = torch.from_numpy(X), torch.from_numpy(Y.astype(np.float32)), torch.from_numpy(mask)
    if not learner.uses_task:
        masks = torch.ones_like(masks)
    masks = masks.float() / masks.sum(dim=1, keepdim=True)

    def learn() -> np.ndarray:
        network = learner.to_torch()
        optimizer = torch.optim.Adam(network.parameters(), lr=learner.learning_rate, fused=True)
        random, answers = np.random.default_rng(0), np.empty(Y.shape, np.float32)

        def step(rows: slice | np.ndarray) -> torch.Tensor:
            proba = network(features[rows])
            loss = torch.nn.functional.binary_cross_entropy(proba, labels[rows], reduction="none")
            optimizer.zero_grad()
            ((loss * masks[rows]).sum() / len(proba)).backward()
            optimizer.step()
            return proba

        for i in range(len(X)):
            if learner.replay == "mini-batch" and i > n_draws:
                rows = np.concatenate([[i], random.integers(0, i, 2 * n_draws)])
                answers[i] = step(rows)[0].detach().numpy()
                continue
            answers[i] = step(slice(i, i + 1))[0].detach().numpy()
            for j in random.integers(0, max(i, 1), 2 * n_draws if i > n_draws else 0):
                step(slice(j, j + 1))
        return answers

    return learn


def compiled(name: str, X: Any, Y: np.ndarray, mask: np.ndarray, *, one_call: bool = True) -> Callable[[], np.ndarray]:
    """Let ours learn the rows, in one call or in one a row."""
    size = len(Y) if one_call else 1

    def learn() -> np.ndarray:
        learner = make_strategy(name).set_params(random_state=0)
        parts = [slice(i, i + size) for i in range(0, len(Y), size)]
        return np.vstack([learner.predict_then_fit(X[part], Y[part], label_mask=mask[part])[1] for part in parts])

    return learn


def contests() -> list[Contest]:
    """All strategies that something is asked of, and one call per row on Yeast."""
    held, peers = [], {}
    data = tables()
    for table, demands in DEMANDS.items():
        for name, demand in demands.items() if table in data else ():
            X, Y = (part[: N_ROWS[name]] for part in data[table])
            X = X.astype(np.float32)
            dense = X.toarray() if sparse.issparse(X) else X
            peers[table, name] = {"lean torch": lean_torch(name, dense, Y, mask_of(Y))}
            ours = compiled(name, X, Y, mask_of(Y))
            held.append(Contest(f"{table} {name}", ours, peers[table, name], demand, TOLERANCES.get(name)))
    for name in ("NN_TL", "NN_TLH"):
        X, Y = (part[: N_ROWS[name]] for part in data["Yeast"])
        ours = compiled(name, X.astype(np.float32), Y, mask_of(Y), one_call=False)
        held.append(Contest(f"Yeast {name}, one call per row", ours, peers["Yeast", name], 10, TOLERANCES.get(name)))
    return held


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("Online networks", contests(), ("numba", "numpy", "torch", "scikit-learn"), repeats=5)
