"""Drawings of trees in the language of Graphviz."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from estimators.trees._kernels.categories import MAX_BINS, MULTIWAY, Tree
from estimators.trees._kernels.multilabel_arrays import MultilabelTree
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays
from estimators.trees._tree_bank import TreeBank


def dot(bank: TreeBank, tree: int, features: Sequence[str], classes: Sequence[str]) -> str:
    """Write one tree of a bank as a digraph."""
    arrays, place = bank.find(tree)
    root = int(arrays.trees[place]["root"])
    return _digraph(_lines(arrays, root, features, lambda i: _class_text(arrays, i, classes)))


def dot_of_labels(tree: MultilabelTree, features: Sequence[str], labels: Sequence[str]) -> str:
    """Write a multi-label tree as a digraph."""
    return _digraph(_lines(tree, 0, features, lambda i: _label_text(tree, i, labels)))


def list_children(tree: Tree, i: int) -> list[int]:
    """Return the children of a branch, in order."""
    found, right = [int(tree.nodes[i]["left"])], int(tree.nodes[i]["right"])
    while found[-1] != right:
        found.append(int(tree.categories.links[found[-1]]["next"]) if _is_multiway(tree, i) else right)
    return found


def _is_multiway(tree: Tree, i: int) -> bool:
    return _is_nominal(tree, i) and tree.nodes[i]["threshold"] == MULTIWAY


def _is_nominal(tree: Tree, i: int) -> bool:
    places = tree.categories.places
    return len(places) > 0 and places[tree.nodes[i]["feature"]] != NONE


def _describe_test(tree: Tree, i: int) -> tuple[str, list[str]]:
    """Return the test of a branch, after the name of its feature, and what leads to each child."""
    node = tree.nodes[i]
    if not _is_nominal(tree, i):
        return f" <= {node['threshold']:.6g}", ["yes", "no"]
    values = tree.categories.values[tree.categories.places[node["feature"]]]
    codes = {int(value["bin"]): f"{value['code']:.0f}" for value in values if np.isfinite(value["code"])}
    codes = {MAX_BINS - 1: "others"} | codes
    if not _is_multiway(tree, i):
        return f" = {codes[int(node['threshold'])]}", ["yes", "no"]
    return "", [codes[int(tree.categories.links[child]["bin"])] for child in list_children(tree, i)]


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


def _lines(tree: Tree, root: int, features: Sequence[str], leaf_text: Callable[[int], str]) -> Iterator[str]:
    waiting = [root]
    while waiting:
        i = waiting.pop()
        node = tree.nodes[i]
        if node["feature"] == NONE:
            yield f'  n{i} [label="{leaf_text(i)}"];'
            continue
        test, answers = _describe_test(tree, i)
        below = list_children(tree, i)
        yield f'  n{i} [label="{_escaped(features[node["feature"]])}{test}", style=rounded];'
        yield from (f'  n{i} -> n{child} [label="{answer}"];' for answer, child in zip(answers, below, strict=True))
        waiting += reversed(below)


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
