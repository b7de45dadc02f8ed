"""Throw bytes at a reader, guided by what they reach: ``python -m tests.fuzz.run arff -max_total_time=60``.

Other arguments are libFuzzer's. What breaks a reader is kept in ``cases/READER/crash-...``, which the tests read again.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

# Files in memory are written several times as fast as those on a disk.
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder with a name that nobody knows is made in it


def main() -> None:
    """Fuzz the target that is named first, in a process that ends without deleting its files."""
    with TemporaryDirectory(prefix="fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        command = [sys.executable, "-m", "tests.fuzz.process", *sys.argv[1:]]
        done = subprocess.run(command, env={**os.environ, "TMPDIR": folder}, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
