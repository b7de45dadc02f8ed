"""Build the wheel of ``mlstream-toolkit-kernels``: kernels that are compiled already.

``python tools/build_kernels.py dist`` compiles all kernels for a level of x86-64 that processors since 2015 have, keeps
those whose results cannot depend on the processor, and writes a wheel for this Python, this system, and the very
versions of mlstream, Numba, llvmlite and NumPy that are installed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from estimators._kernels.prebuilt import FEATURES, MANIFEST, PACKAGE, TARGET, stamp

# what Numba compiles for: of the processor's name alone it would take the instructions of this machine, too
SETTINGS = {"NUMBA_CPU_NAME": TARGET, "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in FEATURES)}
# instructions whose result may change with the order of a sum, or with the fusion of a product and a sum
_INEXACT = re.compile(
    r"= (?:\w*tail )?(?:f\w+|call) (?:nnan |ninf |nsz )*(?:reassoc|arcp|contract|afn|fast)\b|@llvm\.fmuladd\."
)
_PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "mlstream-toolkit-kernels"
version = "{version}"
description = "Compiled kernels of mlstream {version}, so that no first call compiles them"
requires-python = "=={python}.*"
dependencies = ["mlstream-toolkit=={version}"]

[tool.setuptools]
packages = ["{package}"]

[tool.setuptools.package-data]
{package} = ["*.nbi", "*.nbc", "*.json"]
"""
_TAGS = "[bdist_wheel]\npython_tag = {python}\nplat_name = {platform}\n"


def main(out: Path) -> None:
    """Compile in a process of its own, for another processor than this one; then build."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        package = project / PACKAGE
        package.mkdir(parents=True)
        environment = os.environ | SETTINGS | {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        subprocess.run([sys.executable, __file__, "--compile", str(package)], env=environment, check=True)  # noqa: S603
        _write_project(project)
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(project)]
        subprocess.run(build, check=True)  # noqa: S603 - its own words


def compile_into(package: Path, names: Sequence[str] = ()) -> None:
    """Compile kernels, all or those of the names, and keep in the package those with exact results."""
    import numba
    from numba.core.caching import IndexDataCacheFile
    from numba.core.registry import cpu_target

    from estimators._kernels import keeping
    from mlstream.evaluation.compile_ahead import compile_ahead

    needs = keeping.needs()
    left_out: list[str] = []
    save = keeping._KernelCache.save_overload

    def keep(cache: Any, signature: Any, compiled: Any) -> None:
        save(cache, signature, compiled)
        if _INEXACT.search(compiled.library.get_llvm_str()):
            left_out.append(cache._name)
            return
        file = IndexDataCacheFile(str(package), cache._impl.filename_base, stamp(needs))
        file.save(cache._index_key(signature, cpu_target.target_context.codegen()), cache._impl.reduce(compiled))

    keeping._KernelCache.save_overload = keep
    # what is installed here already would be loaded, and be missing from the package
    keeping.find_prebuilt = lambda _needs: None
    for variable, value in SETTINGS.items():
        got = getattr(numba.config, variable.removeprefix("NUMBA_"))
        if got != value:
            raise ValueError(f"{variable} must be {value}. Got {got} instead.")
    for one in compile_ahead(names):
        print(f"{one.name}: {one.n_kernels} kernels, {one.cpu_s:.1f} s", flush=True)
    target = cpu_target.target_context.codegen().magic_tuple()
    manifest = {"needs": needs, "target": target, "features": FEATURES}
    (package / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    (package / "__init__.py").write_text(
        '"""Compiled kernels of mlstream; see its documentation."""\n', encoding="utf-8"
    )
    files = list(package.glob("*.nbc"))
    n_bytes = sum(file.stat().st_size for file in files)
    print(f"{len(files)} kernels, {n_bytes / 1e6:.1f} MB; left out, as their results may depend on the processor:")
    print("\n".join(sorted(left_out)))


def _write_project(project: Path) -> None:
    from mlstream import __version__

    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    words = {"version": __version__, "python": python, "package": PACKAGE}
    (project / "pyproject.toml").write_text(_PROJECT.format(**words), encoding="utf-8")
    # that of Numba's wheels: PyPI refuses linux_x86_64
    tags = {"python": f"cp{python.replace('.', '')}", "platform": "manylinux_2_27_x86_64"}
    (project / "setup.cfg").write_text(_TAGS.format(**tags), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--compile":
        compile_into(Path(sys.argv[2]), sys.argv[3:])
    else:
        main(Path(sys.argv[1]))
