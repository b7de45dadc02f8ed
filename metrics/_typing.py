"""Types that the whole package shares."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
# a float, or an array of floats: that depends on values of arguments, so that type checkers accept both
Score: TypeAlias = Any
# a table of 0 and 1 as users pass it, and as the functions read it
LabelMatrix: TypeAlias = ArrayLike | sparse.csr_array | sparse.csr_matrix
Indicator: TypeAlias = Array | sparse.csr_array
# which of the labels that tie are among the best
Ties: TypeAlias = Literal["expected", "order"]
