"""Kernels compiled elsewhere are loaded where they fit exactly, and compiled here otherwise."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import numba
import pytest

from estimators._kernels.keeping import needs
from estimators._kernels.prebuilt import FEATURES, MANIFEST, PACKAGE, TARGET

ROOT = Path(__file__).parents[2]
INSTRUCTIONS = ",".join(f"+{name}" for name in FEATURES)
NAMES = ("BR_LR", "no_features", "NN")
SCORES = """
import json, sys
import numpy as np
from estimators import make_strategy
from estimators._kernels.watching import count_compiled

X = np.random.default_rng(0).normal(size=(200, 5))
Y = (X[:, :3] > 0.2).astype(int)
found = {}
for name in sys.argv[1:]:
    with count_compiled() as counted:
        learner = make_strategy(name, random_state=0)
        tables = [*learner.predict_then_fit(X, Y), learner.predict_proba(X)]
        bits = "".join(np.ascontiguousarray(table).tobytes().hex() for table in tables)
    found[name] = {"compiled": counted(), "bits": bits}
print(json.dumps(found))
"""

pytestmark = pytest.mark.skipif(
    not all(llvmlite.binding.get_host_cpu_features().get(name) for name in FEATURES),
    reason=f"this processor is no {TARGET}",
)


def run(arguments, cache, packages=None, **settings):
    paths = [*([str(packages)] if packages else []), *sys.path]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(paths)} | settings
    done = subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Return what is found without the package."""
    return json.loads(run(["-c", SCORES, *NAMES], tmp_path_factory.mktemp("here")))


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Build the package, without the wheel around it."""
    packages = tmp_path_factory.mktemp("packages")
    (packages / PACKAGE).mkdir()
    command = [str(ROOT / "tools" / "build_kernels.py"), "--compile", str(packages / PACKAGE), *NAMES]
    run(command, tmp_path_factory.mktemp("there"), NUMBA_CPU_NAME=TARGET, NUMBA_CPU_FEATURES=INSTRUCTIONS)
    return packages


@pytest.mark.soak
def test_what_fits_is_loaded_and_gives_the_same_bits(packages, here, tmp_path):
    found = json.loads(run(["-c", SCORES, *NAMES], tmp_path, packages))
    assert {name: one["bits"] for name, one in found.items()} == {name: one["bits"] for name, one in here.items()}
    assert found["BR_LR"]["compiled"] == found["no_features"]["compiled"] == 0
    assert here["BR_LR"]["compiled"] > 0 < here["no_features"]["compiled"]


@pytest.mark.slow
def test_no_instruction_of_the_machine_that_builds_is_used_beyond_those_that_are_asked_for(packages, tmp_path):
    target = json.loads((packages / PACKAGE / MANIFEST).read_text())["target"]
    assert target[1:] == [TARGET, INSTRUCTIONS]
    command = [str(ROOT / "tools" / "build_kernels.py"), "--compile", str(tmp_path), "no_features"]
    with pytest.raises(subprocess.CalledProcessError) as error:
        run(command, tmp_path, NUMBA_CPU_NAME=TARGET)
    assert "NUMBA_CPU_FEATURES must be +avx,+avx2," in error.value.stderr


@pytest.mark.parametrize(
    ("line", "is_inexact"),
    [
        ("%1 = fadd double %a, %b", False),
        ("%1 = fmul nnan ninf nsz double %a, %b", False),
        ("%1 = tail call double @llvm.fma.f64(double %a, double %b, double %c)", False),
        ("%1 = fadd reassoc nsz contract double %a, %b", True),
        ("%1 = fdiv arcp double %a, %b", True),
        ("%1 = fdiv nnan afn <4 x double> %a, %b", True),
        ("%1 = notail call contract double @llvm.fma.f64(double %a, double %b, double %c)", True),
        ("%1 = call double @llvm.fmuladd.f64(double %a, double %b, double %c)", True),
    ],
)
def test_instructions_whose_results_the_processor_may_choose_are_found(line, is_inexact):
    inexact = runpy.run_path(str(ROOT / "tools" / "build_kernels.py"))["_INEXACT"]
    assert bool(inexact.search(line)) == is_inexact


@pytest.mark.slow
def test_a_package_that_is_installed_does_not_stand_in_for_the_one_that_is_built(packages, tmp_path):
    (tmp_path / PACKAGE).mkdir()
    command = [str(ROOT / "tools" / "build_kernels.py"), "--compile", str(tmp_path / PACKAGE), "no_features"]
    run(command, tmp_path / "cache", packages, NUMBA_CPU_NAME=TARGET, NUMBA_CPU_FEATURES=INSTRUCTIONS)
    assert list((tmp_path / PACKAGE).glob("*.nbc"))


def test_kernels_that_call_intels_functions_fit_only_where_those_are(monkeypatch):
    here = needs()
    monkeypatch.setattr(numba.config, "USING_SVML", not numba.config.USING_SVML)
    assert needs() != here


@pytest.mark.soak
def test_kernels_that_may_reorder_sums_are_compiled_here(packages, here, tmp_path):
    found = json.loads(run(["-c", SCORES, "NN"], tmp_path, packages))
    assert 0 < found["NN"]["compiled"] <= here["NN"]["compiled"]


def change_needs(manifest):
    manifest["needs"]["versions"][0] += ".1"


def change_sources(manifest):
    manifest["needs"]["sources"] = "0" * 64


def ask_for_more(manifest):
    manifest["features"].append("an instruction of the future")


def forget(manifest):
    del manifest["target"]


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [change_needs, change_sources, ask_for_more, forget])
def test_what_does_not_fit_is_compiled_here(spoil, packages, here, tmp_path):
    spoilt = tmp_path / "packages" / PACKAGE
    spoilt.mkdir(parents=True)
    for file in (packages / PACKAGE).iterdir():
        (spoilt / file.name).write_bytes(file.read_bytes())
    manifest = json.loads((spoilt / MANIFEST).read_text())
    spoil(manifest)
    (spoilt / MANIFEST).write_text(json.dumps(manifest))
    assert json.loads(run(["-c", SCORES, "BR_LR"], tmp_path / "cache", spoilt.parent))["BR_LR"] == here["BR_LR"]


@pytest.mark.slow
def test_files_cut_short_are_compiled_here(packages, here, tmp_path):
    cut = tmp_path / "packages" / PACKAGE
    cut.mkdir(parents=True)
    for file in (packages / PACKAGE).iterdir():
        content = file.read_bytes()
        (cut / file.name).write_bytes(content[: len(content) // 2] if file.suffix == ".nbc" else content)
    assert json.loads(run(["-c", SCORES, "BR_LR"], tmp_path / "cache", cut.parent))["BR_LR"] == here["BR_LR"]


@pytest.mark.slow
def test_what_fits_is_loaded_where_no_folder_can_be_written(packages, here, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    found = json.loads(run(["-W", "ignore", "-c", SCORES, "BR_LR"], tmp_path / "file" / "cache", packages))
    assert found["BR_LR"] == {"compiled": 0, "bits": here["BR_LR"]["bits"]}
