"""Bagged logistic regressions; the member that ADWIN points at is replaced when the stream drifts."""

from typing import ClassVar

from estimators.ensembles._adwin_ensemble import ADWINEnsemble


class ADWINBaggingClassifier(ADWINEnsemble):
    """Online bagging of logistic regressions with ADWIN, one ensemble for each label (ABALR).

    Every member learns each row a Poisson(1) number of times and then predicts it. An adaptive window follows how each
    member does; when one shows a change, one member starts again. The probability of a label is the mean of those of
    the members.

    Parameters
    ----------
    n_models : int, default=10
        Number of members of each ensemble.
    learning_rate, intercept_rate, clip_gradient
        Of the members, as in `OnlineLogisticRegression`.
    delta : float, default=0.002
        Confidence of the windows, in (0, 1).
    variant : {'river', 'paper'}, default='river'
        'river': windows hold 1 for every *right* prediction, so that a window whose mean rises, which is a member that
        gets better, makes the *best* member start again. 'paper': windows hold 1 for every error, and the member with
        the most errors starts again when errors become more frequent, as the authors describe.
    targeted : bool, default=False
        Whether the learner uses the task: labels outside ``label_mask`` learn nothing from the row. Otherwise they
        learn zeros.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of the members, each of which draws for itself.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    ensembles_ : Ensembles
        Members, windows and random states, in flat arrays.
    n_replaced_ : ndarray of int of shape (n_labels, n_models)
        How often each member has started again.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values. More than two classes are learnt one
        against the others.

    See Also
    --------
    ADWINBoostingClassifier : members whose votes follow their errors.

    Notes
    -----
    With the same draws, predictions and replacements are those of ``ensemble.ADWINBaggingClassifier`` around
    ``linear_model.LogisticRegression`` in River 0.26, up to rounding; the draws themselves are others. The learner is
    ABALR in the tables of Esteban et al.

    A row costs two passes over the weights of its features that are not zero, n_labels x n_models for each, however
    often members learn it: how much a step changes the score of its own row is known in advance, so that the score is
    summed once. Features beyond the range of float32 are refused. A row of weight w takes steps w times as long.

    References
    ----------
    Bifet, Holmes, Pfahringer, Kirkby and Gavaldà, New ensemble methods for evolving data streams, KDD 2009.
    Oza and Russell, Online bagging and boosting, AISTATS 2001.
    Esteban, Cano, Zafra and Ventura, Hoeffding adaptive trees for multi-label classification on data streams,
    Knowledge-Based Systems 304, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import ADWINBaggingClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> ensemble = ADWINBaggingClassifier(variant="paper", random_state=0).partial_fit(X, Y)
    >>> ensemble.predict([[2.0, 2.0], [-2.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    >>> ensemble = ensemble.partial_fit(X, 1 - Y)  # the stream drifts
    >>> bool(ensemble.n_replaced_.any())
    True
    """

    _boosting: ClassVar[bool] = False
