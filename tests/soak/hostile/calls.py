"""Calls of learners, drawn: good ones, wrong ones that must be refused, and odd ones that may be either."""

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from tests.soak.hostile import tables
from tests.soak.hostile.tables import Draw

NEEDS_LABELS = ("partial_fit", "fit", "predict_then_fit", "predict_then_fit_one", "begin")
PREDICTS = ("predict", "predict_proba", "predict_with_proba")


class Fate(Enum):
    """Outcomes that a call may have."""

    TAKEN = "taken"
    REFUSED = "refused"
    EITHER = "taken or refused"


@dataclass(frozen=True)
class Call:
    """A call of a method, while parameters have other values.

    Parameters
    ----------
    what : str
        What is odd about it, in words.
    method : str
        Name of the method.
    arguments, options : tuple, dict
        What it is passed.
    fate : Fate
        Whether it must be refused.
    changed : dict
        Parameters that have another value during the call.
    """

    what: str
    method: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    fate: Fate = Fate.TAKEN
    changed: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} ({self.what})"

    @property
    def is_good(self) -> bool:
        """Whether it has the form and the parameters of all good calls."""
        return self.fate is Fate.TAKEN

    @property
    def starts_again(self) -> bool:
        """Whether the learner forgets, and takes its form from this call."""
        return self.method in ("fit", "begin")

    def on(self, one: Any) -> Any:
        """Make the call, and return what it returns."""
        with _changed(one, self.changed):
            return getattr(one, self.method)(*self.arguments, **self.options)


@contextmanager
def _changed(one: Any, values: Mapping[str, Any]) -> Iterator[None]:
    before = {name: value for name, value in one.get_params().items() if name in values} if values else {}
    try:
        if values:
            one.set_params(**values)
        yield
    finally:
        if values:
            one.set_params(**before)


@dataclass(frozen=True)
class Target:
    """The target of a sequence of calls: labels, or one class a row.

    Parameters
    ----------
    width : int
        Number of labels, or of classes.
    of_labels : bool
        Which of the two.
    of_words : bool
        Whether classes are words.
    """

    width: int
    of_labels: bool
    of_words: bool = False

    def draw(self, X: Any, rng: Draw) -> Any:
        """Draw labels, or classes, that depend on features; every class occurs where rows suffice."""
        if self.of_labels:
            return tables.labels_of(X, self.width, rng)
        y = (X[:, 0] * self.width * 0.99).astype(np.int64)
        y[: self.width] = np.arange(self.width)[: len(y)]
        return np.array(["a", "b", "c"])[y] if self.of_words else y


def draw_target(rng: Draw, kinds: str) -> Target:
    """Draw a target of a kind that a learner takes: "labels", "classes", or "both"."""
    of_labels = kinds == "labels" or (kinds == "both" and rng.random() < 0.7)
    if of_labels:
        return Target(int(rng.choice([1, 2, 4, 4])), True)
    return Target(int(rng.choice([2, 3])), False, bool(rng.random() < 0.3))


def good_call(method: str, target: Target, rng: Draw, n_rows: int | None = None) -> Call:
    """Draw a call that every learner takes."""
    # `fit` of some takes five parts of the rows
    n_rows = n_rows or int(rng.choice([4, 7, 20, 40] if method in PREDICTS + NEEDS_LABELS[:1] else [8, 20, 40]))
    X = tables.rows_of_features(n_rows, rng)
    if method not in NEEDS_LABELS:
        return Call("good", method, (X,))
    Y = target.draw(X, rng)
    return Call("good", method, (X[0], Y[0]) if method == "predict_then_fit_one" else (X, Y))


def any_call(one: Any, target: Target, rng: Draw) -> Call:
    """Draw a call of any method of a learner, with one odd or wrong thing, or with none."""
    methods = [name for name in (*NEEDS_LABELS, *PREDICTS) if hasattr(one, name)]
    call = good_call(str(rng.choice(methods)), target, rng)
    changes = [change for change, applies in _CHANGES.items() if applies(one, call, target)]
    return changes[rng.integers(len(changes))](one, call, target, rng)


# -------------------------------------------------------------- one odd thing
def _nothing(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    return call


def _layout(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    """Pass the same values in other layouts."""
    X, *Y = call.arguments
    x_name, y_name = rng.choice(list(tables.LAYOUTS), 2)
    # frames and sparse matrices of one row are another matter
    if call.method == "predict_then_fit_one":
        x_name = y_name = "strided row"
        return _replaced(call, x_name, np.repeat(X, 2)[::2], [np.repeat(y, 2)[::2] if np.ndim(y) else y for y in Y])
    given = [tables.LAYOUTS[y_name](y, rng) for y in Y] if target.of_labels else Y
    return _replaced(call, f"X {x_name}, Y {y_name}", tables.LAYOUTS[x_name](X, rng), given)


def _sparse(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    X, *Y = call.arguments
    name = str(rng.choice(list(tables.SPARSE)))
    given = [tables.SPARSE[name](y, rng) if target.of_labels and rng.random() < 0.3 else y for y in Y]
    return _replaced(call, f"X {name}", tables.SPARSE[name](X, rng), given, Fate.EITHER)


def _features(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    name, X, fate = _one_of(tables.WRONG_FEATURES, tables.ODD_FEATURES, call.arguments[0], rng, call)
    if name in tables.WIDTHS and not hasattr(one, "n_features_in_"):
        fate = Fate.EITHER
    return _replaced(call, f"X: {name}", X, call.arguments[1:], fate)


def _labels(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    pool = (tables.WRONG_LABELS, tables.ODD_LABELS) if target.of_labels else (tables.WRONG_CLASSES, tables.ODD_CLASSES)
    name, Y, fate = _one_of(*pool, call.arguments[1], rng, call)
    # one column of other values is one class a row; `begin` reads widths and kinds only
    lenient = call.method == "begin" or (target.of_labels and target.width == 1)
    return _replaced(call, f"Y: {name}", call.arguments[0], [Y], Fate.EITHER if lenient else fate)


def _mask(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    mask = rng.random((len(call.arguments[0]), target.width)) < 0.6
    mask[:, rng.integers(target.width)] = True
    name, given, fate = _one_of(tables.WRONG_MASKS, tables.ODD_MASKS, mask, rng, call)
    return _with_option(call, f"label_mask: {name}", fate, label_mask=given)


def _weights(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    weight = rng.integers(0, 4, len(call.arguments[0])).astype(float)
    name, given, fate = _one_of(tables.WRONG_WEIGHTS, tables.ODD_WEIGHTS, weight, rng, call)
    return _with_option(
        call, f"sample_weight: {name}", Fate.EITHER if fate is Fate.TAKEN else fate, sample_weight=given
    )


def _classes(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    name = str(rng.choice(list(tables.ANNOUNCED)))
    return _with_option(call, f"classes: {name}", Fate.EITHER, classes=tables.ANNOUNCED[name])


def _environment(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    n = len(call.arguments[0])
    values = [
        rng.integers(0, 2, n), np.full(n, "a"), np.full(n, np.nan), np.full(n, None), np.zeros((n, 1)),
        np.zeros(n + 1), 1, "a", rng.random(n), np.array([1, "a", None, np.nan] * n, dtype=object)[:n],
    ]  # fmt: skip
    place = rng.integers(len(values))
    return _with_option(call, f"environment {place}", Fate.EITHER, environment=values[place])


def _parameter(one: Any, call: Call, target: Target, rng: Draw) -> Call:
    return changed_parameter(one, call, rng)


def changed_parameter(one: Any, call: Call, rng: Draw) -> Call:
    """Change a parameter for the time of the call."""
    plain = (bool, int, float, str, type(None))
    values = {name: value for name, value in one.get_params().items() if isinstance(value, plain)}
    name = str(rng.choice(sorted(values)))
    value = _other_value(values[name], _choices(one, name), rng)
    return Call(f"{name}={value!r}", call.method, call.arguments, call.options, Fate.EITHER, {name: value})


def _other_value(value: Any, choices: list[str], rng: Draw) -> Any:
    """Draw another value: wrong, near, or one that the docstring lists."""
    wrong = [None, -1, 0, 1, 2, 0.5, float("nan"), float("inf"), "word", True, 3.0, []]
    near = [value * 2, value // 2, value + 1] if isinstance(value, int | float) else []
    pools = [pool for pool in (wrong, [other for other in near if abs(other) < 10**6], choices) if pool]
    pool = pools[rng.integers(len(pools))]
    return pool[rng.integers(len(pool))]


def _choices(one: Any, name: str) -> list[str]:
    """Return the words that the docstring of a parameter lists: ``name : {'a', 'b'}``."""
    outer, _, inner = name.rpartition("__")
    owner = one.get_params()[outer] if outer else one
    listed = re.search(rf"^ *{inner} : {{(.*?)}}", type(owner).__doc__ or "", flags=re.MULTILINE)
    return re.findall(r"['\"]([^'\"]+)['\"]", listed[1]) if listed else []


def _always(one: Any, call: Call, target: Target) -> bool:
    return True


def _of_rows(one: Any, call: Call, target: Target) -> bool:
    return call.method != "predict_then_fit_one"


def _learns(one: Any, call: Call, target: Target) -> bool:
    return call.method in NEEDS_LABELS


def _option(name: str) -> Any:
    def applies(one: Any, call: Call, target: Target) -> bool:
        takes = name in inspect.signature(getattr(one, call.method)).parameters
        return takes and _of_rows(one, call, target) and call.method in NEEDS_LABELS

    return applies


_CHANGES = {
    _nothing: _always,
    _layout: _always,
    _sparse: _of_rows,
    _features: _always,
    _labels: _learns,
    _mask: lambda one, call, target: target.of_labels and _option("label_mask")(one, call, target),
    _weights: _option("sample_weight"),
    _classes: _option("classes"),
    _environment: _option("environment"),
    _parameter: _always,
}


def _one_of(
    wrong: Mapping[str, Any], odd: Mapping[str, Any], value: Any, rng: Draw, call: Call
) -> tuple[str, Any, Fate]:
    """Draw a change of a value, wrong or odd; of a single row, what is wrong with a table need not be."""
    is_wrong = rng.random() < 0.5
    chosen = wrong if is_wrong else odd
    name = str(rng.choice(list(chosen)))
    one_row = call.method == "predict_then_fit_one"
    given = chosen[name](np.atleast_1d(value)[np.newaxis] if one_row else value, rng)
    may_fit = one_row or (call.starts_again and name in tables.WIDTHS)
    return name, given, Fate.REFUSED if is_wrong and not may_fit else Fate.EITHER


def _replaced(call: Call, what: str, X: Any, Y: Any, fate: Fate = Fate.TAKEN) -> Call:
    return Call(what, call.method, (X, *Y), call.options, fate, call.changed)


def _with_option(call: Call, what: str, fate: Fate, **options: Any) -> Call:
    return Call(what, call.method, call.arguments, {**call.options, **options}, fate, call.changed)
