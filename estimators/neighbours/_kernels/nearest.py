"""The nearest of many rows, dense or CSR, always summed in the order of columns so that bits depend on nothing else.

Sums run in four lanes, column modulo four. A column that is absent from a CSR row adds nothing to its lane, hence dense
and CSR rows give the same bits. Of several rows at the same distance, the first is found.

Two CSR rows are merged, column by column, only where a quicker sum says that the row may be the nearest: the scalar
product with the query spread over all columns, in the order of storage, whose rounding error is bounded by `SLACK`
times the number of terms.
"""

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import JIT, njit
from estimators._typing import Array

Floats = npt.NDArray[np.float64]
Integers = Array
Csr = tuple[Integers, Integers, Floats]

SLACK = 4 * float(np.finfo(np.float64).eps)


@njit(**JIT)
def squared_distance(A: Floats, i: int, B: Floats, j: int, limit: float) -> float:
    """Return the squared distance of A[i] and B[j], or infinity once it cannot be less than the limit."""
    lane0 = lane1 = lane2 = lane3 = 0.0
    width = A.shape[1]
    whole = width - width % 4
    for k in range(0, whole, 4):
        lane0 += (A[i, k] - B[j, k]) * (A[i, k] - B[j, k])
        lane1 += (A[i, k + 1] - B[j, k + 1]) * (A[i, k + 1] - B[j, k + 1])
        lane2 += (A[i, k + 2] - B[j, k + 2]) * (A[i, k + 2] - B[j, k + 2])
        lane3 += (A[i, k + 3] - B[j, k + 3]) * (A[i, k + 3] - B[j, k + 3])
        if k % 32 == 28 and (lane0 + lane1) + (lane2 + lane3) >= limit:
            return np.inf
    if whole < width:
        lane0 += (A[i, whole] - B[j, whole]) * (A[i, whole] - B[j, whole])
    if whole + 1 < width:
        lane1 += (A[i, whole + 1] - B[j, whole + 1]) * (A[i, whole + 1] - B[j, whole + 1])
    if whole + 2 < width:
        lane2 += (A[i, whole + 2] - B[j, whole + 2]) * (A[i, whole + 2] - B[j, whole + 2])
    return (lane0 + lane1) + (lane2 + lane3)


@njit(**JIT)
def dot(A: Floats, i: int, B: Floats, j: int) -> float:
    """Return the scalar product of A[i] and B[j]."""
    lane0 = lane1 = lane2 = lane3 = 0.0
    width = A.shape[1]
    whole = width - width % 4
    for k in range(0, whole, 4):
        lane0 += A[i, k] * B[j, k]
        lane1 += A[i, k + 1] * B[j, k + 1]
        lane2 += A[i, k + 2] * B[j, k + 2]
        lane3 += A[i, k + 3] * B[j, k + 3]
    if whole < width:
        lane0 += A[i, whole] * B[j, whole]
    if whole + 1 < width:
        lane1 += A[i, whole + 1] * B[j, whole + 1]
    if whole + 2 < width:
        lane2 += A[i, whole + 2] * B[j, whole + 2]
    return (lane0 + lane1) + (lane2 + lane3)


@njit(**JIT)
def merge(A: Csr, i: int, B: Csr, j: int, lanes: Floats, products: bool) -> float:
    """Return the same as `dot` (products) or `squared_distance`, for sparse rows; `lanes` is room for four sums."""
    starts_a, columns_a, a = A
    starts_b, columns_b, b = B
    p, q, end_a, end_b = starts_a[i], starts_b[j], starts_a[i + 1], starts_b[j + 1]
    lanes[:] = 0.0
    while p < end_a or q < end_b:
        x = y = 0.0
        column = columns_a[p] if p < end_a else columns_b[q]
        if q < end_b:
            column = min(column, columns_b[q])
        if p < end_a and columns_a[p] == column:
            x = a[p]
            p += 1
        if q < end_b and columns_b[q] == column:
            y = b[q]
            q += 1
        lanes[column % 4] += x * y if products else (x - y) * (x - y)
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


@njit(**JIT)
def rough_dot(spread: Floats, B: Csr, j: int) -> float:
    """Return the scalar product of a row spread over all columns and B[j], in whatever order is quick."""
    starts, columns, values = B
    even = odd = 0.0
    p, end = starts[j], starts[j + 1]
    while p + 1 < end:
        even += spread[columns[p]] * values[p]
        odd += spread[columns[p + 1]] * values[p + 1]
        p += 2
    if p < end:
        even += spread[columns[p]] * values[p]
    return even + odd


@njit(**JIT)
def cosine(product: float, norm_a: float, norm_b: float, zero_similarity: float) -> float:
    """Return the cosine of two vectors; of two zero vectors it is a convention, of one it is 0."""
    if norm_a == 0.0 and norm_b == 0.0:
        return zero_similarity
    if norm_a == 0.0 or norm_b == 0.0:
        return 0.0
    return product / (norm_a * norm_b)


@njit(**JIT)
def norms(A: Floats) -> Floats:
    """Return the Euclidean norm of every row."""
    result = np.empty(len(A))
    for i in range(len(A)):
        result[i] = np.sqrt(dot(A, i, A, i))
    return result


@njit(**JIT)
def norms_csr(A: Csr) -> Floats:
    """Return the Euclidean norm of every sparse row."""
    result, lanes = np.empty(len(A[0]) - 1), np.empty(4)
    for i in range(len(result)):
        result[i] = np.sqrt(merge(A, i, A, i, lanes, True))
    return result


@njit(**JIT)
def nearest_euclidean(queries: Floats, rows: Floats, first: Integers, last: Integers) -> npt.NDArray[np.int64]:
    """Find for each query its nearest row among first <= row < last; -1 if that range is empty."""
    found = np.full(len(queries), -1, np.int64)
    for i in range(len(queries)):
        best = np.inf
        for j in range(first[i], last[i]):
            distance = squared_distance(queries, i, rows, j, best)
            if distance < best or found[i] < 0:
                best, found[i] = distance, j
    return found


@njit(**JIT)
def nearest_cosine(
    queries: Floats, rows: Floats, first: Integers, last: Integers, zero_similarity: float
) -> npt.NDArray[np.int64]:
    """Find for each query the row of greatest cosine among first <= row < last; -1 if that range is empty."""
    found = np.full(len(queries), -1, np.int64)
    query_norms, row_norms = norms(queries), norms(rows)
    for i in range(len(queries)):
        best = -np.inf
        for j in range(first[i], last[i]):
            similarity = cosine(dot(queries, i, rows, j), query_norms[i], row_norms[j], zero_similarity)
            if similarity > best:
                best, found[i] = similarity, j
    return found


@njit(**JIT)
def spread_row(A: Csr, i: int, spread: Floats) -> None:
    """Write the values of a sparse row to their columns."""
    for p in range(A[0][i], A[0][i + 1]):
        spread[A[1][p]] = A[2][p]


@njit(**JIT)
def clear_row(A: Csr, i: int, spread: Floats) -> None:
    """Write zeros where `spread_row` wrote."""
    for p in range(A[0][i], A[0][i + 1]):
        spread[A[1][p]] = 0.0


@njit(**JIT)
def nearest_euclidean_csr(
    queries: Csr, rows: Csr, first: Integers, last: Integers, n_columns: int
) -> npt.NDArray[np.int64]:
    """Do what `nearest_euclidean` does, for rows as (indptr, indices, data)."""
    found = np.full(len(first), -1, np.int64)
    query_norms, row_norms = norms_csr(queries), norms_csr(rows)
    lanes, spread = np.empty(4), np.zeros(n_columns)
    for i in range(len(found)):
        best = np.inf
        spread_row(queries, i, spread)
        for j in range(first[i], last[i]):
            squares = query_norms[i] ** 2 + row_norms[j] ** 2
            terms = queries[0][i + 1] - queries[0][i] + rows[0][j + 1] - rows[0][j] + 4
            if squares - 2 * rough_dot(spread, rows, j) - SLACK * terms * squares >= best:
                continue
            distance = merge(queries, i, rows, j, lanes, False)
            if distance < best or found[i] < 0:
                best, found[i] = distance, j
        clear_row(queries, i, spread)
    return found


@njit(**JIT)
def nearest_cosine_csr(
    queries: Csr, rows: Csr, first: Integers, last: Integers, n_columns: int, zero_similarity: float
) -> npt.NDArray[np.int64]:
    """Do what `nearest_cosine` does, for rows as (indptr, indices, data)."""
    found = np.full(len(first), -1, np.int64)
    query_norms, row_norms = norms_csr(queries), norms_csr(rows)
    lanes, spread = np.empty(4), np.zeros(n_columns)
    for i in range(len(found)):
        best = -np.inf
        spread_row(queries, i, spread)
        for j in range(first[i], last[i]):
            terms = rows[0][j + 1] - rows[0][j] + 4
            rough = cosine(rough_dot(spread, rows, j), query_norms[i], row_norms[j], zero_similarity)
            if rough + SLACK * terms <= best:
                continue
            product = merge(queries, i, rows, j, lanes, True)
            similarity = cosine(product, query_norms[i], row_norms[j], zero_similarity)
            if similarity > best:
                best, found[i] = similarity, j
        clear_row(queries, i, spread)
    return found
