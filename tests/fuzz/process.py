"""The process that libFuzzer takes over; `tests.fuzz.run` starts it, and deletes its temporary files."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from pkgutil import iter_modules

import atheris

# Its own allocators reserve a gibibyte of addresses ahead, which is all that an input may take.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"

with atheris.instrument_imports(include=["mlstream"]):
    from mlstream.formats import _kernels
    from tests.fuzz.corpora import unpack
    from tests.fuzz.limits import limit
    from tests.fuzz.mutators import mutate
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import CASES, TARGETS

# One mutant of so many is changed byte by byte, or joined with another input.
_OF_BYTES = 5
_MOST_BYTES = 2**16
# Where compiled code never returns, in seconds that also pass while others have the processor.
_NEVER = 60


def main() -> None:
    """Fuzz the target that is named first."""
    name, *options = sys.argv[1:]
    folders = [option for option in options if not option.startswith("-")]
    if not folders:
        folders = [tempfile.mkdtemp(prefix=f"corpus-{name}-")]
        unpack(name, Path(folders[0]))
    kept = CASES / name
    kept.mkdir(parents=True, exist_ok=True)
    # What Numba compiles must stay as it is.
    compiled = [f"{_kernels.__name__}.{one.name}" for one in iter_modules(_kernels.__path__)]
    # Every input once, unlimited: compilers and late imports take what no input takes again.
    with atheris.instrument_imports(include=["mlstream"], exclude=compiled):
        for content in [*seeds(name), *(path.read_bytes() for path in Path(folders[0]).iterdir())]:
            TARGETS[name](content)
    options = [option for option in options if option.startswith("-")]
    limits = [f"-timeout={_NEVER}", "-rss_limit_mb=0", f"-max_len={_MOST_BYTES}", "-len_control=0"]
    # A merge starts itself in processes of its own, by this command.
    command = f"{sys.executable} -m tests.fuzz.process {name}"
    atheris.Setup(
        [command, f"-artifact_prefix={kept}/", *limits, *options, *folders, str(kept)],
        limit(TARGETS[name]),
        custom_mutator=_mutator(name),
    )
    atheris.Fuzz()


def _mutator(name: str) -> Callable[[bytes, int, int], bytes]:
    def change(content: bytes, most_bytes: int, seed: int) -> bytes:
        mutant = mutate(name, content, seed) if seed % _OF_BYTES else None
        if mutant is not None and len(mutant) <= most_bytes:
            return mutant
        changed: bytes = atheris.Mutate(content, most_bytes)
        return changed

    return change


if __name__ == "__main__":
    main()
