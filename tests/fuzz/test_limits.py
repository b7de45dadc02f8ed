"""An input that takes too long, or too much memory, fails; other inputs do not."""

import os
import subprocess
import sys

import pytest

from tests.loops import check_all

WRONG = [
    (b"while True:\n try:\n  int()\n except Exception: pass", "TooSlow: An input must take at most 0.2 s"),
    (b"while True: sum(range(10**5))", "TooSlow: An input must take at most 0.2 s"),
    (b"np.empty(2**28)", "MemoryError: Unable to allocate 2.00 GiB"),
    (b"[bytes(2**28) for _ in range(8)]", "MemoryError"),
    (b"pa.nulls(2**28, pa.int64())", "ArrowMemoryError: malloc of size 2147483648 failed"),
]
# In processes of their own, whose memory may be limited: forks of one that has imported what takes long.
_CODE = """
import os, sys, time, traceback
import numpy as np
import pyarrow as pa
from tests.fuzz import limits
limits.MOST_SECONDS = 0.2
for place, content in enumerate({contents!r}):
    child = os.fork()
    if not child:
        try:
            limited = limits.limit(lambda content: exec(content))
            limited(b"time.sleep(0.4)")
            limited(b"np.ones(2**23)")
            print(place, "begins", file=sys.stderr)
            limited(content)
        except BaseException as error:
            print(place, *traceback.format_exception_only(error), file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
def test_time_of_the_processor_and_memory_are_limited() -> None:
    command = [sys.executable, "-c", _CODE.format(contents=[content for content, _ in WRONG])]
    done = subprocess.run(
        command, env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}, capture_output=True, text=True, check=True
    )
    lines = done.stderr.splitlines()

    def check(place: int) -> None:
        begun, ended = (line for line in lines if line.startswith(f"{place} "))
        assert begun == f"{place} begins"
        assert WRONG[place][1] in ended

    check_all(range(len(WRONG)), check, name=lambda place: repr(WRONG[place][0]))
