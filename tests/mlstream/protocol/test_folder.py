"""Names of files say which run they hold, whatever the names of streams and strategies are."""

from pathlib import Path

from mlstream.protocol.folder import Repetition, plain, run_path, selection_path


def test_a_path_says_stream_strategy_and_repetition():
    assert run_path("d", "s", "a b/c", 3) == Path("d/runs/s/a_b_c-seed3.json")
    assert run_path("d", "s", "a", Repetition(3, order_seed=1)) == Path("d/runs/s/a-seed3-order1.json")
    assert run_path("d", "s", "a", Repetition(3, split_seed=0)) == Path("d/runs/s/a-seed3-split0.json")
    assert selection_path("d", "s", "a", Repetition(3, 1, 2)) == Path("d/selections/s/a-seed3-order1-split2.json")


def test_no_name_leaves_its_folder():
    assert "/" not in plain("../../etc/passwd")
