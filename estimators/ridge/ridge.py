"""Ridge regression on running sums: drifts are followed, and probabilities follow the labels of late."""

from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, RandomStateLike
from estimators.contract.base import Mask
from estimators.contract.explanations import Terms
from estimators.contract.locks import lock_of
from estimators.contract.log_odds import LogOddsClassifier
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.targets import LabelTarget
from estimators.contract.validation import Features
from estimators.ridge._basis import Basis, score, with_constant
from estimators.ridge._calibration import Calibration
from estimators.ridge._concepts import Concepts
from estimators.ridge._explanations import Owners, projected_contributions, terms_of
from estimators.ridge._kernels.ridge import count_to_doubling
from estimators.ridge._parameters import check_parameters, require_memory
from estimators.ridge._projection import Projection, n_dimensions
from estimators.ridge._sums import Block, Factor, Model, Sums, choose_penalty, factorise, solve, stack, widened

# From this number of features on, the basis is the features: sums of products grow with the square of the basis.
_MANY_FEATURES = 500
_LARGEST_BASIS = 500
# Rows that place the basis, and most rows kept before they are added to the sums.
_FIRST_ROWS, _BLOCK_ROWS = 50, 1024
# Coefficients of a small basis may be so many rows old: each computation of them has its overhead.
_FEWEST_ROWS = 50
# Rows that wait to be added, at least, once the basis is placed: each addition has its overhead, too.
_FEWEST_WAITING = 100
# Of so many labels that have occurred, the coefficients of one are computed again at most once a row: the tables of all
# labels are copied each time.
_LABELS_PER_ROW = 100
# Sums of 10^8 squares are finite.
_LARGEST_VALUE = 1e150
# Few features have few interactions.
_UNITS_PER_FEATURE = 10
# Random units are penalised more: effects of single features are preferred.
_UNIT_PENALTY = 3.0
# Penalties that are tried, as factors, each time the rows have doubled.
_LEVELS = (0.03, 0.1, 0.3, 1.0, 3.0)
# Rows for each feature of the basis, before the first choice.
_ROWS_PER_FEATURE = 2


class StreamRidgeClassifier(LogOddsClassifier):
    """Predict labels by ridge regression on sums over all rows, with probabilities that are calibrated on the way.

    The sums do not depend on the order of the rows: tasks that come and go leave the same regression as rows well
    mixed, so nothing is forgotten and every task learns from the others. One factorisation serves all labels.

    Parameters
    ----------
    l2 : float or 'auto', default='auto'
        Penalty of squared coefficients of standardised features, times the number of features over the number of rows.
        'auto': the best of 0.03, 0.1, 0.3, 1 and 3 by generalised cross-validation, chosen again each time the rows
        have doubled; 1 with 500 features or more.
    knots : int, default=4
        Hinges of each feature, at quantiles of the first rows; 0/1 columns have none.
    hidden_units : int, default=200
        Units for interactions of features, at most ten per feature: rectified units with random weights over all
        features. Of tables with 0/1 columns, such as categories, as large a share of the units as these have of the
        features are products of two of these columns: of those that are 1 together in most of the first rows.
    memory : float, default=20
        Rows that "of late" means, at least 1. A quarter of it and five times as many are looked at too.
    late_in_predict : bool, default=False
        Whether `predict` and `predict_proba` expect the labels of late, and the concept that holds now, to go on. The
        rows that they predict need not follow those learnt: rows of an evaluation set may be of another task. By
        default they are scored by the regression on all rows. `predict_then_fit` always expects it, since its rows do.
    refresh : float, default=0.2
        Coefficients are computed again when the number of rows has grown by this share, and at the latest after a
        quarter as many rows as the basis has features, a twentieth of the rows so far, or 50, whichever is most. Those
        of a label are also computed when its positive rows have doubled, from the first one on (see Notes).
    follow_drift : bool, default=True
        Whether changes in what labels depend on are found and followed, and earlier concepts recalled where they come
        back (see Notes). Without it, a row takes half to nine tenths of the time, and the memory is a half or less.
    n_components : int, 'auto' or None, default='auto'
        Dimensions that more features than this are projected to. The learner then works as on a table of as many
        features (see Notes). 'auto': 2,000 for more than 5,000 features. None: features are never projected.
    max_bytes : int, default=8589934592
        Most memory that sums may take; what would need more is refused at the first call. By default 8 GiB.
    random_state : int, RandomState instance or None, default=None
        Seed of the random units, and of the projection.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    n_labels_ : int
        Number of labels.
    n_features_in_ : int
        Number of features.
    calibration_ : tuple
        What scores and the labels of late are worth, as learnt so far: `weights` (8,) of the evidence that the notes
        list, their `covariance`, their mean `steady` for rows that need not follow, and sums over rows.
    model_ : tuple or None
        Coefficients (n_basis, n_labels) from all rows, the constant first, and prevalence (n_labels,); None before any
        row.
    n_rows_ : int
        Rows learnt.
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients of the features, without projection, in the scores that are calibrated for `predict`; only where
        these are linear in the features: without hinges and units (``knots=0, hidden_units=0``, or many features).
    intercept_ : ndarray of shape (n_labels,)
        Constants of these scores.

    Notes
    -----
    Coefficients of standardised features are penalised by the root of how much rarer than the others a feature is not
    0: a rare word, or a rare pair of categories, must show more. Random units are penalised three times as much.

    With l2 = 'auto', the penalty is the one with the least loss of generalised cross-validation, which is the mean of
    squared residuals over the square of the share of degrees of freedom that are left. It is computed from the sums, by
    one eigendecomposition for all penalties and labels. Labels that are unknown, or outside the mask, in some rows are
    left out; if that is all of them, the penalty stays 1.

    The probability of a label is

        p = 1 / (1 + exp(-w'e)),

    where e, the evidence, is what the row's scores and the labels before it suggest about the label: (1) a constant;
    (2) log(pi / (1 - pi)), pi being the usual prevalence, the share of positive rows so far; (3) the linear
    discriminant (m1 - m0) / v * (s - (m0 + m1) / 2) of the score s, from the means m1 and m0 and the variance v that
    scores had before their labels were learnt, in rows with the label and without; (4) log(s / (1 - s)) less (2), s
    held between pi / 5 and 1 - (1 - pi) / 5; (5 to 7) log-odds of the prevalence of late less (2), over a quarter of
    `memory`, `memory` and five times as many rows; (8) the logarithm of the sum of the row's scores over the sum of
    usual prevalences, both plus 1/2, since a row with many likely labels has more, or one among many rivals less.

    The weights w are shared by all labels, hence learnt from few rows. After each row a step of Newton's method on its
    log loss moves them (a Kalman filter for logistic regression, each step held back by the greatest curvature, 1/4);
    the labels of a row being alike, each weighs 1 / sqrt(their number). The filter forgets a thousandth per row, back
    to the first weights (0, 1, .6, .3, .2, .3, .1, 0). Thus how far late labels are believed is learnt: a lot where
    labels last, nothing where rows are shuffled. A weight of 1 for them would be the shift of Saerens et al. Rows that
    need not follow those learnt have no evidence (5 to 7), and weights averaged over some 200 rows.

    Balanced accuracy is greatest where a label is decided as soon as its probability reaches its prevalence, not 1/2:
    labels are predicted by p >= pi, one never seen is not, and one always seen is. `decision_function` returns the
    log-odds of p less those of pi.

    A concept is what labels depend on. Besides the model of all rows there is one of recent rows, whose weights halve
    in 250 rows, and, after a drift, one of the rows of the current concept; up to four earlier concepts are stored. The
    score s of `predict_then_fit` is the mixture sum_k u_k s_k of all these models, each with the constant that gives it
    the prevalence of all rows. The loss of model k on a row is the mean, over the labels counted, of

        (e_k - b_k)^2 / (2 q), q being pi' if y = 1, else 1 - pi',

    where e_k = s_k - y, with s_k held between -1 and 2, and b_k and pi' are the means of e_k and y over about the last
    50 rows: labels that only become more or less frequent are no drift. Weights follow by exponential updates with a
    fixed share (Herbster and Warmuth): u_k becomes .998 u_k exp(-2 loss_k) / sum_j u_j exp(-2 loss_j) + .002 / K, of K
    models.

    A model that loses less than the current one gathers evidence, twice the difference of their losses, which never
    falls below 0 (the test of Page). Against the model of all rows, and for that of recent rows, a loss must be lower
    by 2 %. At an evidence of 8, looked at when coefficients are computed, a stored concept becomes the current
    one and learns on; if it is the model of recent rows, a concept begins with the rows, at most 300, over which the
    evidence grew. The sums of the concept that ends, without these rows, are stored; if there are five, the two whose
    scores differ least are added up. Where nothing drifts, nothing is forgotten.

    With 500 features or more, dense or sparse, neither hinges nor units are made, and a sparse row costs the square of
    its non-zeros. Otherwise the basis holds at most 500 features; there are fewer hinges, or none, if more would not
    fit. Memory grows with the square of the basis, time per row too, and each new computation of the coefficients
    takes its third power; no two are fewer than a fiftieth of the basis apart. Rows wait, at most 1,024, until they are
    added; cuts into chunks do not matter.

    A label need not wait for a new factorisation. When the rows that have it are 1, or twice as many as when its
    coefficients were computed, these follow from the last factor and from sums over all rows, which takes the square
    of the basis. Where many labels have occurred, such computations are at least a hundredth of as many rows apart.

    More features than `n_components` are projected by a sketch with a single non-zero for each feature (CountSketch):
    features get random signs, and are added up in `n_components` dimensions, each of as many features. A row costs its
    non-zeros. The inner product of two rows becomes that of their sketches in the mean, with a variance of
    2 / n_components times the squares of their lengths at most, so that what is lost are effects of features that are
    rare and many. A dimension follows the features in it that vary most: bring features of different units to one scale
    before, for instance by a `StreamPipeline` with scikit-learn's `MaxAbsScaler`.

    Sums and coefficients of D features and L labels take at most 8 D (24 D + 90 L) bytes, without `follow_drift`
    8 D (7 D + 22 L).

    A label that is unknown in a row (NaN) is outside its mask. Its mean, its products with the features and what
    calibrates it come from the rows that count it. All labels share the covariance of all rows, so unknown labels
    take neither memory nor time.

    For one class a row the most probable class is predicted.

    References
    ----------
    Hoerl, Kennard, "Ridge regression: biased estimation for nonorthogonal problems", Technometrics 12(1), 1970.
    Golub, Heath, Wahba, "Generalized cross-validation as a method for choosing a good ridge parameter", Technometrics
    21(2), 1979.
    Huang, Zhu, Siew, "Extreme learning machine: theory and applications", Neurocomputing 70, 2006 (random units).
    Saerens, Latinne, Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities", Neural
    Computation 14(1), 2002 (the prevalence of late).
    Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods", 1999
    (logistic regression on scores).
    Charikar, Chen, Farach-Colton, "Finding frequent items in data streams", ICALP 2002 (CountSketch).
    Weinberger, Dasgupta, Langford, Smola, Attenberg, "Feature hashing for large scale multitask learning", ICML 2009.
    Penny, Roberts, "Dynamic logistic regression", IJCNN 1999 (the filter).
    Böhning, Lindsay, "Monotonicity of quadratic-approximation algorithms", Annals of the Institute of Statistical
    Mathematics 40(4), 1988 (the greatest curvature).
    Menon, Narasimhan, Agarwal, Chawla, "On the statistical consistency of algorithms for binary classification under
    class imbalance", ICML 2013 (the prevalence as threshold).
    Herbster, Warmuth, "Tracking the best expert", Machine Learning 32(2), 1998 (weights of the mixture).
    Page, "Continuous inspection schemes", Biometrika 41, 1954 (evidence of a drift).
    Widmer, Kubat, "Learning in the presence of concept drift and hidden contexts", Machine Learning 23(1), 1996
    (concepts that are stored and recalled).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import StreamRidgeClassifier
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> Y = (X > [0.5, 0.8, 0.9]).astype(int)
    >>> ridge = StreamRidgeClassifier(random_state=0)
    >>> Y_pred, Y_proba = ridge.predict_then_fit(X, Y)
    >>> bool((Y_pred[-100:] == Y[-100:]).mean() > 0.9)
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        *,
        l2: float | Literal["auto"] = "auto",
        knots: int = 4,
        hidden_units: int = 200,
        memory: float = 20.0,
        late_in_predict: bool = False,
        refresh: float = 0.2,
        follow_drift: bool = True,
        n_components: int | str | None = "auto",
        max_bytes: int = 8 * 2**30,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.l2 = l2
        self.knots = knots
        self.hidden_units = hidden_units
        self.memory = memory
        self.late_in_predict = late_in_predict
        self.refresh = refresh
        self.follow_drift = follow_drift
        self.n_components = n_components
        self.max_bytes = max_bytes
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: yes."""
        return True

    @property
    def coef_(self) -> Array:
        """Coefficients of the features in the scores, where these are linear in the features."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Array:
        """Constants of the scores, where these are linear in the features."""
        return self._linear()[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks of scores ask that labels be decided at a probability of 1/2, for accuracy
        tags.classifier_tags.poor_score = True
        return tags

    # ------------------------------------------------------------------ hooks
    @property
    def _rows_to_compile(self) -> int:
        return _FIRST_ROWS + 1

    def _start(self) -> None:
        check_parameters(self)
        self._n_dimensions_ = n_dimensions(self.n_features_in_, self.n_components)
        require_memory(self, self._n_basis(), fewest=_MANY_FEATURES)
        random_state = check_random_state(self.random_state)
        n_features, n_units = self._n_dimensions_, self._n_units()
        self._projection_ = None
        if n_features < self.n_features_in_:
            self._projection_ = Projection.draw(self.n_features_in_, n_features, random_state)
        self._weights_ = random_state.normal(size=(n_features, n_units)) / np.sqrt(n_features)
        self._biases_ = random_state.normal(size=n_units)
        self._basis_: Basis | None = None
        self._sums_, self._concepts_ = self._no_sums(1 + n_features)
        self._waiting_: list[Block] = []
        self.calibration_ = Calibration.start(self.n_labels_, float(self.memory))
        self.model_: Model | None = None
        self._factor_: Factor | None = None
        # rows with each label so far, and when its coefficients were computed
        self._positives_ = np.zeros((2, self.n_labels_), dtype=np.int64)
        self.n_rows_ = 0
        self._due_ = self._next_model_ = self._next_label_ = 1
        self._level_ = 1.0 if self.l2 == "auto" else float(self.l2)
        self._next_level_ = _ROWS_PER_FEATURE * self._n_basis()

    def _grow(self, n_before: int) -> None:
        n_new = self.n_labels_ - n_before
        require_memory(self, self._n_basis(), fewest=_MANY_FEATURES)
        self._sums_ = self._sums_.widened(n_new)
        if self._concepts_ is not None:
            self._concepts_ = self._concepts_.widened(n_new)
        self._waiting_ = [block.widened(n_new) for block in self._waiting_]
        self.calibration_ = self.calibration_.widened(n_new)
        self._positives_ = widened(self._positives_, n_new)
        if self.model_ is not None:
            self.model_ = Model(*(widened(part, n_new) for part in self.model_))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        return self._pass(X, Y, mask, None)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._estimate(X, late=bool(self.late_in_predict))

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        # rows without a label to learn, between others that have one
        return self._estimate(X, late=True)

    def _estimate(self, X: Features, *, late: bool) -> tuple[Array, Array]:
        F = self._features(self._projected(X))
        return self.calibration_.estimate(self._late_score(F) if late else self._score(F), late=late)

    def _log_odds(self, X: Features, proba: Array) -> Array:  # noqa: ARG002
        log_odds = logit(proba)
        if isinstance(self._target, LabelTarget):
            log_odds -= self.calibration_.fixed(late=False).log_odds_of_thresholds
        return np.asarray(log_odds)

    def _explain(self, X: Features) -> Terms:
        # as rows of the stream are decided, which alarms are raised for
        coef, F = self._coefficients(late=True), _as_dense(self._features(self._projected(X)))
        if self._projection_ is None:
            added = np.zeros((len(F), self.n_labels_, self.n_features_in_))
        else:
            scale = 1.0 if self._basis_ is None else self._basis_.scale
            added = projected_contributions(X, self._projection_, scale, coef[1 : 1 + self._n_dimensions_])
        owners = Owners.find(self._basis_, self._n_dimensions_, self.n_features_in_)
        return terms_of(added, F, self._usual_row(), coef, owners, self.calibration_)

    # ---------------------------------------------------------------- one pass
    def _pass(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> tuple[Array, Array]:
        """Predict and learn rows, up to each occasion to add them to the sums."""
        self._waiting_, self._positives_, X = list(self._waiting_), self._positives_.copy(), self._projected(X)
        counted = np.ones(Y.shape, dtype=np.bool_) if mask is None else mask
        weight = np.ones(len(Y)) if weight is None else weight
        learnt = np.flatnonzero(weight > 0)
        _require_summable(X, weight)
        decided, proba = np.zeros(Y.shape, dtype=np.bool_), np.zeros(Y.shape)
        start = 0
        while start < len(learnt):
            rows = learnt[start : start + self._due_ - self.n_rows_]
            first = self._next_label_ - self.n_rows_ - 1
            n_rows, doubled = count_to_doubling(Y[rows], counted[rows], self._positives_, first)
            rows = rows[:n_rows]
            decided[rows], proba[rows] = self._process(X[rows], Y[rows], counted[rows], weight[rows])
            if doubled:
                self._solve_doubled()
            start += n_rows
        return decided, proba

    def _process(self, X: Features, Y: Array, counted: Mask, weight: Array) -> tuple[Array, Array]:
        """Predict rows by the coefficients there are, and learn them."""
        F = self._features(X)
        scores = self._score_then_follow(F, Y, counted)
        decided, proba, self.calibration_ = self.calibration_.estimate_then_learn(scores, Y, counted, weight)
        inside = counted * weight[:, np.newaxis]
        self._waiting_.append(Block(F, Y * inside, inside, weight))
        self.n_rows_ += len(Y)
        if self.n_rows_ == self._due_:
            self._add_up()
        return decided, proba

    def _add_up(self) -> None:
        """Add the rows that wait to the sums; compute the coefficients again if there are enough of them."""
        if self._is_placing() and self.n_rows_ == _FIRST_ROWS:
            self._place_basis()
        block = stack(self._waiting_)
        new = Sums.of([block])
        sums = self._sums_.plus(new)
        if self._basis_ is not None and self.l2 == "auto" and self.n_rows_ >= self._next_level_:
            self._level_ = choose_penalty(sums, self._penalty(sums), _LEVELS) or self._level_
            self._next_level_ = 2 * self.n_rows_
        if self.n_rows_ == self._next_model_:
            self._solve_all(sums)
            self._next_model_ += self._rows_to_next_model(len(sums.products))
        self._due_ = min(self._next_model_, self.n_rows_ + self._most_waiting(len(sums.products)))
        if self._is_placing():
            self._due_ = self._next_model_ = min(self._due_, _FIRST_ROWS)
        else:
            self._sums_, self._waiting_ = sums, []
            if self._concepts_ is not None:
                self._concepts_ = self._concepts_.plus(block, new, sums, self._solve).with_models(self.model_)

    def _solve_all(self, sums: Sums) -> None:
        self._factor_ = None  # there is room for one less
        self._factor_ = factorise(sums, self._level_ * self._penalty(sums))
        self.model_ = self._factor_.solve(sums.in_mask, sums.positive)
        self._positives_[1] = self._positives_[0]

    def _solve_doubled(self) -> None:
        """Compute the coefficients of labels whose positive rows have doubled by the factor that there is."""
        labels = np.flatnonzero(self._positives_[0] >= np.maximum(1, 2 * self._positives_[1]))
        if self._factor_ is None or self.model_ is None or not len(labels):
            return
        in_mask, positive = self._sums_.in_mask[:, labels], self._sums_.positive[:, labels]
        if self._waiting_:
            new = stack(self._waiting_)
            in_mask, positive = in_mask + new.F.T @ new.mask[:, labels], positive + new.F.T @ new.Y[:, labels]
        solved = self._factor_.solve(in_mask, positive)
        coef, prevalence = self.model_.coef.copy(), self.model_.prevalence.copy()
        coef[:, labels], prevalence[labels] = solved
        self.model_ = Model(coef, prevalence)
        if self._concepts_ is not None and not self._is_placing():
            self._concepts_ = self._concepts_.with_labels(self.model_, labels)
        self._positives_[1, labels] = self._positives_[0, labels]
        self._next_label_ = self.n_rows_ + 1 + int(np.count_nonzero(self._positives_[0])) // _LABELS_PER_ROW

    def _most_waiting(self, n_basis: int) -> int:
        """Return the rows after which the sums must have them: models of late rows are computed from those only."""
        return _BLOCK_ROWS if self._concepts_ is None else max(_FEWEST_WAITING, n_basis // 4)

    def _rows_to_next_model(self, n_basis: int) -> int:
        # A factorisation costs a third of the cube of the basis: what adding a quarter of as many rows costs.
        # Many rows change the coefficients little.
        most = max(_FEWEST_ROWS, n_basis // 4, self.n_rows_ // 20)
        return max(1, n_basis // 50, min(int(self.refresh * self.n_rows_), most))

    # -------------------------------------------------------------- the basis
    def _is_placing(self) -> bool:
        """Whether the first rows are still awaited that will place hinges and units."""
        return self._basis_ is None and self._n_dimensions_ < _MANY_FEATURES

    def _place_basis(self) -> None:
        block = stack(self._waiting_)
        X = np.ascontiguousarray(block.F[:, 1:])
        self._basis_ = Basis.fit(X, self._n_knots(), self._weights_, self._biases_)
        self._waiting_ = [block._replace(F=self._basis_.expand(X))]
        self._sums_, self._concepts_ = self._no_sums(self._waiting_[0].F.shape[1])

    def _no_sums(self, n_basis: int) -> tuple[Sums, Concepts | None]:
        concepts = Concepts.start(n_basis, self.n_labels_) if self.follow_drift else None
        return Sums.zeros(n_basis, self.n_labels_), concepts

    def _n_units(self) -> int:
        n_features = self._n_dimensions_
        room = min(_UNITS_PER_FEATURE * n_features, _LARGEST_BASIS - n_features)
        return min(self.hidden_units, room) if n_features < _MANY_FEATURES else 0

    def _n_knots(self) -> int:
        room = (_LARGEST_BASIS - self._n_units()) // self._n_dimensions_ - 1
        return min(self.knots, room) if self._n_dimensions_ < _MANY_FEATURES else 0

    def _n_basis(self) -> int:
        """Return the size of the basis once it is placed."""
        return 1 + self._n_dimensions_ * (1 + self._n_knots()) + self._n_units()

    def _solve(self, sums: Sums) -> Model:
        return solve(sums, self._level_ * self._penalty(sums))

    def _penalty(self, sums: Sums) -> Array:
        """Return the penalty of each coefficient at level 1: the rarer a feature is not 0, the greater."""
        share = sums.nonzero[1:] / sums.products[0, 0]
        occurs = share > 0
        rarity = np.divide(share.sum() / max(occurs.sum(), 1), share, out=np.ones_like(share), where=occurs)
        penalty = np.sqrt(rarity) * len(share) / sums.products[0, 0]
        if self._basis_ is not None:
            penalty[len(share) - len(self._basis_.biases) :] *= _UNIT_PENALTY
        return penalty

    def _projected(self, X: Features) -> Features:
        return X if self._projection_ is None else self._projection_.apply(X)

    def _features(self, X: Features) -> Features:
        if self._basis_ is not None:
            return self._basis_.expand(_as_dense(X))
        return with_constant(_as_dense(X) if self._is_placing() else X)

    def _score(self, F: Features) -> Array:
        if self.model_ is None:
            return np.full((F.shape[0], self.n_labels_), 0.5)
        return score(F, self.model_.coef)

    def _late_score(self, F: Features) -> Array:
        """Score rows that follow those learnt: by the mixture of concepts, if it has begun."""
        concepts = self._begun_concepts()
        return self._score(F) if concepts is None else concepts.score(F)

    def _score_then_follow(self, F: Features, Y: Array, counted: Mask) -> Array:
        concepts = self._begun_concepts()
        if concepts is None or self.model_ is None:
            return self._score(F)
        scores, self._concepts_ = concepts.score_then_follow(F, Y, counted, self.model_.prevalence)
        return scores

    def _coefficients(self, *, late: bool) -> Array:
        """Return the coefficients (1 + n_basis, n_labels) by which `_late_score`, or `_score`, scores rows."""
        concepts = self._begun_concepts() if late else None
        if concepts is not None:
            return concepts.mixed_coef()
        if self.model_ is not None:
            return self.model_.coef
        return np.pad(np.full((1, self.n_labels_), 0.5), ((0, self._n_dimensions_), (0, 0)))

    def _usual_row(self) -> Array:
        """Return the mean of the rows of the basis that are summed so far; of projected rows, one without features."""
        if self._projection_ is not None:
            return _as_dense(self._features(np.zeros((1, self._n_dimensions_))))[0]
        total: Array = self._sums_.products[0]
        if not total[0] and self._waiting_:
            block = stack(self._waiting_)
            total = np.asarray(block.F.T @ block.weight)
        return total / total[0] if total[0] else np.eye(1, 1 + self._n_dimensions_)[0]

    def _linear(self) -> tuple[Array, Array]:
        check_is_fitted(self)
        with lock_of(self):
            if not self._is_linear:
                raise AttributeError(
                    f"coef_ and intercept_ exist where scores are linear in the features: knots and hidden_units must "
                    f"be 0 for {self._n_dimensions_} features. Got {self.knots} and {self.hidden_units} instead."
                )
            coef = self._coefficients(late=bool(self.late_in_predict))
            intercept, coef = coef[0], coef[1:]
            if self._basis_ is not None:
                coef = self._basis_.scale[:, np.newaxis] * coef
                intercept = intercept - self._basis_.shift @ coef
            if self._projection_ is not None:
                coef = self._projection_.table @ coef
            return coef.T, intercept

    @property
    def _is_linear(self) -> bool:
        return self._basis_ is None or not (self._basis_.knots.size or self._basis_.biases.size)

    def _begun_concepts(self) -> Concepts | None:
        return None if self.model_ is None or self._is_placing() else self._concepts_


def _require_summable(X: Features, weight: Array) -> None:
    """Refuse a row as it comes: among those that wait it would fail a later call, and all after that."""
    values = X.data if sparse.issparse(X) else X
    largest = max(values.max(), -values.min()) if values.size else 0.0
    if not float(largest) * float(weight.max(initial=0.0)) ** 0.5 <= _LARGEST_VALUE:
        raise ValueError(
            f"X must be small enough to be squared and summed, up to {_LARGEST_VALUE:g}, less with large weights. "
            f"Got {largest:g} instead."
        )


def _as_dense(X: Features) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
