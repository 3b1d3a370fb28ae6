"""What other estimators than the mean need: exponent 2 at every tail index (learnability D1)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from .._checks import NON_NEGATIVE, FloatArray, _Range, checked, choice, plain
from .._laws.stable import SymmetricStable
from .detection import sample_complexity
from .divergence import INFORMATIVE
from .location import location, panels, peak_width
from .noise import StableNoise, noise_of, power_of

ESTIMATORS = ("mle", "median", "trimmed", "mean")
TRIM = _Range("a number strictly between 0 and 1/2", lambda v: (v > 0) & (v < 0.5))


def estimator_variance(alpha: Any, estimator: str = "mle", *, trim: float = 0.25) -> Any:
    """Asymptotic variance V of an estimator of the location: N times its variance, at scale 1.

    Parameters
    ----------
    alpha : float or array_like
        Tail index, in [0.2, 2].
    estimator : {"mle", "median", "trimmed", "mean"}, optional
        Maximum likelihood, sample median, mean of what is left after a fraction `trim` is cut off at each end, or mean.
    trim : float, optional
        Fraction cut off at each end, in (0, 1/2); "trimmed" only.

    Returns
    -------
    float or ndarray
        1/I_alpha; 1/(4 f(0)**2); the variance of the trimmed mean; 2 at alpha = 2 and inf below. A ratio of two is an
        asymptotic relative efficiency.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    Notes
    -----
    With known scale and alpha. Estimating those too costs a symmetric location nothing asymptotically.

    References
    ----------
    P. Huber & E. Ronchetti, Robust Statistics (2009), 3.3.

    Examples
    --------
    >>> import levycollapse as lc
    >>> [lc.estimator_variance([1.2, 1.5, 1.8, 2.0], name).round(3).tolist() for name in ("mle", "median", "trimmed")]
    [[2.263, 2.336, 2.197, 2.0], [2.789, 3.028, 3.12, 3.142], [2.488, 2.45, 2.415, 2.39]]
    """
    index = checked("alpha", alpha, INFORMATIVE)
    name = choice("estimator", estimator, ESTIMATORS)
    share = checked("trim", trim, TRIM)
    values = [_variance(float(a), name, float(share)) for a in index.ravel()]
    return plain(np.array(values).reshape(index.shape))


def robust_sample_complexity(
    f: Any, noise: StableNoise, *, estimator: str = "mle", trim: float = 0.25, power: float = 0.5
) -> Any:
    """Number of samples with which an estimator of finite asymptotic variance detects an envelope f(l).

    Parameters
    ----------
    f : float or array_like
        Envelope, >= 0.
    noise : StableNoise
        Noise, alignment and level of the test.
    estimator : {"mle", "median", "trimmed", "mean"}, optional
        As in `estimator_variance`; "mean" is finite at alpha = 2 only.
    trim : float, optional
        As in `estimator_variance`.
    power : float, optional
        Probability of detection, above the level.

    Returns
    -------
    float or ndarray
        (z_{1-level} + z_power)**2 V scale**2/(signal f)**2 with normal quantiles z; inf where nothing arrives.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    See Also
    --------
    robust_gain : How many times fewer samples that is than the mean needs.

    Notes
    -----
    The estimator is asymptotically normal, and so is this number: trust it where it is large, above about 100.

    Examples
    --------
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> round(lc.robust_sample_complexity(0.01, noise)), round(lc.sample_complexity(0.01, noise))
    (1579983, 3553353399)
    """
    value = checked("f", f, NON_NEGATIVE)
    target = power_of(noise_of(noise), power)
    variance = float(estimator_variance(noise.alpha, estimator, trim=trim))
    distance = float(-ndtri(noise.level) + ndtri(target))
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        unit = distance * noise.scale / (noise.signal * value)
        return plain(variance * unit**2)


def robust_gain(f: Any, noise: StableNoise, *, estimator: str = "mle", trim: float = 0.25, power: float = 0.5) -> Any:
    """How many times more samples the mean needs than another estimator.

    Parameters
    ----------
    f : float or array_like
        Envelope, > 0 or 0.
    noise : StableNoise
        Noise, alignment and level of the test.
    estimator : {"mle", "median", "trimmed", "mean"}, optional
        As in `estimator_variance`.
    trim : float, optional
        As in `estimator_variance`.
    power : float, optional
        Probability of detection, above the level.

    Returns
    -------
    float or ndarray
        `sample_complexity` over `robust_sample_complexity`: it grows like f**(2 - kappa), and is a constant, the
        asymptotic relative efficiency, at alpha = 2. nan where both are infinite or both 0.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    Examples
    --------
    >>> import levycollapse as lc
    >>> gaussian = lc.StableNoise(alpha=2.0, scale=1.0, signal=0.2, level=0.05)
    >>> [round(lc.robust_gain(0.01, gaussian, estimator=name), 4) for name in ("mle", "median", "trimmed")]
    [1.0, 0.6366, 0.8367]
    >>> heavy = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.2, level=0.05)
    >>> lc.robust_gain([0.1, 0.01, 0.001], heavy, estimator="median").round()
    array([  174.,  1735., 17351.])
    """
    mean = np.asarray(sample_complexity(f, noise, power=power))
    other = np.asarray(robust_sample_complexity(f, noise, estimator=estimator, trim=trim, power=power))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
        return plain(mean / other)


@lru_cache(maxsize=1024)
def _variance(alpha: float, estimator: str, trim: float) -> float:
    if estimator == "mean":
        return 2.0 if alpha == 2.0 else math.inf
    if estimator == "mle":
        return 1 / float(location(alpha).information)
    law = SymmetricStable(alpha)
    if estimator == "median":
        return 1 / (2 * float(law.pdf(0.0))) ** 2
    cut = float(law.isf(trim))
    x, weight = panels(0.5 * peak_width(alpha), cut)
    inside: FloatArray = weight * x**2 * law.pdf(x)
    return (2 * float(inside.sum()) + 2 * trim * cut**2) / (1 - 2 * trim) ** 2
