"""Streams in the forms of PyTorch and Avalanche."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlstream import interop
from mlstream.formats import load, save
from tests.mlstream.small_streams import Shape, make_stream


# Its import takes seconds, which those who only collect tests need not wait for.
@pytest.fixture(scope="module", autouse=True)
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs PyTorch: the extra torch")


@pytest.mark.parametrize("shape", [Shape(), Shape(sparse=True), Shape(by_row=True), Shape(dtype=np.float32)])
def test_a_loader_gives_all_rows_in_order(torch: Any, shape: Shape) -> None:
    stream = make_stream(shape)
    batches = list(torch.utils.data.DataLoader(interop.to_torch(stream), batch_size=4))
    assert [len(batch["x"]) for batch in batches] == [4, 4, 4, 2]
    got = {name: torch.cat([batch[name] for batch in batches]).numpy() for name in batches[0]}
    X = np.vstack([part.X.toarray() if shape.sparse else part.X for part in stream])
    np.testing.assert_array_equal(got["x"], X)
    assert got["x"].dtype == X.dtype
    np.testing.assert_array_equal(got["y"], np.vstack([part.Y for part in stream]))
    np.testing.assert_array_equal(got["task_id"], np.concatenate([part.task_ids for part in stream]))
    masks = [np.broadcast_to(part.label_mask, part.Y.shape) for part in stream]
    np.testing.assert_array_equal(got["label_mask"], np.vstack(masks))


def test_workers_share_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, stream = interop.to_torch(make_stream()), make_stream()
    shares = []
    for number in range(3):
        worker = type("Worker", (), {"id": number, "num_workers": 3})
        monkeypatch.setattr("mlstream.interop.torch.get_worker_info", lambda worker=worker: worker)
        shares.append([row["x"].numpy() for row in rows])
    X = np.vstack([part.X for part in stream])
    assert len(rows) == sum(map(len, shares)) == len(X)
    for number, share in enumerate(shares):
        np.testing.assert_array_equal(share, X[number::3])


def test_a_mapped_stream_can_be_iterated(tmp_path: Path) -> None:
    save(make_stream(), tmp_path / "x.npz")
    assert len(list(interop.to_torch(load(tmp_path / "x.npz", mmap=True)))) == 14


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_benchmark_has_the_parts_under_other_names(is_sparse: bool) -> None:
    stream = make_stream(Shape(sparse=is_sparse))
    benchmark = interop.to_avalanche(stream)
    assert (len(benchmark.train_stream), len(benchmark.test_stream), benchmark.n_classes) == (4, 2, 3)
    for number, (got, part) in enumerate(zip(benchmark.train_stream, stream, strict=True)):
        x, y, task_ids = got.dataset.tensors
        np.testing.assert_array_equal(x, part.X.toarray() if is_sparse else part.X)
        np.testing.assert_array_equal(y, part.Y)
        np.testing.assert_array_equal(task_ids, part.task_ids)
        assert got.current_experience == number
        assert got.task_labels == np.unique(part.task_ids).tolist()
        assert got.classes_in_this_experience == np.flatnonzero(part.label_mask).tolist()
    assert [got.task_labels for got in benchmark.test_stream] == [[0], [1]]


def test_batches_of_unknown_labels_are_of_one_type(torch: Any) -> None:
    stream = make_stream(Shape(unknown=0.1, sizes=(6, 6, 2, 1)))
    assert len({part.Y.dtype for part in stream}) == 2
    batches = list(torch.utils.data.DataLoader(interop.to_torch(stream), batch_size=4))
    assert {batch["y"].dtype for batch in batches} == {torch.float32}
    got = torch.cat([batch["y"] for batch in batches]).numpy()
    np.testing.assert_array_equal(got, np.concatenate([part.Y for part in stream]))


def test_avalanche_is_given_no_unknown_labels() -> None:
    stream = make_stream(Shape(unknown=0.3))
    n_unknown = sum(int(np.isnan(part.Y).sum()) for part in (*stream.experiences, *stream.evaluation_sets))
    with pytest.raises(ValueError, match=f"Every label must be known for Avalanche.* Got {n_unknown} unknown labels"):
        interop.to_avalanche(stream)
