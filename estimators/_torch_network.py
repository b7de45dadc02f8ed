"""Networks in torch (extra `torch`): what was learnt as a module, and learning on a device."""

from typing import Any

from estimators._network_state import State, layers_of


def as_module(state: State) -> Any:
    """Return the network as a ``torch.nn.Sequential`` that gives probabilities."""
    torch = import_torch()
    parts: list[Any] = []
    for weights, biases in layers_of(state):
        linear = torch.nn.Linear(*weights.shape[::-1], dtype=torch.as_tensor(biases).dtype)
        with torch.no_grad():
            linear.weight.copy_(torch.as_tensor(weights.copy()))
            linear.bias.copy_(torch.as_tensor(biases))
        parts += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1], torch.nn.Sigmoid())


def import_torch() -> Any:
    """Import torch, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError("torch is not installed: pip install 'mlstream[torch]'.") from error
    return torch
