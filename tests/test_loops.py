"""A loop over cases reports every failure, and swallows no skip."""

import pytest

from tests.loops import check_all, in_two_tiers


def odd(number):
    assert number % 2, f"{number} is even"


def test_all_cases_run_and_all_failures_are_reported_with_their_tracebacks():
    tried = []

    def check(number):
        tried.append(number)
        if number == 5:
            raise KeyError(number)
        odd(number)

    with pytest.raises(AssertionError) as caught:
        check_all([1, 2, 3, 4, 5], check, "case {}".format)
    message = str(caught.value)
    assert tried == [1, 2, 3, 4, 5]
    assert message.startswith("3 of 5 cases failed:")
    assert [line for line in message.splitlines() if line.startswith("--- ")] == [
        "--- case 2: AssertionError: 2 is even",
        "--- case 4: AssertionError: 4 is even",
        "--- case 5: KeyError: 5",
    ]
    assert message.count("in odd") == 2
    assert "in check_all" not in message


def test_no_failure_passes():
    check_all(iter([1, 3]), odd)


def test_a_skip_or_a_failure_of_pytest_within_a_case_is_reported():
    for outcome in (pytest.skip, pytest.fail):
        with pytest.raises(AssertionError, match=r"1 of 2 cases failed:(.|\n)*not today"):
            check_all([True, False], lambda stops, outcome=outcome: stops and outcome("not today"))


def test_no_case_at_all_fails():
    with pytest.raises(AssertionError, match="at least one case"):
        check_all([], odd)


def test_what_stops_the_run_is_not_held_back():
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_all([1], interrupt)


@in_two_tiers(iter([1, 3, 5]), n_fast=2)
def test_the_first_cases_run_alone_and_the_others_where_slow_tests_run(cases, request):
    is_slow = request.node.get_closest_marker("slow") is not None
    assert cases == ([5] if is_slow else [1, 3])
