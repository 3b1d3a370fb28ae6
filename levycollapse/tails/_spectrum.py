"""The tail index of a spectrum of time scales, with an interval that covers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from .._checks import POSITIVE, FloatArray, _Range, checked, choice
from .._envelope.inverse import Estimate
from ..errors import ParameterError
from ._cutoff import CutoffProfile, cutoff_profile
from ._hill import hill, tail_size
from ._law import FittedLaw, fitted_law
from ._reference import ReferenceSpectrumFit, fit_reference
from ._threshold import ThresholdFit, fit_threshold
from ._units import ONE_VALUE, Units, read_units

LEVEL = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
#: Below this many units the rule would leave fewer than five exceedances.
FEWEST = 20
NOTHING = Estimate(math.nan, math.nan, math.nan)


class SpectrumFitStatus(Enum):
    """Whether a spectrum has a tail index that could be determined."""

    #: The index has an interval.
    FITTED = "fitted"
    #: Fewer than 20 units have a time scale.
    TOO_FEW_UNITS = "too few units"
    #: All of the largest time scales are lower bounds: longer lags, or a larger `k`, are needed.
    CENSORED = "all of the largest time scales are censored"
    #: The largest time scales are equal to 1e-6: one time scale, no tail.
    DEGENERATE = "the largest time scales are equal"


class LocalIndex(NamedTuple):
    """Hill estimates at several depths of the sample.

    Attributes
    ----------
    k : ndarray
        Number of exceedances.
    threshold : ndarray
        Time scale above which each estimate was made, in network steps.
    exponent, lower, upper : ndarray
        Index and pointwise interval; nan where all exceedances are censored or equal.
    """

    k: FloatArray
    threshold: FloatArray
    exponent: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class SpectrumFit:
    """Tail index of a spectrum, from `fit_spectrum`.

    Attributes
    ----------
    status : SpectrumFitStatus
        Whether there is an estimate; the numbers below are nan if not.
    beta : Estimate
        Index of a power law p(tau) ~ tau**(-1-beta) above the threshold, with its interval. If the spectrum has a
        cutoff this is its local exponent at the threshold, larger than beta: see `cutoff`.
    cutoff : CutoffProfile or None
        The index if a cutoff is allowed for; None if there is no estimate.
    threshold : float
        The time scale above which the tail was fitted, in network steps.
    k : int
        Number of time scales above it.
    n_censored : int
        How many of these are lower bounds.
    n_units : int
        Units with a time scale, H.
    counts : dict
        Number of units of each status.
    level : float
        Nominal coverage of the intervals.
    """

    status: SpectrumFitStatus
    beta: Estimate
    cutoff: CutoffProfile | None
    threshold: float
    k: int
    n_censored: int
    n_units: int
    counts: dict[str, int]
    level: float
    _units: Units = field(repr=False)

    @property
    def law(self) -> FittedLaw:
        """The spectrum as a law (units below the threshold, Pareto above), for `finite_width_envelope`.

        Raises
        ------
        ParameterError
            If there is no estimate.
        """
        if self.status is not SpectrumFitStatus.FITTED:
            raise ParameterError(f"this spectrum has no fitted law: {self.status.value}")
        return fitted_law(self._units.log_tau, self.k, self.beta.value)

    def local_exponents(self, depths: Any = None) -> LocalIndex:
        """Hill estimates at other depths: flat for a power law, falling with k where a body or a cutoff bends it.

        Parameters
        ----------
        depths : array_like of int, optional
            Numbers of exceedances, from 1 to the number of units less one; 24 of them in geometric steps from 5 by
            default.

        Returns
        -------
        LocalIndex
            Exponent, interval and threshold at each depth. The estimates share data: neighbours agree by construction.

        Raises
        ------
        ParameterError
            If a depth is not an integer in that range.
        """
        known = int(np.isfinite(self._units.log_tau).sum())
        if depths is None:
            steps = np.geomspace(5, max(known - 1, 5), 24).round().astype(np.int64)
            at = [int(k) for k in np.unique(steps) if k < known]
        else:
            at = [_depth("depths", k, known) for k in np.atleast_1d(np.asarray(depths, dtype=object))]
        rows = [(k, math.exp(self._units.log_tau[k]), *self._hill(k)) for k in at]
        columns = np.array(rows, dtype=float).reshape(-1, 5).T
        return LocalIndex(*columns)

    def _hill(self, k: int) -> tuple[float, float, float]:
        value, low, high = hill(self._units.log_tau, self._units.censored, k, self.level)
        return float(value), float(low), float(high)


@overload
def fit_spectrum(
    tau: Any, censored: Any = None, *, k: int | None = None, level: float = 0.95, compat: None = None
) -> SpectrumFit: ...


@overload
def fit_spectrum(
    tau: Any, censored: None = None, *, k: None = None, level: float = 0.9, compat: Literal["reference"]
) -> ReferenceSpectrumFit: ...


@overload
def fit_spectrum(
    tau: Any, censored: None = None, *, k: None = None, level: float = 0.95, compat: Literal["ks-threshold"]
) -> ThresholdFit: ...


def fit_spectrum(
    tau: Any,
    censored: Any = None,
    *,
    k: int | None = None,
    level: float | None = None,
    compat: Literal["reference", "ks-threshold"] | None = None,
) -> SpectrumFit | ReferenceSpectrumFit | ThresholdFit:
    """Tail index beta of a spectrum of time scales, p(tau) ~ tau**(-1-beta), with its interval.

    Parameters
    ----------
    tau : array_like
        Time scales of the units in network steps, shape (units,); > 0 where known.
    censored : array_like, optional
        True where `tau` is only a lower bound; or the status of each unit, `UnitStatus` or its name or number, as
        `networks.timescales` gives it. Units BELOW_STEP count as short (their tau may be nan), CENSORED_LONG are lower
        bounds, GROWING ones have no time scale and are left out.
    k : int, optional
        Number of largest time scales to fit; round(0.8 H**0.6) by default, which is what the coverage below is of.
    level : float, optional
        Nominal coverage of the intervals; 0.95, and 0.9 with ``compat="reference"``, by default.
    compat : {None, "reference", "ks-threshold"}, optional
        "reference" is the published fit: least squares on the logarithm of the empirical survival function, with a
        bootstrap. "ks-threshold" chooses the threshold by Kolmogorov-Smirnov distance. Both are kept for comparison
        only, and take no censored values.

    Returns
    -------
    SpectrumFit
        Index, interval, cutoff profile, status; or the result of the method asked for by `compat`.

    Raises
    ------
    ParameterError
        If a time scale is not finite and > 0 where it must be known, shapes do not match, or k is not an integer from 1
        to the number of units less one.

    See Also
    --------
    tail_shape : Whether the spectrum is a power law at all; this function presupposes it.

    Notes
    -----
    Maximum likelihood for a Pareto law on a fixed number of largest values (Hill): beta = d/sum of log exceedances,
    with d exceedances known and the rest lower bounds, and the exact interval from chi-square with 2d degrees of
    freedom. A threshold that is chosen from the data has no such interval: Kolmogorov-Smirnov selection covers 0.5 to
    0.9.

    Coverage of the 95 % interval (studies/spectrum_coverage.json; 3,000 repetitions, 1,000 at 4096 units), for beta
    from 0.42 to 2.5 on exact tails of half or a fifth of the units above half-normal and log-normal bodies, and on
    the model's own stationary law above threshold: 0.934-0.956, 0.938-0.960, 0.929-0.965 at 64, 512, 4096 units; with
    the top 30 % of the exceedances behind a common limit 0.947-0.971, 0.952-0.964, 0.938-0.973. Half width 61, 34, 18
    % of beta (83, 42, 22 % censored). At 20 and 32 units 0.922-0.964.

    What fails: a tail of fewer units than k. With a tail of 5 % of the units the interval covers 0.26-0.49 at 64
    units, 0.59-0.67 at 512 and 0.94-0.96 at 4096. A log-normal spectrum with a tenth of its units in a second, slower
    mode has no index, and is given 0.9 to 1.6. Below the model's threshold the index of the tail is lambda, but its
    logarithm bends it: at lambda = 3 and half the threshold the median estimate is 3.5-4.4, and the interval holds 3
    in 0.91-0.95, 0.52-0.73 and 0.02-0.09 of the cases at 64, 512 and 4096 units; at the threshold in 0.93-0.97,
    0.90-0.94, 0.70-0.94. A logarithmic spectrum (lambda = 0) has median estimates below 0.02.

    A cutoff: the Hill index is then the local exponent at the threshold, not beta, and its interval misses beta (0 of
    100 at 512 units, beta = 0.42 and a cutoff at 100 times the start). `cutoff` profiles a tempered Pareto law on the
    same values: its interval covers 0.90-1.0 (100 repetitions a cell, with tempered, sharp and no cutoff). Where it
    reaches 0, beta cannot be told from the cutoff, which at 64 units is the rule, and at 512 happens in 0.1, 0.3, 0.7
    of pure power laws with beta = 0.42, 1, 2.5. `cutoff.sharp` allows for a law that ends abruptly (0.89-0.98; not
    for tempered ones: 0.29), and for the densities flatter than 1/tau that only such a law can have.

    Units are taken as independent; shared gates make them dependent, and no interval from one network sees that.

    References
    ----------
    B. Hill, Ann. Statist. 3 (1975) 1163; THEORY 4.

    Examples
    --------
    >>> import levycollapse as lc
    >>> tau = lc.Pareto(beta=0.8, tau_min=2.0).rvs(512, rng=3)
    >>> fit = lc.tails.fit_spectrum(tau)
    >>> fit.k, fit.status.value
    (34, 'fitted')
    >>> fit.beta.lower < 0.8 < fit.beta.upper
    True
    """
    if compat is not None:
        choice("compat", compat, ("reference", "ks-threshold"))
    nominal = float(checked("level", (0.9 if compat == "reference" else 0.95) if level is None else level, LEVEL))
    if compat is not None:
        if censored is not None or k is not None:
            raise ParameterError(f"compat={compat!r} chooses its own threshold and takes no censored values")
        values = checked("tau", tau, POSITIVE)
        if values.ndim != 1:
            raise ParameterError(f"tau has shape {values.shape}; one time scale per unit is needed, shape (units,)")
        return (fit_reference if compat == "reference" else fit_threshold)(values, nominal)
    units = read_units(tau, censored)
    if k is None and units.size < FEWEST:
        return _without(SpectrumFitStatus.TOO_FEW_UNITS, units, 0, nominal)
    depth = tail_size(units.size) if k is None else _depth("k", k, units.size)
    log_tau, late = units.log_tau[: depth + 1], units.censored[: depth + 1]
    if not np.isfinite(log_tau[-1]):
        return _without(SpectrumFitStatus.TOO_FEW_UNITS, units, depth, nominal)
    if late[:depth].all():
        return _without(SpectrumFitStatus.CENSORED, units, depth, nominal)
    if log_tau[0] - log_tau[-1] < ONE_VALUE:
        return _without(SpectrumFitStatus.DEGENERATE, units, depth, nominal)
    value, low, high = hill(log_tau, late, depth, nominal)
    return SpectrumFit(
        SpectrumFitStatus.FITTED,
        Estimate(float(value), float(low), float(high)),
        cutoff_profile(log_tau, late, float(value), nominal),
        float(np.exp(log_tau[-1])),
        depth,
        int(late[:depth].sum()),
        units.size,
        units.counts,
        nominal,
        units,
    )


def _without(status: SpectrumFitStatus, units: Units, k: int, level: float) -> SpectrumFit:
    late = int(units.censored[:k].sum())
    threshold = math.exp(units.log_tau[k]) if 0 < k < units.size else math.nan
    return SpectrumFit(status, NOTHING, None, threshold, k, late, units.size, units.counts, level, units)


def _depth(name: str, value: Any, size: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 1 <= value < size:
        raise ParameterError(f"{name}={value!r} must be an integer from 1 to {size - 1}, the number of units less one")
    return int(value)
