"""The envelope of time scales that are given one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, checked, plain
from .._kernels.mixture import shifted_sums
from ..errors import ParameterError

#: Below this many samples they are summed one by one; the two ways cost the same at 300, for 200 lags (measured).
AGGREGATE_ABOVE = 300


class Mixture(NamedTuple):
    """Checked time scales with normalised weights; f(l) = exp(-l low) S0(l), see `_kernels.mixture`."""

    tau: FloatArray
    weights: FloatArray
    uniform: bool
    total: float
    low: float
    high: float

    def sums(self, lags: FloatArray) -> tuple[FloatArray, FloatArray]:
        """S0 and S1 at lags > 0, divided by the total weight."""
        flat = np.ascontiguousarray(lags.ravel())
        if not flat.size:
            return np.empty(lags.shape), np.empty(lags.shape)
        aggregated = self.tau.size > AGGREGATE_ABOVE and flat.size > 4
        s0, s1 = shifted_sums(self.tau, self.weights, self.uniform, self.low, self.high, flat, aggregated)
        return s0.reshape(lags.shape) / self.total, s1.reshape(lags.shape) / self.total

    def log_envelope(self, lags: FloatArray) -> FloatArray:
        """Logarithm of f: finite at every finite lag, however long."""
        out = np.zeros(lags.shape)
        positive = lags > 0
        s0, _ = self.sums(lags[positive])
        out[positive] = np.log(s0) - lags[positive] * self.low
        return out

    def envelope(self, lags: FloatArray) -> FloatArray:
        """The envelope itself, without a detour through the logarithm."""
        out = np.ones(lags.shape)
        positive = lags > 0
        s0, _ = self.sums(lags[positive])
        out[positive] = np.exp(-lags[positive] * self.low) * s0
        return out

    def local_exponent(self, lags: FloatArray) -> FloatArray:
        """-d log f / d log l = l mu_min + l S1/S0."""
        out = np.zeros(lags.shape)
        positive = lags > 0
        at = lags[positive]
        s0, s1 = self.sums(at)
        out[positive] = at * (self.low + s1 / s0)
        return out


def mixture(tau: Any, weights: Any = None) -> Mixture:
    """Check time scales and weights, and note the slowest rate.

    Raises
    ------
    ParameterError
        If a time scale is not finite and > 0, a weight negative, or the weights do not match or sum to 0.
    """
    scales = np.ascontiguousarray(checked("tau", tau, POSITIVE).ravel())
    if not scales.size:
        raise ParameterError("tau is empty: an envelope needs at least one time scale")
    if weights is None:
        share, total = np.empty(0), float(scales.size)
    else:
        given = checked("weights", weights, NON_NEGATIVE)
        if given.shape != np.shape(tau):
            raise ParameterError(f"weights has shape {given.shape} but tau has {np.shape(tau)}; they must match")
        share = np.ascontiguousarray(given.ravel())
        # A sample without weight must not set the slowest rate.
        keep = share > 0
        if not keep.any():
            raise ParameterError("weights are all 0: at least one must be > 0")
        if not keep.all():
            scales, share = scales[keep], share[keep]
        # Scaled first: the sum of large weights must not overflow.
        share = share / share.max()
        total = float(share.sum())
    low = 1.0 / float(scales.max())
    with np.errstate(over="ignore", divide="ignore"):
        high = float(np.divide(1.0, scales.min())) - low
    return Mixture(scales, share, weights is None, total, low, high)


def envelope(tau: Any, lags: Any, weights: Any = None) -> Any:
    """Envelope f(l) = sum_q w_q exp(-l/tau_q) of given time scales.

    Parameters
    ----------
    tau : array_like
        Time scales > 0 in network steps, any shape; the mixture runs over all of them.
    lags : float or array_like
        Lags >= 0 in network steps, any shape.
    weights : array_like, optional
        Weights >= 0 of the shape of `tau`; they are normalised to sum 1. Equal weights by default, which makes f the
        mean over units (THEORY 1; multiply by the number of units for the sum).

    Returns
    -------
    float or ndarray
        f, of the shape of `lags`; 1 at lag 0. Below about 1e-308 it underflows to 0: use `local_exponent`, which does
        not, for the decay beyond that.

    Raises
    ------
    ParameterError
        If a time scale or lag is outside its range or the weights do not fit.

    See Also
    --------
    local_exponent : Its logarithmic slope, exact for the same time scales.
    invert_envelope : The way back.

    Notes
    -----
    Up to 300 time scales are summed one by one. More are aggregated on a geometric grid of the rates, each cell
    keeping 14 moments of its samples, so the sum is that of the samples as they are: relative error below 1e-12
    plus the rounding of l/tau wherever f > 1e-280, with a truncation bound checked at every lag. 1e6 time scales at
    1e3 lags take 0.04 to 0.08 s on one thread, 400 times less than a NumPy loop (benchmarks/envelope.py).

    References
    ----------
    THEORY 6.

    Examples
    --------
    >>> import numpy as np
    >>> from levycollapse._envelope.forward import envelope
    >>> np.round(envelope(tau=[1.0, 10.0, 100.0], lags=[0.0, 1.0, 10.0, 100.0]), 6)
    array([1.      , 0.754256, 0.424254, 0.122642])
    """
    at = checked("lags", lags, NON_NEGATIVE)
    return plain(mixture(tau, weights).envelope(at))
