"""A record is written whole or not at all, reads back as it was, and is not overwritten by mistake."""

import errno
import math
import os
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mlstream.evaluation.evaluate import evaluate
from mlstream.records.paths import run_path
from mlstream.records.run_record import load_cards, load_run, load_runs, save_card, save_run
from mlstream.records.run_result import to_score
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.records.run_records import make_run

STREAM = make_stream(sizes=(9, 9, 9, 9))
NOBODY = 65534


@pytest.fixture(scope="module")
def result():
    return evaluate(Online(), STREAM, energy="none", references=True)


def test_a_record_reads_back_as_it_was(tmp_path, result):
    path = save_run(result, tmp_path)
    assert path == run_path(tmp_path, "tiny", "Online", 0)
    assert load_run(path) == result == load_runs(tmp_path)[0]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("status", ["done", "capped"])
def test_only_the_record_of_a_failure_is_replaced(tmp_path, result, status):
    failed = result.model_copy(update={"status": "failed", "error": "oh"})
    save_run(failed, tmp_path)
    save_run(failed.model_copy(update={"error": "again"}), tmp_path)
    assert load_runs(tmp_path)[0].error == "again"
    measured = result.model_copy(update={"status": status})
    save_run(measured, tmp_path)
    for one in (failed, measured, result):
        with pytest.raises(FileExistsError, match=r"Online-seed0.json"):
            save_run(one, tmp_path)
    assert load_runs(tmp_path) == [measured]
    assert len(list(tmp_path.rglob("*.*"))) == 1


def try_to_save(result, directory):
    try:
        save_run(result, directory)
    except FileExistsError:
        return 0
    return result.status != "failed"


@pytest.mark.slow
def test_of_many_processes_that_save_a_run_at_once_one_succeeds(tmp_path, result):
    results = [result.model_copy(update={"status": one}) for one in ("failed", "done", "capped", "failed", "done")]
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        for number in range(40):
            folder = tmp_path / str(number)
            assert sum(pool.map(try_to_save, results, [folder] * len(results))) == 1
            assert load_runs(folder)[0].status in {"done", "capped"}
    assert not list(tmp_path.rglob("*.part"))


def test_a_record_is_created_once_where_there_are_no_hard_links(tmp_path, result, monkeypatch):
    def refuse(*paths):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    save_run(result, tmp_path)
    with pytest.raises(FileExistsError, match=r"Online-seed0.json must not exist yet"):
        save_run(result.model_copy(update={"status": "capped"}), tmp_path)
    assert load_runs(tmp_path) == [result]


def test_a_record_has_the_permissions_of_any_new_file(tmp_path, result):
    (tmp_path / "new").touch()
    assert save_run(result, tmp_path).stat().st_mode == (tmp_path / "new").stat().st_mode


def test_records_are_sorted_by_stream_strategy_and_seed(tmp_path, result):
    for stream, strategy, seed in (("b", "x", 0), ("a", "y", 2), ("a", "y", 1), ("a", "x", 3)):
        save_run(result.model_copy(update={"stream": stream, "strategy": strategy, "seed": seed}), tmp_path)
    found = [(run.stream, run.strategy, run.seed) for run in load_runs(tmp_path)]
    assert found == [("a", "x", 3), ("a", "y", 1), ("a", "y", 2), ("b", "x", 0)]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a b/c", "é"])
def test_names_of_files_stay_in_the_folder(tmp_path, name):
    path = run_path(tmp_path, name, name, 0)
    assert path.resolve().is_relative_to(tmp_path / "runs")
    assert len(path.relative_to(tmp_path).parts) == 3


def test_a_folder_without_records_says_what_it_should_hold(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold records of runs"):
        load_runs(tmp_path)


@pytest.mark.parametrize("typed", [".", "campaign/runs", "campaign/runs/s"])
def test_a_folder_around_a_campaign_or_in_it_names_the_campaign(tmp_path, typed):
    path = run_path(tmp_path / "campaign", "s", "x", 0)
    path.parent.mkdir(parents=True)
    path.touch()
    with pytest.raises(FileNotFoundError, match=rf"Got none; did you mean {re.escape(str(tmp_path))}/campaign\?$"):
        load_runs(tmp_path / typed)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schema_version": 2}', b"[1]", b"\xc9\xff"])
def test_what_is_no_record_is_refused_with_the_name_of_the_file(tmp_path, content):
    path = run_path(tmp_path, "s", "x", 0)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x-seed0.json must hold a RunResult of this version .*: .* Got "):
        load_runs(tmp_path)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Act as a user who may not read everything, as root may."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_folder_that_must_not_be_read_is_no_empty_one(result):
    # pytest's own folders are closed to other users
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for stream in ("a", "b"):
            path = save_run(result.model_copy(update={"stream": stream}), folder)
        path.parent.chmod(0)
        with without_privileges(), pytest.raises(PermissionError, match=re.escape(os.fspath(path.parent))):
            load_runs(folder)
        path.parent.chmod(0o755)


def test_a_copy_under_another_name_is_refused(tmp_path, result):
    path = save_run(result, tmp_path)
    path.with_name("Online-seed1.json").write_bytes(path.read_bytes())
    with pytest.raises(ValueError, match=r"seed1.json must hold the run of its name.* Got the run of .*seed0.json"):
        load_runs(tmp_path)


def test_cards_lie_beside_the_runs(tmp_path):
    save_card(STREAM.card, tmp_path)
    assert load_cards(tmp_path) == {"tiny": STREAM.card}


def test_a_score_that_is_not_defined_is_null():
    assert to_score(math.nan) is None
    assert to_score(0.5) == 0.5


def test_hidden_files_beside_records_are_not_records(tmp_path):
    path = save_run(make_run(), tmp_path)
    (path.parent / f"._{path.name}").write_bytes(b"\x00")
    assert len(load_runs(tmp_path)) == 1
