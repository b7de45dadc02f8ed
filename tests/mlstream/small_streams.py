"""Streams for tests: small ones made by hand, a strategy that draws odd ones, and what makes two the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mlstream.cards.description import describe_stream
from mlstream.streams.card_model import GeneratorCard, ScenarioCard, StreamCard
from mlstream.streams.keys import key_names
from mlstream.streams.label_values import as_indicator
from mlstream.streams.stream import (
    Dataset,
    EvaluationSet,
    Experience,
    Features,
    Indicator,
    Mask,
    Stream,
    StreamParts,
    Task,
)

# Whatever a column may be called; lone surrogates are no text in any encoding.
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "",
        " ",
        "it's",
        'say "hi"',
        "50%",
        "a,b",
        "{x}",
        "back\\slash",
        "@data",
        "?",
        "é",
        "日本",
        "two words",
        "\n",
        "%",
        "'",
    ]
)


@dataclass(frozen=True)
class Shape:
    """What kind of stream to make."""

    sparse: bool = False
    dtype: npt.DTypeLike = np.float64
    by_row: bool = False
    feature_names: tuple[str, ...] = ("a", "b", "c", "d")
    label_names: tuple[str, ...] = ("k", "l", "m")
    sizes: tuple[int, ...] = (6, 0, 3, 5)
    evaluation_sizes: tuple[int, ...] = (4, 2)
    seed: int = 0
    unknown: float = 0.0
    """Share of the label cells that are unknown."""
    feature_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keys: Mapping[str, npt.ArrayLike] | None = None
    """Of all rows of the table, as many as there are in the stream."""


def make_stream(shape: Shape = Shape()) -> Stream:
    """Make a stream of random numbers with two tasks that alternate, or mix where masks go by row."""
    rng = np.random.default_rng(shape.seed)
    n_samples = sum(shape.sizes) + sum(shape.evaluation_sizes)
    X = rng.standard_normal((n_samples, len(shape.feature_names))) * rng.integers(0, 2, (n_samples, 1))
    return build_stream(X.astype(shape.dtype), shape)


def build_stream(X: npt.NDArray[np.floating], shape: Shape) -> Stream:
    """Make a stream with given features."""
    rng = np.random.default_rng(shape.seed)
    n_tasks, n_labels = len(shape.evaluation_sizes), len(shape.label_names)
    signatures = rng.random((n_tasks, n_labels)) < 0.7
    task_ids = _task_ids(shape, rng)
    Y = (signatures[task_ids] & (rng.random((len(X), n_labels)) < 0.5)).astype(np.uint8)
    Y = hide_cells(Y, shape.unknown, shape.seed)
    table: Features = sparse.csr_array(X) if shape.sparse else X
    row_ids = rng.permutation(len(X))
    cuts = np.cumsum([0, *shape.sizes, *shape.evaluation_sizes])
    experiences, evaluation_sets = [], []
    for part, (start, stop) in enumerate(pairwise(cuts)):
        rows = slice(start, stop)
        if part < len(shape.sizes):
            mask = _mask(signatures, task_ids[rows], part, by_row=shape.by_row)
            experiences.append(Experience(table[rows], Y[rows], task_ids[rows], mask, row_ids[rows]))
        else:
            task = part - len(shape.sizes)
            evaluation_sets.append(EvaluationSet(table[rows], Y[rows], task, signatures[task], row_ids[rows]))
    tasks = tuple(Task(f"task {number}", signature) for number, signature in enumerate(signatures))
    parts = StreamParts(tasks, tuple(experiences), tuple(evaluation_sets))
    source = Dataset(
        table,
        Y,
        shape.feature_names,
        shape.label_names,
        name="hand: made",
        feature_values=shape.feature_values,
        keys=shape.keys,
    )
    return Stream(parts.with_keys(source.keys), _describe(source, parts))


def make_keyed_stream(shape: Shape = Shape()) -> Stream:
    """Make a stream whose rows have keys of every type."""
    number = np.arange(sum(shape.sizes) + sum(shape.evaluation_sizes))
    hosts = np.array([f"höst, {row}" for row in number % 3])
    starts = np.datetime64("2026-01-01T00:00:00.000001") + number * np.timedelta64(600, "s")
    return make_stream(replace(shape, keys={"host": hosts, "start": starts, "port": number % 2, "weight": number / 3}))


def hide_cells(Y: Indicator, share: float, seed: int) -> Indicator:
    """Make a share of the label cells unknown, at random."""
    hidden = np.random.default_rng([seed, 1]).random(Y.shape) < share
    return as_indicator(np.where(hidden, np.nan, Y))


def assert_same_stream(got: Stream, expected: Stream) -> None:
    """Compare every array, bit by bit and type by type, and the cards."""
    assert got.card == expected.card
    assert [task.name for task in got.tasks] == [task.name for task in expected.tasks]
    for one, other in zip(got.tasks, expected.tasks, strict=True):
        assert_same_array(one.signature, other.signature)
    for one, other in zip(got.experiences, expected.experiences, strict=True):
        assert_same_array(one.task_ids, other.task_ids)
    assert [part.task_id for part in got.evaluation_sets] == [part.task_id for part in expected.evaluation_sets]
    parts = zip(
        (*got.experiences, *got.evaluation_sets), (*expected.experiences, *expected.evaluation_sets), strict=True
    )
    for one, other in parts:
        assert_same_features(one.X, other.X)
        assert_same_array(one.Y, other.Y)
        assert_same_array(one.label_mask, other.label_mask)
        assert_same_array(one.row_ids, other.row_ids)
        assert (one.keys is None) == (other.keys is None)
        for name in key_names(one.keys) if one.keys is not None and other.keys is not None else ():
            assert_same_array(one.keys[name], other.keys[name])
        assert key_names(one.keys) == key_names(other.keys)


def assert_same_array(got: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> None:
    """Compare bits, so that -0.0 differs from 0.0."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.tobytes() == expected.tobytes()


def assert_same_features(got: Features, expected: Features) -> None:
    """Compare dense with dense and sparse with sparse."""
    assert sparse.issparse(got) == sparse.issparse(expected)
    if not sparse.issparse(got):
        assert_same_array(got, expected)
        return
    assert isinstance(got, sparse.csr_array)
    assert got.shape == expected.shape
    assert_same_array(got.data, expected.data)
    np.testing.assert_array_equal(got.indices, expected.indices)
    np.testing.assert_array_equal(got.indptr, expected.indptr)


_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6).filter(str.strip)
_TIMES = st.integers(-(2**55), 2**55).map(lambda us: np.datetime64(us, "us"))


@st.composite
def keys(draw: st.DrawFn, n_rows: int, taken: Sequence[str] = ()) -> dict[str, npt.NDArray[np.generic]]:
    """Keys of some rows, in one to four columns of any type, the first of which tells rows apart."""
    kinds = [(_TEXTS, np.str_), (st.integers(-(2**63), 2**63 - 1), np.int64), (_TIMES, "datetime64[us]")]
    kinds.append((st.floats(allow_nan=False, allow_infinity=False), np.float64))
    names = draw(
        st.lists(
            NAMES.filter(lambda name: name and name not in taken and not {*name} & {*"\n\r\0"}),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    columns = {}
    for name in names:
        values, dtype = draw(st.sampled_from(kinds))
        listed = draw(st.lists(values, min_size=n_rows, max_size=n_rows, unique=not columns))
        columns[name] = np.array(listed, dtype=dtype)
    return columns


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Streams of all kinds: dense or sparse, float32 or float64, categories, odd names, empty parts, NaN in Y, keys."""
    names = draw(st.lists(NAMES, min_size=3, max_size=8, unique=True))
    n_labels = draw(st.integers(1, len(names) - 1))
    words = st.lists(NAMES | st.sampled_from(["0", "1", "01", "NA"]), min_size=1, max_size=4, unique=True).map(tuple)
    shape = Shape(
        feature_values=draw(st.dictionaries(st.sampled_from(names[n_labels:]), words, max_size=2)),
        sparse=draw(st.booleans()),
        dtype=draw(st.sampled_from([np.float32, np.float64])),
        by_row=draw(st.booleans()),
        label_names=tuple(names[:n_labels]),
        feature_names=tuple(names[n_labels:]),
        sizes=tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))),
        evaluation_sizes=tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))),
        seed=draw(st.integers(0, 99)),
        unknown=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )
    n_samples = sum(shape.sizes) + sum(shape.evaluation_sizes)
    shape = replace(shape, keys=draw(st.none() | keys(n_samples, names)))
    width = 32 if shape.dtype == np.float32 else 64
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=width) | st.sampled_from([0.0, -0.0, 1.0])
    X = draw(hnp.arrays(shape.dtype, (n_samples, len(shape.feature_names)), elements=numbers))
    for name, values in shape.feature_values.items():
        codes = hnp.arrays(shape.dtype, n_samples, elements=st.integers(0, len(values) - 1))
        X[:, shape.feature_names.index(name)] = draw(codes)
    return build_stream(X, shape)


def _task_ids(shape: Shape, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    n_tasks = len(shape.evaluation_sizes)
    learning = [
        rng.integers(0, n_tasks, size) if shape.by_row else np.full(size, part % n_tasks)
        for part, size in enumerate(shape.sizes)
    ]
    return np.concatenate([*learning, np.repeat(np.arange(n_tasks), shape.evaluation_sizes)])


def _mask(signatures: Mask, task_ids: npt.NDArray[np.int64], part: int, *, by_row: bool) -> Mask:
    mask: Mask = signatures[task_ids] if by_row else signatures[part % len(signatures)]
    return mask


def _describe(source: Dataset, parts: StreamParts) -> StreamCard:
    return describe_stream(
        source,
        parts,
        name=source.name,
        description="A stream made by hand.",
        generator=GeneratorCard(name="by hand", parameters={}, seed=0),
        scenario=ScenarioCard(name="test", boundary="abrupt", task_identity="training"),
    )
