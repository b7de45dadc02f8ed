"""CPU time of a stretch of work, divided among its parts without gaps: the parts add up to the whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Final, Literal, Self

CpuPart = Literal["learners", "warm-up", "scores", "curves", "meters", "records", "streams", "reports", "the rest"]
REST: Final = "the rest"


class CpuLedger:
    """A ledger that divides the CPU time of a block among its parts: ``with CpuLedger() as ledger: ...``.

    At any moment one part is open, and each reading of the clock closes the time since the last one: parts share all of
    the time, and none of it twice. Code inside opens parts with `cpu_part`, without being passed the ledger. `clock`
    returns CPU time in ns; by default that of this process, all threads included. `spent_ns` is by part; time outside
    all parts goes to "the rest".
    """

    def __init__(self, clock: Callable[[], int] = time.process_time_ns) -> None:
        self._clock = clock
        self._parts: list[CpuPart] = [REST]
        self.spent_ns: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._token: Token[CpuLedger | None] = _LEDGER.set(self)
        self.began_ns = self.ended_ns = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._settle()
        _LEDGER.reset(self._token)

    @contextmanager
    def part(self, name: CpuPart) -> Iterator[None]:
        """Count a block as a part, and none of it as the part around it."""
        self._settle()
        self._parts.append(name)
        try:
            yield
        finally:
            self._settle()
            self._parts.pop()

    def count_as(self, name: CpuPart, spent_ns: int) -> None:
        """Count time of the part that is open as another one: it was measured by a clock of its own."""
        self.spent_ns[self._parts[-1]] -= spent_ns
        self.spent_ns[name] += spent_ns

    def _settle(self) -> None:
        now = self._clock()
        self.spent_ns[self._parts[-1]] += now - self.ended_ns
        self.ended_ns = now


# A context variable, not an argument: what is measured lies far below the campaign that asks for it.
_LEDGER: ContextVar[CpuLedger | None] = ContextVar("ledger", default=None)


@contextmanager
def cpu_part(name: CpuPart) -> Iterator[None]:
    """Count a block as a part of the ledger that is open, if there is one."""
    ledger = _LEDGER.get()
    if ledger is None:
        yield
        return
    with ledger.part(name):
        yield


def count_cpu_as(name: CpuPart, spent_s: float) -> None:
    """Count CPU time that was spent within the part that is open as another part, if a ledger is open."""
    ledger = _LEDGER.get()
    if ledger is not None:
        ledger.count_as(name, round(spent_s * 1e9))
