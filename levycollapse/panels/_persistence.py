"""Do the scales of increments persist, or do single increments stick out? A test with a null that knows its steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from .._checks import FloatArray, _Range, as_float_array, checked, generator
from .._laws.stable import SymmetricStable
from ..errors import ParameterError
from ..tails._quantile_table import NODES, quantile_table
from ._scales import SLOPE, Scaled, noise_of, scaled, simulated, statistics

SIZE = _Range("a number strictly between 0 and 0.5", lambda v: (v > 0) & (v < 0.5))
#: Fewest units and steps that scales of both can be told from single values with.
FEWEST_UNITS, FEWEST_STEPS = 16, 12
#: The scale is said to drift below this p-value, or this size where it is smaller: every verdict depends on it.
DRIFT_SIZE = 0.01
#: Panels that are drawn.
DRAWS = 199


class Persistence(Enum):
    """What can be said of the scales of increments."""

    #: A Gaussian with a scale for each unit and each step is too light: single increments stick out.
    NOT_PERSISTENT = "not persistent"
    #: A Gaussian with a scale for each unit and each step is not excluded.
    NOT_EXCLUDED = "persistent scales not excluded"
    #: The scales of units drift from step to step, so that neither can be told: no verdict.
    SCALE_DRIFTS = "the scales of units drift: no verdict"
    #: Fewer than 16 units or 12 steps are complete and move.
    TOO_FEW = "too few units or steps"


@dataclass(frozen=True)
class ScalePersistence:
    """Result of `scale_persistence_test`.

    Attributes
    ----------
    verdict : Persistence
        What can be said.
    statistic : float
        Mean cube of the scaled sizes, less what drifting scales add; 1.6 or a little more for Gaussian increments.
    p_value : float
        Probability of one as large, if scales persist; nan if too few.
    p_drift : float
        Probability of sizes as similar at neighbouring steps, if scales persist.
    stable_index : float
        Index of the stable law whose quartiles and outer twentieths the scaled increments have; nan if too few.
    p_stable : float
        Two-sided probability that stable noise of this index has 1 % quantiles as far from what the others predict.
    correlation : float
        Lag-one correlation of the increments, which the null has too.
    n_factors : int
        Common factors found, which the null has too.
    n_units, n_steps : int
        Units and steps that were used.
    n_dropped : int
        Units left out, because a value is missing or half of their increments are equal.
    size : float
        Size of the test.
    """

    verdict: Persistence
    statistic: float
    p_value: float
    p_drift: float
    stable_index: float
    p_stable: float
    correlation: float
    n_factors: int
    n_units: int
    n_steps: int
    n_dropped: int
    size: float


def scale_persistence_test(
    increments: Any, *, size: float = 0.05, draws: int = DRAWS, rng: Any = None
) -> ScalePersistence:
    """Test whether increments are Gaussian with a scale that persists, for each unit and for each step.

    Parameters
    ----------
    increments : xarray.DataArray or array_like
        Increments of one tensor or of zeta over (unit, step), or (coordinate, step) as `training.UpdateRecorder` gives
        them, in the order of the steps; nan where missing.
    size : float, optional
        Size of the test.
    draws : int, optional
        Panels of the null that are drawn; the smallest p-value is 1/(draws + 1).
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        For those.

    Returns
    -------
    ScalePersistence
        Verdict, p-values, and the misfit to stable noise.

    Raises
    ------
    ParameterError
        If the increments are not of two dimensions, an entry is infinite, or an argument is outside its range.

    See Also
    --------
    restoring_drift : Its residuals are increments of zeta without the drift.

    Notes
    -----
    What it can claim: NOT_PERSISTENT means that single increments stick out of what is common to their unit and to
    their step, and to neighbouring steps. Jumps do that. What it cannot claim: that these are jumps and no mixture of
    Gaussians. Every symmetric tempered stable law is a Gaussian with a random scale (its density is completely monotone
    in z**2), drawn anew for each increment, so margins alone cannot tell the two apart, and nothing can. NOT_EXCLUDED
    does not mean that there are no jumps, only that they are too few to see.

    Each unit is centred by its median, then divided in turn by the median size of each unit and of each step, three
    times. The statistic is the mean of min(z, 20)**3, z in standard deviations, less ten times the summed covariance of
    min(z, 3) with itself one to three steps later: scales that drift move both, and the difference little. The null is
    a Gaussian panel with the scales, the lag-one correlation (AR or MA) and the common factors estimated from the data,
    through the same steps. Where the covariance itself is beyond its 1 % point the scales drift, and a rejection is
    turned into SCALE_DRIFTS: no verdict.

    Units with a missing value, and those half of whose increments are equal, are left out and counted. Choose units by
    their time scale, as `training.slow_units` does, not by index, and never pool tensors.

    Called NOT_PERSISTENT at size 0.05 (studies/scale_persistence.json; 1,000 repetitions at 256 units by 26 steps):
    Gaussian 0.049, scales of units 0.049-0.052, of steps and of both 0.055, AR noise 0.037, studentised residuals
    0.042; conservative for differenced noise 0.018 and for Gaussian updates through Adam 0.000. Scales of units that
    drift (AR 0.9, standard deviation of the logarithm 0.1, 0.2): 0.053, 0.067. Stable noise with alpha = 1.5, 20,000
    values: 1.0, and 1 % of Gaussian increments 4 times as large: 0.99, of 100 each. Scales that change within two or
    three steps are called NOT_PERSISTENT, as they are.

    Stable noise is another question, with an answer of its own: `p_stable` is small where no stable law has both the
    inner and the outer quantiles of the scaled increments. It takes increments as independent, so its size is not known
    for dependent ones.

    References
    ----------
    STATISTICS 3.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> rng = np.random.default_rng(1)
    >>> scales = np.exp(rng.normal(size=(100, 1)))
    >>> found = lc.panels.scale_persistence_test(scales * rng.normal(size=(100, 30)), draws=99, rng=2)
    >>> found.verdict.value
    'persistent scales not excluded'
    >>> jumps = lc.SymmetricStable(alpha=1.5).rvs((100, 30), rng=3)
    >>> lc.panels.scale_persistence_test(scales * jumps, draws=99, rng=2).verdict.value
    'not persistent'
    """
    x, dropped = _panel(increments)
    bound = float(checked("size", size, SIZE))
    if isinstance(draws, (bool, np.bool_)) or not isinstance(draws, (int, np.integer)) or draws < 1.0 / bound - 1.0:
        raise ParameterError(f"draws={draws!r} must be an integer >= 1/size - 1 = {1.0 / bound - 1.0:.6g}")
    random = generator(rng)
    units, steps = x.shape
    if units < FEWEST_UNITS or steps < FEWEST_STEPS:
        nan = math.nan
        return ScalePersistence(Persistence.TOO_FEW, nan, nan, nan, nan, nan, nan, 0, units, steps, dropped, bound)
    data = scaled(x)
    noise = noise_of(data.values)
    statistic, drift = adjusted(data.values)
    null = np.array([adjusted(scaled(simulated(noise, data, random)).values) for _ in range(int(draws))])
    p_value, p_drift = (1.0 + (null >= [statistic, drift]).sum(axis=0)) / (1.0 + draws)
    index, p_stable = _stable_misfit(data, int(draws), random)
    return ScalePersistence(
        decide(float(p_value), float(p_drift), bound),
        statistic,
        float(p_value),
        float(p_drift),
        index,
        p_stable,
        noise.correlation,
        noise.loadings.shape[1],
        units,
        steps,
        dropped,
        bound,
    )


def decide(p_value: float, p_drift: float, size: float) -> Persistence:
    """Verdict from both p-values."""
    if p_value > size:
        return Persistence.NOT_EXCLUDED
    return Persistence.SCALE_DRIFTS if p_drift <= min(size, DRIFT_SIZE) else Persistence.NOT_PERSISTENT


def adjusted(values: FloatArray) -> tuple[float, float]:
    """Mean cube without what drifting scales add, and the covariance of sizes that shows the drift."""
    cube, drift = statistics(values)
    return cube - SLOPE * drift, drift


def _panel(increments: Any) -> tuple[FloatArray, int]:
    """Complete units, (unit, step), and how many others there were."""
    dims = getattr(increments, "dims", None)
    if dims is not None:
        rows = [name for name in dims if name in ("unit", "coordinate")]
        if len(dims) != 2 or len(rows) != 1 or "step" not in dims:
            raise ParameterError(f"increments has dimensions {dims}; it must have unit (or coordinate) and step")
        increments = increments.transpose(rows[0], "step").values
    x = as_float_array("increments", increments)
    if x.ndim != 2:
        raise ParameterError(f"increments has shape {x.shape}; it must be (unit, step)")
    if np.isinf(x).any():
        raise ParameterError("increments has infinite entries; nan marks a missing one")
    complete = ~np.isnan(x).any(axis=1)
    kept = x[complete]
    if kept.size:
        kept = kept[np.median(np.abs(kept - np.median(kept, axis=1, keepdims=True)), axis=1) > 0.0]
    return kept, x.shape[0] - kept.shape[0]


def _stable_misfit(data: Scaled, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Index from the inner quantiles, and how unusual the outer one is for stable noise of that index."""
    index, misfit = _index_and_misfit(data.values)
    law = SymmetricStable(index)
    shape = data.values.shape
    null = np.array(
        [_index_and_misfit(scaled(law.rvs(shape, rng) * data.unit * data.step).values)[1] for _ in range(draws)]
    )
    above, below = int((null >= misfit).sum()), int((null <= misfit).sum())
    return index, min(1.0, 2.0 * (1.0 + min(above, below)) / (1.0 + draws))


def _index_and_misfit(values: FloatArray) -> tuple[float, float]:
    inner, outer, far = np.log(np.quantile(np.abs(values), [0.5, 0.9, 0.99]))
    logs = np.log(quantile_table().quantile)
    ratio, beyond = logs[:, 1] - logs[:, 0], logs[:, 2] - logs[:, 1]
    # Ratios fall with alpha; one below the Gaussian's is given the Gaussian's, in the data and in the draws alike.
    index = float(np.interp(outer - inner, ratio[::-1], NODES[::-1]))
    return index, float(far - outer) - float(CubicSpline(NODES, beyond)(index))
