"""Risks over environments, their penalties, and the slopes of both: one label, plain NumPy."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from estimators._typing import Array
from estimators.contract.validation import Features

# Power iterations for the largest curvature; logistic curvature is at most a quarter, so that an estimate suffices.
_POWER_STEPS = 20


class Problem(NamedTuple):
    """The rows that count for one label, with y of 0 and 1."""

    X: Features
    y: Array
    share: Array  # weight of each row in the risk of its environment; those of an environment sum to 1
    environment: Array  # int64, from 0 to n_environments - 1; every environment has a row
    n_environments: int

    def mean(self, values: Array) -> Array:
        """Return the mean of values in each environment."""
        return np.bincount(self.environment, self.share * values, minlength=self.n_environments)

    def risks(self, z: Array) -> Array:
        """Return the mean log loss in each environment, of log-odds z."""
        return self.mean(np.logaddexp(0.0, z) - self.y * z)


class Solution(NamedTuple):
    """Coefficients of a label, the constant last; iterations; and the weights of environments that group-dro learns."""

    theta: Array
    n_iter: int
    group_weights: Array | None = None


# Log-odds and a strength -> value and its slope along each log-odds.
Objective = Callable[[Problem, Array, float], tuple[float, Array]]


def summed_risk(problem: Problem, z: Array, strength: float = 0.0) -> tuple[float, Array]:  # noqa: ARG001 - as the others
    """Return the sum of the risks of all environments, and its slopes."""
    return float(problem.risks(z).sum()), problem.share * (expit(z) - problem.y)


def irm(problem: Problem, z: Array, strength: float) -> tuple[float, Array]:
    """Add the squared slope of each risk along a factor of z, at factor 1: IRMv1."""
    p = expit(z)
    along_factor = problem.mean((p - problem.y) * z)
    value = problem.risks(z).sum() + strength * (along_factor**2).sum()
    bend = 2 * strength * along_factor[problem.environment] * (p - problem.y + p * (1 - p) * z)
    return float(value), problem.share * (p - problem.y + bend)


def vrex(problem: Problem, z: Array, strength: float) -> tuple[float, Array]:
    """Add the variance of the risks: V-REx."""
    risks = problem.risks(z)
    apart = risks - risks.mean()
    value = risks.sum() + strength * (apart**2).mean()
    of_risk = 1 + 2 * strength * apart / problem.n_environments
    return float(value), problem.share * of_risk[problem.environment] * (expit(z) - problem.y)


_OBJECTIVES: dict[str, Objective] = {"irm": irm, "vrex": vrex}


def fit_label(problem: Problem, penalty: tuple[str, float], l2: float, max_iter: int) -> Solution:
    """Return the solution of one label.

    `penalty` is its name and its strength; `l2` is that of the sum of the risks of all environments.
    """
    name, strength = penalty
    start = np.zeros(problem.X.shape[1] + 1)
    found = _minimise(problem, summed_risk, 0.0, l2, max_iter, start)
    if name == "group-dro":
        theta, q = group_dro(problem, strength, l2 / problem.n_environments, max_iter, found.theta)
        return Solution(theta, found.n_iter + max_iter, q)
    if name in _OBJECTIVES:
        penalised = _minimise(problem, _OBJECTIVES[name], strength, l2, max_iter, found.theta)
        return Solution(penalised.theta, found.n_iter + penalised.n_iter)
    return found


def group_dro(problem: Problem, step: float, l2: float, n_steps: int, start: Array) -> tuple[Array, Array]:
    """Raise the weights of environments by their risks, and descend the weighted risk, in turns."""
    theta, q = start, np.full(problem.n_environments, 1 / problem.n_environments)
    rate = 1 / (_largest_curvature(problem) + l2)
    for _ in range(n_steps):
        z = _log_odds(problem.X, theta)
        q = q * np.exp(step * problem.risks(z))
        q = q / q.sum()
        slopes = problem.share * q[problem.environment] * (expit(z) - problem.y)
        theta = theta - rate * (_pull_back(problem.X, slopes) + l2 * _shrunk(theta))
    return theta, q


def _minimise(
    problem: Problem, objective: Objective, strength: float, l2: float, max_iter: int, start: Array
) -> Solution:
    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        value, slopes = objective(problem, _log_odds(problem.X, theta), strength)
        shrunk = _shrunk(theta)
        return value + 0.5 * l2 * float(shrunk @ shrunk), _pull_back(problem.X, slopes) + l2 * shrunk

    options: Any = {"maxiter": max_iter, "ftol": 1e-12, "gtol": 1e-7}
    found = minimize(value_and_gradient, start, method="L-BFGS-B", jac=True, options=options)
    return Solution(np.asarray(found.x), int(found.nit))


def _largest_curvature(problem: Problem) -> float:
    """Return a quarter of the largest eigenvalue of the second moments of any environment."""
    largest = 0.0
    for environment in range(problem.n_environments):
        share = problem.share * (problem.environment == environment)
        direction = np.ones(problem.X.shape[1] + 1)
        for _ in range(_POWER_STEPS):
            direction = direction / np.linalg.norm(direction)
            direction = _pull_back(problem.X, share * _log_odds(problem.X, direction))
        largest = max(largest, float(np.linalg.norm(direction)))
    return largest / 4


def _log_odds(X: Features, theta: Array) -> Array:
    return np.asarray(X @ theta[:-1]) + theta[-1]


def _pull_back(X: Features, slopes: Array) -> Array:
    return np.append(np.asarray(X.T @ slopes), slopes.sum())


def _shrunk(theta: Array) -> Array:
    """Return the coefficients that are penalised: all but the constant."""
    return np.append(theta[:-1], 0.0)
