"""The soak of the readers finds a reader that is wrong, slow or greedy, and counts the inputs of one that is not."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import targets
from tests.soak import fuzz as part

# Run by the process that fuzzes after the reader of LIBSVM, for one input in some.
_DEFECTS = {
    "error": ("raise KeyError('odd')", "KeyError: 'odd', kept as libsvm/crash-"),
    "slow": ("while True: pass", "TooSlow: An input must take at most 2 s of processor time. Got more., kept as"),
    "greedy": ("import numpy; numpy.ones(2**28)", "Unable to allocate 2.00 GiB"),
    "died": ("import os; os.abort()", "deadly signal, kept as libsvm/crash-"),
}
_CODE = """
import sys
from pathlib import Path
from tests.fuzz import process, targets
read, targets.CASES, process.CASES = targets.TARGETS["libsvm"], Path({cases!r}), Path({cases!r})
def broken(content):
    read(content)
    if b"0x1p3" in content:
        {defect}
targets.TARGETS["libsvm"] = broken
process.main()
"""


@pytest.mark.soak
@pytest.mark.parametrize("kind", _DEFECTS)
def test_a_defect_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    pytest.importorskip("atheris", reason="needs the extra fuzz")
    defect, message = _DEFECTS[kind]
    code = _CODE.format(cases=str(tmp_path / "cases"), defect=defect)

    def run_broken(name: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, name, *options]
        place = {**os.environ, "TMPDIR": str(tmp_path)}
        return subprocess.run(command, env=place, capture_output=True, text=True, errors="replace", check=False)

    monkeypatch.setattr(part, "run", run_broken)
    with pytest.raises(AssertionError) as error:
        part.fuzz("libsvm", tmp_path, 1)
    assert message in str(error.value)
    assert len(list((tmp_path / "cases" / "libsvm").iterdir())) == 1


@pytest.mark.soak
def test_a_trial_counts_the_inputs_of_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("atheris", reason="needs the extra fuzz")
    monkeypatch.setattr(part, "TARGETS", {"keel": targets.TARGETS["keel"]})
    monkeypatch.setattr(part.fuzz, "__defaults__", (1,))
    ((name, n_inputs),) = part.prepare(tmp_path, 1)(0, np.random.default_rng(1)).items()
    assert name == "inputs of keel"
    assert n_inputs > 100


def test_every_reader_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(part, "fuzz", lambda name, folder, seed: tried.append(name))
    trial = part.prepare(tmp_path, 5)
    for number in range(len(targets.TARGETS)):
        trial(number, np.random.default_rng([5, number]))
    assert sorted(tried) == sorted(targets.TARGETS)
