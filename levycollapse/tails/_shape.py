"""Is the upper part of a spectrum a power law, or lighter? A statistic whose null law is known exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from .._checks import FloatArray, _Range, checked
from . import _progressive
from ._units import ONE_VALUE, Units, read_units

SIZE = _Range("a number strictly between 0 and 0.5", lambda v: (v > 0) & (v < 0.5))
#: (units, share of them): log-linear between, the last slope kept beyond. A smaller share has less power, a larger one
#: sees the body.
SHARES = ((64, 0.5), (512, 0.25), (4096, 0.1))
#: At most this many values: at 25,000 units the power is 1 already, and the null laws would take long to simulate.
MOST = 1000
#: Below this many units the upper half holds fewer than ten.
FEWEST = 20
#: Draws of each null law, and the seed of their streams.
DRAWS, SEED = 20_000, 20261130
#: Numbers drawn in one piece.
AT_ONCE = 4_000_000
#: A power law is not claimed on less than a decade of time scales.
DECADE = math.log(10.0)
#: With more than this share of the upper units censored the statistic has no power left.
MOST_CENSORED = 0.5


class Shape(Enum):
    """What the upper part of a spectrum looks like."""

    #: Heavier than any log-normal law, and not lighter than a Pareto law, over at least a decade.
    POWER = "power"
    #: Lighter than any Pareto law, and not heavier than a log-normal one.
    LIGHT = "light"
    #: Neither is excluded, or both are, or too little is known; `reason` says which.
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class TailShape:
    """Shape of the upper part of a spectrum, from `tail_shape`.

    Attributes
    ----------
    shape : Shape
        The verdict.
    reason : str
        Why, in words.
    statistic : float
        Coefficient of variation of the log exceedances; about 1 for a power law, smaller for lighter tails. nan where
        it could not be formed.
    p_lognormal : float
        Probability that a log-normal law has a statistic as large.
    p_power : float
        Probability that a Pareto law has one as small.
    k : int
        Number of time scales in the upper part.
    n_censored : int
        How many of these are only bounds.
    decades : float
        Decades of tau between the threshold and the largest time scale or bound.
    n_units : int
        Units with a time scale.
    size : float
        Size of each of the two tests.
    """

    shape: Shape
    reason: str
    statistic: float
    p_lognormal: float
    p_power: float
    k: int
    n_censored: int
    decades: float
    n_units: int
    size: float


def tail_shape(tau: Any, censored: Any = None, *, size: float = 0.05) -> TailShape:
    """Decide whether the upper part of a spectrum is a power law, lighter, or neither for certain.

    Parameters
    ----------
    tau, censored : array_like
        Time scales and what is known of them, as in `fit_spectrum`.
    size : float, optional
        Size of each test, between 0 and 0.5.

    Returns
    -------
    TailShape
        The verdict with its two p-values and the reason in words.

    Raises
    ------
    ParameterError
        If the time scales or their status do not fit (see `fit_spectrum`), or size is outside its range.

    See Also
    --------
    fit_spectrum : The index of a power law.

    Notes
    -----
    The statistic is the coefficient of variation of log tau - log threshold over the upper share p of units (p = 0.5
    at 64 units, 0.25 at 512, 0.1 at 4096). It knows neither location nor scale of log tau, so its law under a
    log-normal spectrum of any median and width, and under a Pareto spectrum of any index, is fixed; both are
    simulated once for each size (20,000 draws, seeded). POWER: above the 95 % point of the former, not below the 5 %
    point of the latter, and at least one decade of tau above the threshold. LIGHT: the opposite, or time scales that
    are all the same to 1e-6. "A Pareto law is not rejected" is no criterion: at 512 units that accepts 21 to 73 % of
    log-normal spectra.

    Censored values: where all bounds are above what is known, the censored are set to the largest known value, in the
    data and in the simulated laws alike. A bound among known values says that its unit outlasts the largest of those
    below it: mean and deviation are then of the product-limit law, and in the simulated laws as many units leave at the
    same places. Where more than half of the upper part are bounds the shape stays undecided. Units whose bound is below
    the threshold are left out.

    Bounds among known values (studies/scattered_bounds.json; 400 repetitions, 64 and 512 units: 5 % of the units, up to
    30 % of the slowest, or clocks that know nothing of the unit): POWER on log-normal 0.01-0.07, 0.02-0.06 (over 3,000
    repetitions of the largest at 64 units 0.05), on exponential spectra 0; on Pareto (beta = 0.8) 0.38-0.63, 0.58-0.85.

    How often (studies/spectrum_verdict.json; 3,000 repetitions, 1,000 at 4096 units), at 64, 512, 4096 units. POWER
    by mistake: log-normal 0.05-0.06, exponential, narrow normal and narrow uniform 0-0.001, log-normal with a fifth
    of fast units 0.02-0.03. POWER on the model's law above threshold: 0.36-0.62, 0.74-0.88, 0.92-0.97 for beta <= 1;
    0.27-0.30, 0.62-0.69, 0.92 at beta = 1.5; 0.1, 0.3, 0.7 at 2.5, most of whose tails are shorter than a decade.
    Below threshold the model is a power law with a logarithm: lambda = 3 at half the threshold is called POWER in
    0-0.05 and LIGHT in 0.14-0.42, at the threshold POWER in 0.02-0.35; a logarithmic spectrum is always called POWER.

    What fails: a tenth of the units in a second, slower mode (3 standard deviations) is called POWER in 0.47, 0.35, 0
    of the cases; a power law of index 0.8 with a cutoff at 1,000 times its start in 0.5, 0.4, 0.02-0.07. Censoring
    takes the power: with the top 30 % of the upper units behind a common limit a power law with beta > 0.5 shows less
    than a decade and stays undecided (0.25 at 512 units and beta = 0.42; log-normal 0.02-0.04).

    References
    ----------
    THEORY 4.

    Examples
    --------
    >>> import levycollapse as lc
    >>> heavy = lc.tails.tail_shape(lc.Pareto(beta=0.8).rvs(512, rng=1))
    >>> heavy.shape.value
    'power'
    >>> lc.tails.tail_shape(lc.LogNormal(log_median=3.0, sd=1.0).rvs(512, rng=5)).shape.value
    'light'
    """
    bound = float(checked("size", size, SIZE))
    units = read_units(tau, censored)
    log_tau, bound_only, k = _upper(units)
    late = int(bound_only[:k].sum())
    n = log_tau.size

    def undecided(reason: str) -> TailShape:
        nothing = math.nan
        return TailShape(Shape.UNDECIDED, reason, nothing, nothing, nothing, k, late, nothing, units.size, bound)

    if n < FEWEST:
        return undecided(f"{n} units with a time scale; at least {FEWEST} are needed")
    if not np.isfinite(log_tau[k]):
        return undecided("too many units below one step")
    if late > MOST_CENSORED * k:
        return undecided(f"{late} of the upper {k} time scales are only bounds")
    length = float(log_tau[0] - log_tau[k])
    largest = log_tau[: k + 1][~bound_only[: k + 1]]
    if late == 0 and length < ONE_VALUE:
        equal = undecided("the upper time scales are equal: one time scale")
        return replace(equal, shape=Shape.LIGHT, decades=length / DECADE)
    if not largest.size or not largest[0] > log_tau[k]:
        return undecided("the upper time scales that are known are equal")
    if bound_only[:late].all():
        value = float(statistic(log_tau[: k + 1], late))
        light, heavy = null_laws(n, k, late)
    else:
        excess, at_risk = _progressive.arrange(log_tau[: k + 1], bound_only[: k + 1])
        value = float(_progressive.statistic(excess, at_risk))
        seed = np.random.SeedSequence(SEED, spawn_key=(n, k, late))
        light, heavy = _progressive.null_laws(n, k, at_risk, DRAWS, seed)
    p_lognormal = _share(light.size - np.searchsorted(light, value), light.size)
    p_power = _share(int(np.searchsorted(heavy, value, side="right")), heavy.size)
    shape, reason = decide(p_lognormal, p_power, length, bound)
    return TailShape(shape, reason, value, p_lognormal, p_power, k, late, length / DECADE, units.size, bound)


def decide(p_lognormal: float, p_power: float, length: float, size: float) -> tuple[Shape, str]:
    """Verdict from the two p-values and the log range of the upper part."""
    heavy, light = p_lognormal <= size, p_power <= size
    if heavy and light:
        return Shape.UNDECIDED, "heavier than log-normal and lighter than Pareto"
    if light:
        return Shape.LIGHT, "lighter than a power law"
    if not heavy:
        return Shape.UNDECIDED, "both a log-normal and a Pareto law would do"
    if length < DECADE:
        return Shape.UNDECIDED, f"like a power law, but over {length / DECADE:.2g} decades of tau only"
    return Shape.POWER, "heavier than log-normal, like a power law"


def upper_share(n: int) -> float:
    """Share of n units that the statistic looks at."""
    units, shares = np.log(np.array(SHARES).T)
    slope = (shares[2] - shares[1]) / (units[2] - units[1])
    x = math.log(n)
    beyond = max(x - float(units[2]), 0.0)
    return math.exp(float(np.interp(x, units, shares)) + float(slope) * beyond)


def upper_size(n: int) -> int:
    """Number of values that the statistic looks at."""
    return min(round(upper_share(n) * n), MOST)


def statistic(log_tau: FloatArray, late: int) -> Any:
    """Coefficient of variation over the last axis: k values decreasing and the threshold, the first `late` unknown."""
    excess = log_tau[..., :-1] - log_tau[..., -1:]
    if late:
        excess = np.concatenate([np.repeat(excess[..., late : late + 1], late, axis=-1), excess[..., late:]], axis=-1)
    return np.std(excess, axis=-1, ddof=1) / np.mean(excess, axis=-1)


@lru_cache(maxsize=256)
def null_laws(n: int, k: int, late: int) -> tuple[FloatArray, FloatArray]:
    """Sorted statistics of log-normal and of Pareto spectra."""
    streams = np.random.SeedSequence(SEED, spawn_key=(n, k, late)).spawn(2)
    light = _simulated(n, k, late, np.random.default_rng(streams[0]), ndtri_exp)
    # -log of an upper tail probability is log tau of a Pareto law of index 1.
    heavy = _simulated(n, k, late, np.random.default_rng(streams[1]), lambda x: x)
    return light, heavy


def _simulated(n: int, k: int, late: int, rng: np.random.Generator, quantile: Any) -> FloatArray:
    out = np.empty(DRAWS)
    block = max(1, AT_ONCE // (k + 1))
    for start in range(0, DRAWS, block):
        count = min(block, DRAWS - start)
        out[start : start + count] = statistic(-quantile(log_tails(n, k, rng, count)), late)
    out.sort()
    out.setflags(write=False)
    return out


def log_tails(n: int, k: int, rng: np.random.Generator, count: int) -> FloatArray:
    """Logarithms of the upper tail probabilities of the k + 1 largest of n, in `count` rows, largest value first.

    The smallest of n uniforms, in order, are 1 - exp(-partial sums of independent exponentials / (n - i)) (Renyi).
    """
    steps = rng.standard_exponential((count, k + 1)) / (n - np.arange(k + 1))
    log_tail: FloatArray = np.log(-np.expm1(-np.cumsum(steps, axis=1)))
    return log_tail


def _upper(units: Units) -> tuple[FloatArray, NDArray[np.bool_], int]:
    """Units without those whose bound is below the threshold, and how many are looked at."""
    log_tau, censored = units.log_tau, units.censored
    while True:
        k = upper_size(log_tau.size) if log_tau.size >= FEWEST else 0
        if k == 0:
            return log_tau, censored, 0
        below = censored & (log_tau < log_tau[k])
        below[k] = censored[k] and log_tau[k - 1] > log_tau[k]
        if not below.any():
            break
        log_tau, censored = log_tau[~below], censored[~below]
    return log_tau, censored, k


def _share(hits: Any, draws: int) -> float:
    return (1.0 + float(hits)) / (1.0 + draws)
