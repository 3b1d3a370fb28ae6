"""The published tail-index estimators of forcing samples, to their digits: for comparison, not for use.

The rules and their faults are those of arXiv:2606.29519's code. The calibrated estimator, which the published results
rest on, calibrates another statistic than it applies (|s - median| of the data, ||x| - median of |x|| of its
simulations), so its index is biased upwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._checks import FloatArray
from .._laws.stable import SymmetricStable

#: Nodes of the table of quantile ratios. The published table was made with a program that takes 1.005 for 1.
NODES, TAKEN_FOR_CAUCHY = np.linspace(1.0, 2.0, 201), 1.005
#: Nodes of the calibration.
GRID = np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1.95, 2.0])
#: Smallest number of exceedances and their share of the sample; the smallest sample is 200 or four times the former.
K_MIN, K_SHARE = 50, 0.08


@lru_cache(maxsize=1)
def _ratios() -> tuple[FloatArray, FloatArray]:
    """(q95 - q05)/(q75 - q25) and q75 - q25 of the unit symmetric stable laws."""
    rows = []
    for alpha in NODES:
        law = SymmetricStable(1.0 if abs(alpha - TAKEN_FOR_CAUCHY) < 1e-9 else float(alpha))
        rows.append([float(law.ppf(0.95)), float(law.ppf(0.75))])
    outer, inner = np.array(rows).T
    return outer / inner, 2.0 * inner


def mcculloch(x: FloatArray) -> tuple[float, float]:
    """Index and scale from quantiles; (2, 0) for fewer than 32 values or no spread."""
    low, first, third, high = np.quantile(x, [0.05, 0.25, 0.75, 0.95])
    width = third - first
    if x.size < 32 or width <= 1e-12:
        return 2.0, 0.0
    ratios, widths = _ratios()
    order = np.argsort(ratios)
    ratio = np.clip((high - low) / (width + 1e-12), ratios.min(), ratios.max())
    alpha = float(np.clip(np.interp(ratio, ratios[order], NODES[order]), 1.0, 2.0))
    return alpha, float(width / np.interp(ratio, ratios[order], widths[order]))


def characteristic_function(x: FloatArray) -> tuple[float, float]:
    """Index and scale by weighted regression of log(-log |phi|^2) on log t; (2, 0) for fewer than 50 values."""
    if x.size < 50:
        return 2.0, 0.0
    first, third = np.quantile(x, [0.25, 0.75])
    t = np.linspace(0.05, 3.0, 50) / ((third - first) / 1.349)
    squared = np.abs(np.exp(1j * np.outer(t, x)).mean(axis=1)) ** 2
    for low, high, fewest in ((0.01, 0.95, 5), (1e-4, 0.999, 3)):
        kept = (squared > low) & (squared < high)
        if kept.sum() >= fewest:
            break
    else:
        return mcculloch(x)
    y, z = np.log(-np.log(squared[kept])), np.log(t[kept])
    weight = np.exp(-2.0 * (np.log(squared[kept]) + 0.7) ** 2)
    weight /= weight.sum()
    centre = weight @ z
    slope = float((weight * (z - centre)) @ y / ((weight * (z - centre)) @ z))
    intercept = float(weight @ y) - slope * float(centre)
    alpha = min(max(slope, 1.0), 2.0)
    return alpha, (math.exp(intercept) / 2.0) ** (1.0 / alpha)


def hill_index(sizes: FloatArray, k: int) -> float:
    """Hill's gamma = 1/alpha of the k largest; `sizes` increasing."""
    return float(np.mean(np.log(sizes[-k:]) - np.log(sizes[-k - 1])))


def pickands_index(sizes: FloatArray, k: int) -> float:
    """Pickands' alpha; nan where gamma is not positive."""
    n = sizes.size
    gamma = math.log((sizes[n - k] - sizes[n - 2 * k]) / (sizes[n - 2 * k] - sizes[n - 4 * k])) / math.log(2.0)
    return 1.0 / gamma if gamma > 0 else math.nan


def moment_index(sizes: FloatArray, k: int) -> float:
    """The moment estimator of gamma; nan where it does not exist."""
    excess = np.log(sizes[-k:]) - np.log(sizes[-k - 1])
    first, second = float(np.mean(excess)), float(np.mean(excess**2))
    share = 1.0 - first**2 / second
    return first + 1.0 - 0.5 / share if share > 1e-12 else math.nan


def plateau_k(sizes: FloatArray, k_min: int, share: float) -> int:
    """Number of exceedances where Hill's estimates vary least."""
    n = sizes.size
    last = min(max(k_min, int(share * n)), max(k_min, n // 4))
    grid = np.unique(np.linspace(max(5, k_min), last, 24).astype(int))
    alphas = np.array([1.0 / hill_index(sizes, int(k)) for k in grid])
    middle = float(np.median(alphas))
    scores = [abs(a - middle) + float(np.std(alphas[max(0, i - 2) : i + 3])) for i, a in enumerate(alphas)]
    return int(grid[int(np.argmin(scores))])


def fixed_k(n: int, share: float = K_SHARE, k_min: int = K_MIN) -> int:
    """Number of exceedances of n values."""
    return max(max(2, k_min), min(round(share * n), max(k_min, n // 4)))


@dataclass(frozen=True)
class CalibratedIndex:
    """Result of the published calibrated estimator.

    Attributes
    ----------
    alpha, lower, upper : float
        Effective index and its 90 % percentile interval; clipped to [1, 2].
    alpha_hill : float
        The same from Hill's statistic.
    gamma : float
        Moment estimate of 1/alpha.
    p_value : float
        Of the Gaussian null; at least 1/(replicates + 1).
    gaussian_band : tuple of float
        Indices that Gaussian samples give, 90 %.
    medians : ndarray
        Median gamma at each node of the calibration.
    """

    alpha: float
    lower: float
    upper: float
    alpha_hill: float
    gamma: float
    p_value: float
    gaussian_band: tuple[float, float]
    medians: FloatArray


def calibrated_index(
    x: FloatArray, replicates: int, resamples: int, seed: int, *, share: float = K_SHARE, k_min: int = K_MIN
) -> CalibratedIndex:
    """Moment estimate inverted through a table of its own medians; at least max(200, 4 k_min) values."""
    sizes = np.abs(x - np.median(x))
    sizes = sizes[sizes > 0]
    k = fixed_k(sizes.size, share, k_min)
    moments, hills, null = _calibration(sizes.size, k, replicates)
    gamma, gamma_hill = moment_index(np.sort(sizes), k), hill_index(np.sort(sizes), k)
    ends = [math.nan, math.nan]
    if resamples:
        rng = np.random.default_rng(seed + 12345)
        drawn = [
            _inverted(moment_index(np.sort(sizes[rng.integers(0, sizes.size, sizes.size)]), k), moments)
            for _ in range(resamples)
        ]
        ends = [float(v) for v in np.percentile(drawn, [5, 95])]
    band = np.percentile(null, [95, 5])
    return CalibratedIndex(
        _inverted(gamma, moments),
        ends[0],
        ends[1],
        _inverted(gamma_hill, hills),
        gamma,
        (1.0 + float(np.sum(null >= gamma))) / (null.size + 1.0),
        (_inverted(float(band[0]), moments), _inverted(float(band[1]), moments)),
        moments,
    )


@lru_cache(maxsize=8)
def _calibration(n: int, k: int, replicates: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(913 + 17 * n + 7 * k + 101 * replicates)
    moments, hills = np.empty((GRID.size, replicates)), np.empty((GRID.size, replicates))
    for i, alpha in enumerate(GRID):
        for j in range(replicates):
            sizes = np.abs(stable_draws(float(alpha), n, rng))
            sizes = np.abs(sizes - np.median(sizes))
            sizes = np.sort(sizes[sizes > 0])
            moments[i, j], hills[i, j] = moment_index(sizes, k), hill_index(sizes, k)
    return np.median(moments, axis=1), np.median(hills, axis=1), moments[-1]


def stable_draws(alpha: float, n: int, rng: np.random.Generator) -> FloatArray:
    """The published sampler (Chambers, Mallows and Stuck)."""
    u = (rng.random(n) - 0.5) * math.pi
    w = -np.log(np.maximum(rng.random(n), 1e-300))
    if alpha == 1.0:
        return np.tan(u)
    return np.sin(alpha * u) / np.cos(u) ** (1.0 / alpha) * (np.cos((1.0 - alpha) * u) / w) ** ((1.0 - alpha) / alpha)


def _inverted(gamma: float, medians: FloatArray) -> float:
    order = np.argsort(medians)
    if gamma < medians.min():
        return 2.0
    if gamma > medians.max():
        return 1.0
    return float(np.interp(gamma, medians[order], GRID[order]))
