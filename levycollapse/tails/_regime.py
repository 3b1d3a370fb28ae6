"""How an envelope decays: exponential, power, tempered or logarithmic, by the size of the effect."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, overload

import numpy as np
from scipy.stats import t as student

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, _Range, checked, choice
from .._envelope.inverse import Estimate
from ..errors import ParameterError
from ._reference import ReferenceGate, gate_reference

LEVEL = _Range("a number strictly between 0 and 1", lambda v: (v > 0) & (v < 1))
TOLERANCE = _Range("a number strictly between 0 and 0.5", lambda v: (v > 0) & (v < 0.5))
#: The window is cut into so many parts of equal width in log lag: two differences of slope, hence one of curvature.
PARTS = 3
#: Lags that each part must hold.
FEWEST = 3
#: The least width of the window in log lag.
DECADE = math.log(10.0)
#: A single curve must be this far inside or outside a tolerance before it gets a label.
MARGIN = 0.5
#: Curvature relative to the bend below which the decay is still settling (late bend below two thirds of the early).
SETTLING = -0.2
#: Bounds of the same ratio for 1/b, which grows like log lag where the decay is logarithmic.
ALIKE = 3.0
#: Relative standard error beyond which a mean over replicates is not used.
NOISIEST = 0.25


class Regime(Enum):
    """How an envelope decays over the window."""

    #: Local exponent proportional to the lag: one time scale.
    EXPONENTIAL = "exponential"
    #: Constant local exponent.
    POWER = "power"
    #: The local exponent grows steadily, but more slowly than the lag: a power law with a cutoff, or a light spectrum.
    TEMPERED = "tempered"
    #: The local exponent falls like 1/log lag.
    LOGARITHMIC = "logarithmic"
    #: None of these for certain; `reason` says why.
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class RegimeResult:
    """Regime of an envelope, from `regime`.

    Attributes
    ----------
    regime : Regime
        The label.
    reason : str
        Why, in words.
    exponent : Estimate
        Local exponent b = -d log f/d log l, mean over the window: beta where the regime is POWER.
    bend : Estimate
        Logarithm of the local exponent in the last third of the window over that in the first: 0 for a power law,
        `full_bend` for an exponential, negative for a logarithmic decay.
    full_bend : float
        Two thirds of the window's width in log lag.
    curvature : Estimate
        log(b3/b2) - log(b2/b1) of the three thirds: 0 for an exponential and for a power law, positive for a tempered
        power law, negative where a decay is still settling to one.
    drop : float
        Fall of log f over the window.
    exponents : ndarray
        Local exponents of the three thirds.
    window : tuple of float
        Lags between which all this was measured.
    n_replicates : int
        Sequences or seeds behind the intervals; 1 for a single curve, whose intervals are nan.
    level : float
        Nominal coverage of the intervals.
    """

    regime: Regime
    reason: str
    exponent: Estimate
    bend: Estimate
    full_bend: float
    curvature: Estimate
    drop: float
    exponents: FloatArray
    window: tuple[float, float]
    n_replicates: int
    level: float


@overload
def regime(
    lags: Any,
    f: Any,
    *,
    window: tuple[float, float] | None = None,
    tolerance: float = 0.2,
    level: float = 0.95,
    compat: None = None,
) -> RegimeResult: ...


@overload
def regime(
    lags: Any,
    f: Any,
    *,
    window: None = None,
    tolerance: float = 0.2,
    level: float = 0.95,
    compat: Literal["reference"],
) -> ReferenceGate: ...


def regime(
    lags: Any,
    f: Any,
    *,
    window: tuple[float, float] | None = None,
    tolerance: float = 0.2,
    level: float = 0.95,
    compat: Literal["reference"] | None = None,
) -> RegimeResult | ReferenceGate:
    """How an envelope decays at its longer lags: exponential, power, tempered or logarithmic.

    Parameters
    ----------
    lags : array_like
        Increasing lags > 0 in network steps, shape (lags,).
    f : array_like
        The envelope, >= 0: one curve of shape (lags,), or one for each sequence or seed, shape (replicates, lags).
    window : tuple of float, optional
        First and last lag to look at, at least a decade apart. By default the upper half of the lags' logarithmic
        range, but at least their last decade, which leaves out how the envelope sets in.
    tolerance : float, optional
        Change of the local exponent from the first to the last third of the window, as a logarithm, up to which it is
        called constant; and the relative deviation from growth in proportion to the lag up to which it is called
        exponential. Between 0 and 0.5.
    level : float, optional
        Nominal coverage of the intervals.
    compat : {None, "reference"}, optional
        "reference" gives the published fits and phase gate, kept for comparison: its runs test measures how many lags
        the grid has, and an exact power law fails it.

    Returns
    -------
    RegimeResult
        Label, reason and effect sizes with intervals; or the published gate.

    Raises
    ------
    ParameterError
        If the lags do not increase, f does not match them or is negative, or a window is not inside the lags.

    See Also
    --------
    levycollapse.local_exponent : The exponent lag by lag.

    Notes
    -----
    The window is cut into three parts of equal width in log lag, and the slope of log f on log lag is found in each
    by least squares with the lags weighted by their share of log lag, so that neither a finer grid nor a thinner one
    changes what is measured. From the three local exponents b1, b2, b3 follow `bend` = log(b3/b1) and `curvature` =
    log(b3/b2) - log(b2/b1). An exponential has bend `full_bend` = two thirds of the width, whatever its time scale; a
    power law 0.

    With replicates the intervals are Student's on jackknife values over them, and a label is given where the whole
    interval of the bend is on one side of each tolerance. A single curve has no intervals: it must be inside a
    tolerance by half, or outside by half again, and anything between is UNDETERMINED. An exponential must also fall
    by a factor e over the window: before that every spectrum looks like one.

    What a label does not say: over two decades a log-normal spectrum of width 2 bends like a tempered power law, and a
    logarithmic decay with alpha near 2 like a power law. A network of finite width ends exponentially whatever its law
    (THEORY 6): judge by several networks, or against `finite_width_envelope`.

    100 networks of 512 units of an exact Pareto law, one at a time, on lags 4 to 384: beta = 0.42 is called POWER in
    85, UNDETERMINED in 15; beta = 0.8 in 31 and 59 (TEMPERED 5, LOGARITHMIC 5); beta = 1.5 in 30 and 42 (23, 5): what
    one network shows of a law. None is called EXPONENTIAL. Twenty networks together are POWER in 20, 20 and 15 of 20
    cases.

    References
    ----------
    THEORY 6.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> lags = np.arange(4, 385)
    >>> lc.tails.regime(lags, lc.Pareto(beta=0.42, tau_min=5.0).envelope(lags)).regime.value
    'power'
    >>> lc.tails.regime(lags, np.exp(-lags / 100.0)).regime.value
    'exponential'
    """
    at, curves = checked("lags", lags, POSITIVE), checked("f", f, NON_NEGATIVE)
    allowed = float(checked("tolerance", tolerance, TOLERANCE))
    nominal = float(checked("level", level, LEVEL))
    if at.ndim != 1 or curves.ndim not in (1, 2) or curves.shape[-1] != at.size or not curves.size:
        raise ParameterError(f"f must have shape (lags,) or (replicates, lags): lags {at.shape}, f {curves.shape}")
    if (np.diff(at) <= 0).any():
        raise ParameterError("lags must increase strictly")
    curves = np.atleast_2d(curves)
    if compat is not None:
        choice("compat", compat, ("reference",))
        mean = curves.mean(axis=0)
        if window is not None or at.size < 6 or not (mean > 0).all():
            raise ParameterError("compat='reference' takes no window, and at least six lags with f > 0")
        return gate_reference(at, mean)
    if window is not None:
        ends = checked("window", window, POSITIVE)
        if ends.shape != (2,):
            raise ParameterError(f"window={window!r} must be two lags, the first and the last")
        first, last = (float(v) for v in ends)
        if not at[0] * (1 - 1e-12) <= first < last <= at[-1] * (1 + 1e-12):
            raise ParameterError(f"window={window!r} must be two increasing lags from {at[0]} to {at[-1]}")
    usable = int(_usable(curves))
    at, curves = at[:usable], curves[:, :usable]
    if window is None and usable:
        first, last = default_window(at)
    if not usable or last > at[-1] * (1 + 1e-12) or math.log(last / first) < DECADE * (1 - 1e-9):
        return _nothing("less than a decade of lags where the envelope is known", curves.shape[0], nominal)
    parts = _parts(at, first, last)
    if parts is None:
        return _nothing(f"fewer than {FEWEST} lags in a third of the window", curves.shape[0], nominal)
    return _judge(at, curves, parts, (first, last), allowed, nominal)


def default_window(lags: FloatArray) -> tuple[float, float]:
    """Upper half of the range of log lag, but at least the last decade, as far as there is one."""
    low, high = math.log(lags[0]), math.log(lags[-1])
    return math.exp(max(low, min(0.5 * (low + high), high - DECADE))), float(lags[-1])


def _usable(curves: FloatArray) -> int:
    """How many lags there are before the first at which the mean is 0 or drowns in its own error."""
    mean = curves.mean(axis=0)
    good = mean > 0
    count = curves.shape[0]
    if count > 1:
        good &= curves.std(axis=0, ddof=1) <= NOISIEST * math.sqrt(count) * mean
    return int(good.size if good.all() else np.argmin(good))


def _parts(lags: FloatArray, first: float, last: float) -> FloatArray | None:
    """Weights (parts, lags) whose product with log f is minus the slope in each part.

    Each part's ends are filled in by linear interpolation, and each lag weighs as much log lag as it stands for.
    """
    x = np.log(lags)
    edges = np.linspace(math.log(first), math.log(last), PARTS + 1)
    edges[0], edges[-1] = max(edges[0], x[0]), min(edges[-1], x[-1])
    rows = []
    for low, high in itertools.pairwise(edges):
        inside = (x > low) & (x < high)
        if inside.sum() < FEWEST:
            return None
        nodes = np.concatenate([[low], x[inside], [high]])
        values = np.zeros((nodes.size, x.size))
        values[np.arange(1, nodes.size - 1), np.flatnonzero(inside)] = 1.0
        for row, edge in ((0, low), (-1, high)):
            right = int(np.clip(np.searchsorted(x, edge), 1, x.size - 1))
            share = (edge - x[right - 1]) / (x[right] - x[right - 1])
            values[row, right - 1], values[row, right] = 1.0 - share, share
        steps = np.diff(nodes)
        weight = np.concatenate([[steps[0]], steps[1:] + steps[:-1], [steps[-1]]])
        centred = weight * (nodes - np.average(nodes, weights=weight))
        rows.append(-(centred @ values) / (centred @ nodes))
    return np.array(rows)


def _judge(
    lags: FloatArray,
    curves: FloatArray,
    parts: FloatArray,
    window: tuple[float, float],
    tolerance: float,
    level: float,
) -> RegimeResult:
    count = curves.shape[0]
    full = (1.0 - 1.0 / PARTS) * math.log(window[1] / window[0])
    whole = curves.mean(axis=0)
    b = parts @ np.log(whole)
    drop = float(b.mean()) * full * PARTS / (PARTS - 1)
    if not (b > 0).all():
        return _nothing("the envelope does not fall throughout the window", count, level, b, window, full, drop)
    estimates = [Estimate(float(v), math.nan, math.nan) for v in _effects(b)]
    if count > 1:
        others = parts @ np.log((count * whole - curves) / (count - 1)).T if (count * whole > curves).all() else None
        if others is None or not (others > 0).all():
            return _nothing("one replicate is the whole envelope", count, level, b, window, full, drop)
        estimates = _jackknife(_effects(b), _effects(others), level)
    label, reason = _label(estimates[1], estimates[2], estimates[3], full, drop, tolerance, count)
    return RegimeResult(label, reason, estimates[0], estimates[1], full, estimates[2], drop, b, window, count, level)


def _effects(b: FloatArray) -> FloatArray:
    """Mean exponent, bend, curvature, and the curvature of 1/b, from exponents (parts, ...)."""
    early, late = np.log(b[1] / b[0]), np.log(b[2] / b[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        slow = (1.0 / b[2] - 1.0 / b[1]) / (1.0 / b[1] - 1.0 / b[0])
        return np.array([b.mean(axis=0), early + late, late - early, slow])


def _jackknife(value: FloatArray, others: FloatArray, level: float) -> list[Estimate]:
    count = others.shape[1]
    pseudo = count * value[:, None] - (count - 1) * others
    error = pseudo.std(axis=1, ddof=1) / math.sqrt(count)
    half = float(student.ppf(0.5 + level / 2, count - 1)) * error
    return [
        Estimate(float(v), float(v - h), float(v + h)) if math.isfinite(h) else Estimate(float(v), math.nan, math.nan)
        for v, h in zip(value, half, strict=True)
    ]


def _label(
    bend: Estimate, curvature: Estimate, slow: Estimate, full: float, drop: float, tolerance: float, count: int
) -> tuple[Regime, str]:
    if count > 1:
        low, high, inside, outside = bend.lower, bend.upper, 1.0, 1.0
    else:
        low = high = bend.value
        inside, outside = MARGIN, 1.0 + MARGIN
    flat, straight = tolerance * inside, tolerance * inside * full
    if -flat <= low and high <= flat:
        return Regime.POWER, "the local exponent is constant over the window"
    if full - straight <= low and high <= full + straight:
        if drop < 1.0:
            return Regime.UNDETERMINED, "the envelope falls by less than a factor e over the window"
        return Regime.EXPONENTIAL, "the local exponent grows like the lag"
    if high < -tolerance * outside:
        if 1.0 / ALIKE <= slow.value <= ALIKE:
            return Regime.LOGARITHMIC, "the local exponent falls like 1/log lag"
        return Regime.UNDETERMINED, "the local exponent falls, but not like 1/log lag"
    if low > tolerance * outside and high < full * (1.0 - tolerance * outside):
        bottom, top = (curvature.lower, curvature.upper) if count > 1 else (curvature.value, curvature.value)
        if bottom >= SETTLING * bend.value:
            return Regime.TEMPERED, "the local exponent grows steadily, more slowly than the lag"
        if top < SETTLING * bend.value:
            return Regime.UNDETERMINED, "the local exponent grows ever more slowly: it has not settled yet"
        return Regime.UNDETERMINED, "the local exponent grows, but steadily or settling cannot be told"
    if low > full:
        return Regime.UNDETERMINED, "the envelope falls faster than an exponential"
    if count == 1:
        return Regime.UNDETERMINED, "close to the border between two regimes, and a single curve has no intervals"
    return Regime.UNDETERMINED, "the interval of the bend holds more than one regime"


def _nothing(
    reason: str,
    count: int,
    level: float,
    b: FloatArray | None = None,
    window: tuple[float, float] = (math.nan, math.nan),
    full: float = math.nan,
    drop: float = math.nan,
) -> RegimeResult:
    nothing = Estimate(math.nan, math.nan, math.nan)
    exponents = np.full(PARTS, math.nan) if b is None else b
    return RegimeResult(
        Regime.UNDETERMINED, reason, nothing, nothing, full, nothing, drop, exponents, window, count, level
    )
