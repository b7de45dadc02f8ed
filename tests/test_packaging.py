"""What packagers and hosts read: the version, the forms of issues, the workflow."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

import mlstream
from estimators.contract.lazy import EXTRAS

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == mlstream.__version__


def test_every_python_that_is_claimed_is_one_that_the_requirement_allows():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert project["requires-python"] == f">={claimed[0]}"
    assert [int(version.partition(".")[2]) for version in claimed] == list(range(11, 11 + len(claimed)))


def test_hints_and_extras_name_this_distribution():
    """`mlstream` on PyPI is another project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {line for lines in project["optional-dependencies"].values() for line in lines}
    texts = [
        path.read_text(encoding="utf-8") for name in ("estimators", "mlstream") for path in (ROOT / name).rglob("*.py")
    ]
    named = re.findall(r"([\w-]+)\[([\w,]+)\]", "\n".join(extras)) + [
        hint for text in texts for hint in re.findall(r"pip install '([\w-]+)\[([\w,]+)\]'", text)
    ]
    named += [("mlstream-toolkit", extra) for extra in EXTRAS.values()]
    assert {name for name, _ in named} == {project["name"]} == {"mlstream-toolkit"}
    assert {extra for _, several in named for extra in several.split(",")} <= project["optional-dependencies"].keys()


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_have_what_their_host_asks_for(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    fields = form["body"]
    assert {field["type"] for field in fields} <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)


def test_the_workflow_runs_the_script_that_everybody_runs():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run ${{ matrix.verbs }}"]
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o100
    every_change, *others = job["strategy"]["matrix"]["verbs"]
    assert f"(($#)) || set -- {every_change}\n" in script.read_text(encoding="utf-8")
    # what `make` lists for maintainers, but for what the night takes
    nightly = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    at_night = {verb.split()[0] for verb in nightly["jobs"]["soak"]["strategy"]["matrix"]["verb"]}
    listed = re.findall(r"^([a-z-]+):.*[^#]### ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*every_change.split(), *others} == {"test", *listed} - at_night


def test_a_release_builds_kernels_for_each_python_that_is_claimed():
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert release["jobs"]["kernels"]["strategy"]["matrix"]["python"] == claimed
    assert release["jobs"]["publish"]["needs"] == ["packages", "kernels"]


def test_the_tag_of_the_kernels_is_one_that_pypi_takes(tmp_path):
    runpy.run_path(str(ROOT / "tools" / "build_kernels.py"))["_write_project"](tmp_path)
    assert "plat_name = manylinux_2_27_x86_64\n" in (tmp_path / "setup.cfg").read_text(encoding="utf-8")
