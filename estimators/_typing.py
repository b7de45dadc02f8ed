"""Types that the whole package shares."""

from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy import sparse

Array: TypeAlias = NDArray[Any]
Integer: TypeAlias = int | np.integer
Number: TypeAlias = float | np.floating
# what users pass as rows or labels: arrays, data frames, lists, and sparse matrices
MatrixLike: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"
# the number, the names or the values of what is learnt
Classes: TypeAlias = ArrayLike | None
# whether each label counts, for all rows or for each one
MaskLike: TypeAlias = ArrayLike | None
# a number or a word for each row
RowValues: TypeAlias = ArrayLike | None
RandomStateLike: TypeAlias = int | RandomState | None
# attributes by name, as pickle passes them to `__setstate__`
Attributes: TypeAlias = dict[str, Any]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Kernel(Protocol[Parameters, Result_co]):
    """A function that Numba compiles when arguments of new types are passed; Python calls it as it was written."""

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result_co:
        """Call what is compiled for arguments of these types."""


class Estimator(Protocol):
    """An estimator as scikit-learn defines it: it has parameters, learns rows, and predicts others."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def set_params(self, **params: object) -> Self:
        """Set parameters by name."""

    def fit(self, X: MatrixLike, y: MatrixLike, /) -> Self:
        """Forget everything, then learn rows."""

    def predict(self, X: MatrixLike, /) -> Array:
        """Predict rows."""


class StreamEstimator(Estimator, Protocol):
    """An estimator that learns rows in addition to all rows before."""

    def partial_fit(self, X: MatrixLike, y: MatrixLike, /, classes: Classes = None) -> Self:
        """Learn the rows of a chunk."""


AnyEstimator = TypeVar("AnyEstimator", bound=Estimator)
AnyStreamEstimator = TypeVar("AnyStreamEstimator", bound=StreamEstimator)
