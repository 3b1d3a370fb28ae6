"""Maximum likelihood for the tempered stable law from independent increments, with profile likelihood intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chi2

from .._checks import FloatArray
from ..errors import ConvergenceError, ParameterError
from .increment.inversion import Inversion

#: Increments that three parameters are fitted to, at least.
FEWEST = 20
#: Range of the search: alpha as -log(1 - alpha/2), in which the log of the intensity stays straight towards alpha = 2;
#: log lam around 1/sd; log of the variance around the sample's. Beyond it an increment law cannot tell its parameters
#: from those at the border.
LOW: FloatArray = np.array([-math.log1p(-0.5 * 0.05), math.log(1e-4), math.log(1e-3)])
HIGH: FloatArray = np.array([-math.log1p(-0.5 * 1.995), math.log(1e3), math.log(1e4)])
#: The same with log(t eta_J) in place of the variance, which the likelihood bounds.
LOW_BY_INTENSITY: FloatArray = np.array([*LOW[:2], -np.inf])
HIGH_BY_INTENSITY: FloatArray = np.array([*HIGH[:2], np.inf])
ALPHA, RATE, SIZE = range(3)
#: Step of the central differences, in these coordinates; the log-likelihood's own noise is 1e-12 a point.
STEP = 2e-3
#: Newton decrement (half of g H^-1 g, in units of log-likelihood) at which the maximum is found, and at which one at a
#: fixed parameter is, whose value is corrected by it.
FOUND, FOUND_ON_PROFILE = 1e-6, 1e-2
#: Newton steps of a search, the longest one, and how often one is halved.
NEWTON_STEPS, LONGEST, HALVINGS = 60, 0.5, 30
#: How near a border is the border.
SNAP = 1e-9
#: Points of a profile tried for one end of an interval, and how near the root of the deviance must come to its
#: quantile.
PROFILE_POINTS, END_FOUND = 40, 5e-3
#: A profile this much above the maximum shows that it was not the highest one; how often to start again there.
HIGHER, RESTARTS = 0.02, 4
REFUSED = 1e300

Function = Callable[[FloatArray], float]


class FitStatus(IntEnum):
    """What a fit found, and how much the data say."""

    #: The maximum is interior, and the data bound all three parameters from both sides.
    CONVERGED = 0
    #: The likelihood grows towards a border of the parameters: the estimates are at the border. What the data do not
    #: bound has an open interval, with an end at 0, 2 or inf.
    AT_BORDER = 1
    #: No maximum was found; no intervals.
    NOT_CONVERGED = 2
    #: The maximum is interior but flat: the data do not bound every parameter, and intervals are open as above, or an
    #: end of one could not be found and is nan.
    FLAT = 3


class Interval(NamedTuple):
    """Ends of a confidence interval: 0, 2 or inf where the data set no bound, nan where none was found."""

    low: float
    high: float


@dataclass(frozen=True)
class TemperedStableFit:
    """Estimates of `TemperedStable.fit`.

    Attributes
    ----------
    alpha, lam, intensity : float
        Maximum-likelihood estimates.
    alpha_interval, lam_interval, intensity_interval : Interval
        Confidence intervals from the profile likelihood.
    level : float
        Their nominal coverage.
    log_likelihood : float
        Its maximum.
    status : FitStatus
        Whether the estimates are an interior maximum, and whether the data bound them.
    n : int
        Number of increments.
    evaluations : int
        Laws that were tried.
    """

    alpha: float
    lam: float
    intensity: float
    alpha_interval: Interval
    lam_interval: Interval
    intensity_interval: Interval
    level: float
    log_likelihood: float
    status: FitStatus
    n: int
    evaluations: int


class _HigherError(Exception):
    """A profile has found a higher maximum, at `args[0]`."""


def fit(x: FloatArray, t: float, level: float) -> TemperedStableFit:
    """Fit checked increments over time `t`; see `TemperedStable.fit`."""
    if x.size < FEWEST:
        raise ParameterError(f"x has {x.size} increments; a fit of three parameters needs at least {FEWEST}")
    if not np.any(x):
        raise ParameterError("x is 0 everywhere")
    likelihood = _Likelihood(np.sort(np.abs(x)), t)
    start = min(_starts(likelihood.scaled), key=likelihood)
    for _ in range(RESTARTS):
        peak = _lowest(likelihood, start, np.arange(3), LOW, HIGH, FOUND)
        if not peak.found:
            break
        try:
            ends = _ends(likelihood, peak, level)
        except _HigherError as higher:
            start = higher.args[0]
            continue
        if np.any((peak.point <= LOW) | (peak.point >= HIGH)):
            status = FitStatus.AT_BORDER
        else:
            status = FitStatus.CONVERGED if np.isfinite(ends).all() else FitStatus.FLAT
        return _result(likelihood, peak.point, ends, status, level)
    return _result(likelihood, peak.point, np.full((3, 2), math.nan), FitStatus.NOT_CONVERGED, level)


class _Likelihood:
    """Minus the log-likelihood in the coordinates -log(1 - alpha/2), log(lam sd), log(variance/sd^2)."""

    def __init__(self, distances: FloatArray, t: float) -> None:
        self.t = t
        # A power of two takes the size out of the squares, which would over- or underflow.
        size = math.ldexp(1.0, math.frexp(float(distances[-1]))[1] - 1)
        relative = distances / size
        within = math.sqrt(float(np.mean(relative**2)))
        self.sd = size * within
        self.log_sd = math.log(size) + math.log(within)
        self.scaled = relative / within
        self.evaluations = 0

    def __call__(self, point: FloatArray) -> float:
        alpha, rate, jumps = self.in_unit(point)
        self.evaluations += 1
        try:
            law = Inversion(alpha, rate, jumps, 0.0)
            logs = law.log_density(self.scaled * law.per_unit)
        except (ConvergenceError, ParameterError):
            return REFUSED
        return -float(logs.sum()) - logs.size * math.log(law.per_unit)

    @staticmethod
    def in_unit(point: FloatArray) -> tuple[float, float, float]:
        """alpha, lam sd, and t eta_J sd^-alpha."""
        alpha = _index(point[ALPHA])
        return alpha, math.exp(point[1]), math.exp(point[2] + _log_jumps_of_unit_variance(point))

    def by_intensity(self, point: FloatArray) -> float:
        """Minus the log-likelihood with log(t eta_J) in place of the variance."""
        return self(np.array([point[0], point[1], point[2] - self.log_intensity_of_unit_variance(point)]))

    def log_intensity_of_unit_variance(self, point: FloatArray) -> float:
        """log(t eta_J) where the variance is that of the sample."""
        return _log_jumps_of_unit_variance(point) + _index(point[ALPHA]) * self.log_sd


def _index(coordinate: float) -> float:
    return -2.0 * math.expm1(-coordinate)


def _log_jumps_of_unit_variance(point: FloatArray) -> float:
    alpha = _index(point[ALPHA])
    return float((2.0 - alpha) * point[1] - math.log(2.0) - gammaln(2.0 - alpha))


def _starts(x: FloatArray) -> list[FloatArray]:
    """Some alpha, each with the lam that the ratio of the fourth to the second cumulant gives it."""
    excess = max(float(np.mean(x**4)) - 3.0, 0.1)
    return [
        np.array([-math.log1p(-0.5 * alpha), 0.5 * math.log((3.0 - alpha) * (2.0 - alpha) / excess), 0.0])
        for alpha in (0.3, 0.6, 0.9, 1.2, 1.5, 1.8)
    ]


class _Lowest(NamedTuple):
    """Where a search ended, the value there, what a Newton step would still take off it, and whether that is enough."""

    point: FloatArray
    value: float
    decrement: float
    found: bool


def _lowest(
    f: Function, start: FloatArray, free: NDArray[np.int64], low: FloatArray, high: FloatArray, enough: float
) -> _Lowest:
    """Minimum over the coordinates `free` within their borders, by Newton steps that always go downhill."""
    point = np.clip(start, low, high)
    value = f(point)
    decrement = math.inf
    for _ in range(NEWTON_STEPS):
        slope, bend = _derivatives(f, point, value, free)
        if not np.isfinite(bend).all():
            break
        inner = np.ones(free.size, dtype=bool)
        while True:
            # Coordinates at a border that a step would leave through it stay there.
            values, vectors = np.linalg.eigh(bend[np.ix_(inner, inner)])
            curvature = np.maximum(np.abs(values), 1e-9 * np.abs(values).max(initial=0.0) + 1e-12)
            along = vectors.T @ slope[inner]
            move = np.zeros(point.size)
            move[free[inner]] = -vectors @ (along / curvature)
            outward = ((point <= low) & (move < 0.0)) | ((point >= high) & (move > 0.0))
            if not outward.any():
                break
            inner &= ~outward[free]
        decrement = 0.5 * float(np.sum(along**2 / curvature))
        if decrement < enough and np.all(values > 0.0):
            return _Lowest(point, value, decrement, True)
        longest = np.abs(move).max()
        move *= min(1.0, LONGEST / longest)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(move < 0.0, (low - point) / move, np.where(move > 0.0, (high - point) / move, math.inf))
        move *= min(1.0, float(room.min()))
        for _ in range(HALVINGS):
            moved = point + move
            # A step that ends at a border ends there to the bit.
            moved = np.where(moved - low < SNAP, low, np.where(high - moved < SNAP, high, moved))
            if (there := f(moved)) < value:
                break
            move *= 0.5
        else:
            break
        point, value = moved, there
    return _Lowest(point, value, decrement, False)


def _derivatives(
    f: Function, point: FloatArray, middle: float, free: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian in the coordinates `free` by central differences; nan where the law is refused."""
    n = free.size
    slope, bend = np.zeros(n), np.zeros((n, n))
    steps = STEP * np.eye(point.size)[free]

    def at(place: FloatArray) -> float:
        return value if (value := f(place)) < REFUSED else math.nan

    for i in range(n):
        up, down = at(point + steps[i]), at(point - steps[i])
        slope[i] = (up - down) / (2.0 * STEP)
        bend[i, i] = (up - 2.0 * middle + down) / STEP**2
        for j in range(i):
            corners = (
                at(point + steps[i] + steps[j])
                - at(point + steps[i] - steps[j])
                - at(point - steps[i] + steps[j])
                + at(point - steps[i] - steps[j])
            )
            bend[i, j] = bend[j, i] = corners / (4.0 * STEP**2)
    return slope, bend


def _ends(likelihood: _Likelihood, peak: _Lowest, level: float) -> FloatArray:
    """Ends of the intervals of -log(1 - alpha/2), log(lam sd) and log(t eta_J): at the quantile of the deviance."""
    radius = math.sqrt(float(chi2.isf(1.0 - level, 1)))
    shifted = peak.point.copy()
    shifted[SIZE] += likelihood.log_intensity_of_unit_variance(peak.point)
    by_intensity = peak._replace(point=shifted)
    everything = np.arange(3)
    _, bend = _derivatives(likelihood, peak.point, peak.value, everything)
    _, bend_by_intensity = _derivatives(likelihood.by_intensity, shifted, peak.value, everything)
    ends = np.empty((3, 2))
    for side, sign in enumerate((-1.0, 1.0)):
        for k in (ALPHA, RATE):
            ends[k, side] = _end(likelihood, peak, bend, k, sign, LOW, HIGH, radius)
        try:
            ends[SIZE, side] = _end(
                likelihood.by_intensity,
                by_intensity,
                bend_by_intensity,
                SIZE,
                sign,
                LOW_BY_INTENSITY,
                HIGH_BY_INTENSITY,
                radius,
            )
        except _HigherError as higher:
            point = higher.args[0]
            point[SIZE] -= likelihood.log_intensity_of_unit_variance(point)
            raise _HigherError(point) from None
    # Limits in which the intensity has none of its own: jumps too small to be seen, and alpha = 2.
    if math.isinf(ends[RATE, 1]) and math.isnan(ends[SIZE, 1]):
        ends[SIZE, 1] = math.inf
    if math.isinf(ends[ALPHA, 1]) and math.isnan(ends[SIZE, 0]):
        ends[SIZE, 0] = -math.inf
    return ends


def _end(
    f: Function, peak: _Lowest, bend: FloatArray, k: int, sign: float, low: FloatArray, high: FloatArray, radius: float
) -> float:
    """Where coordinate `k` leaves the interval: -inf or inf if it does not, nan if that was not found."""
    border = low[k] if sign < 0.0 else high[k]
    middle = float(peak.point[k])
    if middle == border:
        return sign * math.inf
    others = np.delete(np.arange(peak.point.size), k)
    direction, reach = np.eye(peak.point.size)[k], 0.1
    if np.isfinite(bend).all() and np.linalg.eigvalsh(bend)[0] > 0.0:
        covariance = np.linalg.inv(bend)
        direction, reach = covariance[k] / covariance[k, k], radius * math.sqrt(covariance[k, k])
    if math.isfinite(border):
        # Not at once to where the law may be far from the data.
        reach = min(reach, max(0.5 * abs(border - middle), 0.1))
    # Points of the profile inside and outside: root of the deviance less its quantile, and point.
    inside: tuple[float, FloatArray] = (-radius, peak.point)
    outside: tuple[float, FloatArray] | None = None
    place = middle + sign * reach
    start = peak.point + direction * sign * reach
    was_inside = True
    for _ in range(PROFILE_POINTS):
        if sign * (place - border) > 0.0:
            place = border
        start = start.copy()
        start[k] = place
        there = _lowest(f, start, others, low, high, FOUND_ON_PROFILE)
        if not there.found:
            return math.nan
        above = there.value - there.decrement - peak.value
        if above < -HIGHER:
            raise _HigherError(there.point)
        root = math.sqrt(2.0 * max(above, 0.0))
        point = there.point
        # Beyond alpha = 2 and where jumps are too small to be seen, lam and the intensity can be anything.
        unbounded = k != ALPHA and (point[ALPHA] >= high[ALPHA] or point[RATE] >= high[RATE])
        if root < radius + END_FOUND and (place == border or unbounded):
            return sign * math.inf
        if abs(root - radius) < END_FOUND:
            return place
        # The method of Illinois: an end that stays counts half.
        is_inside = root < radius
        if is_inside:
            inside = root - radius, point
            if outside is not None and was_inside:
                outside = 0.5 * outside[0], outside[1]
        else:
            if outside is not None and not was_inside:
                inside = 0.5 * inside[0], inside[1]
            outside = root - radius, point
        was_inside = is_inside
        if outside is None:
            further = min(max(radius / max(root, 1e-3), 1.1), 2.0)
            place = middle + (place - middle) * further
            start = point + direction * (place - point[k])
        else:
            weight = min(max(inside[0] / (inside[0] - outside[0]), 0.05), 0.95)
            start = inside[1] + weight * (outside[1] - inside[1])
            place = float(start[k])
    return math.nan


def _exp(logarithm: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(logarithm))


def _result(
    likelihood: _Likelihood, point: FloatArray, ends: FloatArray, status: FitStatus, level: float
) -> TemperedStableFit:
    alpha, rate, jumps = likelihood.in_unit(point)
    sd = likelihood.sd
    log_intensity_found = math.log(jumps) + alpha * likelihood.log_sd - math.log(likelihood.t)
    with np.errstate(over="ignore", under="ignore"):
        intensity, lam = float(np.exp(log_intensity_found)), float(np.divide(rate, sd))
    if not (0.0 < intensity < math.inf and 0.0 < lam < math.inf):
        raise ParameterError(
            f"x has a root mean square of {sd:.3g} over t={likelihood.t!r}: lam={lam:.3g} or intensity={intensity:.3g} "
            "of the fitted law is outside the range of doubles; give x and t in other units"
        )
    log_t = math.log(likelihood.t)
    # Without a bound from the data alpha still has those of its range.
    alpha_ends = np.clip(-2.0 * np.expm1(-ends[ALPHA]), 0.0, 2.0)
    intervals = [
        Interval(*(float(v) for v in alpha_ends)),
        Interval(*(_exp(v - likelihood.log_sd) for v in ends[RATE])),
        Interval(*(_exp(v - log_t) for v in ends[SIZE])),
    ]
    return TemperedStableFit(
        alpha=alpha,
        lam=lam,
        intensity=intensity,
        alpha_interval=intervals[0],
        lam_interval=intervals[1],
        intensity_interval=intervals[2],
        level=level,
        log_likelihood=-likelihood(point) - likelihood.scaled.size * likelihood.log_sd,
        status=status,
        n=likelihood.scaled.size,
        evaluations=likelihood.evaluations,
    )
