"""What symmetric laws have in common: everything follows from log f and log P(X > x) at x >= 0."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._checks import FINITE, PROBABILITY, FloatArray, checked, extended, plain


class Core(Protocol):
    """A symmetric law at x >= 0, in units of 1/`per_unit`; arrays are one-dimensional."""

    per_unit: float

    def vanishes(self, x: FloatArray, density: bool) -> NDArray[np.bool_]:
        """Where density (in units of zeta) or survival probability are 0 in double precision for certain."""

    def log_density(self, x: FloatArray) -> FloatArray:
        """Logarithm of the density."""

    def log_survival(self, x: FloatArray) -> FloatArray:
        """Logarithm of P(X > x)."""

    def error(self, x: FloatArray) -> FloatArray:
        """Relative error of both."""

    def invert(self, survival: FloatArray, centre: FloatArray) -> FloatArray:
        """Find x with P(X > x) = survival in (0, 1/2), given also centre = 1 - 2 survival."""


class SymmetricLaw:
    """Density, probabilities and quantiles of a symmetric law, from its `Core`."""

    __slots__ = ("_core",)

    _core: Core

    def logpdf(self, x: Any) -> Any:
        """Logarithm of the density.

        Parameters
        ----------
        x : float or array_like
            Points, in units of zeta; infinite ones are allowed.

        Returns
        -------
        float or ndarray
            log f(x).

        Raises
        ------
        ParameterError
            If `x` has a nan.
        ConvergenceError
            If the accuracy of the class cannot be met at a point.
        """
        point, shape = _flat("x", x)
        return _shaped(self._log_density(np.abs(point)), shape)

    def pdf(self, x: Any) -> Any:
        """Density at `x`; see `logpdf`. It is 0 where it underflows, also where its logarithm is not known."""
        point, shape = _flat("x", x)
        return _shaped(_exp(self._log_density(np.abs(point), known=False)), shape)

    def logsf(self, x: Any) -> Any:
        """Logarithm of the survival probability P(X > x); arguments and errors as in `logpdf`."""
        point, shape = _flat("x", x)
        return _shaped(self._log_upper(point), shape)

    def sf(self, x: Any) -> Any:
        """Survival probability P(X > x); arguments and errors as in `logpdf`."""
        point, shape = _flat("x", x)
        return _shaped(_exp(self._log_upper(point, known=False)), shape)

    def logcdf(self, x: Any) -> Any:
        """Logarithm of the distribution function P(X <= x); arguments and errors as in `logpdf`."""
        point, shape = _flat("x", x)
        return _shaped(self._log_upper(-point), shape)

    def cdf(self, x: Any) -> Any:
        """Distribution function P(X <= x); arguments and errors as in `logpdf`."""
        point, shape = _flat("x", x)
        return _shaped(_exp(self._log_upper(-point, known=False)), shape)

    def error(self, x: Any) -> Any:
        """Estimated relative error of `pdf` and of P(X > |x|) at `x`, the larger of the two.

        Parameters
        ----------
        x : float or array_like
            Finite points.

        Returns
        -------
        float or ndarray
            The estimate, also where it is too large for the other methods.
        """
        point = checked("x", x, FINITE)
        return _shaped(self._core.error(np.abs(point.ravel()) * self._core.per_unit), point.shape)

    def _log_density(self, distance: FloatArray, known: bool = True) -> FloatArray:
        return self._of_distance(distance, True, known) + math.log(self._core.per_unit)

    def _of_distance(self, distance: FloatArray, density: bool, known: bool) -> FloatArray:
        """A logarithm at |x|, -inf at infinity, and unless it has to be `known` also where its exponential is 0."""
        function = self._core.log_density if density else self._core.log_survival
        finite = np.isfinite(distance)
        with np.errstate(over="ignore", under="ignore"):
            # A finite point that overflows here is for the core to refuse.
            scaled = np.where(finite, np.minimum(distance * self._core.per_unit, np.finfo(float).max), np.inf)
        if not known:
            finite &= ~self._core.vanishes(scaled, density)
        if finite.all():
            values: FloatArray = function(scaled)
            return values
        out = np.full(distance.shape, -np.inf)
        out[finite] = function(scaled[finite])
        return out

    def _log_upper(self, point: FloatArray, known: bool = True) -> FloatArray:
        # Above the middle the logarithm is 0 where the tail vanishes, and known.
        upper = self._of_distance(np.abs(point), False, known)
        left = point < 0.0
        if left.any():
            with np.errstate(under="ignore"):
                upper[left] = np.log1p(-np.exp(upper[left]))
        return upper

    def isf(self, q: Any) -> Any:
        """Point that is exceeded with probability `q`.

        Parameters
        ----------
        q : float or array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        float or ndarray
            x with P(X > x) = q, so that sf(isf(q)) = q to a relative 1e-10 also in the tail; inf at q = 0, and where
            x exceeds the largest double.

        Raises
        ------
        ParameterError
            If `q` is not in [0, 1].
        ConvergenceError
            As in `logpdf`.
        """
        probability, shape = _probability(q)
        return _shaped(self._upper_quantile(probability), shape)

    def ppf(self, q: Any) -> Any:
        """Quantile: x with P(X <= x) = q; the mirror image of `isf`."""
        probability, shape = _probability(q)
        return _shaped(-self._upper_quantile(probability), shape)

    def _upper_quantile(self, probability: FloatArray) -> FloatArray:
        upper = probability > 0.5
        tail = np.where(upper, 1.0 - probability, probability)
        out = np.where(tail == 0.0, np.inf, 0.0)
        inside = (tail > 0.0) & (tail < 0.5)
        if inside.any():
            # 1 - 2q and 2q - 1 are exact where they are small.
            centre = np.abs(1.0 - 2.0 * probability[inside])
            out[inside] = self._core.invert(tail[inside], centre) / self._core.per_unit
        return np.where(upper, -out, out)


def _flat(name: str, value: Any) -> tuple[FloatArray, tuple[int, ...]]:
    array = extended(name, value)
    return array.ravel(), array.shape


def _probability(value: Any) -> tuple[FloatArray, tuple[int, ...]]:
    array = checked("q", value, PROBABILITY)
    return array.ravel(), array.shape


def _shaped(values: FloatArray, shape: tuple[int, ...]) -> Any:
    return plain(values.reshape(shape))


def _exp(logarithm: FloatArray) -> FloatArray:
    with np.errstate(under="ignore"):
        values: FloatArray = np.exp(logarithm)
    return values
