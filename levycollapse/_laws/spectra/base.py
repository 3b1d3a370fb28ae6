"""What every parametric time-scale spectrum offers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..._checks import (
    FINITE,
    NON_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    FloatArray,
    _Range,
    checked,
    draw_size,
    extended,
    generator,
    plain,
)
from ...errors import ParameterError


def positive(name: str, value: Any) -> float:
    """One finite number > 0."""
    return number(name, value, POSITIVE)


def number(name: str, value: Any, rule: _Range = FINITE) -> float:
    """One number of the given range; laws are not vectorised over their parameters."""
    array = checked(name, value, rule)
    if array.ndim:
        raise ParameterError(f"{name} has shape {array.shape}; a spectrum takes one number")
    return float(array)


class Spectrum(ABC):
    """Law of the time scale tau > 0 (network steps), with its envelope in closed or special-function form.

    Subclasses are frozen dataclasses of numbers. Everything is computed in y = log tau or in logarithms, so neither
    extreme lags nor extreme time scales overflow on the way. Not vectorised over the parameters.

    References
    ----------
    THEORY 6.
    """

    __slots__ = ()

    @abstractmethod
    def _logpdf(self, tau: FloatArray) -> Any: ...

    @abstractmethod
    def _logsf(self, tau: FloatArray) -> Any: ...

    @abstractmethod
    def _cdf(self, tau: FloatArray) -> Any: ...

    @abstractmethod
    def _isf(self, q: FloatArray) -> Any: ...

    @abstractmethod
    def _ppf(self, q: FloatArray) -> Any: ...

    @abstractmethod
    def _log_envelope(self, lags: FloatArray) -> Any: ...

    @abstractmethod
    def _local_exponent(self, lags: FloatArray) -> Any: ...

    @abstractmethod
    def _log_moment(self, s: float) -> float: ...

    def logpdf(self, tau: Any) -> Any:
        """Logarithm of the density of tau (1/steps); -inf outside the support.

        Parameters
        ----------
        tau : float or array_like
            Time scales, in network steps.

        Returns
        -------
        float or ndarray
            Natural logarithm of the density.
        """
        return self._outside(self._logpdf, tau, -math.inf, -math.inf)

    def pdf(self, tau: Any) -> Any:
        """Density of tau, in 1/steps.

        Parameters
        ----------
        tau : float or array_like
            Time scales, in network steps.

        Returns
        -------
        float or ndarray
            The density; 0 outside the support.
        """
        return plain(np.exp(self.logpdf(tau)))

    def cdf(self, tau: Any) -> Any:
        """P(tau' <= tau).

        Parameters
        ----------
        tau : float or array_like
            Time scales, in network steps.

        Returns
        -------
        float or ndarray
            The probability.
        """
        return self._outside(self._cdf, tau, 0.0, 1.0)

    def logsf(self, tau: Any) -> Any:
        """Logarithm of P(tau' > tau).

        Parameters
        ----------
        tau : float or array_like
            Time scales, in network steps.

        Returns
        -------
        float or ndarray
            Natural logarithm of the probability.
        """
        return self._outside(self._logsf, tau, 0.0, -math.inf)

    def sf(self, tau: Any) -> Any:
        """P(tau' > tau), with relative accuracy in the tail.

        Parameters
        ----------
        tau : float or array_like
            Time scales, in network steps.

        Returns
        -------
        float or ndarray
            The probability.
        """
        return plain(np.exp(self.logsf(tau)))

    def ppf(self, q: Any) -> Any:
        """Quantile: the time scale below which a fraction q of the units lies.

        Parameters
        ----------
        q : float or array_like
            Probabilities in [0, 1].

        Returns
        -------
        float or ndarray
            Time scales, in network steps; the ends of the support at 0 and 1.
        """
        return self._quantile(self._ppf, q, *self.support)

    def isf(self, q: Any) -> Any:
        """Upper quantile: the time scale above which a fraction q lies; accurate for q far below 1e-16.

        Parameters
        ----------
        q : float or array_like
            Probabilities in [0, 1].

        Returns
        -------
        float or ndarray
            Time scales, in network steps; the ends of the support at 0 and 1.
        """
        return self._quantile(self._isf, q, *self.support[::-1])

    def rvs(self, size: Any = None, rng: Any = None) -> Any:
        """Draw time scales.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; one number by default.
        rng : None, int, SeedSequence or Generator, optional
            SPEC 7.

        Returns
        -------
        float or ndarray
            Independent time scales.
        """
        return plain(np.asarray(self._rvs(generator(rng), draw_size(size))))

    def moment(self, s: Any) -> Any:
        """E tau**s for real s, `inf` where it diverges: M(s) of THEORY 5.

        Parameters
        ----------
        s : float or array_like
            Orders, of either sign.

        Returns
        -------
        float or ndarray
            Moments, in steps**s.
        """
        orders = checked("s", s, FINITE)
        with np.errstate(over="ignore"):
            values = [math.exp(v) if v < 709.78 else math.inf for v in map(self._log_moment, orders.ravel().tolist())]
        return plain(np.array(values).reshape(orders.shape))

    @property
    def mean_timescale(self) -> float:
        """E tau, `inf` where it diverges."""
        return float(self.moment(1.0))

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest time scale."""
        return 0.0, math.inf

    def log_envelope(self, lags: Any) -> Any:
        """Logarithm of f(l), which stays finite where f underflows.

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0, in network steps.

        Returns
        -------
        float or ndarray
            Natural logarithm of the envelope, <= 0.
        """
        return self._of_lags(self._log_envelope, lags)

    def envelope(self, lags: Any) -> Any:
        """Envelope f(l) = E exp(-l/tau) (THEORY 6).

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0, in network steps.

        Returns
        -------
        float or ndarray
            The envelope, in [0, 1].
        """
        return plain(np.exp(self.log_envelope(lags)))

    def local_exponent(self, lags: Any) -> Any:
        """Local exponent b(l) = -d log f/d log l, exact (THEORY 6).

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0, in network steps.

        Returns
        -------
        float or ndarray
            The local exponent, >= 0.
        """
        return self._of_lags(self._local_exponent, lags)

    def _rvs(self, generator: np.random.Generator, size: Any) -> Any:
        # 1 - U lies in (0, 1]: the upper quantile never receives 0.
        return self._isf(np.asarray(1.0 - generator.random(size)))

    def _of_lags(self, function: Any, lags: Any) -> Any:
        at = checked("lags", lags, NON_NEGATIVE)
        out = np.zeros(at.shape)
        moving = at > 0
        # Underflow is the right answer where it happens: the logarithm is what is exact.
        with np.errstate(under="ignore"):
            out[moving] = function(at[moving])
        return plain(out)

    def _outside(self, function: Any, tau: Any, below: float, above: float) -> Any:
        at = extended("tau", tau)
        low, high = self.support
        out = np.where((at > high) | (at == math.inf), above, np.full(at.shape, below))
        inside = (at >= low) & (at > 0) & (at <= high) & np.isfinite(at)
        with np.errstate(under="ignore", over="ignore"):
            out[inside] = function(at[inside])
        return plain(out)

    def _quantile(self, function: Any, q: Any, at_zero: float, at_one: float) -> Any:
        at = checked("q", q, PROBABILITY)
        out = np.where(at <= 0, at_zero, np.full(at.shape, at_one))
        inside = (at > 0) & (at < 1)
        with np.errstate(under="ignore", over="ignore"):
            out[inside] = function(at[inside])
        return plain(out)
