"""Learners as ONNX (extra ``onnx``): models that runtimes without Python, or without this package, predict with."""

from typing import Any

import numpy as np

from estimators.contract.lazy import needing
from estimators.contract.validation import is_sparse


def to_onnx(estimator: Any, X: Any = None) -> Any:
    """Convert a learner, or a `Pipeline` of scikit-learn that ends in one, as it predicts now (extra ``onnx``).

    Parameters
    ----------
    estimator : estimator
        A fitted learner: a linear model, a network, `StreamRidgeClassifier`, or one made of these. Others are refused
        with the names of those that can be converted.
    X : array-like of shape (n_samples, n_features), optional
        Rows of the type that the model is to take, needed where a pipeline takes words. None: float64.

    Returns
    -------
    onnx.ModelProto
        Its outputs are ``label``, as `predict` returns it, and ``probabilities``, as `predict_proba` does. Its input is
        ``X``, or one input for each column where `X` is a frame of pandas.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    TypeError
        If the learner, or one inside it, cannot be converted or is of a class of your own that predicts in its own way,
        or a step of a pipeline is a function.
    ValueError
        If `X` has other columns than the rows learnt, or classes are whole numbers from 2^63 on.
    NotFittedError
        If it has not learnt anything.

    See Also
    --------
    register_onnx_converters : For calls of skl2onnx itself.

    Notes
    -----
    Probabilities differ from those of `predict_proba` by less than 1e-5 on the same rows, and labels differ only where
    a probability is as near to its threshold. A network computes in its own precision, the steps of a pipeline in the
    type of the rows, as they do in scikit-learn, and everything else in float64. Rows in float32 are rounded: features
    such as 1234567.8 lose decimals.

    The model knows the labels, and the recent labels, of the moment of its conversion. It does not check its input:
    NaN gives NaN, where `predict` raises an error.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxruntime import InferenceSession
    >>> from estimators import OnlineLogisticRegression, to_onnx
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> learner = OnlineLogisticRegression(learning_rate=0.1).fit(X, Y)
    >>> session = InferenceSession(to_onnx(learner).SerializeToString())
    >>> label, probabilities = session.run(None, {"X": X})
    >>> bool((label == learner.predict(X)).all())
    True
    """
    converter = _converter()
    if X is None:
        converter.require_fitted(estimator)
        try:
            return to_onnx(estimator, np.zeros((1, estimator.n_features_in_)))
        except (RuntimeError, ValueError) as error:
            error.add_note(
                "Where the first step takes words, or columns by name, X must be such rows. Got None instead."
            )
            raise
    if is_sparse(X):
        raise ValueError(f"X must be dense: models of ONNX take no sparse rows. Got a {type(X).__name__} instead.")
    if not hasattr(X, "iloc"):
        X = np.asarray(X)
    width = getattr(estimator, "n_features_in_", None)
    if X.ndim != 2 or X.shape[1] != (width or X.shape[1]):
        raise ValueError(f"X must be of shape (n_samples, {width or 'n_features'}). Got {X.shape} instead.")
    converter.register()
    return converter.skl2onnx.to_onnx(estimator, X[:1], options={"zipmap": False})


def register_onnx_converters() -> None:
    """Let ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` convert the learners of this package (extra ``onnx``).

    They convert pipelines, searches and other estimators of scikit-learn with learners inside as well. Call it again
    once you have defined classes that derive from learners, and only learn in another way. Options of skl2onnx such as
    ``zipmap`` mean what they mean for scikit-learn's classifiers: with one class a row, probabilities are dictionaries
    unless ``zipmap`` is False.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    See Also
    --------
    to_onnx : Which learners can be converted, and how exact they are.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from estimators import OnlineNeuralClassifier, register_onnx_converters
    >>> register_onnx_converters()
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> pipeline = make_pipeline(StandardScaler(), OnlineNeuralClassifier(random_state=0)).fit(X, X > 0)
    >>> model = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32))
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    _converter().register()


def _converter() -> Any:
    with needing("Conversion to ONNX"):
        from estimators.interop import _onnx_converter
    return _onnx_converter
