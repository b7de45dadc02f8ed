"""Online networks, side by side with the same network in lean PyTorch: one row a step, one forward pass, fused Adam.

The demands, on Yeast (d = 103, l = 14), synthetic_rand (d = l = 4) and Slashdot (d = 1079, sparse), are the ratios that
a prototype reached, and ten times lean PyTorch for one call per row. Both learn the same rows from the same weights;
probabilities are compared where float32 replay does not make a network chaotic.

The lower bound of a row's time is printed after the ratios: Adam must read gradient, moments and weights and write the
last three, with a square root and a division for each weight; its loop alone, over as many weights, is the least that
a step can take. The rest is the forward and the backward pass: products with the weights, which mini-batches spend
most of their time on. Both figures are printed beside the best that the machine does, in a copy that stays in its
caches and in a matrix product.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from harness import Contest, main, sized
from numba import njit
from scipy import sparse

from estimators.networks._kernels.adam import adam, make_constants
from estimators.strategies import make_strategy
from mlstream import load_dataset

SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
N_ROWS = {"NN": 4000, "NN_TL": 4000, "NN_TLH": 4000, "NN_TLH_memories": 300, "NN_TLH_mini_memories": 2000}
N_ROWS = {name: sized(n, 30) for name, n in N_ROWS.items()}
DEMANDS = {
    "Yeast": {"NN": 100, "NN_TL": 100, "NN_TLH": 23, "NN_TLH_memories": 24, "NN_TLH_mini_memories": 14},
    "synthetic_rand": {"NN": 1000, "NN_TL": 1000, "NN_TLH": 190, "NN_TLH_mini_memories": 90},
    "Slashdot": {"NN_TLH": 88},
}
TOLERANCES = {"NN": 1e-5, "NN_TL": 1e-5}

Table = tuple[Any, np.ndarray]


def tables() -> dict[str, Table]:
    """Load the tables that exist: Yeast is embedded, the others are shared files."""
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
        random, predicted = np.random.default_rng(0), np.empty(Y.shape, np.float32)

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
                predicted[i] = step(rows)[0].detach().numpy()
                continue
            predicted[i] = step(slice(i, i + 1))[0].detach().numpy()
            for j in random.integers(0, max(i, 1), 2 * n_draws if i > n_draws else 0):
                step(slice(j, j + 1))
        return predicted

    return learn


def compiled(name: str, X: Any, Y: np.ndarray, mask: np.ndarray, *, one_call: bool = True) -> Callable[[], np.ndarray]:
    """Return a call in which our network learns the rows, in one call or in one a row."""
    size = len(Y) if one_call else 1

    def learn() -> np.ndarray:
        learner = make_strategy(name).set_params(random_state=0)
        parts = [slice(i, i + size) for i in range(0, len(Y), size)]
        return np.vstack([learner.predict_then_fit(X[part], Y[part], label_mask=mask[part])[1] for part in parts])

    return learn


def contests() -> list[Contest]:
    """Return all strategies with a demand, and one call per row on Yeast."""
    found, peers = [], {}
    data = tables()
    for table, demands in DEMANDS.items():
        for name, demand in demands.items() if table in data else ():
            X, Y = (part[: N_ROWS[name]] for part in data[table])
            X = X.astype(np.float32)
            dense = X.toarray() if sparse.issparse(X) else X
            peers[table, name] = {"lean torch": lean_torch(name, dense, Y, mask_of(Y))}
            ours = compiled(name, X, Y, mask_of(Y))
            found.append(Contest(f"{table} {name}", ours, peers[table, name], demand, TOLERANCES.get(name)))
    for name in ("NN_TL", "NN_TLH"):
        X, Y = (part[: N_ROWS[name]] for part in data["Yeast"])
        ours = compiled(name, X.astype(np.float32), Y, mask_of(Y), one_call=False)
        found.append(Contest(f"Yeast {name}, one call per row", ours, peers["Yeast", name], 10, TOLERANCES.get(name)))
    return found


@njit
def adam_alone(w: Any, m: Any, v: Any, g: Any, constants: Any, n_steps: int) -> None:
    """Take steps with one and the same gradient."""
    for _ in range(n_steps):
        adam(w, m, v, g, constants, 0, w.size, 0)


def best(call: Callable[[], Any], repeats: int = 5) -> float:
    """Return the least time of some calls, after one that compiles."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def print_machine() -> None:
    """Print the best speed of the machine, on one core."""
    a, b = np.ones((512, 512), np.float32), np.ones((512, 512), np.float32)
    few, same = np.ones(20_000, np.float32), np.ones(20_000, np.float32)
    copying = best(lambda: [np.copyto(few, same) for _ in range(1000)])
    flops = 2 * 512**3 / best(lambda: a @ b) / 1e9
    print(f"machine: {flops:.0f} GFLOP/s in a product of matrices, {160_000_000 / copying / 1e9:.0f} GB/s in a copy")


def print_bounds() -> None:
    """Print, for each strategy on dense rows, the time of a row and its lower bound."""
    data = tables()
    for table, name in ((one, name) for one in ("Yeast", "synthetic_rand") for name in DEMANDS[one]):
        if table in data:
            X, Y = (part[: N_ROWS[name]] for part in data[table])
            X = X.astype(np.float32)
            row_s = best(compiled(name, X, Y, mask_of(Y))) / len(X)
            learner = make_strategy(name).set_params(random_state=0).fit(X, Y)
            steps, n, constants = learner.n_steps_ / len(X), learner._state["w"].size, make_constants(np.float32)
            parts = [np.full(n, 1e-3, np.float32) for _ in range(4)]
            step_s = best(lambda w=parts, c=constants: adam_alone(*w, c, 1000)) / 1000
            together = 11 if "mini" in name else 1
            rate = (4 * n * together + 12 * n) * steps / row_s / 1e9
            print(
                f"{table} {name}: {row_s * 1e6:.2f} us a row, {steps:.1f} steps on {n} weights; Adam alone "
                f"{step_s * steps / row_s:.0%} of it; {rate:.1f} GFLOP/s, {40 * n * steps / row_s / 1e9:.0f} GB/s"
            )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("Online networks", contests(), ("numba", "numpy", "torch", "scikit-learn"), repeats=5)
    print_machine()
    print_bounds()
