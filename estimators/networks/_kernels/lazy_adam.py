"""Adam's steps without gradient, taken all at once when they are needed.

A feature that is zero in a row has no gradient, yet under Adam its weights go on moving by their momentum. Sparse rows
leave such weights alone, and `catch_up` moves them when they are next needed. With no gradient for k steps after step
t, m and v shrink by b1 and b2 a step, and the weight moves by

    rate * m * sum_s p_s / (sqrt(v) * u_s + eps),  s = 1..k,
    p_s = b1**s / (1 - b1**(t+s)),  u_s = b2**(s/2) / sqrt(1 - b2**(t+s)).

Only sqrt(v) differs between the weights of a feature. With u the p-weighted mean of the u_s,
q = sqrt(v) u / (sqrt(v) u + eps) and M_i = sum_s p_s (u_s / u - 1)**i, the sum is

    (M_0 + q**2 M_2 - q**3 M_3 + ...) / (sqrt(v) u + eps),

whatever the ratio of sqrt(v) to eps. The p_s fall tenfold every 22 steps, so that a few hundred make up the sum (later
ones move nothing), while the u_s hardly change over that time: M_10 and M_4 are the last that matter in float64 and
float32. In the first steps of the stream the u_s do change, and skipped steps are made up for in shorter stretches, of
an eighth of the steps before them. The sum is then exact to 1e-15 and 1e-8 of itself, the rounding of one step.
"""
# ruff: noqa: PLR0913, PLR0917 - compiled functions take arrays one by one

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, FUSED, LOOP, njit, uint64
from estimators._typing import Number
from estimators.networks._kernels.adam import B1, B2, EPS
from estimators.networks._kernels.state import MIN_M, MIN_V, ONE, ZERO, Doubles, Flags, Floats, Integers, Lazy
from estimators.networks._kernels.vectors import dot, l1_norm

EARLY, STRETCH = 500, 8
HORIZON = {np.dtype(np.float32): 160, np.dtype(np.float64): 372}  # 0.9**160 = 5e-8, 0.9**372 = 1e-17
LAST_MOMENT = {np.dtype(np.float32): 4, np.dtype(np.float64): 10}
SETTLED = 40_000  # 0.999**40000 = 4e-18: from here on the corrections of bias are 1
N_TERMS = 12  # mean u, eps, M_0, and M_2 to M_10

Tables = tuple[Doubles, Doubles, int]


@lru_cache
def _tables(dtype: np.dtype[Any]) -> Tables:
    """Tabulate b1**s and b2**(s/2) up to the horizon, 1/(1-b1**t) and 1/sqrt(1-b2**t) until they are 1; last moment."""
    s, t = np.arange(HORIZON[dtype] + 1), np.arange(1, SETTLED + 1)
    corrections = np.ones((2, SETTLED + 1))
    corrections[:, 1:] = 1 / -np.expm1(t * np.log(B1)), 1 / np.sqrt(-np.expm1(t * np.log(B2)))
    return np.array([B1**s, B2 ** (s / 2)]), corrections, LAST_MOMENT[dtype]


def make_lazy(dtype: npt.DTypeLike) -> Lazy:
    """Return the tables for a precision, with scratch space."""
    powers, corrections, last_moment = _tables(np.dtype(dtype))
    return Lazy(powers, corrections, last_moment, np.empty(powers.shape), np.zeros(N_TERMS, dtype))


@njit(**BUILD)
def refresh(
    w: Floats,
    m: Floats,
    v: Floats,
    constants: Floats,
    rate: float,
    lazy: Lazy,
    live: Flags | None,
    width: int,
    last: Integers,
    j: int,
    now: int,
) -> None:
    """Take the skipped steps of feature j up to step `now`; of an output layer, for the live outputs only."""
    t, skipped, start = last[j], now - last[j], j * width
    if skipped == 0:
        return
    n = width
    if live is not None:
        n = width // live.size
    for k in range(0, width, n):
        if live is None or live[k]:
            catch_up(w, m, v, constants, rate, lazy, start + k, n, t, skipped)
    last[j] = now


@njit(**LOOP)
def refresh_all(
    w: Floats,
    m: Floats,
    v: Floats,
    constants: Floats,
    rate: float,
    lazy: Lazy,
    live: Flags | None,
    width: int,
    last: Integers,
    now: int,
) -> None:
    """Take the skipped steps of all features up to step `now`."""
    for j in range(last.size):
        refresh(w, m, v, constants, rate, lazy, live, width, last, j, now)


@njit(**BUILD)
def catch_up(
    w: Floats, m: Floats, v: Floats, constants: Floats, rate: float, lazy: Lazy, at: int, width: int, t: int, k: int
) -> None:
    """Take the k steps after step t for the `width` weights of one feature from offset `at`."""
    horizon, terms = lazy.powers.shape[1] - 1, lazy.terms
    while k > 0 and l1_norm(m, at, width) > 0:
        n = k if t >= EARLY else min(k, max(1, t // STRETCH))
        _sum_terms(lazy, rate, t, min(n, horizon))
        _move(w, m, v, terms, constants[ONE], at, width)
        terms[0] = lazy.powers[0, n] if n <= horizon else 0.0
        terms[1] = B2**n
        _shrink(m, v, constants, terms, at, width)
        t, k = t + n, k - n
    if k > 0:
        terms[0], terms[1] = 0.0, B2**k
        _shrink(m, v, constants, terms, at, width)


@njit(**BUILD)
def _sum_terms(lazy: Lazy, rate: float, t: int, n: int) -> None:
    """Put u, eps, and the rate times M_0, M_2, M_3, ... of the n steps after step t into the terms."""
    terms, b1_powers, b2_powers = lazy.terms, lazy.powers[0], lazy.powers[1]
    p, u, b1_corrections, b2_corrections = lazy.scratch[0], lazy.scratch[1], lazy.corrections[0], lazy.corrections[1]
    after = uint64(min(t, SETTLED - n) + 1)
    for s in range(uint64(n)):
        p[s] = b1_powers[s + 1] * b1_corrections[after + s] * rate
        u[s] = b2_powers[s + 1] * b2_corrections[after + s]
    total = rate * dot(b1_powers, 1, b1_corrections, after, n)
    mean = dot(p, 0, u, 0, n) / total
    terms[0], terms[1], terms[2] = mean, EPS, total
    for s in range(uint64(n)):
        u[s] = u[s] / mean - 1
    for order in range(3, lazy.last_moment + 2):
        for s in range(uint64(n)):
            p[s] *= u[s]
        terms[order] = dot(p, 0, u, 0, n)


@njit(**BUILD, **FUSED)
def _move(w: Floats, m: Floats, v: Floats, terms: Floats, one: Number, at: int, width: int) -> None:
    """Move weights by the sum over the skipped steps."""
    mean, eps, m0 = terms[0], terms[1], terms[2]
    m2, m3, m4, m5, m6 = terms[3], terms[4], terms[5], terms[6], terms[7]
    m7, m8, m9, m10 = terms[8], terms[9], terms[10], terms[11]
    for i in range(uint64(at), uint64(at + width)):
        x = np.sqrt(v[i]) * mean
        over = one / (x + eps)
        q = -x * over
        high = m6 + q * (m7 + q * (m8 + q * (m9 + q * m10)))
        low = m0 + q * q * (m2 + q * (m3 + q * (m4 + q * (m5 + q * high))))
        w[i] -= m[i] * low * over


@njit(**BUILD)
def _shrink(m: Floats, v: Floats, constants: Floats, factors: Floats, at: int, width: int) -> None:
    """Multiply the moments by their factors; those too small to move a weight become 0."""
    by_m, by_v = factors[0], factors[1]
    min_m, min_v, zero = constants[MIN_M], constants[MIN_V], constants[ZERO]
    for i in range(uint64(at), uint64(at + width)):
        mi, vi = by_m * m[i], by_v * v[i]
        m[i] = mi if abs(mi) > min_m else zero
        v[i] = vi if vi > min_v else zero
