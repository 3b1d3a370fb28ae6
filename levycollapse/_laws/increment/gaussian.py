"""The law of a step without jumps, in the same form as `Inversion`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri

from ..._checks import FloatArray

#: Bound of the error of scipy's log_ndtr and of exp over the range of doubles, in units of 1 + |log P|.
ROUNDING = 1e-15


class Gaussian:
    """The normal law, in units of its standard deviation 1/`per_unit`."""

    def __init__(self, variance: float) -> None:
        self.per_unit = 1.0 / math.sqrt(variance)

    def vanishes(self, x: FloatArray, density: bool) -> NDArray[np.bool_]:
        """Nowhere: the logarithms are right however far out."""
        return np.zeros(x.shape, dtype=np.bool_)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Logarithm of the density in units of `per_unit`."""
        with np.errstate(over="ignore"):
            density: FloatArray = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi)
        return density

    def log_survival(self, x: FloatArray) -> FloatArray:
        """Logarithm of P(X > x)."""
        survival: FloatArray = log_ndtr(-x)
        return survival

    def error(self, x: FloatArray) -> FloatArray:
        """Rounding bound of both, relative."""
        bound: FloatArray = ROUNDING * (1.0 + 0.5 * x * x)
        return bound

    def invert(self, survival: FloatArray, centre: FloatArray) -> FloatArray:
        """Find x with P(X > x) = survival."""
        quantile: FloatArray = -ndtri(survival)
        return quantile
