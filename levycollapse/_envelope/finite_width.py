"""What a network of finite width shows of an envelope (THEORY 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, _Range, checked, generator, plain
from ..errors import ParameterError
from .forward import mixture
from .source import TimescaleLaw

PROBABILITY = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
#: Range of lags in which the crossover is looked for, and the |log f| up to which a difference of two is trusted.
SHORTEST, LONGEST, MEANINGFUL = 1e-12, 1e60, 1e12
#: Units drawn in one piece.
UNITS_AT_ONCE = 1 << 17
#: Coverage of the interval of each quantile that says how well `n_networks` determines it.
SAMPLING_LEVEL = 0.95


@dataclass(frozen=True)
class LargestTimescale:
    """Law of the largest of `width` independent time scales.

    Attributes
    ----------
    width : int
        Number of units.
    """

    width: int
    _law: TimescaleLaw

    def cdf(self, tau: Any) -> Any:
        """P(largest <= tau) = (1 - sf(tau))**width.

        Parameters
        ----------
        tau : float or array_like
            Time scales > 0, in network steps.

        Returns
        -------
        float or ndarray
            The probability.
        """
        below = checked("tau", tau, POSITIVE)
        with np.errstate(divide="ignore"):
            return plain(np.exp(self.width * np.log1p(-self._law.sf(below))))

    def ppf(self, q: Any) -> Any:
        """Quantile in network steps, accurate for any width: the upper quantile of one unit at 1 - q**(1/width).

        Parameters
        ----------
        q : float or array_like
            Probabilities in (0, 1).

        Returns
        -------
        float or ndarray
            Time scales, in network steps.
        """
        at = checked("q", q, PROBABILITY)
        return plain(np.asarray(self._law.isf(-np.expm1(np.log(at) / self.width))))

    @property
    def median(self) -> float:
        """Median in network steps."""
        return float(self.ppf(0.5))


@dataclass(frozen=True)
class FiniteWidthEnvelope:
    """Envelope f_H(l) = mean of exp(-l/tau_q) over networks of H independent units.

    Attributes
    ----------
    lags : ndarray
        Lags in network steps.
    width : int
        H.
    mean : ndarray
        E f_H = f, exact.
    variance : ndarray
        (f(2l) - f(l)**2)/H, exact.
    quantile_levels : ndarray
        Levels of the bands, shape (k,).
    quantiles : ndarray
        Quantiles of f_H over networks, shape (k,) + shape of lags, from `n_networks` simulated networks.
    quantiles_low, quantiles_high : ndarray
        95 % intervals of these quantiles from their order statistics; nan where n_networks is too small to have one.
    crossover_lag : float
        Lag at which the standard deviation of f_H equals f: beyond it one network says nothing about f. `inf` where it
        is not reached by lag 1e60, nan where f underflows or is lost in rounding before.
    largest : LargestTimescale
        Law of the largest time scale; beyond a few of it f_H is one exponential.
    n_networks : int
        Number of simulated networks.
    """

    lags: FloatArray
    width: int
    mean: FloatArray
    variance: FloatArray
    quantile_levels: FloatArray
    quantiles: FloatArray
    quantiles_low: FloatArray
    quantiles_high: FloatArray
    crossover_lag: float
    largest: LargestTimescale
    n_networks: int


def finite_width_envelope(
    density: Any,
    lags: Any,
    width: int,
    *,
    quantiles: Any = (0.05, 0.25, 0.5, 0.75, 0.95),
    n_networks: int = 1000,
    rng: Any = None,
) -> FiniteWidthEnvelope:
    """Mean, variance and quantile bands of the envelope over networks of one width.

    Parameters
    ----------
    density : object
        Law of the time scales: anything with `envelope(lags)` and `rvs`, or `ppf` (and `sf` or `cdf` for the law of
        the largest). A law of zeta is recognised by its `timescale_pdf`.
    lags : float or array_like
        Lags >= 0 in network steps.
    width : int
        Number of units H >= 1, independent (THEORY 6: shared units make the variance larger).
    quantiles : array_like, optional
        Levels of the bands, strictly between 0 and 1.
    n_networks : int, optional
        Networks to simulate for the bands; 0 for none. Costs about width * n_networks * len(lags) * 8 ns.
    rng : None, int, SeedSequence or Generator, optional
        SPEC 7. Network i depends on the seed and on i alone.

    Returns
    -------
    FiniteWidthEnvelope
        Exact moments, simulated bands with their own intervals, crossover lag and largest time scale.

    Raises
    ------
    ParameterError
        If a number is outside its range or `density` lacks what is needed.

    Notes
    -----
    The law of f_H is strongly skewed past the crossover: its mean is carried by few networks, most lie far below.
    Do not draw mean plus or minus two standard deviations there; the bands are what a network shows.

    References
    ----------
    THEORY 6; NUMERICS B.7, B.14.

    Examples
    --------
    >>> from levycollapse._envelope.finite_width import finite_width_envelope
    >>> from levycollapse._laws.spectra import Pareto
    >>> found = finite_width_envelope(Pareto(beta=0.8), lags=[1.0, 100.0], width=256, n_networks=0)
    >>> round(found.crossover_lag), round(found.largest.median)
    (1883, 1622)
    """
    at = checked("lags", lags, NON_NEGATIVE)
    units, networks = _count("width", width, 1), _count("n_networks", n_networks, 0)
    levels = checked("quantiles", quantiles, PROBABILITY).ravel()
    law = TimescaleLaw(density)
    log_f = law.log_envelope(at)
    with np.errstate(under="ignore", invalid="ignore"):
        mean = np.exp(log_f)
        # f(2l) - f^2 as f^2 expm1(...): no cancellation between equal numbers at short lags beyond that of log f.
        excess = law.log_envelope(2 * at) - 2 * log_f
        variance = np.where(mean > 0, np.exp(2 * log_f) * np.expm1(np.maximum(excess, 0.0)), 0.0) / units
    bands = _bands(law, at, units, levels, networks, rng)
    largest = LargestTimescale(units, law)
    return FiniteWidthEnvelope(at, units, mean, variance, levels, *bands, _crossover(law, units), largest, networks)


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name}={value!r} must be an integer >= {least}")
    return int(value)


def _bands(
    law: TimescaleLaw, lags: FloatArray, width: int, levels: FloatArray, networks: int, rng: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    shape = (levels.size, *lags.shape)
    if not networks:
        nothing = np.full(shape, np.nan)
        return nothing, nothing.copy(), nothing.copy()
    found = np.empty((networks, *lags.shape))
    generators = generator(rng).spawn(networks)
    block = max(1, UNITS_AT_ONCE // width)
    for start in range(0, networks, block):
        for network, tau in enumerate(law.rvs(width, generators[start : start + block]), start):
            found[network] = mixture(tau).envelope(lags)
    found.sort(axis=0)
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    for k, level in enumerate(levels):
        # Order statistics r < s bracket the quantile with probability P(r <= Binomial(n, level) < s).
        first = int(stats.binom.ppf(0.5 - SAMPLING_LEVEL / 2, networks, level)) - 1
        last = int(stats.binom.ppf(0.5 + SAMPLING_LEVEL / 2, networks, level))
        if first >= 0:
            low[k] = found[first]
        if last < networks:
            high[k] = found[last]
    return np.quantile(found, levels, axis=0), low, high


def _crossover(law: TimescaleLaw, width: int) -> float:
    """Lag where f(2l) = (1 + H) f(l)^2: the ratio grows with l because log f is convex."""
    target = math.log1p(width)

    def excess(lags: FloatArray) -> FloatArray:
        one, two = law.log_envelope(lags), law.log_envelope(2 * lags)
        with np.errstate(invalid="ignore"):
            value = two - 2 * one - target
        # Far beyond the slowest unit both logarithms are so long that their difference is rounding.
        return np.where(np.abs(one) < MEANINGFUL, value, np.nan)

    grid = np.geomspace(SHORTEST, LONGEST, 145)
    value = excess(grid)
    above = np.flatnonzero(value >= 0)
    if not above.size:
        return math.nan if np.isnan(value).any() else math.inf
    if above[0] == 0:
        return float(grid[0])
    low, high = math.log(grid[above[0] - 1]), math.log(grid[above[0]])
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        if excess(np.array([math.exp(middle)]))[0] < 0:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))
