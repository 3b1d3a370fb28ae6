"""Non-negative least squares for spectra: the relative misfit of an envelope and its minimum over mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from .._checks import FloatArray
from ..errors import ConvergenceError

#: A restricted model is accepted while its chi-square exceeds that of the free spectrum by less than this. The free
#: fit is below the truth by what it makes of the noise: with an allowance of 4 the tail of a power law was started too
#: late so often that beta was off by up to 5 %, with 9 up to 1.5 %, with 14 up to 0.8 % (15 spectra, 20 seeds each).
EXCESS = 14.0
#: Spacing of the free spectrum's nodes in log tau; the resolution at 1 % noise and 32 lags a decade is 0.7.
SPACING = 0.35


@dataclass(frozen=True)
class Data:
    """A table of an envelope > 0 with relative standard errors."""

    lags: FloatArray
    f: FloatArray
    sigma: FloatArray

    @property
    def log_f(self) -> FloatArray:
        """Logarithm of the table."""
        return np.log(self.f)

    def column(self, log_envelope: FloatArray) -> FloatArray:
        """Envelope of one component relative to the data, in units of their errors. May overflow to inf: never used."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(log_envelope - self.log_f) / self.sigma

    def atoms(self, tau: FloatArray) -> FloatArray:
        """Columns of exponentials."""
        return self.column_matrix(-self.lags[:, None] / tau[None, :])

    def column_matrix(self, log_envelopes: FloatArray) -> FloatArray:
        """Several components at once."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(log_envelopes - self.log_f[:, None]) / self.sigma[:, None]

    def scaled(self, factor: float) -> Data:
        """The same table with all errors multiplied."""
        return Data(self.lags, self.f, self.sigma * factor)


def log_grid(data: Data, spacing: float = SPACING) -> FloatArray:
    """Nodes from a fifth of the first lag (gone after one step) to 30 last lags (a constant to 3 %)."""
    low, high = np.log(data.lags[0] / 5), np.log(30 * data.lags[-1])
    return np.exp(np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 1))


def _usable(matrix: FloatArray) -> NDArray[np.bool_]:
    """Components not excluded outright by a lag at which they exceed the data 1e100-fold."""
    top: FloatArray = matrix.max(axis=0, initial=0.0)
    return (top > 1e-100) & (top < 1e100)


def solve(matrix: FloatArray, target: FloatArray, penalty: FloatArray | None = None) -> tuple[FloatArray, float]:
    """Weights >= 0 that minimise the misfit (plus a quadratic penalty), and the chi-square of the misfit alone."""
    usable = _usable(matrix)
    norm = np.ones(matrix.shape[1])
    norm[usable] = np.sqrt((matrix[:, usable] ** 2).sum(axis=0))
    weights = np.zeros(matrix.shape[1])
    if not usable.any():
        return weights, float(target @ target)
    scaled = matrix[:, usable] / norm[usable]
    goal = target
    if penalty is not None:
        scaled = np.vstack([scaled, penalty[:, usable] / norm[usable]])
        goal = np.concatenate([target, np.zeros(penalty.shape[0])])
    try:
        found, _ = nnls(scaled, goal, maxiter=100 * scaled.shape[1])
    except RuntimeError as error:
        raise ConvergenceError(f"non-negative least squares did not finish: {error}") from None
    weights[usable] = found / norm[usable]
    residual = matrix[:, usable] @ weights[usable] - target
    return weights, float(residual @ residual)


def free_fit(data: Data, tau: FloatArray) -> tuple[FloatArray, float]:
    """The best non-negative spectrum on the nodes, without any regularisation, and its chi-square."""
    return solve(data.atoms(tau), 1 / data.sigma)


def smooth_fit(data: Data, tau: FloatArray, strength: Any) -> tuple[FloatArray, float, float]:
    """Spectrum with small second differences of log tau, relative to the shape that the free fit suggests.

    The shape is the free fit seen through the first Post-Widder kernel, x e^-x: a spectrum that falls by six decades
    is then penalised alike everywhere. `strength` is a number, "discrepancy" or "cross-validation". Returns weights,
    chi-square and strength.
    """
    ratio = tau[:, None] / tau[None, :]
    with np.errstate(under="ignore"):
        shape = (ratio * np.exp(-ratio)) @ free_fit(data, tau)[0]
    # Where the free spectrum has nothing at all the penalty needs some scale; the weights themselves may still be 0.
    shape = np.maximum(shape, 1e-12 * shape.max())
    matrix, target = data.atoms(tau), 1 / data.sigma
    usable = _usable(matrix)
    # Columns that the data exclude must not be tied to their neighbours by the penalty.
    difference = np.diff(np.eye(tau.size), 2, axis=0) * usable
    matrix = np.where(usable, matrix, 0.0) * shape

    def at(log_strength: float) -> tuple[FloatArray, float]:
        return solve(matrix, target, np.exp(log_strength) * difference)

    def freedom(log_strength: float, weights: FloatArray) -> float:
        active = weights > 0
        a, d = matrix[:, active], difference[:, active] * np.exp(log_strength)
        scale = np.sqrt((a**2).sum(axis=0) + (d**2).sum(axis=0))
        a, d = a / scale, d / scale
        gram = a.T @ a
        return float(np.trace(np.linalg.solve(gram + d.T @ d + 1e-13 * np.eye(gram.shape[0]), gram)))

    low, high = -7.0, 9.0
    if isinstance(strength, str) and strength == "cross-validation":
        grid = np.linspace(low, high, 17)
        score = []
        for value in grid:
            weights, chi = at(value)
            score.append(chi / max(target.size - freedom(value, weights), 1e-3) ** 2)
        best = float(grid[int(np.argmin(score))])
    elif isinstance(strength, str):
        goal = max(float(target.size), at(low)[1] * (1 + 1e-6))
        if at(high)[1] <= goal:
            low = high
        while high - low > 0.05:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if at(middle)[1] <= goal else (low, middle)
        best = low
    else:
        best = float(np.log(strength))
    weights, chi = at(best)
    return weights * shape, chi, float(np.exp(best))
