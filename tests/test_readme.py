"""Everything that the README says can be done works, in the order of the README."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mlstream import load_config
from mlstream.publishing.presets import list_presets

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_every_command_of_the_readme_runs(tmp_path):
    commands = [line[2:].split("#")[0] for block in blocks("console") for line in block.splitlines()]
    ours = [shlex.split(command)[1:] for command in commands if command.startswith("mlstream")]
    assert len(ours) >= 6
    for arguments in ours:
        done = subprocess.run(
            [sys.executable, "-m", "mlstream", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"mlstream {shlex.join(arguments)}\n{done.stderr}"
    assert (tmp_path / "runs" / "report.html").stat().st_size > 1_000_000


def test_every_python_block_of_the_readme_runs(tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks("python")), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=os.environ.copy())
    assert done.returncode == 0, done.stderr
    assert "labels" in done.stdout


def test_the_campaign_file_of_the_readme_names_what_there_is(tmp_path):
    (block,) = blocks("toml")
    file = tmp_path / "campaign.toml"
    file.write_text(block, encoding="utf-8")
    campaign = load_config(file)
    assert list(campaign.learners()) == ["NN_TL", "BR_HT", "StreamRidge"]
    made = set(re.findall(r"--output (\S+)", README))
    assert set(campaign.streams) <= {*list_presets(), *made}


def test_the_make_verbs_of_the_readme_exist():
    verbs = re.findall(r"(?:`|\$ )make (\w+)", README)
    assert {"demo", "test"} <= set(verbs)
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    assert {f"{verb}:" for verb in verbs} <= {line.split(" ")[0] for line in makefile.splitlines()}
