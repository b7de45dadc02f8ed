"""Draw a tree in Graphviz's language."""

from collections.abc import Iterator, Sequence
from typing import Any

from estimators._kernels.grove import NONE, Grove
from estimators._trees import TreeBank


def dot(bank: TreeBank, tree: int, features: Sequence[str], classes: Sequence[str]) -> str:
    """Write one tree of a bank as a digraph."""
    grove, place = bank.find(tree)
    lines = _lines(grove, int(grove.trees[place]["root"]), features, classes)
    return "\n".join(["digraph tree {", '  node [shape=box, fontname="sans-serif"];', *lines, "}"])


def class_weights(grove: Grove, i: int) -> list[tuple[int, float]]:
    """Return the classes of a node with their weights, in the order they came."""
    weights = []
    s = int(grove.nodes[i]["stats"])
    while s != NONE:
        stat = grove.stats[s]
        weights.append((int(stat["code"]), float(stat["weight"])))
        s = int(stat["next"])
    return weights


def _lines(grove: Grove, root: int, features: Sequence[str], classes: Sequence[str]) -> Iterator[str]:
    waiting = [root]
    while waiting:
        i = waiting.pop()
        node = grove.nodes[i]
        if node["feature"] == NONE:
            yield f'  n{i} [label="{_leaf_text(grove, i, classes)}"];'
            continue
        left, right = int(node["left"]), int(node["right"])
        yield f'  n{i} [label="{_escaped(features[node["feature"]])} <= {node["threshold"]:.6g}", style=rounded];'
        yield f'  n{i} -> n{left} [label="yes"];'
        yield f'  n{i} -> n{right} [label="no"];'
        waiting += [right, left]


def _leaf_text(grove: Grove, i: int, classes: Sequence[str]) -> str:
    weights = class_weights(grove, i)
    if not weights:
        return "nothing learnt"
    winner, _ = max(weights, key=lambda pair: pair[1])
    counts = ", ".join(f"{_escaped(classes[code])}: {weight:.6g}" for code, weight in sorted(weights))
    return f"{_escaped(classes[winner])}\\n{counts}"


def _escaped(text: Any) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"')
