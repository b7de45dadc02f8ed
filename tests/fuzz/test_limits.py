"""An input that takes too long, or too much memory, fails; other inputs do not."""

import os
import subprocess
import sys

import pytest

# In a process of its own, whose memory may be limited.
_CODE = """
import time
import numpy as np
import pyarrow as pa
from tests.fuzz import limits
limits.MOST_SECONDS = 0.5
limited = limits.limit(lambda content: exec(content))
limited(b"time.sleep(0.8)")
limited(b"np.ones(2**23)")
limited({content!r})
"""


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"while True:\n try:\n  int()\n except Exception: pass", "TooSlow: An input must take at most 0.5 s"),
        (b"while True: sum(range(10**5))", "TooSlow: An input must take at most 0.5 s"),
        (b"np.empty(2**28)", "MemoryError: Unable to allocate 2.00 GiB"),
        (b"[bytes(2**28) for _ in range(8)]", "MemoryError"),
        (b"pa.nulls(2**28, pa.int64())", "ArrowMemoryError: malloc of size 2147483648 failed"),
    ],
)
def test_time_of_the_processor_and_memory_are_limited(content: bytes, error: str) -> None:
    command = [sys.executable, "-c", _CODE.format(content=content)]
    done = subprocess.run(
        command, env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}, capture_output=True, text=True, check=False
    )
    assert error in done.stderr.splitlines()[-1]
