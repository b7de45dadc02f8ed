"""Drawings of trees in the language of Graphviz."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from estimators.trees._kernels.multilabel_arrays import MultilabelTree
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays
from estimators.trees._tree_bank import TreeBank


def dot(bank: TreeBank, tree: int, features: Sequence[str], classes: Sequence[str]) -> str:
    """Write one tree of a bank as a digraph."""
    arrays, place = bank.find(tree)
    root = int(arrays.trees[place]["root"])
    return _digraph(_lines(arrays.nodes, root, features, lambda i: _class_text(arrays, i, classes)))


def dot_of_labels(tree: MultilabelTree, features: Sequence[str], labels: Sequence[str]) -> str:
    """Write a multi-label tree as a digraph."""
    return _digraph(_lines(tree.nodes, 0, features, lambda i: _label_text(tree, i, labels)))


def class_weights(arrays: TreeArrays, i: int) -> list[tuple[int, float]]:
    """Return the classes of a node with their weights, in the order in which they were first seen."""
    weights = []
    s = int(arrays.nodes[i]["stats"])
    while s != NONE:
        stat = arrays.stats[s]
        weights.append((int(stat["code"]), float(stat["weight"])))
        s = int(stat["next"])
    return weights


def _digraph(lines: Iterator[str]) -> str:
    return "\n".join(["digraph tree {", '  node [shape=box, fontname="sans-serif"];', *lines, "}"])


def _lines(nodes: Any, root: int, features: Sequence[str], leaf_text: Callable[[int], str]) -> Iterator[str]:
    waiting = [root]
    while waiting:
        i = waiting.pop()
        node = nodes[i]
        if node["feature"] == NONE:
            yield f'  n{i} [label="{leaf_text(i)}"];'
            continue
        left, right = int(node["left"]), int(node["right"])
        yield f'  n{i} [label="{_escaped(features[node["feature"]])} <= {node["threshold"]:.6g}", style=rounded];'
        yield f'  n{i} -> n{left} [label="yes"];'
        yield f'  n{i} -> n{right} [label="no"];'
        waiting += [right, left]


def _class_text(arrays: TreeArrays, i: int, classes: Sequence[str]) -> str:
    weights = class_weights(arrays, i)
    if not weights:
        return "nothing learnt"
    winner, _ = max(weights, key=lambda pair: pair[1])
    counts = ", ".join(f"{_escaped(classes[code])}: {weight:.6g}" for code, weight in sorted(weights))
    return f"{_escaped(classes[winner])}\\n{counts}"


def _label_text(tree: MultilabelTree, i: int, labels: Sequence[str]) -> str:
    absent, present = tree.weights[i].T
    if not (absent + present).any():
        return "nothing learnt"
    usual = ", ".join(_escaped(labels[j]) for j in np.flatnonzero(present > absent).tolist())
    return f"{usual or 'no label'}\\nrows: {(absent + present).mean():.6g}"


def _escaped(text: object) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"')
