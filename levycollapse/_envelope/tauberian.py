"""What the tail of a spectrum says about the envelope at long lags (Karamata), with its next order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy import special

from .._checks import POSITIVE, FloatArray, checked
from .._theory.tail import TailForm
from ..errors import ParameterError


class TauberianStatus(Enum):
    """What the error estimate of a Tauberian envelope rests on."""

    #: A pure power: no logarithms to expand. The error is that of the tail itself, which only the law can tell.
    NO_LOGARITHMS = "pure power"
    #: Logarithmic factors: the error estimate is the first omitted terms of their expansion.
    LOGARITHMS = "logarithmic corrections"


@dataclass(frozen=True)
class TauberianEnvelope:
    """Asymptotic envelope at long lags.

    Attributes
    ----------
    lags : ndarray
        Lags in network steps.
    leading : ndarray
        C Gamma(rate) l**-rate (log l)**p (log log l)**q; at rate 0 the integrated tail. nan where a logarithm is not
        positive.
    envelope : ndarray
        With the next order of NUMERICS C.7, about the shifted logarithm log l - digamma(rate).
    relative_error : ndarray
        Size of the omitted terms of that expansion, relative to `envelope`; 0 for a pure power, inf where `envelope` is
        nan, overflows or underflows. It knows nothing of the body of the spectrum: see `holds_from` with a law.
    status : TauberianStatus
        What the error estimate rests on.
    """

    lags: FloatArray
    leading: FloatArray
    envelope: FloatArray
    relative_error: FloatArray
    status: TauberianStatus
    _law: _Asymptote

    def holds_from(self, accuracy: float, law: Any = None) -> float:
        """Lag from which the asymptote holds to a relative accuracy, up to lag 1e300.

        Parameters
        ----------
        accuracy : float
            Relative accuracy > 0.
        law : object, optional
            Law whose `envelope(lags)` it is compared with. Without it only the omitted logarithmic terms are judged,
            which is necessary and not sufficient; for a pure power that is the whole line.

        Returns
        -------
        float
            Smallest lag beyond which the error stays below `accuracy` at every lag of a grid of 64 a decade, refined
            by bisection; `inf` if there is none.
        """
        tolerance = float(checked("accuracy", accuracy, POSITIVE))
        return _last_crossing(lambda lags: _error(self._law, lags, law), tolerance)


@dataclass(frozen=True)
class _Asymptote:
    """log f ~ log_constant - rate l' + p log v + q log log v, v = l' - shift, l' = log l, with gamma-law moments."""

    log_constant: float
    rate: float
    log_power: float
    loglog_power: float
    shift: float
    cumulants: tuple[float, float, float]

    @property
    def logarithmic(self) -> bool:
        return self.log_power != 0 or self.loglog_power != 0

    def leading(self, log_lags: FloatArray) -> FloatArray:
        return np.exp(self.log_constant - self.rate * log_lags + self._log_slow(log_lags))

    def corrected(self, log_lags: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value to second order about the shifted logarithm, and the relative size of orders three and four."""
        v = log_lags - self.shift
        second, third, fourth = self._derivatives(v)
        k2, k3, k4 = self.cumulants
        # E g(v - d) with d = log u - shift centred: orders 2, 3 and 4 in its cumulants.
        factor = 1 + 0.5 * second * k2
        omitted = np.abs(third * k3) / 6 + np.abs(fourth) * (k4 + 3 * k2**2) / 24
        value = np.exp(self.log_constant - self.rate * log_lags + self._log_slow(v)) * factor
        valid = factor > 0
        return np.where(valid, value, np.nan), np.where(valid, omitted / np.where(valid, factor, 1), np.inf)

    def _log_slow(self, v: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.log(np.where(v > 0, v, np.nan))
            slow = self.log_power * inner if self.log_power else np.zeros(v.shape)
            if self.loglog_power:
                slow = slow + self.loglog_power * np.log(np.where(inner > 0, inner, np.nan))
        return slow

    def _derivatives(self, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """g''/g, g'''/g, g''''/g of g = v^p (log v)^q."""
        p, q = self.log_power, self.loglog_power
        if not self.logarithmic:
            zero = np.zeros(v.shape)
            return zero, zero, zero
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            safe = np.where(v > 0, v, np.nan)
            e = 1 / np.log(safe) if q else np.zeros(v.shape)
            # h = v g'/g = p + q e; v d/dv e = -e^2. Then g^(n+1)/g v^(n+1) = (v d/dv - n + h) applied in turn.
            h0 = p + q * e
            h1, h2, h3 = -q * e**2, 2 * q * e**3, -6 * q * e**4
            a2 = h0**2 - h0 + h1
            a3 = (2 * h0 - 1) * h1 + h2 + (h0 - 2) * a2
            d_a2 = (2 * h0 - 1) * h1 + h2
            d_d_a2 = 2 * h1**2 + (2 * h0 - 1) * h2 + h3
            d_a3 = d_d_a2 + h1 * a2 + (h0 - 2) * d_a2
            a4 = d_a3 + (h0 - 3) * a3
            return a2 / safe**2, a3 / safe**3, a4 / safe**4


def tauberian_envelope(tail: Any, lags: Any, *, prefactor: float | None = None) -> TauberianEnvelope:
    """Envelope at long lags from the tail of the spectrum, in every phase.

    Parameters
    ----------
    tail : TailLaw
        p(tau) ~ prefactor tau**(-1-rate) (log tau)**log_power (log log tau)**loglog_power; one law, not an array.
    lags : float or array_like
        Lags > 0 in network steps.
    prefactor : float, optional
        Constant > 0 of the tail, where `tail` has none.

    Returns
    -------
    TauberianEnvelope
        Leading form, next order, error estimate; `.holds_from(accuracy, law)` says from which lag it may be used.

    Raises
    ------
    ParameterError
        If the tail has no prefactor and none is given, is an array, or is no tail (nan).

    See Also
    --------
    local_exponent : The slope of the envelope itself, at any lag.

    Notes
    -----
    Do not use the leading form where the tail has logarithms: for rate 3 and log_power -2.5 it is 25 % off at l = 1e4
    and 8 % at 1e12, the next order 0.08 % and 0.004 %, always within `relative_error` (tests). That is the error of the
    transform of the stated tail; the tail itself may be reached later than its logarithms (NUMERICS B.6). Where log l
    is below about 1/rate neither means anything, which `relative_error` shows.

    References
    ----------
    Bingham, Goldie & Teugels, Regular Variation, 1.7; THEORY 6; NUMERICS C.7 and C.4 (logarithmic phase).

    Examples
    --------
    >>> import levycollapse as lc
    >>> from levycollapse._envelope.tauberian import tauberian_envelope
    >>> tail = lc.tail_law(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> found = tauberian_envelope(tail, 100.0, prefactor=1.0)
    >>> round(float(found.envelope), 9), found.status.value
    (0.001812259, 'pure power')
    """
    at = checked("lags", lags, POSITIVE)
    law = _asymptote(tail, prefactor)
    log_lags = np.log(at)
    with np.errstate(over="ignore", under="ignore"):
        leading, (value, error) = law.leading(log_lags), law.corrected(log_lags)
    # Neither an overflow nor an underflow has a relative accuracy.
    error = np.where(np.isfinite(value) & (value > 0), error, np.inf)
    status = TauberianStatus.LOGARITHMS if law.logarithmic else TauberianStatus.NO_LOGARITHMS
    return TauberianEnvelope(at, leading, value, error, status, law)


def _asymptote(tail: Any, prefactor: float | None) -> _Asymptote:
    names = ("rate", "log_power", "loglog_power")
    if not all(hasattr(tail, name) for name in names):
        raise ParameterError(f"tail={tail!r} must have the attributes rate, log_power and loglog_power of a TailLaw")
    if any(np.ndim(getattr(tail, name)) for name in names):
        raise ParameterError("tail is an array of laws; pass one of them")
    rate, p, q = (float(getattr(tail, name)) for name in names)
    if not all(map(math.isfinite, (rate, p, q))) or rate < 0:
        form = getattr(tail, "form", None)
        why = f" ({TailForm(form).name})" if form is not None else ""
        raise ParameterError(f"tail has rate {rate}{why}: there is no power law to transform")
    constant = getattr(tail, "prefactor", None) if prefactor is None else prefactor
    if constant is None:
        raise ParameterError(
            "tail has no prefactor: tail_law knows only the powers. Take the tail of stationary_density(model), "
            "which has one, or pass prefactor="
        )
    log_c = math.log(float(checked("prefactor", constant, POSITIVE)))
    if rate > 0:
        shape, log_c = rate, log_c + float(special.gammaln(rate))
    else:
        # P(tau > T) = C (log T)^(p+1)/(-p-1), and f(l) = E P(tau > l/u), u exponential: a gamma law of shape 1.
        if q != 0 or p >= -1:
            raise ParameterError(f"a tail of rate 0 needs log_power < -1 and no further logarithm, not {p} and {q}")
        shape, p, log_c = 1.0, p + 1, log_c - math.log(-p - 1)
    cumulants = tuple(float(special.polygamma(n, shape)) for n in (1, 2, 3))
    return _Asymptote(log_c, rate, p, q, float(special.digamma(shape)), (cumulants[0], cumulants[1], cumulants[2]))


def _error(asymptote: _Asymptote, lags: FloatArray, law: Any) -> FloatArray:
    value, omitted = asymptote.corrected(np.log(lags))
    if law is None:
        return omitted
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        exact = np.asarray(law.envelope(lags), dtype=float)
        error = np.abs(value / exact - 1)
    # Beyond the underflow of both there is nothing to compare.
    return np.where((exact < 1e-290) & (value < 1e-290), 0.0, np.where(np.isnan(error), np.inf, error))


def _last_crossing(error: Any, tolerance: float) -> float:
    grid = np.geomspace(1e-3, 1e300, 64 * 303 + 1)
    bad = np.flatnonzero(~(error(grid) <= tolerance))
    if not bad.size:
        return float(grid[0])
    if bad[-1] == grid.size - 1:
        return math.inf
    low, high = math.log(grid[bad[-1]]), math.log(grid[bad[-1] + 1])
    for _ in range(40):
        middle = 0.5 * (low + high)
        if error(np.array([math.exp(middle)]))[0] <= tolerance:
            high = middle
        else:
            low = middle
    return math.exp(high)
