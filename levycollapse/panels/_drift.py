"""The restoring drift of the units with the largest time scales."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import xarray as xr
from scipy.stats import t as student

from .._checks import FloatArray, _Range, checked, choice
from .._envelope.inverse import Estimate
from ..errors import ParameterError
from ._far_left import Moves, block_sums, drift_curve, far_left_moves, residual_moves
from ._panel import Panel, read_panel
from ._reference import ReferenceDrift, far_left_drift

LEVEL = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
#: Two transitions in each half, one between them, and the checkpoint that selects the first.
FEWEST_CHECKPOINTS = 7
#: The tenth of so many is two units.
FEWEST_UNITS = 20
#: Largest share of selected units without a move: those that are lost went left, and the rest seems to go right.
MOST_LOST = 0.01
#: Largest kappa times spacing: at 0.2 the estimate is 8 % low, as units leave the tail between checkpoints.
COARSE = 0.1
#: Bins of the drift curve that residuals are taken from.
BINS = 10


class DriftStatus(Enum):
    """Whether a restoring drift could be measured."""

    #: The estimate, its interval and p-values mean what they say.
    MEASURED = "measured"
    #: kappa times the spacing of the checkpoints exceeds 0.1: the estimate is low. The test of kappa stays valid.
    COARSE = "checkpoints are too far apart: kappa times spacing > 0.1"
    #: More than 1 % of the far-left units lack the move that they were selected for: no test.
    LOST_UNITS = "far-left units are lost between checkpoints: no test"
    #: Fewer than 7 checkpoints, or fewer than 20 units with zeta at one of them.
    TOO_FEW = "too few checkpoints or units"


class DriftCurve(NamedTuple):
    """Mean move per unit time, less that of all units, by place.

    Attributes
    ----------
    zeta : ndarray
        Mean place one checkpoint before the move.
    rate : ndarray
        Mean move per unit of training time.
    """

    zeta: FloatArray
    rate: FloatArray


@dataclass(frozen=True)
class RestoringDrift:
    """Restoring drift of the far-left units, from `restoring_drift`.

    Attributes
    ----------
    status : DriftStatus
        Whether it was measured.
    kappa : Estimate
        Mean motion to the right of the far-left tenth against all units, per unit of training time, with interval.
    p_value : float
        Two-sided, for kappa = 0.
    slope : Estimate
        Slope of the drift on zeta inside the far-left tenth, per unit of training time: 0 for a plateau, minus the rate
        for a linear drift. The interval is symmetric and leaves out that its denominator is estimated.
    p_constant : float
        Two-sided, for slope = 0: small where the drift is not constant.
    coarseness : float
        kappa times the largest spacing of the checkpoints.
    lost : float
        Share of selected units without a move.
    n_moves : int
        Moves that were averaged; each is counted once for every replicate that selects it.
    n_seeds, n_replicates : int
        Seeds, and disjoint measurements of each checkpoint. With one replicate all numbers presuppose that errors of
        measurement are independent between checkpoints.
    level : float
        Nominal coverage of the intervals.
    curve : DriftCurve
        Drift over the whole range in ten bins.
    residuals : xarray.DataArray
        Moves (seed, unit, step) less that of all units and the drift `curve` at the place before; nan where not
        measured.
    """

    status: DriftStatus
    kappa: Estimate
    p_value: float
    slope: Estimate
    p_constant: float
    coarseness: float
    lost: float
    n_moves: int
    n_seeds: int
    n_replicates: int
    level: float
    curve: DriftCurve = field(repr=False)
    residuals: xr.DataArray = field(repr=False)


@overload
def restoring_drift(
    panel: Any, *, level: float = 0.95, single_replicate: bool = False, compat: None = None
) -> RestoringDrift: ...


@overload
def restoring_drift(
    panel: Any, *, level: float = 0.95, single_replicate: bool = False, compat: Literal["reference"]
) -> ReferenceDrift: ...


def restoring_drift(
    panel: Any,
    *,
    level: float = 0.95,
    single_replicate: bool = False,
    compat: Literal["reference"] | None = None,
) -> RestoringDrift | ReferenceDrift:
    """Restoring drift kappa of the tenth of units with the largest time scales, against the whole population.

    Parameters
    ----------
    panel : xarray.Dataset or xarray.DataArray
        zeta over (seed, unit, time, replicate), as `networks.zeta_panel` gives it, with the status of units if it is a
        Dataset. `time` is training time; seed and replicate may be missing. Replicates are measurements on disjoint
        diagnostic sequences.
    level : float, optional
        Nominal coverage of the intervals.
    single_replicate : bool, optional
        Accept a panel of one replicate. What is lost: errors of measurement that last from one checkpoint to the next
        then look like a drift (with a correlation of 0.3 to 0.9 between checkpoints kappa = 0 is rejected in 0.8 to 1
        of the cases), and repeated sequences make such errors.
    compat : {None, "reference"}, optional
        "reference" is the published estimator on the first replicate, for comparison only: it finds a drift in
        measurement noise.

    Returns
    -------
    RestoringDrift
        kappa per unit of training time, with interval and p-value; the slope of the drift inside the tail; residuals.
        With ``compat="reference"`` a `ReferenceDrift`.

    Raises
    ------
    ParameterError
        If the panel has other dimensions, infinite entries, times that do not increase, or one replicate without
        `single_replicate`.

    See Also
    --------
    levycollapse.networks.zeta_panel, scale_persistence_test

    Notes
    -----
    At each checkpoint the lowest tenth in zeta is selected in one replicate; their move from the next checkpoint to
    the one after is measured in the others, less the mean move of all units (the common motion), and all replicates
    select in turn. Errors of the selection are then independent of the move. Moves are averaged over the two halves
    of time of each seed, which one transition separates, and the 2S averages give Student's t with 2S - 1 degrees of
    freedom: units of a seed move together, and are no independent observations.

    Missing units (nan, CENSORED_LONG, GROWING) are not selected and do not move. That is harmless unless they are
    missing because of the move: those that go left beyond what can be measured leave behind the ones that came back.
    The share of selected units without a move is `lost`; above 1 % there is no test. A deterministic stretching of the
    spectrum is a drift and is reported as one.

    kappa = 0 is rejected at 0.05 in 0.88 of 400 panels of the model (studies/restoring_drift.json: beta = 1, kappa
    times spacing 0.01, measurement noise 0.05, 3 seeds of 256 units and 40 checkpoints), where the mean estimate is
    0.00995 and its standard deviation 0.0026. Where there is no drift: in 0.065 (static spectrum), 0.039 (unequal
    errors), 0.046 (walk) of 1,000. At kappa times spacing = 0.2 the estimate is 8 % low, and a plateau is called a
    slope in about 0.2.

    References
    ----------
    STATISTICS 2; THEORY 1.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> import levycollapse as lc
    >>> rng = np.random.default_rng(1)
    >>> still = rng.normal(size=(3, 200, 1, 1)) + 0.05 * rng.normal(size=(3, 200, 30, 2))
    >>> panel = xr.DataArray(still, dims=("seed", "unit", "time", "replicate"))
    >>> drift = lc.panels.restoring_drift(panel)
    >>> drift.kappa.lower < 0 < drift.kappa.upper
    True
    >>> lc.panels.restoring_drift(panel, compat="reference").positive
    True
    """
    if compat is not None:
        choice("compat", compat, ("reference",))
    nominal = float(checked("level", level, LEVEL))
    history = read_panel(panel)
    if compat is not None:
        return _published(history)
    seeds, _units, checkpoints, replicates = history.zeta.shape
    if replicates == 1 and not single_replicate:
        raise ParameterError(
            "panel has one replicate; two (disjoint diagnostic sequences) are needed to tell motion from errors that "
            "last from one checkpoint to the next. single_replicate=True presupposes that there are none"
        )
    zeta, times = history.measured(), history.times
    nothing = Estimate(math.nan, math.nan, math.nan)
    if checkpoints < FEWEST_CHECKPOINTS or np.isfinite(zeta).sum(axis=1).min() < FEWEST_UNITS:
        empty = _residuals(history, np.full((*zeta.shape[:2], max(checkpoints - 2, 0)), np.nan))
        nan, curve = math.nan, DriftCurve(np.empty(0), np.empty(0))
        return RestoringDrift(
            DriftStatus.TOO_FEW, nothing, nan, nothing, nan, nan, nan, 0, seeds, replicates, nominal, curve, empty
        )
    moves = far_left_moves(zeta, times)
    kappa, p_value, slope, p_constant = estimates(block_sums(moves), nominal)
    curve = DriftCurve(*drift_curve(zeta, times, BINS))
    lost = float(moves.lost.sum() / (moves.lost.sum() + moves.number.sum()))
    coarseness = kappa.value * float(np.diff(times).max())
    status = DriftStatus.COARSE if coarseness > COARSE else DriftStatus.MEASURED
    if lost > MOST_LOST:
        status = DriftStatus.LOST_UNITS
        kappa, slope = Estimate(kappa.value, math.nan, math.nan), Estimate(slope.value, math.nan, math.nan)
        p_value = p_constant = math.nan
    return RestoringDrift(
        status,
        kappa,
        p_value,
        slope,
        p_constant,
        coarseness,
        lost,
        int(moves.number.sum()),
        seeds,
        replicates,
        nominal,
        curve,
        _residuals(history, residual_moves(zeta, times, curve)),
    )


def estimates(blocks: Moves, level: float) -> tuple[Estimate, float, Estimate, float]:
    """Drift and slope with intervals and p-values, from the sums of each block."""
    n = blocks.number.size
    means = blocks.move / blocks.number
    value, error = float(means.mean()), float(means.std(ddof=1)) / math.sqrt(n)
    quantile = float(student.isf(0.5 * (1.0 - level), n - 1))
    slope = float(blocks.with_move.sum() / blocks.with_place.sum())
    # The test needs no ratio: under a constant drift the numerators alone have mean 0.
    top = float(blocks.with_move.mean()) / (float(blocks.with_move.std(ddof=1)) / math.sqrt(n))
    around = blocks.with_move - slope * blocks.with_place
    spread = float(np.sqrt(np.sum(around**2) / (n - 1) / n)) / abs(float(blocks.with_place.mean()))
    return (
        Estimate(value, value - quantile * error, value + quantile * error),
        2.0 * float(student.sf(abs(value) / error, n - 1)),
        Estimate(slope, slope - quantile * spread, slope + quantile * spread),
        2.0 * float(student.sf(abs(top), n - 1)),
    )


def _residuals(history: Panel, values: FloatArray) -> xr.DataArray:
    coordinates = {"seed": history.seeds, "step": history.times[1:-1]}
    return xr.DataArray(values, coordinates, ("seed", "unit", "step"), "residual")


def _published(history: Panel) -> ReferenceDrift:
    """Transitions of the first replicate, missing ones left out, through the published estimator."""
    zeta = history.zeta[..., 0]
    if not np.isfinite(zeta).all():
        raise ParameterError("compat='reference' needs a panel without missing values")
    move = np.diff(zeta, axis=2) / np.diff(history.times)
    units = zeta.shape[1]
    rows = (-1, units)
    return far_left_drift(zeta[:, :, :-1].transpose(0, 2, 1).reshape(rows), move.transpose(0, 2, 1).reshape(rows))
