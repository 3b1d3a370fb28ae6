"""Expansions of the exponent near threshold and far below the tempering; each states its order."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gamma

from .._checks import FloatArray, choice, model_arrays, plain
from .._kernels import exponent as kernels
from .._kernels import symbol as symbol_kernels


@np.errstate(all="ignore")
def small_exponent(kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any, *, order: int = 2) -> Any:
    """Exponent far below the tempering, as a series in (beta/lam)**2.

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`; they broadcast. Needs lam > 0 where eta_J > 0 (nan otherwise).
    order : {1, 2, 3}, optional
        Number of terms: the relative error is O((beta/lam)**(2*order)). The first is
        kappa/(eta_G + eta_J Gamma(2-alpha) lam**(alpha-2)), the balance of drift against total variance.

    Returns
    -------
    float or ndarray
        The expansion, whether or not beta is small: compare with lam before you believe it.

    Raises
    ------
    ParameterError
        If a parameter is outside its range or `order` is not 1, 2 or 3.

    References
    ----------
    THEORY 3, NUMERICS C.2-C.3.

    Examples
    --------
    >>> import levycollapse as lc
    >>> round(lc.small_exponent(kappa=1.0, eta_G=0.1, eta_J=20.0, alpha=1.5, lam=3.0), 8)
    0.04862189
    """
    choice("order", order, (1, 2, 3))
    kappa, eta_G, eta_J, alpha, lam = model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    with np.errstate(divide="ignore", invalid="ignore"):
        jump_variance = np.where(eta_J > 0, eta_J * gamma(2.0 - alpha) * lam ** (alpha - 2.0), 0.0)
        total = eta_G + jump_variance
        first = kappa / total
        # R(x) = X^-1 x (1 + share (c3 x^2 + c5 x^4 + ...)) = 1 reverted about x = X = first/lam.
        square = (first / lam) ** 2 * jump_variance / total
        c3 = (2.0 - alpha) * (3.0 - alpha) / 12.0
        c5 = c3 * (4.0 - alpha) * (5.0 - alpha) / 30.0
        correction = np.ones(np.shape(first))
        if order >= 2:
            correction = correction - c3 * square
        if order >= 3:
            correction = correction + 3.0 * (c3 * square) ** 2 - c5 * square * (first / lam) ** 2
    untempered = (lam == 0) & (eta_J > 0)
    no_jumps = np.broadcast_to(eta_J == 0, np.shape(first))
    return plain(np.where(untempered, np.nan, np.where(no_jumps, first, first * correction)))


@np.errstate(all="ignore")
def near_threshold_exponent(kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any, *, order: int = 2) -> Any:
    r"""Exponent just above threshold, where it leaves lam with a power that depends on alpha.

    With Delta = Phi(lam) = (eta_J - eta_J*) c(lam), d = lam - beta and P the regular part of Phi'(lam),

        Delta = P d - eta_J Gamma(-alpha) d**alpha + O(d**2).

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like
        As in `characteristic`; they broadcast.
    order : {1, 2}, optional
        1 keeps the larger of the two terms: d = Delta/P for alpha > 1, d = (Delta/(-eta_J Gamma(-alpha)))**(1/alpha)
        for alpha < 1, d = Delta/(eta_J log(eta_J/Delta)) at alpha = 1. 2 solves the equation above, which at alpha = 1
        is the Lambert W form, so that the error is O(d**2) for every alpha. (`symbolic.near_threshold_series` counts
        explicit terms instead and has them to any order.) Near alpha = 1 order 1 is poor (41% of d
        at alpha = 1, 1e-4 above threshold).

    Returns
    -------
    float or ndarray
        beta = lam - d; lam at threshold, nan below it or without jumps, and nan where d would exceed lam/2, far
        outside the expansion.

    Raises
    ------
    ParameterError
        If a parameter is outside its range or `order` is not 1 or 2.

    References
    ----------
    THEORY 3, NUMERICS C.3.

    Examples
    --------
    >>> import levycollapse as lc
    >>> eta_J = 1.01 * lc.jump_threshold(kappa=1.0, eta_G=0.1, alpha=1.0, lam=3.0)
    >>> round(lc.near_threshold_exponent(kappa=1.0, eta_G=0.1, eta_J=eta_J, alpha=1.0, lam=3.0), 4)
    2.9943
    """
    choice("order", order, (1, 2))
    arrays = model_arrays(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    kappa, eta_G, eta_J, alpha, lam = np.broadcast_arrays(*arrays)
    threshold = kernels.jump_threshold(kappa, eta_G, alpha, lam)
    status = kernels.exponent_with_status(kappa, eta_G, eta_J, alpha, lam)[3]
    valid = (eta_J > 0) & ((status == kernels.ROOT) | (status == kernels.AT_THRESHOLD))
    safe = [
        np.where(valid, v, filler) for v, filler in zip((kappa, eta_G, eta_J, alpha, lam), (1, 0, 1, 1, 1), strict=True)
    ]
    kappa, eta_G, eta_J, alpha, lam = safe
    excess = (eta_J - np.where(valid, threshold, 0.0)) * symbol_kernels.symbol(lam, 1.0, alpha, lam)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = (_leading_gap if order == 1 else _solved_gap)(excess, kappa, eta_G, eta_J, alpha, lam)
        gap = np.where((status == kernels.AT_THRESHOLD) | (excess <= 0), 0.0, gap)
        inside = valid & (gap >= 0) & (gap <= 0.5 * lam)
    return plain(np.where(inside, lam - gap, np.nan))


def _leading_gap(excess: Any, kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any) -> Any:
    e = alpha - 1.0
    above, below = alpha > 1, alpha < 1
    scale = eta_J * gamma(2.0 - alpha)
    slope = 2.0 * eta_G * lam - kappa + scale * (2.0 * lam) ** e / np.where(above, e, 1.0)
    singular = scale / np.where(below, -alpha * e, 1.0)  # eta_J |Gamma(-alpha)|
    return np.where(
        above,
        excess / slope,
        np.where(below, (excess / singular) ** (1.0 / alpha), excess / (eta_J * np.log(eta_J / excess))),
    )


def _solved_gap(excess: Any, kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any) -> FloatArray:
    """Solve excess = P d - eta_J Gamma(-alpha) d**alpha, written without its pole at alpha = 1.

    Divided by d it is (2 eta_G lam - kappa) + scale ((2 lam)^e (1 + 1/e) - d^e/(e a)) with e = alpha - 1; both
    1/e cancel in expm1 form. The left side d * (.) is convex with one root; Newton in log d from the leading form.
    """
    e = alpha - 1.0
    scale = eta_J * gamma(2.0 - alpha)

    def over_e(log_ratio: Any) -> Any:
        """(exp(e t) - 1)/e."""
        small = np.abs(e) < 1e-12
        return np.where(small, log_ratio, np.expm1(np.where(small, 0.0, e * log_ratio)) / np.where(small, 1.0, e))

    base = 2.0 * eta_G * lam - kappa
    # [a (2 lam)^e - d^e]/(a e) = {over_e(log 2 lam) - over_e(log d)}/a + (2 lam)^e/a
    constant = base + scale * (over_e(np.log(2.0 * lam)) + (2.0 * lam) ** e) / alpha
    log_d = np.log(np.minimum(np.maximum(_leading_gap(excess, kappa, eta_G, eta_J, alpha, lam), 1e-300), 0.5 * lam))
    log_d = np.where(np.isfinite(log_d), log_d, np.log(1e-3 * lam))
    for _ in range(100):
        slope = constant - scale * over_e(log_d) / alpha
        derivative = slope - scale * np.exp(e * log_d) / alpha
        # Newton on log(d * slope) = log(excess), which is nearly linear in log d.
        ratio = np.where(slope > 0, derivative / slope, 1.0)
        step = np.where(slope > 0, (log_d + np.log(np.maximum(slope, 1e-300)) - np.log(excess)), 1.0) / np.where(
            ratio > 0.05, ratio, 1.0
        )
        log_d = log_d - np.clip(step, -2.0, 2.0)
        if np.all((np.abs(step) < 1e-15 * np.maximum(1.0, np.abs(log_d))) | (excess <= 0)):
            break
    gap: FloatArray = np.exp(log_d)
    return gap
