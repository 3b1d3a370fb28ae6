"""What averaging stable noise gains, and what it does not."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from .._checks import POSITIVE, FloatArray, _Range, broadcast_shape, checked, plain
from .._laws.stable import SymmetricStable

INDEX = _Range("a number in (0, 2]", lambda v: (v > 0) & (v <= 2))
AVERAGING = _Range("a number in (1, 2]", lambda v: (v > 1) & (v <= 2))
EXPONENT = _Range("a number >= 2", lambda v: v >= 2)
SAMPLES = _Range("a finite number >= 1", lambda v: v >= 1)


def concentration_exponent(alpha: Any) -> Any:
    """Exponent kappa = alpha/(alpha - 1) with which samples are paid for averaging: the mean narrows as N**(-1/kappa).

    Parameters
    ----------
    alpha : float or array_like
        Tail index of the noise, in (0, 2].

    Returns
    -------
    float or ndarray
        2 at alpha = 2, larger below, and inf for alpha <= 1: no number of samples makes their mean better than one.

    Raises
    ------
    ParameterError
        If `alpha` is outside its range.

    See Also
    --------
    robust_sample_complexity : The exponent is that of the mean, not of the problem: other estimators have 2.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.concentration_exponent([2.0, 1.8, 1.5, 1.2, 1.0]).round(12)
    array([2.  , 2.25, 3.  , 6.  ,  inf])
    """
    index = checked("alpha", alpha, INDEX)
    with np.errstate(divide="ignore"):
        # alpha - 1 is exact.
        return plain(np.where(index > 1, index / np.maximum(index - 1, 0), np.inf))


def stability_from_concentration(exponent: Any) -> Any:
    """Tail index alpha = kappa/(kappa - 1) of a concentration exponent; the inverse of `concentration_exponent`.

    Parameters
    ----------
    exponent : float or array_like
        kappa >= 2.

    Returns
    -------
    float or ndarray
        alpha in (1, 2].

    Raises
    ------
    ParameterError
        If `exponent` is below 2 or not finite: inf belongs to every alpha <= 1.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.stability_from_concentration(3.0)
    1.5
    """
    kappa = checked("exponent", exponent, EXPONENT)
    return plain(kappa / (kappa - 1))


def concentration_rate(N: Any, alpha: Any) -> Any:
    """Factor N**(1/alpha - 1) by which the mean of N stable samples is narrower than one of them.

    Parameters
    ----------
    N : float or array_like
        Number of samples, >= 1.
    alpha : float or array_like
        Tail index, in (0, 2].

    Returns
    -------
    float or ndarray
        N**(-1/kappa) for alpha > 1; 1 at alpha = 1, and above 1 below: there the mean is wider than a single sample.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.concentration_rate(N=1000.0, alpha=[2.0, 1.5, 1.0, 0.5]).round(6)
    array([3.1623e-02, 1.0000e-01, 1.0000e+00, 1.0000e+03])
    """
    count, index = checked("N", N, SAMPLES), checked("alpha", alpha, INDEX)
    broadcast_shape(N=count, alpha=index)
    with np.errstate(over="ignore"):
        return plain(np.exp(log_rate(np.log(count), index)))


def stable_mean_scale(N: Any, alpha: Any, scale: Any = 1.0) -> Any:
    """Scale of the mean of N independent symmetric stable samples: scale N**(1/alpha - 1), exactly.

    Parameters
    ----------
    N : float or array_like
        Number of samples, >= 1.
    alpha : float or array_like
        Tail index, in (0, 2].
    scale : float or array_like, optional
        Scale of one sample, > 0.

    Returns
    -------
    float or ndarray
        The scale; the mean has the same alpha.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    Examples
    --------
    >>> import levycollapse as lc
    >>> round(lc.stable_mean_scale(N=1000, alpha=1.5, scale=3.0), 12)
    0.3
    """
    width = checked("scale", scale, POSITIVE)
    return plain(width * np.asarray(concentration_rate(N, alpha)))


def stable_mean_abs(alpha: Any, scale: Any = 1.0) -> Any:
    """Mean of the absolute value of a symmetric stable variable: (2/pi) Gamma(1 - 1/alpha) scale.

    Parameters
    ----------
    alpha : float or array_like
        Tail index, in (1, 2].
    scale : float or array_like, optional
        Its scale, > 0.

    Returns
    -------
    float or ndarray
        E abs(X).

    Raises
    ------
    ParameterError
        If `alpha` is outside (1, 2], where the mean exists, or `scale` not > 0.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.stable_mean_abs([2.0, 1.8, 1.5, 1.2]).round(3)
    array([1.128, 1.269, 1.705, 3.544])
    """
    index, width = checked("alpha", alpha, AVERAGING), checked("scale", scale, POSITIVE)
    broadcast_shape(alpha=index, scale=width)
    return plain(2 / math.pi * special.gamma((index - 1) / index) * width)


def oriented_null_samples(batch: Any, alpha: Any, eps: Any) -> Any:
    """Number of samples from which the published statistic calls pure noise learnable, at every lag at once.

    Parameters
    ----------
    batch : float or array_like
        Samples whose mean is oriented by its own sign, >= 1; in the published code 128 sequences times (T - l).
    alpha : float or array_like
        Tail index of the noise, in (1, 2].
    eps : float or array_like
        Its threshold eps > 0, 0.1 in the paper.

    Returns
    -------
    float or ndarray
        batch (eps/E abs(Z))**kappa.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    Notes
    -----
    The mean of oriented batch means tends to E abs(batch mean) and not to 0. This says what a published window shows
    without any signal; nothing in this package uses it.

    References
    ----------
    L. Livi, arXiv:2512.05790, its public code.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.oriented_null_samples(128 * 894, [2.0, 1.8, 1.5], 0.1).round()
    array([899., 377.,  23.])
    """
    size, threshold = checked("batch", batch, SAMPLES), checked("eps", eps, POSITIVE)
    index = checked("alpha", alpha, AVERAGING)
    broadcast_shape(batch=size, alpha=index, eps=threshold)
    ratio = np.log(threshold) - np.log(stable_mean_abs(index))
    with np.errstate(over="ignore", under="ignore"):
        return plain(np.exp(np.log(size) + np.asarray(concentration_exponent(index)) * ratio))


def rate_exponent(alpha: Any) -> Any:
    """Exponent 1 - 1/alpha of the concentration rate; 1/alpha - 1 near 1 would cancel."""
    return (alpha - 1) / alpha


def log_rate(log_samples: FloatArray, alpha: Any) -> FloatArray:
    """Logarithm of the concentration rate."""
    return np.asarray(-log_samples * rate_exponent(alpha))


@lru_cache(maxsize=1024)
def margin(alpha: float, level: float, power: float) -> float:
    """Upper quantiles at `level` and 1 - `power`, added: how many scales a mean must be away to be seen so often."""
    law = SymmetricStable(alpha)

    return float(law.isf(level) + law.ppf(power))
