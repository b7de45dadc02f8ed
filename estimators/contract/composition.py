"""Parameters of estimators that hold a list of named estimators."""

from typing import Any, ClassVar, Self

from sklearn.utils.metaestimators import _BaseComposition

from estimators.contract.locks import lock_of


class Composition(_BaseComposition):
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
        return dict(self._get_params(self._named, deep=deep))

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
            self._set_params(self._named, **params)
        return self
