"""The index of stable data, and why the index of a power tail is another thing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np

from .._checks import FINITE, FloatArray, _Range, checked, choice
from ..errors import ParameterError
from ._reference_indices import calibrated_index, characteristic_function, mcculloch
from ._stable_estimators import Index, default_k, from_characteristic_function, from_quantiles, tail_index
from ._stable_likelihood import LARGEST, SMALLEST, Likelihood, fit

LEVEL = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
STABLE = ("ml", "ecf", "quantiles")
TAIL = ("hill", "moment", "pickands")
PUBLISHED = ("quantiles", "ecf", "calibrated")
#: With fewer values the outer quantiles rest on fewer than five.
FEWEST = 100
#: Replicates and resamples of the published calibrated estimator.
REPLICATES, RESAMPLES = 300, 100


class StableIndexStatus(Enum):
    """What an estimate of a stable index is."""

    #: The index and its interval are inside their range.
    FITTED = "fitted"
    #: The estimate is 2: lighter tails than any stable law would give the same. Only the low end says something.
    AT_GAUSSIAN = "at alpha = 2, the normal law"
    #: The estimate is at 0.3, the end of the search.
    AT_BORDER = "at alpha = 0.3, the end of the search"
    #: The largest values do not look like a power tail: the estimate is infinite.
    NO_POWER_TAIL = "no power tail"
    #: Fewer than 100 values.
    TOO_FEW = "too few values"
    #: Half of the values are equal, or the largest ones are.
    NO_SPREAD = "no spread"
    #: The characteristic function is outside its range at most wave numbers.
    NO_ESTIMATE = "the regression has too few points"
    #: A published estimator, without an interval that covers.
    REFERENCE = "published estimator"


@dataclass(frozen=True)
class StableIndex:
    """Index of `stable_index`.

    Attributes
    ----------
    alpha : float
        The estimate: of the stability index, or of the tail index for the methods of the largest values.
    low, high : float
        Ends of its interval; inf where no power tail is excluded.
    scale : float
        Scale of the stable law, `exp(-|scale k|**alpha)`; nan for the methods of the largest values.
    method : str
        How it was estimated.
    status : StableIndexStatus
        What the estimate is.
    n : int
        Number of values.
    k : int or None
        Number of largest values that were used, for the methods that use only those.
    level : float
        Nominal coverage of the interval.
    """

    alpha: float
    low: float
    high: float
    scale: float
    method: str
    status: StableIndexStatus
    n: int
    k: int | None
    level: float


def stable_index(
    x: Any,
    method: Literal["ml", "ecf", "quantiles", "hill", "moment", "pickands", "calibrated"] = "ml",
    *,
    k: int | None = None,
    level: float = 0.95,
    compat: Literal["reference"] | None = None,
) -> StableIndex:
    """Index of the symmetric stable law that a sample is drawn from, or of a power tail, with an interval.

    Parameters
    ----------
    x : array_like
        Independent values, shape (n,), at least 100.
    method : {"ml", "ecf", "quantiles", "hill", "moment", "pickands", "calibrated"}, optional
        How; see the notes. The last is a published estimator and needs `compat`.
    k : int, optional
        Number of largest distances from the median that Hill, moment and Pickands use (the last looks at 4k);
        round(0.8 n**0.6), and a quarter of it for Pickands, by default.
    level : float, optional
        Nominal coverage of the interval.
    compat : {None, "reference"}, optional
        "reference" is the published "quantiles", "ecf" or "calibrated" estimator, for comparison only: clipped to
        [1, 2], and without intervals that cover.

    Returns
    -------
    StableIndex
        Index, interval, scale and status.

    Raises
    ------
    ParameterError
        If a value is not finite, or an argument is outside its range or has no meaning for the method.

    See Also
    --------
    levycollapse.panels.scale_persistence_test : Whether increments jump at all.
    TemperedStable.fit : The law of the model, which is tempered and therefore not stable.

    Notes
    -----
    Three methods presuppose that x is symmetric stable, about any centre (the median is taken off), and search alpha
    from 0.3 to 2:

    * "ml": maximum likelihood with the law's own density; the interval is the likelihood ratio's. The most accurate.
    * "ecf": regression of log(-log of the squared modulus of the empirical characteristic function) on log t at ten
      wave numbers, unbiased squares, weighted by their covariance. Twenty times faster.
    * "quantiles": McCulloch's ratio (q95 - q05)/(q75 - q25), inverted through quantiles of the law itself.

    The intervals of the last two hold the indices that the estimate does not reject. They must not be used to decide
    whether data are stable: any sample gets an index. Student's t with 5 degrees of freedom, whose tail index is 5, is
    given a stable index of 1.7 to 1.8, and so is any scale mixture of Gaussians.
    Tempered stable increments, the model's, have none either: theirs depends on how far out the method looks.

    Three methods presuppose a power tail and nothing else, and estimate its index from the largest distances. They
    must not be used on stable data: a stable law with alpha near 2 is a power only far beyond where the sample ends.
    On 20,000 values with alpha = 1.8 Hill's interval covers 1.8 in 0.2 of 500 samples, with the default k; with k =
    1,000 it says 2.7.

    * "hill" has an exact interval for exact Pareto tails, and is the one with a reason for them.
    * "moment" and "pickands" also hold where there is no power tail, and may then say inf; both spread more than Hill,
      the latter so much that it is useless below 10,000 values.

    None may be used on dependent values, as if n were larger than it is, nor on pooled values of different scales: a
    mixture of scales is heavier than each.

    Coverage (studies/stable_index.json): "ecf" on 200 values with alpha = 1.5, 0.952 of 2,000. The interval of "ml"
    is chi-square's, which near alpha = 2 is not its law; its coverage there is not measured yet.

    References
    ----------
    J. H. McCulloch, Commun. Statist. Simul. 15 (1986) 1109; I. A. Koutrouvelis, J. Amer. Statist. Assoc. 75 (1980) 918;
    A. Dekkers, J. Einmahl and L. de Haan, Ann. Statist. 17 (1989) 1833.

    Examples
    --------
    >>> import levycollapse as lc
    >>> x = lc.SymmetricStable(alpha=1.5, scale=2.0).rvs(2000, rng=1)
    >>> index = lc.tails.stable_index(x, method="ecf")
    >>> index.low < 1.5 < index.high, index.status.value
    (True, 'fitted')
    """
    values = checked("x", x, FINITE)
    if values.ndim != 1:
        raise ParameterError(f"x has shape {values.shape}; it must be a sample of shape (n,)")
    nominal = float(checked("level", level, LEVEL))
    if compat is not None:
        choice("compat", compat, ("reference",))
        choice("method", method, PUBLISHED)
    else:
        choice("method", method, STABLE + TAIL)
    if k is not None and method not in TAIL:
        raise ParameterError(f"k={k!r} has no meaning for method={method!r}")

    def result(found: Index, status: StableIndexStatus, used: int | None = None) -> StableIndex:
        return StableIndex(*found, method, status, values.size, used, nominal)

    nothing = Index(math.nan, math.nan, math.nan, math.nan)
    if values.size < FEWEST:
        return result(nothing, StableIndexStatus.TOO_FEW)
    first, third = np.quantile(values, [0.25, 0.75])
    if not third > first:
        return result(nothing, StableIndexStatus.NO_SPREAD)
    if compat is not None:
        return result(_published(values, method), StableIndexStatus.REFERENCE)
    distances = np.abs(values - np.median(values))
    if method in TAIL:
        depth = default_k(values.size, method) if k is None else _depth(k, values.size, method)
        needed = np.sort(distances)[::-1][: 4 * depth if method == "pickands" else depth + 1]
        if not (needed[-1] > 0 and needed[0] > needed[-1] and (method != "pickands" or _spread(needed, depth))):
            return result(nothing, StableIndexStatus.NO_SPREAD, depth)
        found = tail_index(distances, method, depth, nominal)
        tail = StableIndexStatus.FITTED if math.isfinite(found.alpha) else StableIndexStatus.NO_POWER_TAIL
        return result(found, tail, depth)
    start = from_quantiles(values, nominal)
    if method == "quantiles":
        return result(start, _place(start.alpha))
    if method == "ecf":
        found = from_characteristic_function(values - np.median(values), start, nominal)
        if math.isnan(found.alpha):
            return result(nothing, StableIndexStatus.NO_ESTIMATE)
        alpha = min(found.alpha, LARGEST)
        inside = Index(alpha, min(found.low, LARGEST), min(found.high, LARGEST), found.scale)
        return result(inside, _place(alpha))
    best = fit(Likelihood(distances, start.scale), start.alpha, nominal)
    return result(Index(best.alpha, best.low, best.high, best.scale), _place(best.alpha))


def _place(alpha: float) -> StableIndexStatus:
    if alpha >= LARGEST:
        return StableIndexStatus.AT_GAUSSIAN
    return StableIndexStatus.AT_BORDER if alpha <= SMALLEST else StableIndexStatus.FITTED


def _published(values: FloatArray, method: str) -> Index:
    nan = math.nan
    if method == "calibrated":
        if values.size < 2 * FEWEST:
            raise ParameterError(f"x has {values.size} values; the published calibrated estimator needs 200")
        found = calibrated_index(values, REPLICATES, RESAMPLES, 0)
        return Index(found.alpha, found.lower, found.upper, nan)
    alpha, scale = mcculloch(values) if method == "quantiles" else characteristic_function(values)
    return Index(alpha, nan, nan, scale)


def _spread(ordered: FloatArray, k: int) -> bool:
    """Whether both ranges of Pickands' ratio are positive."""
    return bool(ordered[k - 1] > ordered[2 * k - 1] > ordered[4 * k - 1])


def _depth(k: Any, n: int, method: str) -> int:
    most = n // 4 if method == "pickands" else n - 1
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or not 2 <= k <= most:
        raise ParameterError(f"k={k!r} must be an integer from 2 to {most} for {n} values")
    return int(k)
