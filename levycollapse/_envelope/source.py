"""One view of everything that can be asked for time scales: laws of tau, and densities of zeta = -log tau."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import FloatArray
from ..errors import ParameterError

#: Largest |log tau| of a sampled time scale.
LOG_LARGEST = 700.0


class TimescaleLaw:
    """The time scales of a law, whichever variable it is a law of.

    A spectrum is a law of tau. A density with `timescale_pdf` (a stationary density) is a law of zeta, whose left tail
    is the tail of long time scales: there the lower quantile of zeta is the upper one of tau, without cancellation.
    """

    def __init__(self, law: Any) -> None:
        if not hasattr(law, "envelope"):
            raise ParameterError(f"density={type(law).__name__} must have a method envelope(lags)")
        self._law = law
        self._of_zeta = hasattr(law, "timescale_pdf")

    def log_envelope(self, lags: FloatArray) -> FloatArray:
        """Logarithm of f, directly where the law has it."""
        if hasattr(self._law, "log_envelope"):
            return np.asarray(self._law.log_envelope(lags), dtype=float)
        with np.errstate(divide="ignore"):
            value: FloatArray = np.log(np.asarray(self._law.envelope(lags), dtype=float))
        return value

    def isf(self, q: Any) -> Any:
        """Time scale that a fraction q exceeds."""
        q = np.asarray(q, dtype=float)
        if self._of_zeta:
            # inf is a time scale beyond the largest double, which a law without tempering has.
            with np.errstate(over="ignore"):
                return np.exp(-np.asarray(self._law.ppf(q)))
        if hasattr(self._law, "isf"):
            return np.asarray(self._law.isf(q))
        if hasattr(self._law, "ppf"):
            return np.asarray(self._law.ppf(1 - q))
        raise ParameterError(f"density={type(self._law).__name__} has no quantiles (ppf or isf)")

    def sf(self, tau: Any) -> Any:
        """Fraction of time scales above tau."""
        tau = np.asarray(tau, dtype=float)
        if self._of_zeta:
            return np.asarray(self._law.cdf(-np.log(tau)))
        if hasattr(self._law, "sf"):
            return np.asarray(self._law.sf(tau))
        if hasattr(self._law, "cdf"):
            return 1 - np.asarray(self._law.cdf(tau))
        raise ParameterError(f"density={type(self._law).__name__} has no distribution function (sf or cdf)")

    def rvs(self, size: int, generators: list[np.random.Generator]) -> FloatArray:
        """Independent time scales, shape (len(generators), size): each row from its own generator."""
        if self._of_zeta and getattr(self._law, "_by_inversion", False):
            # All rows at once: a quantile costs microseconds, a call of `ppf` fifty milliseconds.
            zeta = np.asarray(self._law.ppf(np.stack([g.random(size) for g in generators])), dtype=float)
            # exp(-l/tau) is 0 or 1 beyond this at any lag, and tau stays a number.
            return np.asarray(np.exp(-np.clip(zeta, -LOG_LARGEST, LOG_LARGEST)), dtype=float)
        return np.stack([self._one(size, generator) for generator in generators])

    def _one(self, size: int, generator: np.random.Generator) -> FloatArray:
        if hasattr(self._law, "rvs"):
            drawn = np.asarray(self._law.rvs(size, rng=generator), dtype=float)
            return np.exp(-drawn) if self._of_zeta else drawn
        return np.asarray(self.isf(1 - generator.random(size)), dtype=float)
