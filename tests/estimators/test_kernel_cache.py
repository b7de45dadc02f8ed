"""Compiled kernels follow their sources, in a folder that is shared, renewed and tidied.

Tests that compile in processes of their own take seconds each: but for one, they are slow.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import estimators
from estimators._kernels.cache import KERNELS, PREFIX, UNUSED_DAYS
from estimators._kernels.keeping import _Locator

PACKAGES = Path(estimators.__file__).parents[1]
NAMES = ("metrics", "estimators", "mlstream")

INNER = """
from estimators._kernels.compile import JIT, njit

@njit(**JIT)
def inner(x):
    return x + 1
"""
OUTER = """
from estimators._kernels.compile import JIT, njit
from estimators._kernels.toy_inner import inner

@njit(**JIT)
def outer(x):
    return inner(x)

@njit(**JIT)
def beyond(x):
    return x[len(x)]
"""
CALL = """
import json
from estimators._kernels.toy_outer import outer
def call(x):
    return [outer(x), sum(outer.stats.cache_hits.values()), sum(outer.stats.cache_misses.values())]
"""


@pytest.fixture
def copy(tmp_path) -> Path:
    """Copy the package, with two small kernels more, one of which calls the other."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in NAMES:
        shutil.copytree(PACKAGES / name, tmp_path / "copy" / name, ignore=ignored)
    kernels = tmp_path / "copy" / "estimators" / "_kernels"
    (kernels / "toy_inner.py").write_text(INNER)
    (kernels / "toy_outer.py").write_text(OUTER)
    return tmp_path / "copy"


def start(copy: Path, code: str, **variables) -> subprocess.Popen:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", CALL + code],
        cwd=copy,
        env=plain | {"PYTHONPATH": str(copy)} | {name: str(value) for name, value in variables.items()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> tuple[str, str]:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return output, errors


def call(copy: Path, x: str = "1", **variables) -> list[int]:
    """Return the value, the number of compilations that were loaded, and the number of those that were made."""
    return json.loads(finish(start(copy, f"print(json.dumps(call({x})))", **variables))[0])


def edit_callee(copy: Path, new: str = "x + 10") -> None:
    file = copy / "estimators" / "_kernels" / "toy_inner.py"
    file.write_text(file.read_text().replace("x + 1\n", f"{new}\n"))


def folders(place: Path) -> list[Path]:
    return sorted(place.glob(f"{PREFIX}*"))


def in_tree(copy: Path) -> Path:
    return copy / "estimators" / "_kernels" / "__pycache__"


@pytest.mark.slow
def test_a_second_process_compiles_nothing(copy):
    assert call(copy) == [2, 0, 1]
    assert call(copy) == [2, 1, 0]


@pytest.mark.slow
def test_an_edited_callee_is_compiled_into_its_caller_and_the_older_folder_goes(copy):
    assert call(copy) == [2, 0, 1]
    before = folders(in_tree(copy))
    edit_callee(copy)
    assert call(copy) == [11, 0, 1]
    after = folders(in_tree(copy))
    assert len(before) == len(after) == 1
    assert before != after


@pytest.mark.slow
def test_a_folder_is_kept_for_as_long_as_a_process_uses_it(copy):
    code = "print(json.dumps(call(1)), flush=True); input(); print(json.dumps(call(1.0)))"
    older = start(copy, code)
    assert json.loads(older.stdout.readline()) == [2, 0, 1]
    held = folders(in_tree(copy))
    edit_callee(copy)
    assert call(copy) == [11, 0, 1]
    assert set(held) < set(folders(in_tree(copy)))
    assert json.loads(finish_after_enter(older)) == [2.0, 0, 2]
    assert call(copy) == [11, 1, 0]
    assert not set(held) & set(folders(in_tree(copy)))


def finish_after_enter(process: subprocess.Popen) -> str:
    output, errors = process.communicate("\n", timeout=300)
    assert process.returncode == 0, errors
    return output


@pytest.mark.slow
def test_nothing_is_kept_of_sources_that_changed_meanwhile(copy):
    process = start(copy, "print('imported', flush=True); input(); print(json.dumps(call(1)))")
    assert process.stdout.readline() == "imported\n"
    edit_callee(copy)
    assert json.loads(finish_after_enter(process)) == [2, 0, 1]
    assert not list(in_tree(copy).glob("**/*.nb?"))
    assert call(copy) == [11, 0, 1]


@pytest.mark.slow
def test_settings_that_change_machine_code_have_a_folder_of_their_own(copy):
    code = "import numpy as np\nfrom estimators._kernels.toy_outer import beyond\nbeyond(np.zeros(3))"
    finish(start(copy, code))
    checked = start(copy, code, NUMBA_BOUNDSCHECK=1)
    assert "IndexError" in checked.communicate(timeout=300)[1]
    assert len(folders(in_tree(copy))) == 2


@pytest.mark.slow
def test_folders_of_others_go_once_they_were_unused_for_long(copy, tmp_path):
    place = tmp_path / "chosen"
    ages = {"old": 2 * UNUSED_DAYS, "strange": 2 * UNUSED_DAYS, "new": 0}
    for name, days in ages.items():
        folder = place / f"{PREFIX}{name}-0"
        folder.mkdir(parents=True)
        for file in ("in-use-0.lock", "a.nbi", "a.1.nbc"):
            (folder / file).touch()
        if name == "strange":
            (folder / "thesis.txt").touch()
        moment = folder.stat().st_mtime - days * 86_400
        os.utime(folder, (moment, moment))
    elsewhere = place / "photographs" / "in-use-0.lock"
    elsewhere.parent.mkdir()
    elsewhere.touch()
    call(copy, NUMBA_CACHE_DIR=place)
    assert not (place / f"{PREFIX}old-0").exists()
    assert (place / f"{PREFIX}strange-0" / "thesis.txt").exists()
    assert (place / f"{PREFIX}new-0" / "a.nbi").exists()
    assert elsewhere.exists()


@pytest.mark.slow
def test_the_folder_that_the_user_chose_holds_everything(copy, tmp_path):
    place = tmp_path / "chosen"
    assert call(copy, NUMBA_CACHE_DIR=place) == [2, 0, 1]
    assert call(copy, NUMBA_CACHE_DIR=place) == [2, 1, 0]
    assert len(folders(place)) == 1
    assert not list(copy.glob("**/*.nb?"))


@pytest.mark.slow
def test_a_package_that_cannot_be_written_uses_the_users_cache(copy, tmp_path):
    in_tree(copy).write_text("a file where the folder would be")
    assert call(copy, XDG_CACHE_HOME=tmp_path / "home") == [2, 0, 1]
    assert call(copy, XDG_CACHE_HOME=tmp_path / "home") == [2, 1, 0]
    assert len(folders(tmp_path / "home" / "mlstream")) == 1


@pytest.mark.slow
def test_without_a_writable_place_a_warning_names_it_and_kernels_work(copy, tmp_path):
    place = tmp_path / "file"
    place.touch()
    output, errors = finish(start(copy, "print(json.dumps(call(1)))", NUMBA_CACHE_DIR=place))
    assert json.loads(output) == [2, 0, 1]
    assert errors.count("RuntimeWarning: A folder for compiled kernels must be writable.") == 1
    assert str(place) in errors
    assert "NUMBA_CACHE_DIR" in errors


@pytest.mark.slow
def test_files_that_were_cut_are_compiled_anew(copy):
    call(copy)
    for file in in_tree(copy).glob("**/*.nb?"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert call(copy) == [2, 0, 1]
    assert call(copy) == [2, 1, 0]


@pytest.mark.slow
def test_processes_that_compile_for_several_types_at_once_lose_nothing(copy):
    values = ("1", "1.0", "1j", "True")
    together = [start(copy, f"print(call({x})[0])") for x in values]
    assert [finish(process)[0].strip() for process in together] == ["2", "2.0", "(1+1j)", "2"]
    for x in values:
        assert finish(start(copy, f"print(call({x})[1:])"))[0].strip() == "[1, 0]"


@pytest.mark.slow
def test_without_compilation_there_is_no_folder(copy):
    output = finish(start(copy, "print(outer(1), type(outer).__name__)", NUMBA_DISABLE_JIT=1))[0]
    assert output.split() == ["2", "function"]
    assert not folders(in_tree(copy))


@pytest.mark.slow
def test_reading_a_table_loads_no_learner():
    code = "import sys, mlstream.formats._kernels.scan; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGES, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def imports(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


@pytest.mark.slow
def test_few_modules_name_numba_and_kernels_depend_on_kernels_only():
    """Otherwise the hash of the kernels' sources would miss what is compiled."""
    shared = ("compile", "keeping", "parts", "prebuilt", "watching")
    compilers = {PACKAGES / "estimators" / "_kernels" / f"{name}.py" for name in shared}
    compilers.add(PACKAGES / "estimators" / "networks" / "_kernels" / "lanes.py")  # its folder is hashed, too
    homes = {PACKAGES / folder for folder in KERNELS}
    allowed = {"filelock", "numpy", *sys.stdlib_module_names}
    for file in (file for name in NAMES for file in (PACKAGES / name).glob("**/*.py")):
        names = imports(file)
        roots = {name.partition(".")[0] for name in names}
        assert file in compilers or not roots & {"numba", "llvmlite"}, file
        if "estimators._kernels.compile" in names:
            assert file.parent in homes, file
        if file.parent in homes and file not in compilers:
            # Names of types are no code.
            ours = {name for name in names if name.partition(".")[0] in NAMES} - {"estimators._typing"}
            assert all(f"{name.rpartition('.')[0].replace('.', '/')}" in KERNELS for name in ours), file
            assert {root for root in roots if root not in NAMES} <= allowed, file


def test_kernels_of_one_name_in_two_folders_have_two_files():
    code = compile("def learn():\n    return 0\n", "learning.py", "exec")
    homes = []
    for module in ("estimators.trees._kernels.learning", "estimators.trees._kernels.mlhat.learning"):
        names = {"__name__": module}
        exec(code, names)  # noqa: S102 - the same function, at the same line of another module
        homes.append(_Locator.from_function(names["learn"], "learning.py").get_disambiguator())
    assert homes[0] != homes[1]


LEARN = """
import numpy as np
from estimators import make_strategy
generator = np.random.default_rng(0)
X = generator.normal(size=(400, 3))
Y = (X @ generator.normal(size=(3, 2)) + generator.normal(size=(400, 2)) > 0).astype(int)
print(make_strategy("BR_HT").partial_fit(X, Y).predict_proba(X).sum())
"""


def write_wheel(folder: Path, version: str, half: str) -> Path:
    """Write a wheel of the packages, with another factor in the kernel that Hoeffding trees call."""
    path = folder / f"mlstream_toolkit-{version}-py3-none-any.whl"
    info = f"mlstream_toolkit-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for file in (file for name in NAMES for file in (PACKAGES / name).glob("**/*")):
            if file.is_file() and "__pycache__" not in file.parts:
                content = file.read_bytes()
                if file.name == "gaussian.py":
                    assert content.count(b"half = 0.5 *") == 1
                    content = content.replace(b"half = 0.5 *", f"half = {half} *".encode())
                wheel.writestr(str(file.relative_to(PACKAGES)), content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: mlstream-toolkit\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in wheel.namelist()) + f"{info}/RECORD,,\n")
    return path


class Environment:
    """A fresh virtual environment that borrows the packages of this one, but for ours."""

    def __init__(self, folder: Path) -> None:
        self._python = folder / "bin" / "python"
        venv.create(folder, with_pip=False, symlinks=True)
        site = next(folder.glob("lib/python*/site-packages"))
        (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self._variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._folder = folder

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self._python, *arguments],
            cwd=self._folder,
            env=self._variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def install(self, wheel: Path) -> None:
        """Install a wheel, or upgrade to it, as a user does."""
        self.run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--upgrade", str(wheel))


@pytest.mark.soak
def test_an_upgraded_package_runs_its_own_kernels(tmp_path):
    older, newer = write_wheel(tmp_path, "0.0.1", "0.5"), write_wheel(tmp_path, "0.0.2", "0.05")
    upgraded, fresh = Environment(tmp_path / "upgraded"), Environment(tmp_path / "fresh")
    upgraded.install(older)
    before = upgraded.run("-c", LEARN)
    upgraded.install(newer)
    fresh.install(newer)
    after = fresh.run("-c", LEARN)
    assert before != after
    assert upgraded.run("-c", LEARN) == after
