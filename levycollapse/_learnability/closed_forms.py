"""Envelopes whose window is a closed form: exponential, power, logarithmic, tempered (learnability 5.1)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import wrightomega

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, _Range, checked, plain
from ..errors import ParameterError
from .averaging import SAMPLES, rate_exponent
from .detection import log_samples, log_threshold
from .noise import StableNoise, noise_of, power_of

LAG = _Range("a finite number >= 1", lambda v: v >= 1)


class EnvelopeLaw(ABC):
    """Envelope f(l) with the lag at which it takes a value in closed form, and so its learnability window.

    The window is H_N = sup{l >= 1: f(l) >= threshold(N)}, a real number; the largest whole lag is its integer part.
    It is 0 where f(1) is below the threshold.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = checked(field.name, getattr(self, field.name), POSITIVE)
            if value.ndim:
                raise ParameterError(f"{field.name} has shape {value.shape}; an envelope takes one number")
            object.__setattr__(self, field.name, float(value))

    @abstractmethod
    def _log_envelope(self, lags: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _exponent_at(self, log_lags: FloatArray) -> FloatArray:
        """Local exponent, by the logarithm of the lag.

        Parameters
        ----------
        log_lags : ndarray
            Logarithms of lags.

        Returns
        -------
        ndarray
            The local exponent.
        """

    @abstractmethod
    def _log_lag(self, log_f: FloatArray) -> FloatArray:
        """Logarithm of the lag at which log f takes a value, -inf where it does so at no lag > 0."""

    def log_envelope(self, lags: Any) -> Any:
        """Logarithm of f(l).

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0, in network steps; a power of the lag has no value at 0 but inf.

        Returns
        -------
        float or ndarray
            Natural logarithm of the envelope.
        """
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            return plain(self._log_envelope(checked("lags", lags, NON_NEGATIVE)))

    def envelope(self, lags: Any) -> Any:
        """Envelope f(l).

        Parameters
        ----------
        lags : float or array_like
            Lags >= 0, in network steps.

        Returns
        -------
        float or ndarray
            The envelope.
        """
        with np.errstate(over="ignore", under="ignore"):
            return plain(np.exp(self.log_envelope(lags)))

    def local_exponent(self, lags: Any) -> Any:
        """Local exponent b(l) = -d log f/d log l.

        Parameters
        ----------
        lags : float or array_like
            Lags > 0, in network steps.

        Returns
        -------
        float or ndarray
            The local exponent.
        """
        with np.errstate(over="ignore", under="ignore"):
            return plain(self._exponent_at(np.log(checked("lags", lags, POSITIVE))))

    def log_window(self, N: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
        """Logarithm of the learnability window, finite where the window itself overflows.

        Parameters
        ----------
        N : float or array_like
            Number of samples, >= 1.
        noise : StableNoise
            Noise, alignment and level of the test.
        power : float, optional
            Probability of detection at the edge of the window.

        Returns
        -------
        float or ndarray
            log H_N >= 0, or -inf where not even lag 1 is detected.
        """
        count = checked("N", N, SAMPLES)
        log_level = log_threshold(np.log(count), noise_of(noise), power_of(noise, power))
        return plain(self.log_window_at(log_level))

    def log_window_at(self, log_level: FloatArray) -> FloatArray:
        """Logarithm of sup{l >= 1: log f >= log_level}.

        Parameters
        ----------
        log_level : ndarray
            Logarithms of thresholds, inf allowed.

        Returns
        -------
        ndarray
            Logarithms of lags.
        """
        finite = np.isfinite(log_level)
        out = np.full(log_level.shape, -np.inf)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            out[finite] = self._log_lag(log_level[finite])
        # f(1) against the threshold decides, not the rounding of the logarithm of a lag.
        seen = self._log_envelope(np.ones(())) >= log_level
        return np.where(seen, np.maximum(out, 0.0), -np.inf)

    def window(self, N: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
        """Learnability window H_N.

        Parameters
        ----------
        N : float or array_like
            Number of samples, >= 1.
        noise : StableNoise
            Noise, alignment and level of the test.
        power : float, optional
            Probability of detection at the edge of the window.

        Returns
        -------
        float or ndarray
            Lags in network steps; 0 where not even lag 1 is detected, inf where it exceeds the largest double (see
            `log_window`).
        """
        with np.errstate(over="ignore"):
            return plain(np.exp(self.log_window(N, noise, power=power)))

    def samples(self, lag: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
        """Number of samples at which the window reaches a lag: the inverse of `window`.

        Parameters
        ----------
        lag : float or array_like
            Target lag >= 1, in network steps.
        noise : StableNoise
            Noise, alignment and level of the test.
        power : float, optional
            Probability of detection at that lag.

        Returns
        -------
        float or ndarray
            ((q_{1-level} + q_power) scale/(signal f(lag)))**kappa; inf where it overflows, or without signal.
        """
        log_f = np.asarray(self._log_envelope(checked("lag", lag, LAG)))
        target = power_of(noise_of(noise), power)
        with np.errstate(over="ignore", under="ignore"):
            return plain(np.exp(log_samples(log_threshold(np.zeros(()), noise, target) - log_f, noise)))

    def growth_exponent(self, N: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
        """Growth d log H_N/d log N of the window.

        Parameters
        ----------
        N : float or array_like
            Number of samples, >= 1.
        noise : StableNoise
            Noise, alignment and level of the test.
        power : float, optional
            Probability of detection at the edge of the window.

        Returns
        -------
        float or ndarray
            (1 - 1/alpha)/b(H_N) = 1/(kappa b), with b the local exponent of f; 0 at alpha = 1 and negative below, where
            the mean of more samples is wider. nan where there is no window.
        """
        log_h = np.asarray(self.log_window(N, noise, power=power))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            growth = rate_exponent(noise.alpha) / self._exponent_at(log_h)
        return plain(np.where(np.isfinite(log_h), growth, np.nan))


@dataclass(frozen=True)
class ExponentialEnvelope(EnvelopeLaw):
    """Exponential forgetting f(l) = amplitude exp(-rate l): the window grows like log N.

    Parameters
    ----------
    rate : float
        Decay rate > 0 per network step, the inverse of a single time scale.
    amplitude : float, optional
        f(0) > 0.

    Raises
    ------
    ParameterError
        If a parameter is not a finite number > 0.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=10.0, level=0.05)
    >>> law = lc.ExponentialEnvelope(rate=0.1)
    >>> law.window([100, 1000, 10_000], noise).round(2)  # log(10)/(3 rate) more for every decade
    array([27.22, 34.89, 42.57])
    """

    rate: float
    amplitude: float = 1.0

    def _log_envelope(self, lags: FloatArray) -> FloatArray:
        return np.asarray(math.log(self.amplitude) - self.rate * lags)

    def _exponent_at(self, log_lags: FloatArray) -> FloatArray:
        return np.asarray(self.rate * np.exp(log_lags))

    def _log_lag(self, log_f: FloatArray) -> FloatArray:
        return np.log(np.maximum(math.log(self.amplitude) - log_f, 0.0)) - math.log(self.rate)


@dataclass(frozen=True)
class PowerEnvelope(EnvelopeLaw):
    """Power law f(l) = amplitude l**-exponent: the window grows like N**(1/(kappa exponent)).

    Parameters
    ----------
    exponent : float
        Spectral exponent beta > 0.
    amplitude : float, optional
        f(1) > 0; C Gamma(beta) for a spectrum p(tau) ~ C tau**(-1-beta).

    Raises
    ------
    ParameterError
        If a parameter is not a finite number > 0.

    References
    ----------
    L. Livi, arXiv:2512.05790; THEORY 6.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=10.0, level=0.05)
    >>> law = lc.PowerEnvelope(exponent=0.5)
    >>> law.window([1000, 8000], noise).round(3), law.growth_exponent(1000, noise)
    (array([1073.613, 4294.452]), 0.6666666666666666)
    """

    exponent: float
    amplitude: float = 1.0

    def _log_envelope(self, lags: FloatArray) -> FloatArray:
        return np.asarray(math.log(self.amplitude) - self.exponent * np.log(lags))

    def _exponent_at(self, log_lags: FloatArray) -> FloatArray:
        return np.full(np.shape(log_lags), self.exponent)

    def _log_lag(self, log_f: FloatArray) -> FloatArray:
        return np.asarray((math.log(self.amplitude) - log_f) / self.exponent)


@dataclass(frozen=True)
class LogarithmicEnvelope(EnvelopeLaw):
    """Logarithmic forgetting f(l) = amplitude/log(e + l)**power: the window grows like exp(N**(1/(kappa power))).

    Parameters
    ----------
    power : float, optional
        Power of the logarithm, > 0; 1 in the paper, alpha - 1 for the untempered model (THEORY 4).
    amplitude : float, optional
        f(0) > 0.

    Raises
    ------
    ParameterError
        If a parameter is not a finite number > 0.

    References
    ----------
    L. Livi, arXiv:2512.05790; THEORY 4 and 6.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=2.0, scale=1.0, signal=1.0, level=0.05)
    >>> law = lc.LogarithmicEnvelope()
    >>> law.window([100, 1000, 10_000], noise).round(1)
    array([7.09000000e+01, 8.01567600e+05, 4.67630458e+18])
    >>> law.window(10**7, noise), round(law.log_window(10**7, noise), 2)
    (inf, 1359.43)
    """

    power: float = 1.0
    amplitude: float = 1.0

    def _log_envelope(self, lags: FloatArray) -> FloatArray:
        return np.asarray(math.log(self.amplitude) - self.power * np.log(np.log(math.e + lags)))

    def _exponent_at(self, log_lags: FloatArray) -> FloatArray:
        # l/((e + l) log(e + l)), with log(e + l) = log l + log1p(e/l), at any log l.
        over = np.exp(1.0 - log_lags)
        return np.asarray(self.power / ((1 + over) * np.logaddexp(log_lags, 1.0)))

    def _log_lag(self, log_f: FloatArray) -> FloatArray:
        log_sum = np.exp((math.log(self.amplitude) - log_f) / self.power)
        # log(exp(y) - e) = y + log(1 - exp(1 - y)).
        return np.asarray(log_sum + np.log(-np.expm1(np.minimum(1.0 - log_sum, 0.0))))


@dataclass(frozen=True)
class TemperedEnvelope(EnvelopeLaw):
    """Power law with a cutoff f(l) = amplitude l**-exponent exp(-(l/cutoff)**shape), the envelope of a finite network.

    Parameters
    ----------
    exponent : float
        Spectral exponent beta > 0.
    cutoff : float
        Lag > 0 at which the cutoff sets in, about the largest time scale.
    shape : float, optional
        Its sharpness, > 0; 1 is exponential.
    amplitude : float, optional
        Prefactor > 0.

    Raises
    ------
    ParameterError
        If a parameter is not a finite number > 0.

    Notes
    -----
    The window is cutoff ((exponent/shape) W)**(1/shape), with W Lambert's function, taken of its argument's logarithm
    (Wright's omega), which does not overflow: from N**(1/(kappa exponent)) it turns to (log N)**(1/shape).

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=10.0, level=0.05)
    >>> law = lc.TemperedEnvelope(exponent=0.5, cutoff=100.0)
    >>> law.window([1000, 8000], noise).round(3)
    array([112.702, 163.434])
    """

    exponent: float
    cutoff: float
    shape: float = 1.0
    amplitude: float = 1.0

    def _log_envelope(self, lags: FloatArray) -> FloatArray:
        log_lags = np.log(lags)
        cut = np.exp(self.shape * (log_lags - math.log(self.cutoff)))
        return np.asarray(math.log(self.amplitude) - self.exponent * log_lags - cut)

    def _exponent_at(self, log_lags: FloatArray) -> FloatArray:
        return np.asarray(self.exponent + self.shape * np.exp(self.shape * (log_lags - math.log(self.cutoff))))

    def _log_lag(self, log_f: FloatArray) -> FloatArray:
        ratio = self.shape / self.exponent
        log_amplitude = math.log(self.amplitude) - self.exponent * math.log(self.cutoff)
        argument = math.log(ratio) + ratio * (log_amplitude - log_f)
        # log omega(z) = z - omega(z), which is its value where omega underflows.
        omega = wrightomega(argument)
        log_omega = np.where(argument < 1, argument - omega, np.log(np.where(argument < 1, 1.0, omega)))
        return np.asarray(math.log(self.cutoff) + (log_omega - math.log(ratio)) / self.shape)
