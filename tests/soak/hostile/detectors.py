"""Detectors and memories get good and wrong values, and must end as a twin that got only those that were taken."""

from collections import Counter
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from estimators.drift import LabelSetDrift
from estimators.drift.label_drift import LabelDrift
from tests.estimators.instances import made
from tests.soak.hostile import tables
from tests.soak.hostile.calls import Call, Fate, changed_parameter
from tests.soak.hostile.sequences import Step, check_message, quietly, same_values

_N_CALLS = 25
_N_LABELS = 3


def is_detector(one: BaseEstimator) -> bool:
    """Return whether it is a drift detector."""
    return hasattr(one, "update_many")


def run_values(step: Step, name: str, seed: list[int]) -> Counter[str]:
    """Pass drawn values to a detector, or label sets to a memory, and check every law after each call."""
    rng = np.random.default_rng(seed)
    one = made(name)
    if not is_detector(one):
        one.set_params(size=9, draws=2).begin(0)
    good_update(one, rng).on(one)  # which fixes the number of labels
    twin, later, counts = deepcopy(one), good_update(one, rng), Counter[str]()
    for _ in range(_N_CALLS):
        call = _any_update(one, rng)
        step(str(call))
        if _is_taken(one, call, later):
            call.on(twin)
            counts["hostile values: taken"] += 1
        else:
            counts["hostile values: refused"] += 1
    if not same_values(_after(one, later), _after(twin, later)):
        raise AssertionError("refused calls changed what comes later")
    return counts


def _is_taken(one: Any, call: Call, later: Call) -> bool:
    """Make a call, and return whether it was taken; one that is refused must change nothing."""
    before, given, is_taken = _after(one, later), deepcopy((call.arguments, call.options)), True
    try:
        quietly(lambda: call.on(one))
    except (ValueError, TypeError) as error:
        is_taken = False
        check_message(error)
        if call.fate is Fate.TAKEN:
            raise AssertionError(f"a good call was refused: {error}") from None
        if not same_values(before, _after(one, later)):
            raise AssertionError("a refused call changed what comes later") from None
    if is_taken and call.fate is Fate.REFUSED:
        raise AssertionError("was not refused")
    if not same_values(given, (call.arguments, call.options)):
        raise AssertionError("the arguments were changed")
    return is_taken


def good_update(one: Any, rng: tables.Draw, n_rows: int = 30) -> Call:
    """Draw values that the detector takes, or label sets for a memory; all detectors take errors."""
    Y = rng.integers(0, 2, (n_rows, _N_LABELS))
    if not is_detector(one):
        return Call("good", "plan", (Y if hasattr(one, "rho") else n_rows,))
    if isinstance(one, LabelDrift):
        return Call("good", "update_many", (Y.astype(float),))
    errors = (rng.random(n_rows) < rng.choice([0.1, 0.9])).astype(float)
    return Call("good", "update_many", (errors, Y) if isinstance(one, LabelSetDrift) else (errors,))


def _any_update(one: Any, rng: tables.Draw) -> Call:
    call = good_update(one, rng)
    match rng.integers(4):
        case 0:
            return call
        case 1:
            return changed_parameter(one, call, rng)
        case 2 if isinstance(one, LabelDrift):
            mask = rng.random((len(call.arguments[0]), _N_LABELS)) < 0.6
            name = str(rng.choice(list(tables.WRONG_MASKS)))
            given = tables.WRONG_MASKS[name](mask, rng)
            return Call(f"label_mask: {name}", call.method, call.arguments, {"label_mask": given}, Fate.REFUSED)
    pool = {**tables.WRONG_LABELS, **tables.ODD_LABELS, **tables.LAYOUTS, **tables.SPARSE}
    name, place = str(rng.choice(list(pool))), int(rng.integers(len(call.arguments)))
    value = call.arguments[place]
    table = np.atleast_2d(value) if np.ndim(value) < 2 else value
    given = pool[name](table, rng)
    if np.ndim(value) < 2 and isinstance(given, np.ndarray) and given.ndim == 2 and len(given) == 1:
        given = given[0]
    arguments = (*call.arguments[:place], given, *call.arguments[place + 1 :])
    return Call(name, call.method, arguments, fate=Fate.EITHER)


def _after(one: Any, call: Call) -> Any:
    """Return what a copy returns when it goes on."""
    returned = call.on(deepcopy(one))
    return tuple(returned) if isinstance(returned, tuple) else returned
