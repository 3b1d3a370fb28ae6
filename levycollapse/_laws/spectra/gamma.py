"""Gamma laws of the rate or of the time scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..._checks import FloatArray
from ..._kernels.log_concave import log_integral
from .base import Spectrum, positive


@dataclass(frozen=True)
class GammaRates(Spectrum):
    """Rates mu = 1/tau that are gamma distributed: the envelope is exactly (1 + l/rate)**(-shape).

    Parameters
    ----------
    shape : float
        Shape b > 0; the spectrum has the tail tau**(-1-b).
    rate : float
        Rate r > 0 of the gamma law, in network steps (mu has mean b/r).

    Raises
    ------
    ParameterError
        If a parameter is not one finite number > 0.

    See Also
    --------
    InverseGamma : The same law under the name of its time scales.

    References
    ----------
    THEORY 6.

    Examples
    --------
    >>> from levycollapse._laws.spectra import GammaRates
    >>> round(GammaRates(shape=0.8, rate=2.0).local_exponent(6.0), 12)
    0.6
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", positive("shape", self.shape))
        object.__setattr__(self, "rate", positive("rate", self.rate))

    def _logpdf(self, tau: FloatArray) -> Any:
        b, r = self.shape, self.rate
        return b * np.log(r / tau) - special.gammaln(b) - np.log(tau) - r / tau

    def _logsf(self, tau: FloatArray) -> Any:
        # gammainc underflows where its own leading term does: both are 0 for this b and tau.
        with np.errstate(divide="ignore"):
            return np.log(special.gammainc(self.shape, self.rate / tau))

    def _cdf(self, tau: FloatArray) -> Any:
        return special.gammaincc(self.shape, self.rate / tau)

    def _ppf(self, q: FloatArray) -> Any:
        return self.rate / special.gammainccinv(self.shape, q)

    def _isf(self, q: FloatArray) -> Any:
        return self.rate / special.gammaincinv(self.shape, q)

    def _rvs(self, generator: np.random.Generator, size: Any) -> Any:
        return self.rate / generator.standard_gamma(self.shape, size)

    def _log_envelope(self, lags: FloatArray) -> Any:
        return -self.shape * np.log1p(lags / self.rate)

    def _local_exponent(self, lags: FloatArray) -> Any:
        return self.shape * (lags / (lags + self.rate))

    def _log_moment(self, s: float) -> float:
        if s >= self.shape:
            return math.inf
        return float(special.gammaln(self.shape - s) - special.gammaln(self.shape)) + s * math.log(self.rate)


class InverseGamma(GammaRates):
    """Time scales that are inverse-gamma distributed; 1/tau is then gamma, so this is `GammaRates` by another name.

    Parameters
    ----------
    shape : float
        Shape b > 0, the tail index.
    scale : float
        Scale > 0 in network steps, the `rate` of `GammaRates`.

    Raises
    ------
    ParameterError
        If a parameter is not one finite number > 0.

    Examples
    --------
    >>> from levycollapse._laws.spectra import GammaRates, InverseGamma
    >>> InverseGamma(shape=2.0, scale=3.0).envelope(3.0), GammaRates(shape=2.0, rate=3.0).envelope(3.0)
    (0.25, 0.25)
    """

    def __init__(self, shape: float, scale: float) -> None:
        super().__init__(shape, positive("scale", scale))

    @property
    def scale(self) -> float:
        """Scale of the time scales, in network steps."""
        return self.rate

    def __repr__(self) -> str:
        return f"InverseGamma(shape={self.shape}, scale={self.scale})"


@dataclass(frozen=True)
class GammaTimescales(Spectrum):
    """Time scales that are gamma distributed (inverse-gamma rates): a stretched-exponential envelope.

    f(l) = 2 (l/scale)**(shape/2) K_shape(2 sqrt(l/scale))/Gamma(shape), which decays like exp(-2 sqrt(l/scale)).

    Parameters
    ----------
    shape : float
        Shape > 0.
    scale : float
        Scale > 0 in network steps.

    Raises
    ------
    ParameterError
        If a parameter is not one finite number > 0.

    Notes
    -----
    The Bessel function is evaluated as the log-concave integral that it is: `scipy.special.kve` overflows at short lags
    and gives up at long ones.

    Examples
    --------
    >>> from levycollapse._laws.spectra import GammaTimescales
    >>> round(GammaTimescales(shape=0.5, scale=4.0).envelope(1.0), 12)
    0.367879441171
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", positive("shape", self.shape))
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def _logpdf(self, tau: FloatArray) -> Any:
        x = tau / self.scale
        return (self.shape - 1) * np.log(x) - x - special.gammaln(self.shape) - math.log(self.scale)

    def _logsf(self, tau: FloatArray) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(special.gammaincc(self.shape, tau / self.scale))

    def _cdf(self, tau: FloatArray) -> Any:
        return special.gammainc(self.shape, tau / self.scale)

    def _ppf(self, q: FloatArray) -> Any:
        return self.scale * special.gammaincinv(self.shape, q)

    def _isf(self, q: FloatArray) -> Any:
        return self.scale * special.gammainccinv(self.shape, q)

    def _rvs(self, generator: np.random.Generator, size: Any) -> Any:
        return self.scale * generator.standard_gamma(self.shape, size)

    def _log_envelope(self, lags: FloatArray) -> Any:
        value = log_integral(-math.inf, -self.shape, 1.0, lags / self.scale, 0.0, 0.0)[0]
        return np.minimum(value - special.gammaln(self.shape), 0.0)

    def _local_exponent(self, lags: FloatArray) -> Any:
        return np.asarray(log_integral(-math.inf, -self.shape, 1.0, lags / self.scale, 0.0, 0.0)[1])

    def _log_moment(self, s: float) -> float:
        if s <= -self.shape:
            return math.inf
        return float(special.gammaln(self.shape + s) - special.gammaln(self.shape)) + s * math.log(self.scale)
