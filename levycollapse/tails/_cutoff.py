"""How much of a tail's index could be a cutoff: the profile likelihood of the tempered Pareto law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2

from .._checks import FloatArray
from .._envelope.inverse import Estimate
from .._kernels.log_concave import log_integral
from ..errors import ConvergenceError

#: Rates of the cutoff are sought between these times 1/(largest time scale).
SLOWEST, FASTEST = 1e-290, 1e9


@dataclass(frozen=True)
class CutoffProfile:
    """Index of a tempered Pareto tail, p(tau) ~ tau**(-1-beta) exp(-tau/tau_cut), on the same largest time scales.

    Attributes
    ----------
    beta : Estimate
        Maximum-likelihood index over beta >= 0 with its profile-likelihood interval; `lower` 0 where an index of 0 with
        a cutoff explains the tail as well.
    tau_cut : float
        Maximum-likelihood cutoff in network steps; `inf` where none is needed.
    likelihood_ratio : float
        Twice the log-likelihood gained over the Pareto law without cutoff; >= 0.
    separable : bool
        Whether the interval excludes 0. If not, beta cannot be told from the cutoff.
    sharp : Estimate
        Index if the law ends sharply somewhere above the largest time scale that is known, of either sign (a density
        that falls more slowly than 1/tau exists with a cutoff only): conditional maximum likelihood, which holds
        whether and wherever it ends; nan with fewer than 3 values.
    """

    beta: Estimate
    tau_cut: float
    likelihood_ratio: float
    separable: bool
    sharp: Estimate


class TemperedTail:
    """Log-likelihood of exceedances over a threshold, profiled over the cutoff.

    Everything is relative to the largest value: y <= 0, so that no time scale overflows.
    """

    def __init__(self, log_tau: FloatArray, censored: NDArray[np.bool_]) -> None:
        self.top = float(log_tau[0])
        self.start = float(log_tau[-1]) - self.top
        y = log_tau[:-1] - self.top
        self.late, self.seen = y[censored[:-1]], y[~censored[:-1]]
        self.count = float(y.size)
        self.starts = np.concatenate([[self.start], self.late])
        self.sum_log = float(self.seen.sum())
        self.sum_tau = float(np.exp(self.seen).sum())
        #: Where the last search for the rate ended: the next begins there.
        self._last = 0.0

    def profile(self, beta: float) -> tuple[float, float]:
        """Largest log-likelihood at this index, and the rate of the cutoff there."""
        if beta > 1.0 and self._slope(beta, 0.0) <= 0.0:
            return self.log_likelihood(beta, 0.0), 0.0

        def slope(log_rate: float) -> float:
            return self._slope(beta, math.exp(log_rate))

        slowest, fastest = math.log(SLOWEST), math.log(FASTEST)
        # Near the last one, unless that was far off: large steps would leap over the root.
        start = min(max(self._last, -4.0), 4.0)
        step, low, high = 1.0, start, start
        while slope(low) <= 0.0:
            if low == slowest:
                return self.log_likelihood(beta, 0.0), 0.0
            high, low, step = low, max(low - step, slowest), 2.0 * step
        step = 1.0
        while high <= low or slope(high) > 0.0:
            if high == fastest:
                raise ConvergenceError(f"no cutoff found below {FASTEST:g} times the largest time scale at {beta=}")
            low, high, step = max(low, high), min(high + step, fastest), 2.0 * step
        self._last = float(brentq(slope, low, high, xtol=1e-8))
        rate = math.exp(self._last)
        return self.log_likelihood(beta, rate), rate

    def maximum(self, hill: float) -> float:
        """Index at which the profile is largest; `hill` is that of the law without cutoff."""
        if self.profile(hill)[1] == 0.0:
            return hill
        # A cutoff makes room for a smaller index, never for a larger one; the likelihood is flat at its maximum.
        tolerance = {"xatol": 1e-5 * hill}
        found = minimize_scalar(lambda b: -self.profile(b)[0], bounds=(0.0, hill), method="bounded", options=tolerance)
        return max([0.0, float(found.x), hill], key=lambda b: self.profile(b)[0])

    def log_likelihood(self, beta: float, rate: float) -> float:
        """Log-likelihood of log tau: a censored value counts by the probability of exceeding it."""
        mass = self._log_mass(beta, rate)
        value = -beta * self.sum_log - rate * self.sum_tau - self.count * float(mass[0])
        return float(value + mass[1:].sum())

    def _log_mass(self, beta: float, rate: float) -> FloatArray:
        if rate == 0.0:
            return np.asarray(-beta * self.starts - math.log(beta))
        return np.asarray(log_integral(self.starts, beta, rate, 0.0, 0.0, 0.0)[0])

    def _slope(self, beta: float, rate: float) -> float:
        """Derivative of the log-likelihood by the rate: mean time scales beyond the starts against those seen."""
        if rate == 0.0:
            means = np.exp(self.starts) * beta / (beta - 1.0)
        else:
            means = np.exp(self._log_mass(beta - 1.0, rate) - self._log_mass(beta, rate))
        return float(self.count * means[0] - means[1:].sum() - self.sum_tau)


def cutoff_profile(log_tau: FloatArray, censored: NDArray[np.bool_], hill: float, level: float) -> CutoffProfile:
    """Profile of beta on exceedances `log_tau[:-1]` over the threshold `log_tau[-1]`; `hill` is the pure index."""
    tail = TemperedTail(log_tau, censored)
    allowed = float(chi2.ppf(level, 1)) / 2.0
    value = tail.maximum(hill)
    best, rate = tail.profile(value)

    def excess(beta: float) -> float:
        return best - tail.profile(beta)[0] - allowed

    lower = 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, value, xtol=1e-6 * hill))
    far = 2.0 * hill
    while excess(far) <= 0.0:
        far *= 2.0
    upper = float(brentq(excess, value, far, xtol=1e-6 * hill))
    with np.errstate(over="ignore"):
        cut = float(np.exp(tail.top - math.log(rate))) if rate > 0.0 else math.inf
    ratio = max(2.0 * (best - tail.log_likelihood(hill, 0.0)), 0.0)
    return CutoffProfile(Estimate(value, lower, upper), cut, ratio, lower > 0.0, sharp_cutoff(log_tau, censored, level))


def sharp_cutoff(log_tau: FloatArray, censored: NDArray[np.bool_], level: float) -> Estimate:
    """Index of a Pareto law on [threshold, somewhere beyond].

    Given the largest value (or the smallest bound), those below it are independent draws of the law truncated there,
    which in log tau is an exponential law on an interval: beta is its rate.
    """
    top = float(log_tau[:-1][censored[:-1]].min()) if censored[:-1].any() else float(log_tau[0])
    y = log_tau[1:-1] if not censored[:-1].any() else log_tau[:-1][~censored[:-1] & (log_tau[:-1] < top)]
    length = top - float(log_tau[-1])
    if y.size < 3 or length <= 0.0:
        return Estimate(math.nan, math.nan, math.nan)
    mean = float(np.mean(y - log_tau[-1])) / length

    def log_likelihood(x: float) -> float:
        # Per value and in units of the interval: log of x/(1 - e^-x), without cancellation for either sign.
        log_scale = 0.0 if x == 0.0 else math.log(abs(x)) - (0.0 if x > 0 else -x) - math.log(-math.expm1(-abs(x)))
        return log_scale - x * mean

    def slope(x: float) -> float:
        expected = 0.5 - x / 12.0 if abs(x) < 1e-4 else 1.0 / x - 1.0 / math.expm1(min(x, 700.0))
        return expected - mean

    far = 1.0
    while slope(-far) <= 0.0 or slope(far) >= 0.0:
        far *= 2.0
    best = float(brentq(slope, -far, far, xtol=1e-10))
    allowed = float(chi2.ppf(level, 1)) / (2.0 * y.size)

    def excess(x: float) -> float:
        return log_likelihood(best) - log_likelihood(x) - allowed

    ends = []
    for side in (-1.0, 1.0):
        far = 1.0
        while excess(best + side * far) <= 0.0:
            far *= 2.0
        ends.append(float(brentq(excess, best, best + side * far, xtol=1e-8)))
    return Estimate(best / length, ends[0] / length, ends[1] / length)
