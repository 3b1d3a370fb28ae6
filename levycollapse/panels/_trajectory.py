"""Exponent, width and verdict of the spectrum over a training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import binom, norm

from .._checks import FloatArray, _Range, checked
from .._envelope.inverse import Estimate
from ..errors import ParameterError
from ..tails._shape import Shape, tail_shape
from ..tails._spectrum import FEWEST, fit_spectrum
from ..tails._units import UnitStatus
from ._panel import read_panel

LEVEL = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
#: Quantiles of zeta whose difference is its width, as the papers have it.
LOW, HIGH = 0.1, 0.9
NOTHING = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Trajectory:
    """Spectra of the checkpoints of each seed, from `trajectory`.

    Attributes
    ----------
    data : xarray.Dataset
        Over (seed, time): `beta`, `beta_lower`, `beta_upper` (nan where there is no index), `delta_zeta` with bounds
        (nan where a quantile is not measured), `verdict` ("power", "light" or "undecided"), `n_units`, `n_censored`.
    first_power : ndarray
        First time of each seed at which the verdict is power and stays so for `sustain` checkpoints; the last time at
        which that could have begun, where it did not.
    censored : ndarray
        True where it did not: then `first_power` is only exceeded.
    sustain : int
        Checkpoints in a row that make a verdict sustained.
    level : float
        Nominal coverage of each interval.
    """

    data: xr.Dataset
    first_power: FloatArray
    censored: NDArray[np.bool_]
    sustain: int
    level: float


def trajectory(panel: Any, *, sustain: int = 3, level: float = 0.95) -> Trajectory:
    """Exponent, width and verdict of the spectrum at every checkpoint of every seed.

    Parameters
    ----------
    panel : xarray.Dataset or xarray.DataArray
        zeta over (seed, unit, time, replicate), as in `restoring_drift`; replicates are averaged.
    sustain : int, optional
        Checkpoints in a row at which the verdict must be power to be sustained.
    level : float, optional
        Nominal coverage of each interval.

    Returns
    -------
    Trajectory
        beta with interval (`tails.fit_spectrum`), the difference delta_zeta of the 90 % and 10 % quantiles of zeta, and
        the verdict power, light or undecided (`tails.tail_shape`); and the first sustained power verdict of each seed.

    Raises
    ------
    ParameterError
        If the panel does not fit (see `restoring_drift`), or an argument is outside its range.

    Notes
    -----
    beta presupposes a power law: read it where the verdict is power. Intervals are those of one checkpoint of one
    network whose units are independent; neighbouring checkpoints share most of their noise, so that a trajectory inside
    its band is no more certain than a single point. Between networks, compare seeds.

    A unit that one replicate can only bound counts as a bound, one that does not decay for some replicate as none.
    delta_zeta is nan where a tenth or more of the units are bounds; its interval, from order statistics, holds with at
    least its level, for both quantiles together (0.99, 0.985, 0.97 at 64, 128, 512 units, for 0.95 and normal zeta).

    A verdict has an error of 5 % at each checkpoint on log-normal spectra, so that the first one of many means little;
    a sustained one still is no test, since neighbouring checkpoints agree. Where none is sustained the time is
    censored: it is later than the last time at which one could have begun.

    References
    ----------
    THEORY 4.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> import levycollapse as lc
    >>> tau = lc.Pareto(beta=0.8, tau_min=2.0).rvs((2, 600, 4), rng=1)
    >>> panel = xr.DataArray(-np.log(tau), dims=("seed", "unit", "time"), coords={"time": [0, 10, 20, 30]})
    >>> path = lc.panels.trajectory(panel)
    >>> path.data.beta.dims, path.first_power.shape
    (('seed', 'time'), (2,))
    """
    nominal = float(checked("level", level, LEVEL))
    history = read_panel(panel)
    seeds, _units, checkpoints, _replicates = history.zeta.shape
    if isinstance(sustain, (bool, np.bool_)) or not isinstance(sustain, (int, np.integer)):
        raise ParameterError(f"sustain={sustain!r} must be an integer")
    if not 1 <= sustain <= checkpoints:
        raise ParameterError(f"sustain={sustain!r} must be from 1 to {checkpoints}, the number of checkpoints")
    zeta, status = merged(history.zeta, history.status)
    shape = (seeds, checkpoints)
    beta, width = np.full((3, *shape), np.nan), np.full((3, *shape), np.nan)
    verdict = np.full(shape, Shape.UNDECIDED.value, dtype=object)
    units, late = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
    for i, t in np.ndindex(shape):
        known = status[i, :, t] != UnitStatus.GROWING
        z, what = zeta[i, known, t], status[i, known, t]
        units[i, t], late[i, t] = z.size, int((what == UnitStatus.CENSORED_LONG).sum())
        if z.size < FEWEST:
            continue
        tau = np.exp(-z)
        beta[:, i, t] = fit_spectrum(tau, what, level=nominal).beta
        verdict[i, t] = tail_shape(tau, what).shape.value
        width[:, i, t] = quantile_width(z, int(late[i, t]), nominal)
    axes = ("seed", "time")
    variables = {"verdict": (axes, verdict.astype(str)), "n_units": (axes, units), "n_censored": (axes, late)}
    for name, values in (("beta", beta), ("delta_zeta", width)):
        for suffix, part in zip(("", "_lower", "_upper"), values, strict=True):
            variables[name + suffix] = (axes, part)
    data = xr.Dataset(variables, {"seed": history.seeds, "time": history.times})
    first, censored = first_sustained(verdict == Shape.POWER.value, history.times, int(sustain))
    return Trajectory(data, first, censored, int(sustain), nominal)


def merged(zeta: FloatArray, status: NDArray[np.int8]) -> tuple[FloatArray, NDArray[np.int8]]:
    """One zeta for each unit and checkpoint: the mean of the replicates if all measured it.

    A unit that some replicate could only bound is bounded by the largest of their zeta; one that does not decay for
    some replicate, or was not measured by it, has none.
    """
    bounded = (status == UnitStatus.CENSORED_LONG).any(axis=-1)
    none = (status == UnitStatus.GROWING).any(axis=-1) | np.isnan(zeta).any(axis=-1)
    filled = np.where(np.isnan(zeta), -np.inf, zeta)
    value = np.where(
        none, np.nan, np.where(bounded, filled.max(axis=-1), np.where(none[..., None], 0.0, zeta).mean(-1))
    )
    below = (status == UnitStatus.BELOW_STEP).all(axis=-1)
    what = np.where(below, int(UnitStatus.BELOW_STEP), int(UnitStatus.RESOLVED))
    what = np.where(bounded, int(UnitStatus.CENSORED_LONG), what)
    return value, np.where(none, int(UnitStatus.GROWING), what).astype(np.int8)


def quantile_width(zeta: FloatArray, late: int, level: float) -> Estimate:
    """Difference of the 90 % and 10 % quantiles of zeta, with an interval from order statistics.

    Both quantiles are nearly independent, so that intervals of z/sqrt(2) standard deviations for each make one of z for
    the difference. Bounds say only that zeta is smaller: with a tenth of them or more the lower quantile is not known.
    """
    ordered = np.sort(zeta)
    n = ordered.size
    share = 1.0 - 2.0 * float(norm.sf(norm.isf(0.5 - 0.5 * level) / math.sqrt(2.0)))
    ends = []
    for p in (LOW, HIGH):
        low, high = binom.ppf([0.5 - share / 2, 0.5 + share / 2], n, p).astype(int)
        # Between the order statistics low and high + 1, counted from 1; none below the first or above the last.
        ends.append((low - 1, high))
    (a, b), (c, d) = ends
    if late >= LOW * n:
        return NOTHING
    first, last = np.quantile(ordered, [LOW, HIGH])
    # Beyond the smallest that is known, and beyond the largest, there is no end.
    least = float(ordered[a]) if a >= late else -math.inf
    most = float(ordered[d]) if d < n else math.inf
    return Estimate(float(last - first), max(0.0, float(ordered[c] - ordered[b])), most - least)


def first_sustained(power: NDArray[np.bool_], times: FloatArray, sustain: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """First time of `sustain` true in a row, in each row; the last time at which they could begin, where none do."""
    windows = np.lib.stride_tricks.sliding_window_view(power, sustain, axis=1)
    runs = np.asarray(windows.all(axis=2), dtype=np.bool_)
    found = np.asarray(runs.any(axis=1), dtype=np.bool_)
    at = np.where(found, runs.argmax(axis=1), runs.shape[1] - 1)
    return times[at].astype(float), ~found
