"""Maximum likelihood for the tempered stable law from independent increments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logit
from scipy.stats import norm

from .._checks import FloatArray
from ..errors import ConvergenceError, ParameterError
from .increment.inversion import Inversion

#: Increments that three parameters are fitted to, at least.
FEWEST = 20
#: Range of the search: alpha as logit(alpha/2), log lam around 1/sd, log of the variance around the sample's. Beyond
#: it an increment law cannot tell its parameters from those at the border.
ALPHA_BORDERS = (0.05, 1.995)
RATE_BORDERS = (math.log(1e-4), math.log(1e3))
VARIANCE_BORDERS = (math.log(1e-3), math.log(1e4))
#: Step of the central differences, in these coordinates; the log-likelihood's own noise is 1e-12 a point.
STEP = 2e-3
#: Newton decrement (half of g H^-1 g, in units of log-likelihood) at which the maximum is found.
FOUND = 1e-6
NEWTON_STEPS = 8
REFUSED = 1e300


class FitStatus(IntEnum):
    """Whether a fit found an interior maximum."""

    #: The maximum is interior and the information matrix positive: the intervals mean what they say.
    CONVERGED = 0
    #: The likelihood grows towards the border of the parameters; the estimates are at the border, without intervals.
    AT_BORDER = 1
    #: No maximum was found, or the information matrix there is not positive; no intervals.
    NOT_CONVERGED = 2


class Interval(NamedTuple):
    """Ends of a confidence interval; nan where there is none."""

    low: float
    high: float


@dataclass(frozen=True)
class TemperedStableFit:
    """Estimates of `TemperedStable.fit`.

    Attributes
    ----------
    alpha, lam, intensity : float
        Maximum-likelihood estimates.
    alpha_interval, lam_interval, intensity_interval : Interval
        Confidence intervals from the observed information, symmetric in logit(alpha/2), log lam and log intensity.
    level : float
        Their nominal coverage.
    log_likelihood : float
        Its maximum.
    status : FitStatus
        Whether the estimates are an interior maximum.
    n : int
        Number of increments.
    evaluations : int
        Laws that were tried.
    """

    alpha: float
    lam: float
    intensity: float
    alpha_interval: Interval
    lam_interval: Interval
    intensity_interval: Interval
    level: float
    log_likelihood: float
    status: FitStatus
    n: int
    evaluations: int


def fit(x: FloatArray, t: float, level: float) -> TemperedStableFit:
    """Fit checked increments over time `t`; see `TemperedStable.fit`."""
    if x.size < FEWEST:
        raise ParameterError(f"x has {x.size} increments; a fit of three parameters needs at least {FEWEST}")
    if not np.any(x):
        raise ParameterError("x is 0 everywhere")
    likelihood = _Likelihood(np.sort(np.abs(x)), t)
    borders = [
        (float(logit(0.5 * ALPHA_BORDERS[0])), float(logit(0.5 * ALPHA_BORDERS[1]))),
        RATE_BORDERS,
        VARIANCE_BORDERS,
    ]
    start = min(_starts(likelihood.scaled), key=likelihood)
    found = minimize(
        likelihood, start, method="L-BFGS-B", jac=lambda p: _gradient(likelihood, p, borders), bounds=borders
    )
    point = np.asarray(found.x)
    low, high = np.array(borders).T
    if np.any((point - low < 2.0 * STEP) | (high - point < 2.0 * STEP)):
        return _result(likelihood, point, None, FitStatus.AT_BORDER, level)
    for _ in range(NEWTON_STEPS):
        slope, bend = _derivatives(likelihood, point)
        if not _positive(bend):
            return _result(likelihood, point, None, FitStatus.NOT_CONVERGED, level)
        move = np.linalg.solve(bend, slope)
        if 0.5 * slope @ move < FOUND:
            covariance: FloatArray = np.linalg.inv(bend).astype(np.float64)
            return _result(likelihood, point, covariance, FitStatus.CONVERGED, level)
        moved = np.clip(point - move, low + STEP, high - STEP)
        if not likelihood(moved) <= likelihood(point):
            break
        point = moved
    return _result(likelihood, point, None, FitStatus.NOT_CONVERGED, level)


class _Likelihood:
    """Minus the log-likelihood in the coordinates logit(alpha/2), log(lam sd), log(variance/sd^2)."""

    def __init__(self, distances: FloatArray, t: float) -> None:
        self.t = t
        # A power of two takes the size out of the squares, which would over- or underflow.
        size = math.ldexp(1.0, math.frexp(float(distances[-1]))[1] - 1)
        relative = distances / size
        within = math.sqrt(float(np.mean(relative**2)))
        self.sd = size * within
        self.log_sd = math.log(size) + math.log(within)
        self.scaled = relative / within
        self.evaluations = 0

    def __call__(self, point: FloatArray) -> float:
        alpha, rate, jumps = self.in_unit(point)
        self.evaluations += 1
        try:
            law = Inversion(alpha, rate, jumps, 0.0)
            logs = law.log_density(self.scaled * law.per_unit)
        except (ConvergenceError, ParameterError):
            return REFUSED
        return -float(logs.sum()) - logs.size * math.log(law.per_unit)

    @staticmethod
    def in_unit(point: FloatArray) -> tuple[float, float, float]:
        """alpha, lam sd, and t eta_J sd^-alpha."""
        alpha = 2.0 * float(expit(point[0]))
        log_jumps = point[2] - math.log(2.0) - gammaln(2.0 - alpha) + (2.0 - alpha) * point[1]
        return alpha, math.exp(point[1]), math.exp(log_jumps)


def _starts(x: FloatArray) -> list[FloatArray]:
    """Some alpha, each with the lam that the ratio of the fourth to the second cumulant gives it."""
    excess = max(float(np.mean(x**4)) - 3.0, 0.1)
    return [
        np.array([logit(0.5 * alpha), 0.5 * math.log((3.0 - alpha) * (2.0 - alpha) / excess), 0.0])
        for alpha in (0.3, 0.6, 0.9, 1.2, 1.5, 1.8)
    ]


def _gradient(f: Callable[[FloatArray], float], point: FloatArray, borders: list[tuple[float, float]]) -> FloatArray:
    slope = np.zeros(3)
    for i, (low, high) in enumerate(borders):
        up, down = point.copy(), point.copy()
        up[i] = min(point[i] + STEP, high)
        down[i] = max(point[i] - STEP, low)
        slope[i] = (f(up) - f(down)) / (up[i] - down[i])
    return slope


def _derivatives(f: Callable[[FloatArray], float], point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian by central differences."""
    slope, bend = np.zeros(3), np.zeros((3, 3))
    steps = STEP * np.eye(3)
    middle = f(point)
    for i in range(3):
        up, down = f(point + steps[i]), f(point - steps[i])
        slope[i] = (up - down) / (2.0 * STEP)
        bend[i, i] = (up - 2.0 * middle + down) / STEP**2
        for j in range(i):
            corners = (
                f(point + steps[i] + steps[j])
                - f(point + steps[i] - steps[j])
                - f(point - steps[i] + steps[j])
                + f(point - steps[i] - steps[j])
            )
            bend[i, j] = bend[j, i] = corners / (4.0 * STEP**2)
    return slope, bend


def _exp(logarithm: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(logarithm))


def _positive(matrix: FloatArray) -> bool:
    return bool(np.isfinite(matrix).all() and np.linalg.eigvalsh(matrix)[0] > 0.0)


def _result(
    likelihood: _Likelihood, point: FloatArray, covariance: FloatArray | None, status: FitStatus, level: float
) -> TemperedStableFit:
    alpha, rate, jumps = likelihood.in_unit(point)
    sd = likelihood.sd
    log_intensity_found = math.log(jumps) + alpha * likelihood.log_sd - math.log(likelihood.t)
    with np.errstate(over="ignore", under="ignore"):
        intensity, lam = float(np.exp(log_intensity_found)), float(np.divide(rate, sd))
    if not (0.0 < intensity < math.inf and 0.0 < lam < math.inf):
        raise ParameterError(
            f"x has a root mean square of {sd:.3g} over t={likelihood.t!r}: lam={lam:.3g} or intensity={intensity:.3g} "
            "of the fitted law is outside the range of doubles; give x and t in other units"
        )
    intervals = [Interval(math.nan, math.nan)] * 3
    if covariance is not None:
        # log intensity as a function of the coordinates, by differences: gammaln and log lam both depend on alpha.
        def log_intensity(p: FloatArray) -> float:
            index, _rate, scaled = likelihood.in_unit(p)
            return math.log(scaled) + index * likelihood.log_sd

        borders = [(-math.inf, math.inf)] * 3
        rows = np.vstack([np.eye(3)[:2], _gradient(log_intensity, point, borders)])
        half = float(norm.isf(0.5 * (1.0 - level))) * np.sqrt(np.diag(rows @ covariance @ rows.T))
        ends = np.array([point[0], point[1], log_intensity_found])[:, None] + half[:, None] * np.array([-1.0, 1.0])
        intervals = [
            Interval(*(float(v) for v in 2.0 * expit(ends[0]))),
            Interval(*(_exp(v - likelihood.log_sd) for v in ends[1])),
            Interval(*(_exp(v) for v in ends[2])),
        ]
    return TemperedStableFit(
        alpha=alpha,
        lam=lam,
        intensity=intensity,
        alpha_interval=intervals[0],
        lam_interval=intervals[1],
        intensity_interval=intervals[2],
        level=level,
        log_likelihood=-likelihood(point) - likelihood.scaled.size * likelihood.log_sd,
        status=status,
        n=likelihood.scaled.size,
        evaluations=likelihood.evaluations,
    )
