"""Nominal features: which columns hold categories, and the words of data frames as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from estimators.contract.validation import Features, check_features, is_frame, is_missing

if TYPE_CHECKING:
    import narwhals as nw

# positions, names, a mask, numbers of values by position or name, or "from_dtype"
CategoricalFeatures: TypeAlias = "npt.ArrayLike | Mapping[int, int] | Mapping[str, int] | None"

FROM_DTYPE = "from_dtype"
_RULE = (
    "categorical_features must be None, 'from_dtype', a mask, or positions or names of features, "
    "which may map to their numbers of values"
)
# whole numbers up to these are apart
_EXACT = {np.dtype(np.float64): 2.0**53, np.dtype(np.float32): 2.0**24}


@dataclass(frozen=True)
class Nominal:
    """The nominal features of a learner."""

    places: npt.NDArray[np.int32]
    limits: npt.NDArray[np.float64]  # each code is less; infinity where nobody declared the values
    # codes by word, of features that were words in a data frame
    words: Mapping[int, Mapping[object, int]] = field(default_factory=dict)

    def takes(self, x: npt.NDArray[np.floating]) -> bool:
        """Return whether all codes in rows are whole numbers of a declared value."""
        return not self._are_wrong(x[..., self.places]).any()

    def require(self, X: Features, names: Sequence[object]) -> None:
        """Refuse rows with anything but codes."""
        codes = X[:, self.places] if isinstance(X, np.ndarray) else X[:, self.places].toarray()
        wrong = np.argwhere(self._are_wrong(codes))
        if len(wrong):
            row, k = wrong[0].tolist()
            raise ValueError(
                f"A categorical feature must hold codes, whole numbers from 0 to {self._limits(X.dtype)[k] - 1:.0f}. "
                f"Got {codes[row, k]:g} at row {row}, column {names[self.places[k]]}, instead; number the values from "
                "0, or leave the feature out of categorical_features."
            )

    def _are_wrong(self, codes: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
        return (codes != np.floor(codes)) | (codes < 0) | ~(codes < self._limits(codes.dtype))

    def _limits(self, dtype: np.dtype[Any]) -> npt.NDArray[np.float64]:
        # words are counted where they get their codes
        declared = np.where(np.isin(self.places, list(self.words)), np.inf, self.limits) if self.words else self.limits
        return np.minimum(declared, _EXACT[dtype])


def rule_of(estimator: object) -> CategoricalFeatures:
    """Return the parameter of a learner, or of the learner inside it, that names its categorical features."""
    own: CategoricalFeatures = getattr(estimator, "categorical_features", None)
    inner = getattr(estimator, "estimator", getattr(estimator, "forest", None))
    # a default of scikit-learn's own estimators is about the frames that they get themselves
    return rule_of(inner) if own is None and hasattr(inner, "predict_then_fit") else own


def find_nominal(rule: CategoricalFeatures, n_features: int, names: Sequence[object] | None) -> Nominal | None:
    """Return the nominal features that a rule other than 'from_dtype' names, or None if it names none."""
    if isinstance(rule, Mapping):
        places, numbers = _list_places(list(rule), n_features, names), [_limit(n_values) for n_values in rule.values()]
    else:
        places = _list_places([] if rule is None else rule, n_features, names)
        numbers = [np.inf] * len(places)
    if not places:
        return None
    limits = dict(zip(places, numbers, strict=True))
    return Nominal(np.array(sorted(limits), np.int32), np.array([limits[place] for place in sorted(limits)]))


def _list_places(rule: Any, n_features: int, names: Sequence[object] | None) -> list[int]:
    """Return the positions of features that are given by position, by name or by a mask."""
    which = np.asarray(rule)
    if which.ndim != 1 or (which.size and which.dtype.kind not in "buiUO"):
        raise ValueError(f"{_RULE}. Got {rule!r} instead.")
    if which.dtype.kind != "b":
        return [_place(feature, n_features, names) for feature in which.tolist()]
    if len(which) != n_features:
        raise ValueError(
            f"A mask in categorical_features must have a value for each of {n_features} features. "
            f"Got {len(which)} instead."
        )
    return np.flatnonzero(which).tolist()


def _limit(n_values: Any) -> float:
    is_number = isinstance(n_values, int | np.integer) or (isinstance(n_values, float) and n_values == np.inf)
    if not is_number or not n_values >= 1:
        raise ValueError(f"categorical_features must map to numbers of values, at least 1. Got {n_values!r} instead.")
    return float(n_values)


def _place(one: Any, n_features: int, names: Sequence[object] | None) -> int:
    """Return the position of a feature, given by position or name."""
    if isinstance(one, str):
        if names is None:
            raise ValueError(f"categorical_features by name need X as a data frame. Got an array instead, and {one!r}.")
        if one not in names:
            raise ValueError(f"categorical_features must be among the columns of X. Got {one!r} instead.")
        return list(names).index(one)
    if not isinstance(one, int) or not 0 <= one < n_features:
        raise ValueError(f"categorical_features must be positions in 0..{n_features - 1}. Got {one!r} instead.")
    return one


def nominal_places(estimator: Any, n_features: int) -> npt.NDArray[np.int32]:
    """Return the positions of the nominal features of a learner, or of one inside another, which has no names."""
    nominal: Nominal | None = vars(estimator).get("_nominal")
    if nominal is None and not _is_from_dtype(rule := rule_of(estimator)):
        nominal = find_nominal(rule, n_features, None)
    return np.zeros(0, np.int32) if nominal is None else nominal.places


def placed(estimator: Any, owner: Any) -> Any:
    """Return an estimator to put into another one, which passes arrays: its nominal features as positions."""
    if getattr(owner, "_nominal", None) is None or not hasattr(estimator, "get_params"):
        return estimator
    rules = {
        name: owner._nominal.places.tolist()
        for name, rule in estimator.get_params().items()
        if name.rpartition("__")[2] == "categorical_features" and rule is not None
    }
    return clone(estimator).set_params(**rules) if rules else estimator


def _is_from_dtype(rule: CategoricalFeatures) -> bool:
    return isinstance(rule, str) and rule == FROM_DTYPE


# --------------------------------------------------------------------- frames
def find_in_frame(rule: CategoricalFeatures, frame: nw.DataFrame[Any]) -> Nominal | None:
    """Return the nominal features of a data frame; its words get codes in the order in which the types declare them."""
    import narwhals as nw

    if _is_from_dtype(rule):
        of_type = [series.dtype in (nw.Categorical, nw.Enum) for series in frame.iter_columns()]
        nominal = find_nominal(of_type, len(of_type), frame.columns)
    else:
        nominal = find_nominal(rule, len(frame.columns), frame.columns)
    if nominal is None:
        return None
    words = {place: _declared(frame[frame.columns[place]]) for place in nominal.places.tolist()}
    return replace(nominal, words={place: codes for place, codes in words.items() if codes is not None})


def _declared(series: nw.Series[Any]) -> dict[object, int] | None:
    """Return the codes of the values that the type of a column declares, or None if it holds numbers."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return None
    # of categories without an order narwhals knows only those that occur
    of_pandas = getattr(getattr(series.to_native(), "cat", None), "categories", ())
    return {value: code for code, value in enumerate(getattr(series.dtype, "categories", of_pandas))}


def encode_frame(nominal: Nominal, frame: nw.DataFrame[Any], *, learning: bool) -> tuple[Nominal, Any]:
    """Return a frame with codes for words; words that are new get the next codes, which the first result knows."""
    import narwhals as nw

    known, columns = dict(nominal.words), []
    for place, words in nominal.words.items():
        series = frame[frame.columns[place]]
        codes = dict(words)
        coded = [np.nan if is_missing(word) else codes.setdefault(word, len(codes)) for word in series.to_list()]
        limit = nominal.limits[nominal.places.tolist().index(place)]
        if learning and len(codes) > limit:
            raise ValueError(
                f"Column {series.name!r} must hold at most {limit:.0f} values, as categorical_features declares. "
                f"Got {list(codes)[int(limit)]!r} as one more; declare more values, or none."
            )
        known[place] = codes
        columns.append(nw.new_series(series.name, coded, nw.Float64(), backend=frame.implementation))
    return replace(nominal, words=known), frame.with_columns(*columns).to_native()


def check_nominal(estimator: Any, X: Any, *, first: bool, learning: bool = True) -> Any:
    """Return X with codes for words, if it is a data frame, in which a first call finds the nominal features.

    Words that are new are remembered if the rows are to be learnt.
    """
    if not is_frame(X) or (estimator._nominal is None and (not first or rule_of(estimator) is None)):
        return X
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    found = find_in_frame(rule_of(estimator), frame) if first else estimator._nominal
    nominal, coded = (None, X) if found is None else encode_frame(found, frame, learning=learning)
    if learning:
        estimator._nominal = nominal
    return coded


def require_codes(estimator: Any, rows: Features, *, first: bool) -> None:
    """Refuse rows without codes in nominal features, which a first call with an array finds."""
    if first and estimator._nominal is None and not _is_from_dtype(rule := rule_of(estimator)):
        estimator._nominal = find_nominal(rule, rows.shape[1], None)
    if estimator._nominal is not None:
        estimator._nominal.require(rows, getattr(estimator, "feature_names_in_", range(rows.shape[1])))


def check_coded(estimator: Any, X: Any, *, first: bool, learning: bool = True) -> Features:
    """Return X checked, with codes for words; the first call fixes the width, and which features are nominal."""
    rows = check_features(estimator, check_nominal(estimator, X, first=first, learning=learning), first=first)
    require_codes(estimator, rows, first=first)
    return rows
