"""The inputs that are kept between runs, in one archive for each reader, and how they are found.

``python -m tests.fuzz.corpora arff --seconds 600`` fuzzes from what is kept, and then keeps a few inputs that reach
all that was reached.
"""

import argparse
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from tests.fuzz.mutators.archives import unzip, zip_up
from tests.fuzz.seeds import SEEDS, seeds

_FOLDER = Path(__file__).with_name("corpus")
# Of the archive of one reader.
_MOST_BYTES = 50_000


def kept(name: str) -> list[bytes]:
    """Return the inputs that are kept for a reader."""
    archive = _FOLDER / f"{name}.zip"
    return [inner for _, inner in unzip(archive.read_bytes())] if archive.exists() else []


def unpack(name: str, folder: Path) -> None:
    """Write the seeds of a reader and what is kept for it, as files of a folder.

    Parameters
    ----------
    name : str
        The reader.
    folder : Path
        Where to.
    """
    for content in [*seeds(name), *kept(name)]:
        (folder / sha256(content).hexdigest()[:16]).write_bytes(content)


def pack(name: str, folder: Path) -> int:
    """Keep the files of a folder, the smallest first, up to the size of an archive; return their number."""
    found = sorted({path.read_bytes() for path in folder.iterdir()} - {*seeds(name)}, key=lambda one: (len(one), one))
    members, n_bytes = [], 0
    for content in found:
        n_bytes += len(zip_up([("0" * 16, content)], packed=True))
        if n_bytes > _MOST_BYTES:
            break
        members.append((sha256(content).hexdigest()[:16], content))
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / f"{name}.zip").write_bytes(zip_up(sorted(members), packed=True))
    return len(members)


def grow(name: str, seconds: int) -> int:
    """Fuzz for some time, and keep what is needed to reach all that was reached; return the number of files."""
    with tempfile.TemporaryDirectory() as place:
        found, least = Path(place) / "found", Path(place) / "least"
        found.mkdir(), least.mkdir()
        unpack(name, found)
        if run(name, f"-max_total_time={seconds}", str(found)).returncode:
            print(f"{name}: an input broke the reader; it is in tests/fuzz/cases/{name}", flush=True)
        run(name, "-merge=1", str(least), str(found))
        return pack(name, least)


def run(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the fuzzer in a process of its own; a failure of a reader is an exit status."""
    command = [sys.executable, "-m", "tests.fuzz.run", name, *options]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def main() -> None:
    """Let the corpora of some readers grow."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.corpora", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", choices=SEEDS, help="default: all")
    parser.add_argument("--seconds", type=int, default=60, help="time of each reader (default: 60)")
    given = parser.parse_args()
    for name in given.readers or SEEDS:
        print(f"{name}: {grow(name, given.seconds)} inputs", flush=True)


if __name__ == "__main__":
    main()
