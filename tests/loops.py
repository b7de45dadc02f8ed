"""A loop over cases within one test: it runs them all, and reports every one that failed; the first cases alone."""

import traceback
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def check_all(cases: Iterable[T], check: Callable[[T], object], name: Callable[[T], str] = str) -> None:
    """Run a check on every case, and raise one AssertionError that lists all that failed, each with its traceback.

    A skip is an error here, as one case must not skip the others; no case at all is one too.
    """
    __tracebackhide__ = True
    cases, failures = list(cases), []
    assert cases, "there must be at least one case. Got none."
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            failures.append(_report(name(case), error))
    if failures:
        raise AssertionError(f"{len(failures)} of {len(cases)} cases failed:\n\n" + "\n\n".join(failures))


def in_two_tiers(cases: Iterable[T], n_fast: int = 1) -> pytest.MarkDecorator:
    """Parametrise a test with `cases`: the first of them, and the others where slow tests run.

    A negative `n_fast` counts the slow ones from the end, as in a slice.
    """
    cases = list(cases)
    parts = [
        pytest.param(cases[:n_fast], id="first"),
        pytest.param(cases[n_fast:], id="others", marks=pytest.mark.slow),
    ]
    return pytest.mark.parametrize("cases", parts)


def _report(title: str, error: BaseException) -> str:
    # without the frame of check_all
    after = error.__traceback__.tb_next if error.__traceback__ else None
    lines = traceback.format_exception(type(error), error, after)
    return f"--- {title}: {type(error).__name__}: {_first_line(error)}\n{''.join(lines).rstrip()}"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
