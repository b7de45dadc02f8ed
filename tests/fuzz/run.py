"""Throw bytes at a reader, guided by what they reach: ``python -m tests.fuzz.run arff -max_total_time=60``.

Other arguments are libFuzzer's. What breaks a reader is left in a file ``crash-...``.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["mlstream"]):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Fuzz the target that is named first."""
    program, name, *options = sys.argv
    corpus = Path(tempfile.mkdtemp(prefix=f"corpus-{name}"))
    for number, content in enumerate(seeds(name)):
        (corpus / f"seed{number}").write_bytes(content)
    atheris.Setup([program, *options, str(corpus)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
