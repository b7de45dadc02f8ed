"""Ctrl-C while a kernel is compiled: it waits until the kernel is there."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numba
import pytest
from numba.core.compiler_lock import global_compiler_lock
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


def _fork_once_held(holds):
    """Fork while the main thread waits to compile; return how the child ended."""
    with global_compiler_lock:
        holds.set()
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            pass
        if (child := os.fork()) == 0:
            os._exit(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
    return os.waitpid(child, 0)[1]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_another_thread_forks_holds_no_interrupt(function):
    with ThreadPoolExecutor(1) as pool:
        forked = pool.submit(_fork_once_held, holds := Event())
        holds.wait()
        with pytest.raises(KeyboardInterrupt):
            function(1)
        assert forked.result() == 0
