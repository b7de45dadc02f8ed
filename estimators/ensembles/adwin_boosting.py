"""Boosted logistic regressions; the member that ADWIN points at is replaced when the stream drifts."""

from typing import ClassVar

from estimators.ensembles._adwin_ensemble import ADWINEnsemble


class ADWINBoostingClassifier(ADWINEnsemble):
    """Online boosting of logistic regressions with ADWIN, one ensemble for each label (ABOLR).

    Members learn a row one after another. The weight of the row falls after a member that predicts it rightly and rises
    after one that does not, and is counted among the rows that each member has predicted rightly or wrongly. Members
    vote with the logarithm of the odds of their being right. An adaptive window follows how each member does; when one
    shows a change, one member starts again.

    Parameters
    ----------
    n_models : int, default=10
        Number of members of each ensemble.
    learning_rate, intercept_rate, clip_gradient
        Of the members, as in `OnlineLogisticRegression`.
    delta : float, default=0.002
        Confidence of the windows, in (0, 1).
    variant : {'river', 'paper'}, default='river'
        'river': every member learns each row a Poisson(1) number of times, whatever the weight of the row, so that
        boosting changes the votes alone; windows hold 1 for every *right* prediction, and the *best* member starts
        again when one gets better. 'paper': members learn a row a Poisson number of times whose mean is the weight of
        the row; windows hold 1 for every error, and the member with the most errors starts again when errors become
        more frequent, as the authors describe.
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
        Members, windows, counted weights and random states, in flat arrays.
    n_replaced_ : ndarray of int of shape (n_labels, n_models)
        How often each member has started again.
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values. More than two classes are learnt one
        against the others.

    See Also
    --------
    ADWINBaggingClassifier : members with equal votes.

    Notes
    -----
    With the same draws, predictions and replacements are those of ``ensemble.ADWINBoostingClassifier`` around
    ``linear_model.LogisticRegression`` in River 0.26, up to rounding; the draws themselves are others. A member that is
    more often wrong than right votes with weight 1, in both variants, as in River. The mean of the Poisson draws is at
    most 100. The learner is ABOLR in the tables of Esteban et al.

    Costs, and what is refused, are those of `ADWINBaggingClassifier`.

    References
    ----------
    Bifet, Holmes, Pfahringer, Kirkby and Gavaldà, New ensemble methods for evolving data streams, KDD 2009.
    Oza and Russell, Online bagging and boosting, AISTATS 2001.
    Esteban, Cano, Zafra and Ventura, Hoeffding adaptive trees for multi-label classification on data streams,
    Knowledge-Based Systems 304, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import ADWINBoostingClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
    >>> ensemble = ADWINBoostingClassifier(random_state=0).partial_fit(X, Y)
    >>> ensemble.predict([[2.0, 2.0], [-2.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    """

    _boosting: ClassVar[bool] = True
