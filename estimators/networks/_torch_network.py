"""Networks in torch (extra `torch`): the learnt network as a module, and learning on a device."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from estimators._typing import Array
from estimators.contract.failed_calls import DivergedError
from estimators.contract.row_codes import COUNTS
from estimators.networks._kernels.adam import B1, B2, EPS
from estimators.networks._kernels.state import B1_POWER, B2_POWER, STEPS, CodedRows
from estimators.networks._network_state import State, brought_up_to_date
from estimators.replay.memories import ReplayPlan, replay_order

if TYPE_CHECKING:
    import torch


class DeviceLearning(NamedTuple):
    """The parameters of the estimator that matter for learning on a device."""

    device: str
    rate: float
    together: bool
    adaptive: bool
    published: bool
    freeze: bool


def as_module(layers: list[tuple[Array, Array]], scaling: tuple[Array, Array] | None) -> "torch.nn.Sequential":
    """Return layers as a ``torch.nn.Sequential`` that returns probabilities; the first one scales the features."""
    torch = import_torch()
    parts = []
    if scaling is not None:
        (weights, biases), (centre, deviation) = layers[0], scaling
        scaled = weights / deviation
        layers = [(scaled.astype(weights.dtype), (biases - scaled @ centre).astype(biases.dtype)), *layers[1:]]
    for weights, biases in layers:
        linear = torch.nn.Linear(*weights.shape[::-1], dtype=torch.as_tensor(biases).dtype)
        with torch.no_grad():
            linear.weight.copy_(torch.as_tensor(weights.copy()))
            linear.bias.copy_(torch.as_tensor(biases))
        parts += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1], torch.nn.Sigmoid())


def device_learning(estimator: Any) -> DeviceLearning:
    """Read the parameters of an estimator."""
    adaptive = estimator.optimizer == "adam"
    return DeviceLearning(
        estimator.device,
        estimator.learning_rate,
        estimator.replay == "mini-batch",
        adaptive,
        estimator.targeted_loss != "signature",
        estimator.freeze_masked and adaptive,
    )


def learn_on_device(
    how: DeviceLearning, state: State, rows: CodedRows, kept: CodedRows, plan: ReplayPlan
) -> tuple[Array, State]:
    """Predict each row, then learn it with those replayed; return the probabilities and the new state."""
    values = np.concatenate([kept.values, rows.values])
    codes = np.concatenate([kept.codes, rows.codes])
    weight = np.concatenate([kept.weight, rows.weight])
    network = _Network(how, brought_up_to_date(state), values.reshape(len(weight), -1), codes, weight)
    learnt, n_slots, predicted = rows.weight > 0, len(kept.weight), []
    order, own, _ = replay_order(plan, learnt, n_slots)
    batches = iter(np.split(order, own[1:]))
    for i, is_learnt in enumerate(learnt):
        predicted.append(network.forward([n_slots + i])[-1][0])
        batch = next(batches) if is_learnt else order[:0]
        for step in [batch] if how.together and is_learnt else batch[:, np.newaxis]:
            network.step(step)
    proba, state = import_torch().stack(predicted).cpu().numpy(), network.state()
    if not all(np.isfinite(part).all() for part in (proba, *(state[name] for name in "wmv"))):
        raise DivergedError(
            f"The network diverged: X and learning_rate must keep scores and gradients finite. "
            f"Got learning_rate {how.rate} instead."
        )
    return proba, state


class _Network:
    """A network on a device, with the flat arrays of our kernels, and rows to learn."""

    def __init__(self, how: DeviceLearning, state: State, X: Array, codes: Array, weight: Array) -> None:
        self.torch = import_torch()
        self.how, self.before, self.clock = how, state, state["clock"].copy()
        self.w, self.m, self.v = (self._on_device(state[name]) for name in "wmv")
        self.g = self.torch.zeros_like(self.w)
        self.layers, self.gradients = self._layers(self.w), self._layers(self.g)
        counts = (codes & COUNTS) > 0
        counted = np.full(len(counts), counts.shape[1]) if how.published else np.maximum(counts.sum(axis=1), 1)
        kind = state["w"].dtype
        self.X = self._on_device(X)
        self.Y = self._on_device((codes & 1).astype(kind))
        self.shares = self._on_device((counts * (weight / counted)[:, np.newaxis]).astype(kind))

    def forward(self, rows: "torch.Tensor") -> "list[torch.Tensor]":
        """Return the outputs of all layers, features first, probabilities last."""
        units = [self.X[rows]]
        for weights, biases in self.layers:
            units.append(self.torch.relu(self.torch.addmm(biases, units[-1], weights)))
        weights, biases = self.layers[-1]
        units[-1] = self.torch.sigmoid(self.torch.addmm(biases, units[-2], weights))
        return units

    def step(self, rows: "torch.Tensor") -> None:
        """Take one step on the mean loss of some rows."""
        units, shares = self.forward(rows), self.shares[rows]
        delta = (units[-1] - self.Y[rows]) * shares / len(rows)
        for k in range(len(self.layers) - 1, -1, -1):
            weights, biases = self.gradients[k]
            weights.copy_(units[k].T @ delta)
            biases.copy_(delta.sum(dim=0))
            if k:
                delta = (delta @ self.layers[k][0].T) * (units[k] > 0)
        if self.how.freeze:
            self._update_all_but((shares == 0).all(dim=0))
        else:
            self._update()

    def state(self) -> State:
        """Return the state after the steps taken."""
        learnt = {name: part.cpu().numpy() for name, part in (("w", self.w), ("m", self.m), ("v", self.v))}
        return {**self.before, **learnt, "clock": self.clock}

    def _update(self) -> None:
        self.clock[STEPS] += 1
        if not self.how.adaptive:
            self.w.sub_(self.g, alpha=self.how.rate)
            return
        self.clock[B1_POWER] *= B1
        self.clock[B2_POWER] *= B2
        root = float(np.sqrt(1 - self.clock[B2_POWER]))
        self.m.mul_(B1).add_(self.g, alpha=1 - B1)
        self.v.mul_(B2).addcmul_(self.g, self.g, value=1 - B2)
        length = self.how.rate * root / (1 - float(self.clock[B1_POWER]))
        self.w.addcdiv_(self.m, self.v.sqrt().add_(EPS * root), value=-length)

    def _update_all_but(self, frozen: "torch.Tensor") -> None:
        """Update all weights, then restore those of frozen outputs and their moments."""
        n_in, n_out = self.before["sizes"][-2:].tolist()
        first = len(self.w) - (n_in + 1) * n_out
        linear = len(self.layers) == 1
        weights = frozen.repeat(n_in) if linear else frozen.repeat_interleave(n_in)
        where = self.torch.cat([weights, frozen])
        parts = [part[first:] for part in (self.w, self.m, self.v)]
        before = [part.clone() for part in parts]
        self._update()
        for part, old in zip(parts, before, strict=True):
            part.copy_(self.torch.where(where, old, part))

    def _layers(self, flat: "torch.Tensor") -> "list[tuple[torch.Tensor, torch.Tensor]]":
        """Return views of the weights (inputs, outputs) and the biases of each layer."""
        layers, at = [], 0
        for i, (n_in, n_out) in enumerate(pairwise(self.before["sizes"].tolist())):
            stop = at + n_in * n_out
            weights = flat[at:stop].view(n_in, n_out) if i == 0 else flat[at:stop].view(n_out, n_in).T
            layers.append((weights, flat[stop : stop + n_out]))
            at = stop + n_out
        return layers

    def _on_device(self, part: Array) -> "torch.Tensor":
        return self.torch.tensor(part, device=self.how.device)


def check_device(device: object) -> None:
    """Refuse a device that torch cannot use."""
    torch = import_torch()
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device must be None or a device that torch can use. Got {device!r} instead.") from error


def import_torch() -> Any:
    """Import torch, or raise an error that names the extra to install."""
    try:
        import torch
    except ImportError as error:
        raise ImportError("torch is not installed: pip install 'mlstream-toolkit[torch]'.") from error
    return torch
