"""The stable index from quantiles and from the characteristic function, and tail indices from the largest values."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.stats import norm

from .._checks import FloatArray
from ._hill import hill, tail_size
from ._quantile_table import NODES, TAILS, log_ratio_deviation, quantile_table

#: Wave numbers of the regression, in inverse units of the scale.
WAVES = np.linspace(0.1, 1.0, 10)
#: The weights are those of this index if the start is above: at 2 the covariance is nearly singular.
WEIGHTS_BELOW = 1.7


class Index(NamedTuple):
    """Index, the ends of its interval, and the scale."""

    alpha: float
    low: float
    high: float
    scale: float


def from_quantiles(x: FloatArray, level: float) -> Index:
    """McCulloch's ratio of quantile ranges, inverted; the interval holds the indices that the ratio does not reject."""
    low, first, third, high = np.quantile(x, [TAILS[1], TAILS[0], 1.0 - TAILS[0], 1.0 - TAILS[1]])
    logs = np.log(quantile_table().quantile)
    ratio = CubicSpline(NODES, logs[:, 1] - logs[:, 0])
    seen = math.log((high - low) / (third - first))
    alpha = _inverted(ratio, seen)
    margin = float(norm.isf(0.5 * (1.0 - level))) / math.sqrt(x.size)
    half = CubicSpline(NODES, margin * log_ratio_deviation())
    grid = np.linspace(NODES[0], NODES[-1], 17001)
    accepted = grid[np.abs(seen - ratio(grid)) <= half(grid)]
    # Ratios below the normal law's by more than chance reject every index: the interval is then the border alone.
    ends = (float(accepted[0]), float(accepted[-1])) if accepted.size else (alpha, alpha)
    quartile = math.exp(float(CubicSpline(NODES, logs[:, 0])(alpha)))
    return Index(alpha, min(ends[0], alpha), max(ends[1], alpha), 0.5 * float(third - first) / quartile)


def _inverted(ratio: CubicSpline, seen: float) -> float:
    """Index of a log ratio, which falls with it; the border if it is beyond."""
    grid = np.linspace(NODES[0], NODES[-1], 2001)
    return float(np.interp(-seen, -ratio(grid), grid))


def from_characteristic_function(x: FloatArray, start: Index, level: float) -> Index:
    """Regression of log(-log |phi|^2) on log t, weighted by its covariance at the starting index.

    The interval holds the indices that the estimate does not reject, each with its own covariance: near 2, where that
    changes fast, the covariance at the estimate would cover 0.5 to 0.7.
    """
    waves = WAVES / start.scale
    angle = np.multiply.outer(waves, x)
    n = x.size
    # |mean of exp(itx)|^2 is too large by (1 - |phi|^2)/n on average.
    square = (n * (np.cos(angle).mean(axis=1) ** 2 + np.sin(angle).mean(axis=1) ** 2) - 1.0) / (n - 1.0)
    kept = (square > 0.0) & (square < 1.0)
    if kept.sum() < 3:
        return Index(math.nan, math.nan, math.nan, math.nan)
    y = np.log(-np.log(square[kept]))
    design = np.column_stack([np.ones(int(kept.sum())), np.log(waves[kept])])
    chosen = np.ix_(kept, kept)
    weight = np.linalg.inv(_covariance(min(start.alpha, WEIGHTS_BELOW))[chosen])
    rows = np.linalg.solve(design.T @ weight @ design, design.T @ weight)
    level_of, alpha = (float(v) for v in rows @ y)
    scale = math.exp((level_of - math.log(2.0)) / alpha) if alpha > 0.0 else math.nan
    grid, covariances = _covariances()
    spread = np.array([math.sqrt(rows[1] @ among[chosen] @ rows[1] / n) for among in covariances])
    fine = np.linspace(NODES[0], NODES[-1], 17001)
    accepted = fine[np.abs(alpha - fine) <= float(norm.isf(0.5 * (1.0 - level))) * np.interp(fine, grid, spread)]
    ends = (float(accepted[0]), float(accepted[-1])) if accepted.size else (alpha, alpha)
    return Index(alpha, min(ends[0], alpha), max(ends[1], alpha), scale)


@lru_cache(maxsize=1)
def _covariances() -> tuple[FloatArray, FloatArray]:
    """Indices, and the covariance at each."""
    grid = np.linspace(NODES[0], NODES[-1], 341)
    return grid, np.array([_covariance(float(alpha)) for alpha in grid])


def _covariance(alpha: float) -> FloatArray:
    """Covariance of log(-log |phi|^2) at unit scale, times n: that of the cosine's mean, through the derivatives."""
    waves = WAVES
    phi = np.exp(-(waves**alpha))
    plus, minus = np.add.outer(waves, waves), np.abs(np.subtract.outer(waves, waves))
    among = 0.5 * (np.exp(-(plus**alpha)) + np.exp(-(minus**alpha))) - np.outer(phi, phi)
    slope = -1.0 / (phi * waves**alpha)
    covariance: FloatArray = among * np.outer(slope, slope)
    return covariance


def tail_index(distances: FloatArray, method: str, k: int, level: float) -> Index:
    """Index of a power tail from the k largest distances (Hill, moment) or 4k (Pickands); inf where gamma <= 0."""
    ordered = np.sort(distances)[::-1]
    quantile = float(norm.isf(0.5 * (1.0 - level)))
    if method == "hill":
        logs = np.log(ordered[: k + 1])
        value, low, high = hill(logs, np.zeros(k + 1, dtype=bool), k, level)
        return Index(float(value), float(low), float(high), math.nan)
    if method == "moment":
        excess = np.log(ordered[:k]) - math.log(ordered[k])
        first, second = float(np.mean(excess)), float(np.mean(excess**2))
        gamma = first + 1.0 - 0.5 / (1.0 - first**2 / second)
        # Below 0 the variance has another form; there is no index then, and the interval is left one-sided.
        error = math.sqrt((1.0 + max(gamma, 0.0) ** 2) / k)
    else:
        near, middle, far = ordered[k - 1], ordered[2 * k - 1], ordered[4 * k - 1]
        gamma = math.log((near - middle) / (middle - far)) / math.log(2.0)
        if abs(gamma) < 1e-6:
            factor = math.sqrt(3.0) / (2.0 * math.log(2.0) ** 2)
        else:
            factor = gamma * math.sqrt(2.0 ** (2.0 * gamma + 1.0) + 1.0) / (2.0 * (2.0**gamma - 1.0) * math.log(2.0))
        error = factor / math.sqrt(k)
    return Index(
        _reciprocal(gamma), _reciprocal(gamma + quantile * error), _reciprocal(gamma - quantile * error), math.nan
    )


def default_k(n: int, method: str) -> int:
    """Number of largest values; a quarter as many for Pickands, which looks at four times k."""
    return max(2, tail_size(n) // 4) if method == "pickands" else tail_size(n)


def _reciprocal(gamma: float) -> float:
    return 1.0 / gamma if gamma > 0.0 else math.inf
