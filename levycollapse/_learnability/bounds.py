"""What no method can do: bounds on learning a lag from N samples, by their information (learnability D1, D2)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, FloatArray, _Range, broadcast_shape, checked, plain
from ..errors import ParameterError
from .averaging import SAMPLES
from .divergence import stable_divergence, stable_fisher_information
from .noise import StableNoise, noise_of, power_of

ERROR = _Range("a number strictly between 0 and 1/2", lambda v: (v > 0) & (v < 0.5))
QUARTER = _Range("a number strictly between 0 and 1/4", lambda v: (v > 0) & (v < 0.25))


def mutual_information_bound(f: Any, noise: StableNoise, N: Any) -> Any:
    """Most that N samples can say about whether lag l carries signal: min(log 2, N KL(m f)/2) nats.

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise and alignment; its level plays no part.
    N : float or array_like
        Number of independent samples, >= 1.

    Returns
    -------
    float or ndarray
        Upper bound on the mutual information between a fair bit, "shifted by signal times f or not", and the samples.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or alpha < 0.2.

    Notes
    -----
    The Jensen-Shannon divergence of one sample is at most a quarter of the symmetrised divergence, which for a
    symmetric law is KL/2. "Learnability vanishes" where N KL(m f) falls far below log 2: stable dynamics do not
    prevent it.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> lc.mutual_information_bound([1.0, 0.1, 0.01], noise, N=100).round(6)
    array([4.27505e-01, 4.28100e-03, 4.30000e-05])
    """
    count = checked("N", N, SAMPLES)
    divergence = _divergence(f, noise)
    broadcast_shape(f=divergence, N=count)
    with np.errstate(under="ignore", over="ignore"):
        return plain(np.minimum(math.log(2), 0.5 * count * divergence))


def fano_samples(f: Any, noise: StableNoise, *, error: float) -> Any:
    """Samples that any method needs to tell lag l from no signal with a given probability of error (Fano).

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise and alignment; its level plays no part.
    error : float
        Probability of error under even odds, in (0, 1/2).

    Returns
    -------
    float or ndarray
        N >= 2 (log 2 - h(error))/KL(m f), with h the binary entropy; inf where nothing arrives (f or signal 0).

    Raises
    ------
    ParameterError
        If an argument is outside its range, or alpha < 0.2.

    See Also
    --------
    local_fano_samples : The same with the divergence of small shifts.
    sample_complexity : The cost of one method, the mean.

    Notes
    -----
    For small f it grows like f**-2 at every alpha. N ~ f**-kappa with kappa > 2 does not follow from it: the divergence
    of a small shift is quadratic.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> lc.fano_samples([0.1, 0.01], noise, error=0.1).round()
    array([  8598., 859768.])
    """
    return _samples(2 * (math.log(2) - _entropy(_number("error", error, ERROR))), _divergence(f, noise))


def local_fano_samples(f: Any, noise: StableNoise, *, error: float) -> Any:
    """Limit of `fano_samples` for small envelopes: 4 (log 2 - h(error)) scale**2/(I_alpha (signal f)**2).

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise and alignment; its level plays no part.
    error : float
        Probability of error under even odds, in (0, 1/2).

    Returns
    -------
    float or ndarray
        Number of samples; inf where nothing arrives. The exponent of f is 2 whatever alpha is.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or alpha < 0.2.

    Notes
    -----
    It never exceeds `fano_samples`, since KL(u) <= I u**2/2 (seen at every alpha and shift; tests), so it is a bound
    too, but far below that one where m f is many scales and alpha < 2.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> lc.local_fano_samples([0.1, 0.01], noise, error=0.1).round()
    array([  8598., 859768.])
    """
    value = checked("f", f, NON_NEGATIVE)
    ratio = noise_of(noise).signal * value / noise.scale
    with np.errstate(under="ignore"):
        quadratic = 0.5 * stable_fisher_information(noise.alpha) * ratio**2
    return _samples(2 * (math.log(2) - _entropy(_number("error", error, ERROR))), quadratic)


def bretagnolle_huber_error(f: Any, noise: StableNoise, N: Any) -> Any:
    """Least probability of error of any test with N samples: exp(-N KL(m f))/4 (Bretagnolle and Huber).

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise and alignment; its level plays no part.
    N : float or array_like
        Number of independent samples, >= 1.

    Returns
    -------
    float or ndarray
        Lower bound on the mean of the two error probabilities, at most 1/4.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or alpha < 0.2.

    References
    ----------
    A. Tsybakov, Introduction to Nonparametric Estimation (2009), 2.4.2.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> lc.bretagnolle_huber_error(0.1, noise, N=[100, 10_000]).round(6)
    array([0.247869, 0.106195])
    """
    count = checked("N", N, SAMPLES)
    divergence = _divergence(f, noise)
    broadcast_shape(f=divergence, N=count)
    with np.errstate(under="ignore", over="ignore"):
        return plain(0.25 * np.exp(-count * divergence))


def bretagnolle_huber_samples(f: Any, noise: StableNoise, *, error: float) -> Any:
    """Samples that any method needs for a mean error probability, from `bretagnolle_huber_error`.

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise and alignment; its level plays no part.
    error : float
        Mean of the two error probabilities, in (0, 1/4).

    Returns
    -------
    float or ndarray
        N >= -log(4 error)/KL(m f); inf where nothing arrives.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or alpha < 0.2.

    Notes
    -----
    Better than Fano for small errors, and without content at 1/4.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> round(lc.bretagnolle_huber_samples(0.1, noise, error=0.01))
    37596
    """
    return _samples(-math.log(4 * _number("error", error, QUARTER)), _divergence(f, noise))


def detection_samples_bound(f: Any, noise: StableNoise, *, power: float = 0.5) -> Any:
    """Samples that any test of the noise's level needs for a power: what `sample_complexity` is to be held against.

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise, alignment and level.
    power : float, optional
        Probability of detection, above the level.

    Returns
    -------
    float or ndarray
        N >= max(d(level, power), d(power, level))/KL(m f), with d(a, b) = a log(a/b) + (1-a) log((1-a)/(1-b)); inf
        where nothing arrives.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or alpha < 0.2.

    Notes
    -----
    Deciding cannot create information: the divergence of the two decisions is at most that of the samples, N KL. This
    is the sharpest of the bounds here for given level and power, and no method is promised to reach it.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=2.0, scale=1.0, signal=0.2, level=0.05)
    >>> round(lc.detection_samples_bound(0.1, noise)), round(lc.sample_complexity(0.1, noise))
    (8304, 13528)
    """
    return _samples(decision_divergence(noise_of(noise), power), _divergence(f, noise))


def decision_divergence(noise: StableNoise, power: Any) -> float:
    """Divergence that the decisions of a test of this level and power have, the larger of both directions."""
    a, b = noise.level, power_of(noise, power)

    def one_way(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * (math.log1p(-p) - math.log1p(-q))

    return max(one_way(a, b), one_way(b, a))


def _divergence(f: Any, noise: StableNoise) -> FloatArray:
    value = checked("f", f, NON_NEGATIVE)
    with np.errstate(under="ignore", over="ignore"):
        shift = noise_of(noise).signal * value
    return np.asarray(stable_divergence(shift, noise.alpha, noise.scale))


def _samples(needed: float, divergence: FloatArray) -> Any:
    with np.errstate(divide="ignore", over="ignore"):
        return plain(needed / np.asarray(divergence))


def _entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


def _number(name: str, value: Any, rule: _Range) -> float:
    array = checked(name, value, rule)
    if array.ndim:
        raise ParameterError(f"{name} has shape {array.shape}; it must be one number")
    return float(array)
