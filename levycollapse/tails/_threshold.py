"""The threshold chosen by Kolmogorov-Smirnov distance: widely used, kept for comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from .._checks import FloatArray
from .._envelope.inverse import Estimate
from ..errors import ParameterError

#: Fewest exceedances that a threshold may leave.
FEWEST = 10


@dataclass(frozen=True)
class ThresholdFit:
    """Index above the threshold that minimises the Kolmogorov-Smirnov distance.

    Attributes
    ----------
    beta : Estimate
        Index, and the interval that would hold if the threshold had been chosen beforehand. It was not: this interval
        covers 0.4 to 0.96 of the time at nominal 0.95.
    threshold : float
        Chosen threshold, in network steps.
    k : int
        Number of time scales above it.
    distance : float
        The Kolmogorov-Smirnov distance there.
    """

    beta: Estimate
    threshold: float
    k: int
    distance: float


def fit_threshold(tau: FloatArray, level: float) -> ThresholdFit:
    """Choose among all thresholds that leave at least ten exceedances."""
    if tau.size <= FEWEST:
        raise ParameterError(f"tau has {tau.size} time scales; choosing a threshold needs more than {FEWEST}")
    y = np.log(np.sort(tau)[::-1])
    best: tuple[float, int, float] | None = None
    for k in range(FEWEST, y.size):
        mean = float(np.mean(y[:k] - y[k]))
        if mean <= 0.0:
            continue
        model = np.exp(-(y[:k] - y[k]) / mean)
        rank = np.arange(k) / k
        distance = float(max(np.max(np.abs(model - rank)), np.max(np.abs(model - rank - 1.0 / k))))
        if best is None or distance < best[0]:
            best = distance, k, 1.0 / mean
    if best is None:
        raise ParameterError("tau has a single value; there is no tail to fit")
    distance, k, beta = best
    low, high = chi2.ppf([0.5 - level / 2, 0.5 + level / 2], 2 * k) / (2 * k)
    return ThresholdFit(Estimate(beta, beta * float(low), beta * float(high)), float(np.exp(y[k])), k, distance)
