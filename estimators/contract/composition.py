"""Parameters of estimators that hold a list of named estimators."""

from collections import Counter
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from estimators.contract.locks import lock_of


class Composition(BaseEstimator):
    """Base of estimators with a parameter that lists (name, estimator); `_named` is the name of that parameter."""

    _named: ClassVar[str]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the estimators inside as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include those of the estimators inside.

        Returns
        -------
        dict
            Values by parameter.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        for name, inner in self._inner().items() if deep else ():
            params[name] = inner
            if hasattr(inner, "get_params"):
                params |= {f"{name}__{key}": value for key, value in inner.get_params().items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters; ``name=estimator`` replaces an estimator inside.

        Parameters
        ----------
        **params
            Values by parameter.

        Returns
        -------
        self
            The estimator.
        """
        with lock_of(self):
            if self._named in params:
                setattr(self, self._named, params.pop(self._named))
            replaced = {name: params.pop(name) for name in self._inner() if name in params}
            if replaced:
                named = getattr(self, self._named)
                setattr(self, self._named, [(name, replaced.get(name, inner)) for name, inner in named])
            super().set_params(**params)
        return self

    def _inner(self) -> dict[str, Any]:
        """Return the estimators by name; none of what is not a list of pairs, which is refused when it is used."""
        try:
            return dict(getattr(self, self._named))
        except (TypeError, ValueError):
            return {}

    def _check_names(self) -> None:
        names = [name for name, _ in getattr(self, self._named)]
        taken = set(super().get_params(deep=False))
        wrong = [name for name, n in Counter(names).items() if n > 1 or name in taken or "__" in name]
        if wrong:
            raise ValueError(
                f"Names in {self._named} must differ, without '__', and none of {sorted(taken)}. Got {wrong} instead."
            )
