"""Compilation of kernels before anybody waits for them: every learner meets a few rows, every reader a small file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

import estimators
from estimators._kernels.watching import count_compiled, require_kept
from estimators.detectors import DETECTORS, make_detector
from estimators.strategies import STRATEGIES, make_strategy
from mlstream._support.files import did_you_mean, nearest_first
from mlstream.generators.from_tables.clustering import task_stream
from mlstream.streams.stream import Dataset, Stream

# enough that warnings, splits, drifts and full windows come before a learner's last row
_N_ROWS = 1200
_N_FEATURES, _N_LABELS = 6, 4


@dataclass(frozen=True)
class Compilation:
    """Kernels and time that one name needed: a strategy, or one of `OTHERS`."""

    name: str
    n_kernels: int  # Compiled now; 0 if all were there.
    cpu_s: float  # With imports.


def compilable() -> tuple[str, ...]:
    """Return what can be compiled ahead: the strategies, and `OTHERS`."""
    # learners of other packages meet no kernel that ours have not met
    return (*(name for name, strategy in STRATEGIES.items() if not strategy.package), *OTHERS)


def compile_ahead(names: Iterable[str] = ()) -> Iterator[Compilation]:
    """Compile missing kernels of strategies, readers and detectors, and yield what each name needed.

    Names are of `compilable`; none means all. Before anything is compiled, an unknown name raises a ValueError, and an
    OSError is raised if the compiled code could be kept nowhere.
    """
    known, wanted = compilable(), list(names)
    for name in wanted:
        if name not in known:
            rule = f"What is compiled must be among {nearest_first(name, known)}"
            raise ValueError(f"{rule}. Got {name!r} instead{did_you_mean(name, known)}")
    require_kept()
    return _compile(wanted or list(known))


def _compile(names: list[str]) -> Iterator[Compilation]:
    for name in names:
        start = time.process_time()
        with count_compiled() as counted, warnings.catch_warnings():
            # of a few rows without meaning
            warnings.simplefilter("ignore")
            if name in OTHERS:
                OTHERS[name]()
            else:
                _meet(make_strategy(name))
        yield Compilation(name, counted(), time.process_time() - start)


def _meet(*learners: Any) -> None:
    """Give learners rows, dense and sparse: those of a stream, as a campaign does, and tables without tasks."""
    # brings kernels, as the imports of `_meet_files`
    from mlstream.evaluation.warm_up import warm_up

    for learner, stream in product(learners, (_stream(), _stream(sparse=True))):
        warm_up(learner, stream)
        rows = stream.experiences[0]
        called = clone(learner)
        called.partial_fit(rows.X, rows.Y)
        called.predict_then_fit(rows.X, rows.Y)
        called.predict_proba(rows.X)
        if isinstance(called, estimators.StreamClassifier):
            called.explain(rows.X[:2], background=rows.X[:2], n_repeats=2)


def _rows() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]]:
    X = np.random.default_rng(0).random((_N_ROWS, _N_FEATURES))
    return X, (X[:, :_N_LABELS] > 0.5).astype(np.uint8)


def _stream(*, sparse: bool = False) -> Stream:
    X, Y = _rows()
    features, labels = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("x", _N_FEATURES), ("y", _N_LABELS)))
    return task_stream(Dataset(sp.csr_array(X) if sparse else X, Y, features, labels, name="rows"), n_tasks=2)


def _meet_other_learners() -> None:
    trees = estimators.AdaptiveRandomForestClassifier(2)
    _meet_rare_cases()
    _meet(
        *(estimators.OnlineNeuralClassifier(hidden_units=2, dtype="float64", optimizer=one) for one in ("adam", "sgd")),
        estimators.NearestRowClassifier(metric="cosine"),
        estimators.MultiLabelHoeffdingTreeClassifier(),
        estimators.AdaptiveRandomForestClassifier(2, multilabel="native"),
        estimators.HoeffdingAdaptiveTreeClassifier(),
        estimators.HoeffdingTreeClassifier(zeros="together"),
        estimators.OnlineCoordinateBoosting(estimators.OnlineLogisticRegression()),
        *(estimators.LabelBudget(estimators.MeanLabelsClassifier(), ask=ask) for ask in ("rows", "labels")),
        estimators.NovelLabels(estimators.MeanLabelsClassifier()),
        estimators.PredictionSets(estimators.MeanLabelsClassifier()),
        estimators.PrequentialCalibrator(estimators.MeanLabelsClassifier()),
        estimators.PrevalenceThreshold(estimators.MeanLabelsClassifier()),
        *(estimators.ContextWindowClassifier(context_size=500, policy=one) for one in ("task", "label")),
        estimators.PragmaStreamForestClassifier(trees, random_state=0),
        estimators.PragmaThreshold(estimators.MeanLabelsClassifier(), random_state=0),
    )


def _meet_rare_cases() -> None:
    """Give learners classes, keys, a category, many features, and so many label sets that their table is cleaned."""
    (X, Y), wide = _rows(), sp.csr_array(np.eye(_N_ROWS // 10, _N_ROWS // 2))
    classes = Y[:, 0] + Y[:, 1]
    estimators.PrevalenceThreshold(estimators.HoeffdingTreeClassifier()).partial_fit(X, classes).predict(X)
    estimators.PrevalenceThreshold(estimators.HoeffdingTreeClassifier()).predict_then_fit(X, classes)
    for budget in (5, np.inf):
        capped = estimators.AlarmBudget(estimators.MeanLabelsClassifier(), budget, key_budget=1)
        capped.predict_then_fit(X, Y, keys={"row": np.arange(len(X))})
    estimators.PredictionSets(estimators.MeanLabelsClassifier()).partial_fit(X, Y).predict_set(X)
    estimators.NovelLabels(estimators.MeanLabelsClassifier()).partial_fit(X, Y).score_novelty(X)
    estimators.HoeffdingTreeClassifier(categorical_features=[0]).partial_fit(np.round(X), classes)
    estimators.StreamRidgeClassifier().partial_fit(wide, Y[: wide.shape[0]]).predict(wide)
    sets = np.random.default_rng(0).integers(0, 2, (_N_ROWS, 10))
    estimators.MultiLabelHoeffdingAdaptiveTreeClassifier(random_state=0).partial_fit(X, sets)


def _meet_pragma() -> None:
    X, Y = _rows()
    classes = Y @ [8, 4, 2, 1]
    for y in (Y, classes):
        estimators.PragmaForestClassifier(3, search="both", random_state=0).fit(X, y).predict(X)
    estimators.PragmaTreeClassifier(random_state=0).fit(X, Y[:, 0]).predict(X)


def _meet_detectors() -> None:
    errors = _rows()[1].astype(float)
    values = {"LabelDrift": (errors,), "LabelSetDrift": (errors[:, 0], errors)}
    for name in DETECTORS:
        make_detector(name).update_many(*values.get(name, (errors[:, 0],)))


def _meet_files() -> None:
    # They bring kernels, and warn at once where these cannot be kept: `compile_ahead` raises an error first.
    from mlstream.formats.arff.blocks import CAREFUL_BYTES
    from mlstream.formats.arff.reader import parse_arff
    from mlstream.formats.arff.writer import SHORT_CELLS, format_arff

    for row in (b"0.5,1\n", b"{0 0.5,1 1}\n"):
        # shorter texts are read and written without a kernel
        rows = row * (CAREFUL_BYTES // len(row) + 2)
        parse_arff(b"@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n" + rows, Path("r.arff"))
    X = np.ones((SHORT_CELLS + 1, 1))
    for table in (X, sp.csr_array(X)):
        "".join(format_arff(table, X.astype(np.uint8), ["x"], ["y"], title="r"))


# What has no strategy's name -> what meets its kernels.
OTHERS: Mapping[str, Callable[[], None]] = MappingProxyType(
    {
        "other-learners": _meet_other_learners,
        "PRAGMA": _meet_pragma,
        "detectors": _meet_detectors,
        "ARFF": _meet_files,
    }
)
