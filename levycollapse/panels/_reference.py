"""The published estimate of the restoring drift far to the left, to its digits: for comparison, not for use.

It selects the lowest units by the zeta that the move starts from, so that measurement noise alone moves them back: on
data without any drift it finds one (its positivity test passes on independent noise).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._checks import FloatArray

#: Share of the lowest zeta, share trimmed from each end of the moves, resamples, nominal level and seed, as published.
SHARE, TRIM, RESAMPLES, LEVEL, SEED = 0.1, 0.1, 3000, 0.9, 20260410


@dataclass(frozen=True)
class ReferenceDrift:
    """Published drift in the far-left tail.

    Attributes
    ----------
    cut : float
        Quantile of zeta below which units count.
    n : int
        Moves that start there.
    kappa, slope : tuple of float
        Trimmed mean of the moves, and their slope on zeta: value and bounds by resampling transitions.
    bic_difference : float
        BIC of the line less that of the constant; the published code prefers the constant where it is >= 0.
    positive : bool
        Whether the lower bound of kappa is above 0.
    """

    cut: float
    n: int
    kappa: tuple[float, float, float]
    slope: tuple[float, float, float]
    bic_difference: float
    positive: bool


def far_left_drift(
    start: FloatArray,
    move: FloatArray,
    *,
    share: float = SHARE,
    trim: float = TRIM,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = SEED,
) -> ReferenceDrift:
    """Published drift of transitions: `start` and `move` have shape (transitions, units), moves per unit of time."""
    cut, n, kappa, slope, difference = _estimate(start.ravel(), move.ravel(), share, trim)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        rows = rng.integers(0, len(start), len(start))
        drawn.append(_estimate(start[rows].ravel(), move[rows].ravel(), share, trim)[2:4])
    low, high = np.quantile(np.array(drawn), [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return ReferenceDrift(
        cut,
        n,
        (kappa, float(low[0]), float(high[0])),
        (slope, float(low[1]), float(high[1])),
        difference,
        bool(low[0] > 0),
    )


def _estimate(start: FloatArray, move: FloatArray, share: float, trim: float) -> tuple[float, int, float, float, float]:
    cut = float(np.quantile(start, share))
    x, y = start[start <= cut], move[start <= cut]
    n = x.size
    dropped = int(trim * n)
    kappa = float(np.mean(np.sort(y)[dropped : n - dropped]))
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    constant = float(np.sum((y - y.mean()) ** 2))
    line = float(np.sum((y - y.mean() - slope * centred) ** 2))
    # Gaussian likelihoods with the variance estimated: n log(RSS/n) and a penalty of log n for each coefficient.
    return cut, n, kappa, slope, n * math.log(line / constant) + math.log(n)
