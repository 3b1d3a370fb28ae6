"""Cumulants of the jumps, for the law of a process and that of one step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, gammaln

from .._checks import FloatArray
from ..errors import ParameterError


def check_order(n: Any) -> None:
    """Refuse what is not an order of a cumulant."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ParameterError(f"n={n!r} must be an integer >= 1")


def jump_cumulant(n: int, alpha: Any, lam: Any, intensity: Any, time: Any) -> FloatArray:
    """2 t eta_J Gamma(n-alpha) lam**(alpha-n) for even n, 0 for odd n; arrays broadcast.

    Where a factor alone leaves the range of floating point the product is found from logarithms, to rounding times the
    largest of them.
    """
    alpha, lam, intensity, time = (np.asarray(a, dtype=np.float64) for a in (alpha, lam, intensity, time))
    if n % 2:
        return np.zeros(np.broadcast_shapes(alpha.shape, lam.shape, intensity.shape, time.shape))
    with np.errstate(all="ignore"):
        factor, power, amount = gamma(n - alpha), lam ** (alpha - n), time * intensity
        direct = 2.0 * amount * (factor * power)
        in_range = _normal(factor) & _normal(power) & _normal(amount) & _normal(factor * power)
        logarithm = gammaln(n - alpha) + (alpha - n) * np.log(lam) + np.log(time) + np.log(intensity)
        general = 2.0 * np.exp(logarithm)
        # No jumps have no cumulants, also without tempering.
        return np.where(intensity == 0.0, 0.0, np.where(in_range, direct, general))


def _normal(value: FloatArray) -> NDArray[np.bool_]:
    normal: NDArray[np.bool_] = (value >= np.finfo(np.float64).tiny) & np.isfinite(value)
    return normal
