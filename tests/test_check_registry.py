"""The tool that compares the registry of data sets with lists and clones of repositories."""

import hashlib
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "check_registry.py"
LIST = "../reference/registry/boomer_datasets_f7e13d5.csv"


def check(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_registry_has_every_file_whose_hash_is_proven(shared_data: Callable[[str], Path]) -> None:
    done = check("--csv", shared_data(LIST))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "boomer_datasets_f7e13d5.csv: 123 of 123 files are in the registry.\n"


@pytest.mark.parametrize("wrong", ["delicious_test.arff,00", "foreign.arff,ed"])
def test_a_difference_to_a_list_is_named(wrong: str, shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / shared_data(LIST).name
    text = shared_data(LIST).read_text(encoding="utf-8")
    path.write_text(text.replace("delicious_test.arff,ed", wrong), encoding="utf-8")
    done = check("--csv", path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"{path.name}: 122 of 123 files are in the registry.",
        f"{path.name} does not list delicious_test.arff, or differs.",
        f"{path.name}: {wrong.partition(',')[0]} is not in the registry, or differs.",
    ]


def test_files_and_pointers_of_a_clone_are_compared(tmp_path: Path) -> None:
    content = b"@relation t\n"
    sha256 = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n"
    (tmp_path / "file.arff").write_bytes(content)
    (tmp_path / "pointer.arff").write_text(pointer, encoding="utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Add files"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    tool = runpy.run_path(str(TOOL))
    known = {tool["Known"](commit, f"{name}.arff", sha256, len(content)) for name in ("file", "pointer", "absent")}
    assert tool["compare_clone"](tmp_path, known) == []
    wrong = {tool["Known"](commit, f"{name}.arff", sha256, 1) for name in ("file", "pointer", "absent")}
    assert tool["compare_clone"](tmp_path, wrong) == [
        f"{tmp_path} holds another {name}.arff at {commit}." for name in ("file", "pointer")
    ]
