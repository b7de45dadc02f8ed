"""Throw bytes at a reader, guided by what they reach: ``python -m tests.fuzz.run arff -max_total_time=60``.

Other arguments are libFuzzer's. What breaks a reader is kept in ``cases/READER/crash-...``, which the tests read again.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["mlstream"]):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import CASES, TARGETS


def main() -> None:
    """Fuzz the target that is named first."""
    program, name, *options = sys.argv
    corpus = Path(tempfile.mkdtemp(prefix=f"corpus-{name}"))
    for number, content in enumerate(seeds(name)):
        (corpus / f"seed{number}").write_bytes(content)
    kept = CASES / name
    kept.mkdir(parents=True, exist_ok=True)
    atheris.Setup([program, f"-artifact_prefix={kept}/", *options, str(corpus), str(kept)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
