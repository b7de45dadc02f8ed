"""A pipeline of transformers and a classifier that learn together from a stream."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, Literal, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import Bunch, Tags, get_tags
from sklearn.utils.metaestimators import available_if

from estimators._typing import Array, Classes, MatrixLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.composition import Composition
from estimators.contract.environments import EnvironmentClassifier
from estimators.contract.explanations import Terms, inner_terms
from estimators.contract.locks import lock_of
from estimators.contract.new_labels import OnNewLabels, grown
from estimators.contract.targets import ClassTarget, as_table
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features, FrameRows, check_rows, is_fitted, stack_rows
from estimators.invariance.hashing import one_hot_categories


class StreamPipeline(Composition, EnvironmentClassifier):
    """Learn transformers and a classifier together, row after row: scikit-learn's `Pipeline` with ``partial_fit``.

    A row is predicted with transformers that have learnt the rows before it. Then the transformers learn the row, and
    the classifier learns it as they transform it afterwards.

    Parameters
    ----------
    steps : list of (str, estimator) tuples
        Names and estimators. All but the last transform: they have ``partial_fit``, or need no fitting (as
        `Normalizer`), or are fitted and frozen (`sklearn.frozen.FrozenEstimator`); "passthrough" or None leaves rows as
        they are. The last is one of our classifiers; `BinaryRelevance` wraps any classifier of scikit-learn.

    Attributes
    ----------
    steps_ : list of (str, estimator) tuples
        The fitted steps; the estimators in `steps` are never changed.

    Notes
    -----
    As in scikit-learn, ``len(pipeline)`` counts the steps, and an index or a name selects one: the fitted step, once
    there is one. A slice is a copy that goes its own way: ``pipeline[:-1]`` is a `Pipeline` of scikit-learn, which
    transforms rows; ``pipeline[1:]`` is a `StreamPipeline`, which has learnt what these steps have.

    Transformers that learn are called row by row, whatever the chunk, so that it does not matter how a stream is cut;
    those that cannot learn from a single row (`IncrementalPCA`) cannot be used. If no transformer learns, a chunk is
    processed in one call. If one does, the very first row is predicted 0 with probability 0, since no transformer is
    fitted before it.

    Labels that appear after the first call are refused, or learnt, as by the last step.

    Rows may be arrays, lists or data frames of numbers and words, as the first step takes them. The steps check the
    values of X; the pipeline checks the width, and the names of columns. Rows of frames reach the steps as
    frames, and after ``set_output`` the last step gets frames, too. Where transformers learn and the first one is of
    `sklearn.preprocessing`, a frame of numbers is converted to an array once a call, which is several times as fast.

    The last step learns the known labels of a row. Transformers learn every row, except those whose labels are all
    unknown.

    A call that fails changes nothing. As a row may be refused after others have been learnt, `predict_then_fit` copies
    all steps once a call if transformers learn and there are several rows; `partial_fit` copies the transformers only.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from estimators.baselines import NearestRowClassifier
    >>> from estimators.pipeline import StreamPipeline
    >>> X = np.array([[0.0, 1.0], [1000.0, 2.0], [0.0, 2.1]])
    >>> Y = np.array([[1, 0], [0, 1], [0, 1]])
    >>> pipeline = StreamPipeline([("scale", StandardScaler()), ("learn", NearestRowClassifier())])
    >>> pipeline.partial_fit(X, Y).predict([[10.0, 2.0]])
    array([[0, 1]])
    """

    _named = "steps"

    def __init__(self, steps: Sequence[tuple[str, Any]]) -> None:
        self.steps = steps

    @property
    def named_steps(self) -> Bunch:
        """The steps by name, also as attributes: the fitted ones, once there are any."""
        return Bunch(**dict(getattr(self, "steps_", self.steps)))

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, slice):
            return self._slice(key)
        return self.named_steps[key if isinstance(key, str) else self.steps[key][0]]

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: that of the last step."""
        return bool(self._given_last.uses_task)

    @property
    def uses_environment(self) -> bool:
        """Whether the environment of a row changes what is learnt: that of the last step."""
        return bool(self._given_last.uses_environment)

    @property
    def on_new_labels(self) -> OnNewLabels:
        """Treatment of labels that appear after the first call: the parameter of the last step."""
        choice: OnNewLabels = self._given_last.on_new_labels
        return choice

    @property
    def _traits(self) -> Traits:
        # what is not a classifier is refused once its steps are checked
        last = traits_of(self._given_last)
        return Traits(takes_codes=True, learns_unknown=last.learns_unknown, row_metadata=last.row_metadata)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.steps and hasattr(self.steps[-1][1], "__sklearn_tags__"):
            tags.classifier_tags = get_tags(self.steps[-1][1]).classifier_tags or tags.classifier_tags
        tags.input_tags.sparse = all(
            get_tags(step).input_tags.sparse for _, step in self.steps if hasattr(step, "__sklearn_tags__")
        )
        return tags

    def _sk_visual_block_(self) -> Any:
        # a diagram as scikit-learn's own, which `_repr_html_` draws
        return Pipeline(self.steps)._sk_visual_block_()

    @available_if(lambda self: bool(self.steps) and hasattr(self.steps[-1][1], "decision_function"))
    def decision_function(self, X: MatrixLike) -> Array:
        """Return the scores by which the last step decides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), (n_samples,) or (n_samples, n_classes)
            As the last step returns them.
        """
        with lock_of(self):
            rows = self._check_features(X)
            if not self._has_begun:
                one_score = isinstance(self._target, ClassTarget) and self.n_labels_ == 1
                return np.zeros(rows.shape[0] if one_score else (rows.shape[0], self.n_labels_))
            scores: Array = self._last.decision_function(self._transform(rows))
            return scores

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Choose what the transformers return, and with it what the next steps take.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            Arrays, as each transformer makes them, or data frames. None: unchanged.

        Returns
        -------
        self
            The pipeline.
        """
        with lock_of(self):
            for steps in (self.steps, getattr(self, "steps_", [])):
                Pipeline(list(steps)).set_output(transform=transform)
        return self

    # ------------------------------------------------------------------ hooks
    def _check_rows(self, X: MatrixLike, *, first: bool) -> Features:
        # what rows must hold is up to the steps
        rows = check_rows(self, X, first=first)
        if first:
            self._first_row = rows[:1]
        return rows

    def _start(self) -> None:
        self._check_steps()
        self.steps_ = [(name, clone(step, safe=False)) for name, step in self.steps]
        self._learns = [_learns(name, step) for name, step in self.steps_[:-1]]
        self._has_begun = not any(self._learns)
        first_row = self.__dict__.pop("_first_row")
        if self._has_begun:
            blank = self._learn_row(self.steps_[:-1], first_row, first=True)
            shape = (1, self.n_labels_) if self._target.multilabel else 1
            self._last.begin(blank, np.zeros(shape, dtype=np.int64), self._announced())

    def _can_grow(self) -> bool:
        return bool(self._given_last._can_grow())

    def _grow(self, n_before: int) -> None:  # noqa: ARG002 - the last step counts its own labels
        if self._has_begun:
            *transformers, (name, last) = self.steps_
            self.steps_ = [*transformers, (name, grown(last, self.n_labels_))]

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:
        # the classifier is called once, and is unchanged if that fails, unless it is called row by row
        return ["steps_"] if testing and n_rows > 1 and any(self._learns) else []

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, **metadata: Array) -> None:
        if weight is not None:
            kept = weight > 0
            X, Y, mask, weight = X[kept], Y[kept], None if mask is None else mask[kept], weight[kept]
            metadata = {name: values[kept] for name, values in metadata.items()}
            if not kept.any():
                return
        with self._as_cut(X) as rows:
            transformers, Z = self._teach(rows) if any(self._learns) else (self.steps_[:-1], self._transform(rows))
            classes = None if self._has_begun else self._announced()
            self._last.partial_fit(Z, as_table(Y), classes, label_mask=mask, sample_weight=weight, **metadata)
            self.steps_ = [*transformers, self.steps_[-1]]
        self._has_begun = True

    def _end_fit(self) -> None:
        self._last._end_fit()

    @contextmanager
    def _as_cut(self, X: Features) -> Iterator[Features]:
        """Yield rows to cut into single ones: those of a frame as an array, if the first step reads its numbers only.

        That step has the names of columns before and afterwards, but not meanwhile, so that it does not ask for them.
        """
        first = self._first_transformer()
        numbers = X.numbers() if isinstance(X, FrameRows) and X.shape[0] > 1 and _reads_numbers(first) else None
        if numbers is None or not any(self._learns):
            yield X
            return
        names = getattr(first, "feature_names_in_", None)
        if names is not None:
            first.feature_names_in_ = None
        try:
            yield numbers
            names = getattr(self, "feature_names_in_", None)
        finally:
            if names is not None:
                self._first_transformer().feature_names_in_ = names.copy()

    def _first_transformer(self) -> Any:
        return next((step for _, step in self.steps_[:-1] if not _passes_through(step)), None)

    def _teach(self, X: Features) -> tuple[list[tuple[str, Any]], Features]:
        """Return the transformers after they have learnt the rows, and the rows as each was transformed.

        They are copies, so that an error in the last step leaves the transformers as they were.
        """
        transformers, begins = deepcopy(self.steps_[:-1]), not self._has_begun
        with np.errstate(invalid="ignore"):  # of rows that the last step refuses
            parts = [self._learn_row(transformers, X[i : i + 1], first=begins and i == 0) for i in range(X.shape[0])]
        return transformers, stack_rows(parts)

    def _learn_row(self, transformers: Sequence[tuple[str, Any]], X: Features, *, first: bool) -> Features:
        row = _as_passed(X)
        for learns, (_, transformer) in zip(self._learns, transformers, strict=True):
            if learns:
                transformer.partial_fit(row)
            elif first and hasattr(transformer, "fit"):
                # what learns nothing takes the names and the number of features
                transformer.fit(row, None)
            row = _transformed(transformer, row)
        return row

    def _predict_proba(self, X: Features) -> Array:
        if not self._has_begun:
            return np.zeros((X.shape[0], len(self.classes_)))
        return np.asarray(self._last.predict_proba(self._transform(X)))

    def _explain(self, X: Features) -> Terms | None:
        if not self._has_begun:
            scores = self._target.probabilities(self._predict_proba(X))
            return Terms("probability", scores[0], np.zeros((*scores.shape, self.n_features_in_)), scores)
        terms = inner_terms(self._last, self._transform(X))
        return None if terms is None else terms._replace(feature_names=self._names_behind(terms))

    def _names_behind(self, terms: Terms) -> tuple[str, ...] | None:
        """Return the names of the features that the last step takes, as far as the steps before it tell them.

        None stands for features that came without names, and go through: learners around this one may know them.
        """
        numbered = [f"x{place}" for place in range(self.n_features_in_)]
        given: Any = getattr(self, "feature_names_in_", None)
        names: Any = numbered if given is None else list(given)
        for name, step in self.steps_[:-1]:
            if not _passes_through(step):
                try:
                    names = step.get_feature_names_out(names)
                except (AttributeError, ValueError):
                    # steps that cannot tell
                    names = [f"{name}__x{place}" for place in range(terms.contributions.shape[2])]
        names = tuple(map(str, names))
        return None if given is None and names == tuple(numbered) else names

    def _infer(self, X: Features) -> tuple[Array, Array]:
        if not self._has_begun or isinstance(self._target, ClassTarget):
            proba = self._predict_proba(X)
            return np.zeros(proba.shape, dtype=np.int64), proba
        return self._last.predict_with_proba(self._transform(X))

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None, **metadata: Array) -> tuple[Array, Array]:
        if any(self._learns):
            with self._as_cut(X) as rows:
                return self._predict_then_learn_rows(rows, Y, mask, metadata)
        decided, proba = self._last.predict_then_fit(self._transform(X), as_table(Y), label_mask=mask, **metadata)
        return decided, proba

    # ------------------------------------------------------------------ steps
    @property
    def _given_last(self) -> Any:
        if not len(self.steps):
            raise ValueError("steps must hold at least a classifier. Got an empty list instead.")
        return self.steps[-1][1]

    @property
    def _last(self) -> StreamClassifier:
        return self.steps_[-1][1]

    def _transform(self, X: Features) -> Features:
        X = _as_passed(X)
        for _, transformer in self.steps_[:-1]:
            X = _transformed(transformer, X)
        return X

    def _slice(self, rows: slice) -> "Pipeline | StreamPipeline":
        if rows.step not in (None, 1):
            raise ValueError(f"A slice of a pipeline must have a step of 1. Got {rows.step} instead.")
        if rows.indices(len(self))[1] < len(self):
            return Pipeline(deepcopy(list(getattr(self, "steps_", self.steps))[rows]))
        tail = StreamPipeline(deepcopy(list(self.steps)[rows]))
        if len(tail) and getattr(self, "_has_begun", False):
            with lock_of(self):
                learnt = deepcopy({name: value for name, value in vars(self).items() if name != "steps"})
            tail.__dict__.update(learnt | {"steps_": learnt["steps_"][rows], "_learns": learnt["_learns"][rows]})
            tail._take_width(is_whole=len(tail) == len(self))
        return tail

    def _take_width(self, *, is_whole: bool) -> None:
        """Take the number of features of the first step that has one, where the steps before it were cut off."""
        if not is_whole:
            self.__dict__.pop("feature_names_in_", None)
            steps = [step for _, step in self.steps_ if hasattr(step, "n_features_in_")]
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(steps[0], name):
                    setattr(self, name, getattr(steps[0], name))

    def _announced(self) -> Classes:
        return self.n_labels_ if self._target.multilabel else np.arange(len(self.classes_))

    def _check_steps(self) -> None:
        self._check_names()
        name, last = self.steps[-1]
        if not isinstance(last, StreamClassifier):
            raise TypeError(
                f"The last step must be a classifier of this package; BinaryRelevance wraps any other. "
                f"Got {name!r}, a {type(last).__name__}, instead."
            )


def with_categories(learner: Any, n_values: Mapping[int, int]) -> Any:
    """Return a learner to which some features are categories: every learner can take a table of categories so.

    Parameters
    ----------
    learner : estimator
        A learner of ours, or any other that `StreamPipeline` takes as its last step. It is left as it is.
    n_values : mapping of int to int
        Number of values of each feature that holds categories, by its position: ``categorical_features`` of a table
        or a stream of `mlstream`.

    Returns
    -------
    estimator
        A copy whose parameter `categorical_features` is set, where the learner, or the one inside it, has it. A
        `StreamPipeline` is returned as it is: its steps say what becomes of features. Any other learner gets
        the features from `one_hot_categories`; between rows that differ in a category, distances are then those of
        overlap.

    Examples
    --------
    >>> from estimators import make_strategy, with_categories
    >>> with_categories(make_strategy("BR_HT"), {0: 3})
    BinaryRelevance(estimator=HoeffdingTreeClassifier(categorical_features={0: 3}))
    >>> list(with_categories(make_strategy("StreamRidge"), {0: 3}).named_steps)
    ['categories', 'learn']
    """
    if not n_values or isinstance(learner, StreamPipeline):
        return learner
    path, inner = _find_splitting(learner)
    if inner is None or (isinstance(inner, StreamClassifier) and not inner._splits_categories()):
        columns = FunctionTransformer(one_hot_categories, kw_args={"n_values": dict(n_values)})
        return StreamPipeline([("categories", columns), ("learn", learner)])
    if inner.categorical_features is not None:
        return learner
    return clone(learner).set_params(**{f"{path}categorical_features": dict(n_values)})


def _find_splitting(learner: Any) -> tuple[str, Any]:
    """Return the learner that has the parameter `categorical_features`, or None, and its path among parameters."""
    path, inner = "", learner
    while inner is not None and "categorical_features" not in _own_parameters(inner):
        name = next((name for name in ("estimator", "forest") if name in _own_parameters(inner)), None)
        path, inner = f"{path}{name}__", None if name is None else getattr(inner, name)
    return path, inner


def _own_parameters(learner: Any) -> set[str]:
    """Return the parameters of a learner of ours: those of other packages mean something else by the same names."""
    return set(learner.get_params(deep=False)) if type(learner).__module__.startswith("estimators.") else set()


def _as_passed(X: Features | FrameRows) -> Features:
    """Return rows as the first step takes them."""
    return X.frame if isinstance(X, FrameRows) else X


def _passes_through(step: object) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _transformed(transformer: Any, X: Features) -> Features:
    return X if _passes_through(transformer) else transformer.transform(X)


def _reads_numbers(step: object) -> bool:
    """Return whether a step makes arrays of frames, whatever the names of their columns: scalers and their like do."""
    is_scaler = type(step).__module__.startswith("sklearn.preprocessing.") and not isinstance(step, FunctionTransformer)
    outputs = {get_config()["transform_output"], *getattr(step, "_sklearn_output_config", {}).values()}
    return is_scaler and outputs == {"default"}


def _learns(name: str, transformer: object) -> bool:
    """Return whether a transformer learns from the stream; raise if it cannot be used."""
    if _passes_through(transformer):
        return False
    if not hasattr(transformer, "transform"):
        raise TypeError(f"Step {name!r} must have `transform`. Got a {type(transformer).__name__} instead.")
    if hasattr(transformer, "partial_fit") and not isinstance(transformer, FrozenEstimator):
        return True
    if get_tags(transformer).requires_fit and not is_fitted(transformer):
        raise TypeError(
            f"Step {name!r} must have `partial_fit`, need no fitting, or be fitted and frozen "
            f"(sklearn.frozen.FrozenEstimator). Got a {type(transformer).__name__} instead."
        )
    return False
