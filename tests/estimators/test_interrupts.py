"""Ctrl-C while a kernel is compiled: it waits until the kernel is there."""

import signal

import numba
import pytest
from numba.extending import intrinsic

import estimators._kernels.adwin  # noqa: F401 - the first kernel listens to Numba


@intrinsic
def interrupted(typingctx, x):
    """Return a number; what compiles it is interrupted."""

    def codegen(context, builder, signature, args):
        signal.raise_signal(signal.SIGINT)
        return args[0]

    return x(x), codegen


@pytest.fixture(autouse=True)
def interrupts():
    """Let interrupts through, which processes that run in the background may ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def function():
    return numba.njit(lambda x: interrupted(x) + 1)


def test_the_kernel_is_there_when_the_interrupt_comes(function):
    with pytest.raises(KeyboardInterrupt):
        function(1)
    assert function.signatures
    assert function(1) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_is_ignored_stays_so(function):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert function(1) == 2
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
