"""Detection of a lag by plain averaging: how large the envelope, or how many samples, it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, FloatArray, checked, plain
from .averaging import SAMPLES, log_rate, margin
from .noise import StableNoise, noise_of, power_of


def detection_threshold(N: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
    """Smallest envelope f(l) that the mean of N samples detects.

    Parameters
    ----------
    N : float or array_like
        Number of independent samples, >= 1.
    noise : StableNoise
        Noise, alignment and level of the test.
    power : float, optional
        Probability of detection at the threshold, above the level. At 0.5, the default, the expected mean lies on the
        critical value of the test, which is the threshold of the paper (with a level in place of its eps).

    Returns
    -------
    float or ndarray
        (q_{1-level} + q_power) scale N**(1/alpha - 1)/signal, q the quantiles of the symmetric stable law of scale 1;
        inf without signal. It does not fall with N at alpha = 1, and grows with N below.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    Notes
    -----
    The test is one-sided, of exactly the level, and its power exactly as stated, because a mean of symmetric stable
    variables is one. The samples must be independent; those within a sequence are not.

    Do not read it as a limit of what can be known: it is that of plain averaging. `detection_samples_bound` is the
    other.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> lc.detection_threshold([100, 1000, 10_000], noise).round(4)
    array([3.2876, 1.526 , 0.7083])
    """
    count = checked("N", N, SAMPLES)
    with np.errstate(over="ignore", under="ignore"):
        return plain(np.exp(log_threshold(np.log(count), noise_of(noise), power_of(noise, power))))


def sample_complexity(f: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
    """Number of samples whose mean detects an envelope f(l): the inverse of `detection_threshold`.

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise, alignment and level of the test.
    power : float, optional
        Probability of detection, above the level.

    Returns
    -------
    float or ndarray
        ((q_{1-level} + q_power) scale/(signal f))**kappa, a real number: below 1 a single sample is enough. inf where
        f or the signal is 0. For alpha <= 1, where kappa is inf, it is 0 if one sample is more than enough and inf
        otherwise.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    See Also
    --------
    robust_sample_complexity : The cost of estimators that are not thrown off by outliers.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=2.0, scale=0.5, signal=1.0, level=0.05)
    >>> round(lc.sample_complexity(0.1, noise, power=0.8), 2)  # ((1.645 + 0.842) sd/f)**2, sd = sqrt(2) scale
    309.13
    """
    value = checked("f", f, NON_NEGATIVE)
    noise_of(noise)
    target = power_of(noise, power)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        log_ratio = log_threshold(np.zeros(()), noise, target) - np.log(value)
        return plain(np.exp(log_samples(log_ratio, noise)))


def log_threshold(log_count: FloatArray, noise: StableNoise, power: float) -> FloatArray:
    """Logarithm of the detection threshold."""
    with np.errstate(divide="ignore"):
        constant = np.log(margin(noise.alpha, noise.level, power)) + np.log(noise.scale) - np.log(noise.signal)
    return np.asarray(constant + log_rate(log_count, noise.alpha))


def log_samples(log_ratio: FloatArray, noise: StableNoise) -> FloatArray:
    """Logarithm of the samples: kappa times that of (threshold at one sample)/f, and its limit where kappa is inf."""
    kappa = noise.concentration_exponent
    if np.isfinite(kappa):
        return np.asarray(kappa * log_ratio)
    return np.where(log_ratio == 0, 0.0, np.copysign(np.inf, log_ratio))
