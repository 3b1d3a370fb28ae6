"""Maximum likelihood for the symmetric stable law, from its own density."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2

from .._checks import FloatArray
from .._laws.stable import SymmetricStable

#: Range of the search.
SMALLEST, LARGEST = 0.3, 2.0
#: Step of the nodes of the log density, in asinh of the distance: 1e-6 between them.
STEP = 0.04
#: The scale is searched for within this factor of what the quartiles say.
SCALE_RANGE = math.log(4.0)
#: How far from the start the index is searched for first, and to what accuracy.
REACH, ACCURACY = 0.3, 2e-4


class Likelihood:
    """Log-likelihood of distances from the centre, maximised over the scale."""

    def __init__(self, distances: FloatArray, scale: float) -> None:
        self.relative = distances / scale
        reach = float(np.arcsinh(self.relative.max() * math.exp(SCALE_RANGE)))
        self.nodes = np.linspace(0.0, reach, max(16, math.ceil(reach / STEP)))
        self.scale = scale
        self._known: dict[float, tuple[float, float]] = {}

    def __call__(self, alpha: float) -> tuple[float, float]:
        """Maximum over the scale, and the scale relative to the one given."""
        if alpha not in self._known:
            self._known[alpha] = self._maximum(alpha)
        return self._known[alpha]

    def _maximum(self, alpha: float) -> tuple[float, float]:
        if alpha == 2.0:
            # Normal with variance 2 s^2.
            square = 0.5 * float(np.mean(self.relative**2))
            return -0.5 * self.relative.size * (math.log(4.0 * math.pi * square) + 1.0), math.sqrt(square)
        logs = SymmetricStable(alpha).logpdf(np.sinh(self.nodes))
        density = CubicSpline(self.nodes, logs, bc_type=((1, 0.0), "not-a-knot"))

        def minus(log_scale: float) -> float:
            at = np.arcsinh(self.relative * math.exp(-log_scale))
            return self.relative.size * log_scale - float(density(at).sum())

        found = minimize_scalar(minus, bounds=(-SCALE_RANGE, SCALE_RANGE), method="bounded", options={"xatol": 1e-5})
        return -float(found.fun), math.exp(float(found.x))


class LikelihoodFit(NamedTuple):
    """Index, scale, and the ends of the likelihood-ratio interval of the index."""

    alpha: float
    scale: float
    low: float
    high: float


def maximum(likelihood: Likelihood, start: float) -> float:
    """Index of the largest likelihood."""
    low, high = max(SMALLEST, start - REACH), min(LARGEST, start + REACH)
    while True:
        found = minimize_scalar(
            lambda a: -likelihood(float(a))[0], bounds=(low, high), method="bounded", options={"xatol": ACCURACY}
        )
        best = float(found.x)
        if best - low < 2 * ACCURACY and low > SMALLEST:
            low, high = max(SMALLEST, low - REACH), low + REACH
        elif high - best < 2 * ACCURACY and high < LARGEST:
            low, high = high - REACH, min(LARGEST, high + REACH)
        else:
            break
    # The ends are never tried.
    return max((best, low, high), key=lambda a: likelihood(a)[0])


def fit(likelihood: Likelihood, start: float, level: float) -> LikelihoodFit:
    """Maximum, and where the likelihood has fallen by half a chi-square quantile; the end of the range if nowhere."""
    best = maximum(likelihood, start)
    top, scale = likelihood(best)
    drop = 0.5 * float(chi2.ppf(level, 1))
    ends = []
    for border in (SMALLEST, LARGEST):
        if best == border or likelihood(border)[0] >= top - drop:
            ends.append(border)
            continue
        # Walk out first: the likelihood is costly and far from quadratic at the border.
        step, near = 0.05, best
        while True:
            far = max(best - step, SMALLEST) if border < best else min(best + step, LARGEST)
            if likelihood(far)[0] < top - drop:
                break
            near, step = far, 2.0 * step
        ends.append(float(brentq(lambda a: likelihood(float(a))[0] - top + drop, near, far, xtol=1e-4)))
    return LikelihoodFit(best, scale * likelihood.scale, ends[0], ends[1])
