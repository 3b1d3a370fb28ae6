"""The local exponent b(l) = -d log f/d log l of an envelope: exact from a law or samples, estimated from a table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy import special, stats

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, _Range, checked
from ..errors import ParameterError
from .forward import mixture

LEVEL = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
#: Points that a local quadratic must see: three coefficients and enough left to tell noise from shape.
FEWEST = 7
#: Half width of the window in log l. At 1 % noise and 32 points a decade, bias and noise of b are both near 0.01.
WINDOW = 0.5


class SlopeStatus(Enum):
    """How a local exponent was obtained."""

    #: From the law or the samples themselves; the interval is the value.
    EXACT = "exact"
    #: Regression on a table, noise level given.
    KNOWN_NOISE = "regression, noise given"
    #: Regression on a table, noise level estimated from its residuals.
    ESTIMATED_NOISE = "regression, noise estimated"


@dataclass(frozen=True)
class LocalExponent:
    """Local exponent of an envelope over lags.

    Attributes
    ----------
    lags : ndarray
        Lags in network steps, as given.
    exponent : ndarray
        b(l); nan where the table has no usable neighbours (an envelope that is 0, or too few points).
    lower, upper : ndarray
        Pointwise interval at `level`, noise and smoothing bias included; equal to `exponent` where it is exact.
    standard_error : ndarray
        Of the noise alone; 0 where exact.
    level : float
        Nominal coverage, pointwise and not for the curve as a whole.
    status : SlopeStatus
        How it was obtained.
    """

    lags: FloatArray
    exponent: FloatArray
    lower: FloatArray
    upper: FloatArray
    standard_error: FloatArray
    level: float
    status: SlopeStatus


def local_exponent(
    lags: Any,
    f: Any = None,
    *,
    tau: Any = None,
    weights: Any = None,
    sigma: Any = None,
    level: float = 0.95,
    window: float | None = None,
) -> LocalExponent:
    """Local exponent b(l) = -d log f/d log l (THEORY 6).

    Parameters
    ----------
    lags : array_like
        Lags in network steps; >= 0, and for a table increasing and > 0.
    f : object or array_like
        A law with a method `local_exponent(lags)` (a spectrum) or `envelope(lags)` (a density), or the values of an
        envelope at `lags`, > 0 or 0 where it has vanished.
    tau, weights : array_like, optional
        Samples of the time scale instead of `f`, as in `envelope`.
    sigma : float or array_like, optional
        Relative standard deviation of a table's independent errors. Estimated from residuals by default.
    level : float, optional
        Pointwise coverage of the interval of a table.
    window : float, optional
        Half width of the regression window in log l; 0.5 by default, more where it would hold fewer than 7 points.

    Returns
    -------
    LocalExponent
        Value and interval at every lag.

    Raises
    ------
    ParameterError
        If not exactly one of `f` and `tau` is given, or a table does not fit its lags or has fewer than 7 points > 0.

    See Also
    --------
    envelope : The envelope of samples.
    invert_envelope : The tail index itself, which a local exponent only approaches.

    Notes
    -----
    A law without `local_exponent` is differentiated by a seventh-point central difference of log f in log l, good to
    about 1e-9 of a smooth f known to rounding.

    For a table, log f is regressed on a quadratic in log l in a sliding window. The interval adds to Student's (or the
    normal) quantile a bias allowance from the cubic term seen in a window twice as wide. Coverage of the 95 % interval
    over 60 tables of 128 lags in [1, 1e4] with 1 % noise, mean over lags: 0.97 for Pareto, gamma and log-normal
    spectra, 0.96 for one truncated at tau_max = 3000, where single lags near the cutoff fall to 0.75-0.83; half width
    0.02. Coarse tables are biased by more than the allowance: 0.90-0.95 at 20 lags, 0.75-0.83 at 12. Errors that are
    correlated between lags, as those of an envelope measured on one network are, are not covered: pass `tau`, or
    resample networks.

    References
    ----------
    THEORY 6.

    Examples
    --------
    >>> import numpy as np
    >>> from levycollapse._envelope.slope import local_exponent
    >>> local_exponent([1.0, 10.0], tau=[1.0, 10.0, 100.0]).exponent.round(4)
    array([0.2069, 0.3605])
    """
    if (f is None) == (tau is None):
        raise ParameterError("give exactly one of f (a law, or a table of the envelope at lags) and tau (samples)")
    if tau is not None:
        at = checked("lags", lags, NON_NEGATIVE)
        return _exact(at, mixture(tau, weights).local_exponent(at), level)
    if hasattr(f, "local_exponent") or hasattr(f, "envelope"):
        at = checked("lags", lags, NON_NEGATIVE)
        return _exact(at, exponent_of_law(f, at), level)
    return _regression(lags, f, sigma, float(checked("level", level, LEVEL)), window)


def exponent_of_law(law: Any, lags: FloatArray) -> FloatArray:
    """Exact local exponent of an object: its own, or the difference quotient of its envelope."""
    if hasattr(law, "local_exponent"):
        return np.asarray(law.local_exponent(lags), dtype=float)
    log_f = getattr(law, "log_envelope", None) or (lambda x: np.log(law.envelope(x)))
    # Seven points, step 0.05: truncation (0.05)^6/140 b^(7) and rounding 1e-15/0.05 are both below 1e-9.
    step, coefficients = 0.05, np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
    out = np.zeros(lags.shape)
    positive = lags > 0
    nodes = lags[positive][:, None] * np.exp(step * np.arange(-3, 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        out[positive] = -(np.asarray(log_f(nodes)) @ coefficients) / step
    return out


def _exact(lags: FloatArray, value: FloatArray, level: float) -> LocalExponent:
    return LocalExponent(lags, value, value.copy(), value.copy(), np.zeros(value.shape), level, SlopeStatus.EXACT)


def table(lags: Any, f: Any, fewest: int) -> tuple[FloatArray, FloatArray]:
    """Check a tabulated envelope: increasing lags > 0, values >= 0, enough of them > 0."""
    at, values = checked("lags", lags, POSITIVE), checked("f", f, NON_NEGATIVE)
    if at.ndim != 1 or values.shape != at.shape:
        raise ParameterError(f"a table needs one value of f for each lag: lags {at.shape}, f {values.shape}")
    if (np.diff(at) <= 0).any():
        raise ParameterError("lags must increase strictly")
    if (values > 0).sum() < fewest:
        raise ParameterError(f"f has {(values > 0).sum()} values > 0; at least {fewest} are needed")
    return at, values


def _regression(lags: Any, f: Any, sigma: Any, level: float, window: float | None) -> LocalExponent:
    at, values = table(lags, f, FEWEST)
    half = WINDOW if window is None else float(checked("window", window, POSITIVE))
    used = values > 0
    x, y = np.log(at[used]), np.log(values[used])
    noise = None if sigma is None else np.broadcast_to(checked("sigma", sigma, POSITIVE), at.shape)[used]
    fits = [_local_fit(x, y, noise, centre, half) for centre in x]
    slope, error, bias, residual, freedom = np.array(fits).T
    if noise is None:
        # One noise level for the whole table: each point's residuals are too few to give its own.
        pooled = np.sqrt(residual.sum() / freedom.sum())
        error = error * pooled
        # Neighbouring windows overlap: the residuals hold about n - 3 n/(points a window) independent numbers.
        count = float(np.mean(freedom) + 3)
        quantile = float(stats.t.ppf(0.5 + level / 2, max(3.0, x.size * (1 - 3 / count))))
    else:
        quantile = float(special.ndtri(0.5 + level / 2))
    value, low, high, deviation = np.full((4, at.size), np.nan)
    margin = quantile * error + bias
    value[used], low[used], high[used], deviation[used] = -slope, -slope - margin, -slope + margin, error
    status = SlopeStatus.ESTIMATED_NOISE if noise is None else SlopeStatus.KNOWN_NOISE
    return LocalExponent(at, value, low, high, deviation, level, status)


def _local_fit(x: FloatArray, y: FloatArray, noise: Any, centre: float, half: float) -> tuple[float, ...]:
    """Slope of a local quadratic at `centre`: value, standard error (at unit noise if unknown), bias allowance."""
    t, values, weight = _window(x, y, noise, centre, half)
    design = np.vander(t, 3, increasing=True) * weight[:, None]
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ (values * weight)
    row = inverse[1] * weight
    error = float(np.linalg.norm(row / weight))
    residual = float(np.sum((values * weight - design @ coefficients) ** 2))
    wide, more, wide_weight = _window(x, y, noise, centre, 2 * half)
    cubic = np.linalg.lstsq(np.vander(wide, 4, increasing=True) * wide_weight[:, None], more * wide_weight)[0][3]
    bias = abs(float(cubic * (row @ t**3)))
    return float(coefficients[1]), error, bias, residual, float(t.size - 3)


def _window(x: FloatArray, y: FloatArray, noise: Any, centre: float, half: float) -> tuple[FloatArray, ...]:
    distance = np.abs(x - centre)
    inside = distance <= max(half, float(np.partition(distance, FEWEST - 1)[FEWEST - 1]))
    weight = np.ones(int(inside.sum())) if noise is None else 1 / noise[inside]
    return x[inside] - centre, y[inside], weight
