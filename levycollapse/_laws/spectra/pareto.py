"""Power laws of the time scale: pure, cut off sharply, and tempered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..._checks import FloatArray
from ..._kernels.incomplete_gamma import log_band, log_lower
from ..._kernels.log_concave import log_integral
from ...errors import ParameterError
from .base import Spectrum, positive

#: Gauss rule in log tau for a narrow support: exact to rounding while the integrand varies by a few e-folds.
GAUSS_NODES, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(24)
#: Arguments of incomplete gammas below and above which they are their own limits.
TINY, HUGE = 1e-290, float(np.finfo(float).max)


def log_ratio(upper: Any, lower: Any) -> Any:
    """log(upper/lower) > 0 to rounding for neighbours, and for numbers whose ratio overflows."""
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.divide(upper, lower)
        # The difference of two neighbours is exact, their ratio is not.
        near = np.log1p(np.divide(np.subtract(upper, lower), lower))
    far = np.where(np.isfinite(ratio), np.log(ratio), np.log(upper) - np.log(lower))
    return np.where(ratio < 1.5, near, far)


@dataclass(frozen=True)
class Pareto(Spectrum):
    """Pure power law p(tau) = beta tau_min**beta tau**(-1-beta) for tau >= tau_min.

    f(l) = beta x**(-beta) gamma_lower(beta, x) with x = l/tau_min.

    Parameters
    ----------
    beta : float
        Tail index > 0.
    tau_min : float
        Smallest time scale > 0, in network steps.

    Raises
    ------
    ParameterError
        If a parameter is not one finite number > 0.

    References
    ----------
    THEORY 6.

    Examples
    --------
    >>> from levycollapse._laws.spectra import Pareto
    >>> round(Pareto(beta=1.0, tau_min=2.0).envelope(2.0), 12)
    0.632120558829
    """

    beta: float
    tau_min: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", positive("beta", self.beta))
        object.__setattr__(self, "tau_min", positive("tau_min", self.tau_min))

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest time scale."""
        return self.tau_min, math.inf

    def _logpdf(self, tau: FloatArray) -> Any:
        return math.log(self.beta) + self._logsf(tau) - np.log(tau)

    def _logsf(self, tau: FloatArray) -> Any:
        return -self.beta * np.log(tau / self.tau_min)

    def _cdf(self, tau: FloatArray) -> Any:
        return -np.expm1(self._logsf(tau))

    def _ppf(self, q: FloatArray) -> Any:
        return self.tau_min * np.exp(-np.log1p(-q) / self.beta)

    def _isf(self, q: FloatArray) -> Any:
        return self.tau_min * np.exp(-np.log(q) / self.beta)

    def _log_envelope(self, lags: FloatArray) -> Any:
        return log_lower(self.beta, lags / self.tau_min)

    def _local_exponent(self, lags: FloatArray) -> Any:
        # x gamma_lower(b+1)/gamma_lower(b) in the scaled forms: a product of positive factors.
        x, b = lags / self.tau_min, self.beta
        return x * np.exp(log_lower(b + 1, x) - log_lower(b, x)) * (b / (b + 1))

    def _log_moment(self, s: float) -> float:
        if s >= self.beta:
            return math.inf
        return math.log(self.beta / (self.beta - s)) + s * math.log(self.tau_min)


@dataclass(frozen=True)
class TruncatedPareto(Spectrum):
    """Power law cut off sharply: p(tau) proportional to tau**(-1-beta) on [tau_min, tau_max].

    f is a difference of incomplete gamma functions; beyond l ~ tau_max it decays exponentially, which is what a
    network of finite width shows.

    Parameters
    ----------
    beta : float
        Index > 0 between the ends.
    tau_min, tau_max : float
        Ends of the support, 0 < tau_min < tau_max, in network steps.

    Raises
    ------
    ParameterError
        If a parameter is not one finite number > 0, or tau_min >= tau_max.

    Notes
    -----
    Incomplete gammas below l = tau_max, scaled upper ones beyond, one Gauss rule where the two would cancel, in log tau
    where the support is narrow. Relative error of f below 1e-12 for beta >= 0.01 (tests against mpmath), however close
    or far apart the ends.

    References
    ----------
    THEORY 6; NUMERICS C.7.

    Examples
    --------
    >>> from levycollapse._laws.spectra import TruncatedPareto
    >>> law = TruncatedPareto(beta=0.5, tau_min=1.0, tau_max=100.0)
    >>> round(law.local_exponent(1e5), 3)
    1001.0
    """

    beta: float
    tau_min: float
    tau_max: float

    def __post_init__(self) -> None:
        for name in ("beta", "tau_min", "tau_max"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if not self.tau_min < self.tau_max:
            raise ParameterError(f"tau_max={self.tau_max!r} must be > tau_min={self.tau_min!r}")

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest time scale."""
        return self.tau_min, self.tau_max

    @property
    def _log_ratio(self) -> float:
        return float(log_ratio(self.tau_max, self.tau_min))

    def _mass(self, log_ratio: Any) -> Any:
        """1 - (tau/tau')**-beta for tau'/tau = exp(log_ratio)."""
        return -np.expm1(-self.beta * log_ratio)

    def _logpdf(self, tau: FloatArray) -> Any:
        y = log_ratio(tau, self.tau_min)
        return math.log(self.beta / self._mass(self._log_ratio)) - self.beta * y - np.log(tau)

    def _logsf(self, tau: FloatArray) -> Any:
        y = log_ratio(tau, self.tau_min)
        with np.errstate(divide="ignore"):
            rest = np.log(self._mass(log_ratio(self.tau_max, tau)))
        return -self.beta * y + rest - math.log(self._mass(self._log_ratio))

    def _cdf(self, tau: FloatArray) -> Any:
        return self._mass(log_ratio(tau, self.tau_min)) / self._mass(self._log_ratio)

    def _ppf(self, q: FloatArray) -> Any:
        return self._inside(-np.log1p(-q * self._mass(self._log_ratio)) / self.beta)

    def _isf(self, q: FloatArray) -> Any:
        length = self._log_ratio
        exponent = self.beta * length
        if exponent < 1:
            # From the upper end: what is left below 1 of a small exponent would be lost.
            return self._inside(length - np.log1p(q * math.expm1(exponent)) / self.beta)
        return self._inside(-np.log(math.exp(-exponent) + q * self._mass(length)) / self.beta)

    def _inside(self, y: Any) -> Any:
        """tau_min e^y in two steps, neither of which overflows."""
        half = np.exp(0.5 * y)
        return np.clip(self.tau_min * half * half, self.tau_min, self.tau_max)

    def _log_envelope(self, lags: FloatArray) -> Any:
        narrow = self._narrow(lags)
        out = np.empty(lags.shape)
        out[narrow] = self._log_narrow(lags[narrow], 0.0) - lags[narrow] / self.tau_min
        out[~narrow] = self._log_wide(lags[~narrow])
        return np.minimum(out, 0.0)

    def _local_exponent(self, lags: FloatArray) -> Any:
        narrow = self._narrow(lags)
        with np.errstate(over="ignore"):
            out = np.asarray(lags * float(np.exp(self._log_moment(-1.0))))
            seen = ~narrow & (lags / self.tau_min > 1e-17)
        few = lags[narrow]
        out[narrow] = few / self.tau_min * np.exp(self._log_narrow(few, 1.0) - self._log_narrow(few, 0.0))
        out[seen] = np.exp(self._log_band(self.beta + 1, lags[seen]) - self._log_band(self.beta, lags[seen]))
        return out

    def _narrow(self, lags: FloatArray) -> Any:
        """Where one Gauss rule in log tau over the whole support is exact."""
        length = self._log_ratio
        with np.errstate(over="ignore"):
            return (length <= 0.7) & (self.beta * length <= 8) & (lags / self.tau_min * -math.expm1(-length) <= 4)

    def _log_narrow(self, lags: FloatArray, order: float) -> Any:
        """Logarithm of E (tau_min/tau)**order exp(x - l/tau), x = l/tau_min."""
        length = self._log_ratio
        y = 0.5 * length * (1 + GAUSS_NODES)
        exponent = (lags / self.tau_min)[:, None] * -np.expm1(-y) - (self.beta + order) * y
        scale = self.beta * length / self._mass(length)
        return math.log(0.5 * scale) + np.log(np.exp(exponent) @ GAUSS_WEIGHTS)

    def _log_wide(self, lags: FloatArray) -> Any:
        out = np.zeros(lags.shape)
        # Below 1e-17 the envelope is 1 to rounding; the band form would divide two tiny numbers.
        with np.errstate(over="ignore"):
            seen = lags / self.tau_min > 1e-17
        at = lags[seen]
        scale = math.log(self.beta) - math.log(self._mass(self._log_ratio))
        log_high = np.log(at) - math.log(self.tau_min)
        with np.errstate(over="ignore"):
            high = at / self.tau_min
        log_high = np.where((high < HUGE) & (high > TINY), np.log(np.clip(high, TINY, HUGE)), log_high)
        out[seen] = scale + self._log_band(self.beta, at) - self.beta * log_high - at / self.tau_max
        return out

    def _log_band(self, index: float, lags: FloatArray) -> Any:
        with np.errstate(over="ignore"):
            high = np.minimum(lags / self.tau_min, HUGE)
        low = lags / self.tau_max
        band = np.asarray(log_band(index, np.maximum(low, TINY), high))
        far = low < TINY
        if far.any():
            # gamma_lower is a pure power at the lower end, which is too small a number itself.
            log_high = log_lower(index, high[far]) + index * np.log(high[far])
            log_low = index * (np.log(lags[far]) - math.log(self.tau_max))
            band[far] = log_high - math.log(index) + np.log(-np.expm1(log_low - log_high))
        return band

    def _log_moment(self, s: float) -> float:
        # int e^{(s-b) y} dy over [0, L] is L exprel((s-b) L).
        length = self._log_ratio
        b = self.beta
        exponent = (s - b) * length
        log_integral_value = (
            exponent - math.log(exponent) + math.log(-math.expm1(-exponent))
            if exponent > 700
            else math.log(special.exprel(exponent))
        )
        return s * math.log(self.tau_min) + math.log(b * length) - math.log(self._mass(length)) + log_integral_value


@dataclass(frozen=True)
class TemperedPareto(Spectrum):
    """Power law with an exponential cutoff: p(tau) proportional to tau**(-1-beta) exp(-tau/tau_cut), tau >= tau_min.

    Parameters
    ----------
    beta : float
        Index > 0 below the cutoff.
    tau_min : float
        Smallest time scale > 0, in network steps.
    tau_cut : float
        Scale of the cutoff > 0, in network steps; it may lie below tau_min.

    Raises
    ------
    ParameterError
        If a parameter is not one finite number > 0.

    Notes
    -----
    The envelope is an incomplete Bessel integral without a closed form. Its integrand is log-concave in log tau and is
    integrated by Gauss panels from its maximum outwards: relative error about 1e-14. `cdf` is 1 - sf, accurate in the
    absolute sense only.

    References
    ----------
    THEORY 6.

    Examples
    --------
    >>> from levycollapse._laws.spectra import TemperedPareto
    >>> round(TemperedPareto(beta=0.5, tau_min=1.0, tau_cut=100.0).envelope(10.0), 12)
    0.178796225783
    """

    beta: float
    tau_min: float
    tau_cut: float

    def __post_init__(self) -> None:
        for name in ("beta", "tau_min", "tau_cut"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest time scale."""
        return self.tau_min, math.inf

    @property
    def _start(self) -> float:
        return math.log(self.tau_min)

    def _log_tail(self, y: Any, index: float) -> Any:
        """Logarithm of int_y^inf e^{-index y' - e^y'/tau_cut} dy'."""
        return log_integral(y, index, 1 / self.tau_cut, 0.0, 0.0, 0.0)[0]

    @property
    def _log_mass(self) -> float:
        return float(self._log_tail(self._start, self.beta))

    def _logpdf(self, tau: FloatArray) -> Any:
        return -(1 + self.beta) * np.log(tau) - tau / self.tau_cut - self._log_mass

    def _logsf(self, tau: FloatArray) -> Any:
        return self._log_tail(np.log(tau), self.beta) - self._log_mass

    def _cdf(self, tau: FloatArray) -> Any:
        return -np.expm1(np.minimum(self._logsf(tau), 0.0))

    def _ppf(self, q: FloatArray) -> Any:
        return self._solve(np.log1p(-q))

    def _isf(self, q: FloatArray) -> Any:
        return self._solve(np.log(q))

    def _solve(self, log_q: FloatArray) -> Any:
        # log sf is concave in y and lies below both of its bounding laws: Newton from their quantiles is monotone.
        start = self._start
        y = np.minimum(start - log_q / self.beta, np.log(self.tau_min - self.tau_cut * log_q))
        for _ in range(100):
            tail = self._log_tail(y, self.beta)
            hazard = np.exp(-self.beta * y - np.exp(y) / self.tau_cut - tail)
            step = (tail - self._log_mass - log_q) / hazard
            y = np.maximum(y + step, start)
            if np.all(np.abs(step) <= 1e-14 * (1 + np.abs(y))):
                break
        return np.exp(y)

    def _rvs(self, generator: np.random.Generator, size: Any) -> Any:
        # Rejection from whichever of the two factors is the narrower law.
        ratio = self.tau_min / self.tau_cut
        out = np.empty(int(np.prod(size)))
        filled = 0
        while filled < out.size:
            count = 2 * (out.size - filled) + 16
            accept = 1.0 - generator.random(count)
            if self.beta > ratio:
                tau = self.tau_min * np.exp(generator.standard_exponential(count) / self.beta)
                keep = np.log(accept) <= -(tau - self.tau_min) / self.tau_cut
            else:
                tau = self.tau_min + self.tau_cut * generator.standard_exponential(count)
                keep = np.log(accept) <= -(1 + self.beta) * np.log(tau / self.tau_min)
            found = tau[keep][: out.size - filled]
            out[filled : filled + found.size] = found
            filled += found.size
        return out.reshape(size)

    def _log_envelope(self, lags: FloatArray) -> Any:
        value = log_integral(self._start, self.beta, 1 / self.tau_cut, lags, 0.0, 0.0)[0]
        return np.minimum(value - self._log_mass, 0.0)

    def _local_exponent(self, lags: FloatArray) -> Any:
        return np.asarray(log_integral(self._start, self.beta, 1 / self.tau_cut, lags, 0.0, 0.0)[1])

    def _log_moment(self, s: float) -> float:
        return float(self._log_tail(self._start, self.beta - s)) - self._log_mass
