"""Bounds among known time scales: null laws under which units leave at known values (progressive censoring)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from .._checks import FloatArray

#: Numbers drawn in one piece.
AT_ONCE = 4_000_000


def arrange(log_tau: FloatArray, censored: NDArray[np.bool_]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Known exceedances, increasing, and how many units are left at each; from k values decreasing and the threshold.

    A bound says only that its unit outlasts the largest known value below it: there it leaves.
    """
    excess, late = (log_tau[:-1] - log_tau[-1])[::-1], censored[:-1][::-1]
    known = np.flatnonzero(~late)
    return excess[known], excess.size - known


def statistic(excess: FloatArray, at_risk: NDArray[np.int64]) -> Any:
    """Coefficient of variation of the product-limit law over the last axis; what it leaves open is at the largest."""
    survival = np.concatenate([[1.0], np.cumprod(1.0 - 1.0 / at_risk[:-1])])
    weight = -np.diff(survival, append=0.0)
    mean = excess @ weight
    return np.sqrt(((excess - np.expand_dims(mean, -1)) ** 2) @ weight) / mean


def null_laws(
    n: int, k: int, at_risk: NDArray[np.int64], draws: int, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray]:
    """Sorted statistics of log-normal and of Pareto spectra.

    -log of the upper tail probability falls by independent exponentials over the number at risk, beyond the threshold,
    whose tail probability is the (k + 1)-th smallest of n uniforms.
    """
    out = np.empty((2, draws))
    rng = np.random.default_rng(seed)
    block = max(1, AT_ONCE // at_risk.size)
    for start in range(0, draws, block):
        rows = slice(start, min(start + block, draws))
        count = rows.stop - start
        threshold = np.log(rng.beta(k + 1, n - k, size=(count, 1)))
        steps = np.cumsum(rng.standard_exponential((count, at_risk.size)) / at_risk, axis=1)
        out[0, rows] = statistic(ndtri_exp(threshold) - ndtri_exp(threshold - steps), at_risk)
        out[1, rows] = statistic(steps, at_risk)
    out.sort(axis=1)
    return out[0], out[1]
