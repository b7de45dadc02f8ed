"""Streams in the forms of PyTorch and Avalanche."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch.utils.data import IterableDataset, TensorDataset, get_worker_info

from mlstream.streams.stream import EvaluationSet, Experience, Index, Stream


class StreamRows(IterableDataset[Any]):
    """The rows of a stream, in its order, for a `DataLoader`.

    Several workers share the rows: the order is that of the stream within each worker only.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        # A batch must not mix types.
        self._label_type = np.result_type(*(part.Y.dtype for part in stream))

    def __len__(self) -> int:
        return self.stream.n_samples

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        position = 0
        for experience in self.stream:
            for row in range((first - position) % step, len(experience), step):
                yield _row(experience, row, self._label_type)
            position += len(experience)


@dataclass(frozen=True)
class AvalancheExperience:
    """A part of a stream, with the attributes of an experience of Avalanche."""

    dataset: TensorDataset  # Features, labels, task of each row.
    current_experience: int  # Position in `train_stream` or `test_stream`.
    task_labels: list[int]
    classes_in_this_experience: list[int]  # Labels that count in it.


@dataclass(frozen=True)
class AvalancheBenchmark:
    """A stream as a benchmark of Avalanche."""

    train_stream: list[AvalancheExperience]
    test_stream: list[AvalancheExperience]  # Held-out rows, by task.
    n_classes: int  # Number of labels.


def to_torch(stream: Stream) -> StreamRows:
    """Wrap the rows to learn from in an `IterableDataset`.

    Parameters
    ----------
    stream : Stream
        The stream.

    Returns
    -------
    StreamRows
        One dictionary per row, in the order of the stream: tensors x, y, task_id and label_mask. y is uint8; where a
        label of the stream is unknown it is float32 with NaN there, inside the mask or not.

    Examples
    --------
    A loss over the labels that are known and count; NaN must not reach it, since NaN times 0 is NaN.

    >>> from mlstream.generators import missing_labels, multiplier_stream
    >>> stream = missing_labels(multiplier_stream("rand", n_rows=60), rate=0.3)
    >>> batch = next(iter(torch.utils.data.DataLoader(to_torch(stream), batch_size=8)))
    >>> counted = batch["label_mask"] & ~torch.isnan(batch["y"])
    >>> scores = torch.zeros(batch["y"].shape)
    >>> losses = torch.nn.functional.binary_cross_entropy_with_logits(scores[counted], batch["y"][counted])
    >>> round(float(losses), 3)
    0.693
    """
    return StreamRows(stream)


def to_avalanche(stream: Stream) -> AvalancheBenchmark:
    """Convert experiences and evaluation sets to tensors, under the names of Avalanche.

    Parameters
    ----------
    stream : Stream
        The stream.

    Returns
    -------
    AvalancheBenchmark
        Experiences as `train_stream`, evaluation sets as `test_stream`.

    Raises
    ------
    ValueError
        If a label is unknown: the losses and metrics of Avalanche would return NaN.
    """
    parts: tuple[Experience | EvaluationSet, ...] = (*stream.experiences, *stream.evaluation_sets)
    n_unknown = sum(int(np.isnan(part.Y).sum()) for part in parts)
    if n_unknown:
        raise ValueError(
            f"Every label must be known for Avalanche, whose losses return NaN otherwise. Got {n_unknown:,} unknown "
            f"labels in {stream.card.name!r}; to_torch keeps them as NaN, with a mask."
        )
    learning = [_experience(part, number, part.task_ids) for number, part in enumerate(stream.experiences)]
    evaluation = [
        _experience(part, number, np.full(len(part), part.task_id))
        for number, part in enumerate(stream.evaluation_sets)
    ]
    return AvalancheBenchmark(learning, evaluation, stream.n_labels)


def _experience(part: Experience | EvaluationSet, number: int, task_ids: Index) -> AvalancheExperience:
    X = part.X.toarray() if sparse.issparse(part.X) else np.array(part.X)
    tensors = torch.from_numpy(X), torch.from_numpy(np.array(part.Y)), torch.from_numpy(np.array(task_ids))
    classes = np.flatnonzero(np.atleast_2d(part.label_mask).any(axis=0)).tolist()
    return AvalancheExperience(TensorDataset(*tensors), number, np.unique(task_ids).tolist(), classes)


def _row(experience: Experience, row: int, label_type: np.dtype[np.generic]) -> dict[str, torch.Tensor]:
    x = experience.X[row : row + 1]
    mask = experience.label_mask if experience.label_mask.ndim == 1 else experience.label_mask[row]
    arrays = {
        "x": (x.toarray() if sparse.issparse(x) else x)[0],
        "y": experience.Y[row].astype(label_type),
        "task_id": experience.task_ids[row],
        "label_mask": mask,
    }
    # Copies, because PyTorch warns about arrays that cannot be written, such as those mapped from a file.
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
