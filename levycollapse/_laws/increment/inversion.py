"""Density and tail of a law with jumps, by pieces that are made where they are asked for."""

from __future__ import annotations

import math
import threading

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gamma

from ..._checks import FloatArray
from ..._kernels import pieces as kernels
from ..._kernels.contour import CAPACITY
from ..._kernels.symbol import stable_constant, symbol_imaginary
from ...errors import ConvergenceError, ParameterError

#: Relative error that a value may have: the first where P(X > x) >= FAR, the second beyond.
TOLERANCE, FAR_TOLERANCE = 1e-10, 1e-9
LOG_FAR = math.log(1e-15)
#: Where P underflows only its logarithm is of use: its relative error.
LOG_UNDERFLOW, LOG_TOLERANCE = math.log(1e-300), 1e-12
LOG_HALF = -math.log(2.0)
#: Where log f or log P is below, f and P are 0 in double precision (the least double is exp(-744.4)).
LOG_NOTHING = -800.0
#: The last binade is left out: its end is not a double.
LARGEST_EXPONENT = 1023
LARGEST = 2.0**LARGEST_EXPONENT

_THREAD = threading.local()
#: A binade is cut into at most 2**MOST_CUTS pieces.
MOST_CUTS = 5
#: The centre is looked for in at most this many binades below a quarter of the width of the peak. Far below alpha = 1
#: the density is smooth but not analytic at 0, and its series converges only for x much smaller than the peak.
CENTRE_TRIES = 24


class Inversion:
    """Density and survival probability at x >= 0 from contour integrals (SAMPLERS 1).

    Everything is in units of 1/`per_unit`: 1/lam, or the scale of an untempered law.

    Parameters
    ----------
    alpha, lam : float
        Stability index and tempering.
    jump_time, gauss_time : float
        dt eta_J > 0 and dt eta_G >= 0.
    """

    def __init__(self, alpha: float, lam: float, jump_time: float, gauss_time: float) -> None:
        self.alpha = alpha
        self.tempered = lam > 0.0
        with np.errstate(all="ignore"):
            if self.tempered:
                self.per_unit = lam
                constant = float(gamma(2.0 - alpha))
            else:
                constant = float(stable_constant(alpha))
                self.per_unit = _core_rate(alpha, math.log(jump_time) + math.log(constant), gauss_time)
            self.jump = float(jump_time * constant * np.float64(self.per_unit) ** alpha)
            self.gauss = float(gauss_time * self.per_unit * np.float64(self.per_unit))
        representable = 0.0 < self.per_unit < math.inf and 0.0 < self.jump < math.inf and math.isfinite(self.gauss)
        if not (representable and (self.gauss > 0.0) == (gauss_time > 0.0)):
            raise ParameterError(
                f"alpha={alpha!r}, lam={lam!r}: the jump or the Gaussian part of the increment (dt eta_J="
                f"{jump_time!r}, dt eta_G={gauss_time!r}) is outside the range of floating-point numbers"
            )
        self._lowest = kernels.LEAST - 1
        self._first = np.full(kernels.BINADES, -1, dtype=np.int64)
        self._parts = np.zeros(kernels.BINADES, dtype=np.int64)
        # Piece 0 is the centre; nan until it is made.
        self._series = np.full((1, 2, kernels.DEGREE + 1), np.nan)
        self._errors = np.full((1, 3), np.inf)
        self._lock = threading.RLock()
        self._peak = self._peak_width()
        self._edges: tuple[FloatArray, ...] | None = None

    # -- values ---------------------------------------------------------------------------------------------------

    def log_density(self, x: FloatArray) -> FloatArray:
        """Logarithm of the density in units of `per_unit`, at finite x >= 0 (one-dimensional)."""
        return self._one(x, 0)

    def log_survival(self, x: FloatArray) -> FloatArray:
        """Logarithm of P(X > x)."""
        return self._one(x, 1)

    def error(self, x: FloatArray) -> FloatArray:
        """Estimated relative error of density and survival probability, the larger of the two; refuses nothing."""
        self._prepare(x)
        out = np.empty(x.size)
        kernels.errors_at(x, self._lowest, self._first, self._parts, self._errors, out)
        return out

    def invert(self, survival: FloatArray, centre: FloatArray) -> FloatArray:
        """Find x with P(X > x) = survival, 0 < survival < 1/2, given also centre = 1 - 2 survival."""
        out = np.empty(survival.size)
        if not out.size:
            return out
        with self._lock:
            inverse = self._ordered(math.log(survival.min()))
        worst = kernels.invert(survival, centre, *inverse, self._series, self._errors, out)
        # Quantiles beyond the largest double.
        out[np.log(survival) < inverse[2][-1]] = np.inf
        if worst > TOLERANCE:
            finite = np.isfinite(out)
            self._refuse_where(self._errors_at(out[finite], 1), np.log(survival[finite]), out[finite])
        return out

    def _one(self, x: FloatArray, which: int) -> FloatArray:
        self._prepare(x)
        out = np.empty(x.size)
        worst = kernels.evaluate_one(x, which, self._lowest, self._first, self._parts, self._series, self._errors, out)
        if which == 1:
            # What is left of the rounding at the centre must not take P beyond 1/2, nor away from it at 0.
            out[(x == 0.0) | (out > LOG_HALF)] = LOG_HALF
        if worst > TOLERANCE:
            log_survival = out if which == 1 else np.empty(x.size)
            if which == 0:
                kernels.evaluate_one(
                    x, 1, self._lowest, self._first, self._parts, self._series, self._errors, log_survival
                )
            self._refuse_where(self._errors_at(x, which), log_survival, x)
        return out

    def _errors_at(self, x: FloatArray, which: int) -> FloatArray:
        out = np.empty(x.size)
        one = np.repeat(self._errors[:, which : which + 1], 2, axis=1)
        kernels.errors_at(x, self._lowest, self._first, self._parts, one, out)
        return out

    def _refuse_where(self, errors: FloatArray, log_survival: FloatArray, x: FloatArray) -> None:
        allowed = np.where(log_survival >= LOG_FAR, TOLERANCE, FAR_TOLERANCE)
        allowed = np.maximum(allowed, np.where(log_survival < LOG_UNDERFLOW, -LOG_TOLERANCE * log_survival, 0.0))
        bad = ~(errors <= allowed)
        if bad.any():
            at = int(np.argmax(bad))
            raise ConvergenceError(
                f"the law at |x|={x[at] / self.per_unit:.6g} is known only to a relative error of {errors[at]:.2g} "
                f"({allowed[at]:.0e} is asked; alpha={self.alpha!r}, in units of {1.0 / self.per_unit:.6g}: Gaussian "
                f"part {self.gauss:.6g}, jumps {self.jump:.6g})"
            )

    def vanishes(self, x: FloatArray, density: bool) -> NDArray[np.bool_]:
        """Where density (in units of zeta) or survival probability underflow for certain, however far out."""
        if not self.tempered:
            return np.zeros(x.shape, dtype=np.bool_)
        # Chernoff's bound at s = lam, log P(X > x) <= K - x, with K the cumulant function there. The law is unimodal:
        # x/2 f(x) <= P(X > x/2).
        distance = self.alpha - 1.0
        slope = math.log(2.0) if distance == 0.0 else math.expm1(distance * math.log(2.0)) / distance
        cumulant = self.gauss + 2.0 * self.jump * slope / self.alpha
        with np.errstate(divide="ignore"):
            bound = cumulant - 0.5 * x - np.log(0.5 * x) + math.log(self.per_unit) if density else cumulant - x
        nothing: NDArray[np.bool_] = bound < LOG_NOTHING
        return nothing

    # -- making pieces --------------------------------------------------------------------------------------------

    def _prepare(self, x: FloatArray) -> None:
        if x.size and x.max() >= LARGEST:
            raise ConvergenceError(f"|x|={x.max() / self.per_unit:.6g} is too close to the largest double")
        needed = np.zeros(kernels.BINADES, dtype=np.bool_)
        with self._lock:
            # Below the width of the peak the centre decides which binades there are.
            if self._lowest < kernels.LEAST and x.size and x.min() < self._peak:
                self._make_centre()
            kernels.mark_needed(x, self._lowest, self._first, needed)
            for b in np.flatnonzero(needed):
                self._make_binade(int(b))

    def _build(self, low: float, high: float, series: FloatArray, errors: FloatArray) -> None:
        if not hasattr(_THREAD, "workspace"):
            _THREAD.workspace = kernels.workspace()
        try:
            kernels.build(
                self.tempered, self.gauss, self.jump, self.alpha, low, high, *_THREAD.workspace, series, errors
            )
        except ZeroDivisionError:
            # Something under- or overflowed on the way: there is no piece here.
            series[:], errors[:] = np.nan, np.inf

    def _make_centre(self) -> None:
        start = math.floor(math.log2(self._peak)) - 2
        series, errors = np.empty((2, kernels.DEGREE + 1)), np.empty(3)
        best = math.inf
        for exponent in range(start, start - 2 * CENTRE_TRIES, -2):
            if exponent <= kernels.LEAST + 52:
                break
            self._build(0.0, math.ldexp(1.0, exponent), series, errors)
            worst = errors[:2].max()
            if worst < best:
                best = worst
                self._series[0], self._errors[0], self._lowest = series, errors, exponent
            if kernels.good_enough(self._errors[0]) or best < min(TOLERANCE, worst):
                break
        if not best < math.inf:
            raise ConvergenceError(
                f"the centre of the law cannot be found with {CAPACITY} contour nodes in double precision "
                f"(alpha={self.alpha!r}, in units of {1.0 / self.per_unit:.6g}: Gaussian part {self.gauss:.6g}, "
                f"jumps {self.jump:.6g})"
            )
        # P(X > 0) is 1/2 exactly.
        signs = (-1.0) ** np.arange(kernels.DEGREE + 1)
        self._series[0, 1, 0] -= float(self._series[0, 1] @ signs) - LOG_HALF
        self._edges = None

    def _make_binade(self, b: int) -> None:
        low = math.ldexp(1.0, b + kernels.LEAST)
        best, best_worst = self._cut(low, 1, math.inf)
        for cuts in range(1, MOST_CUTS + 1):
            if all(kernels.good_enough(e) for e in best[1]) or (cuts > 2 and best_worst == math.inf):
                break
            candidate, worst = self._cut(low, 1 << cuts, best_worst)
            if worst < best_worst:
                best, best_worst = candidate, worst
            elif best_worst < TOLERANCE:
                break
        series, errors = best
        first = len(self._series)
        self._series = np.concatenate([self._series, series])
        self._errors = np.concatenate([self._errors, errors])
        # Last, so that another thread finds the pieces behind every index.
        self._parts[b] = len(series)
        self._first[b] = first
        self._edges = None

    def _cut(self, low: float, parts: int, beat: float) -> tuple[tuple[FloatArray, FloatArray], float]:
        """Pieces of [low, 2 low] and their largest error; inf as soon as one is not better than `beat`."""
        series = np.full((parts, 2, kernels.DEGREE + 1), np.nan)
        errors = np.full((parts, 3), np.inf)
        for i in range(parts):
            self._build(low * (1.0 + i / parts), low * (1.0 + (i + 1) / parts), series[i], errors[i])
            if not errors[i, :2].max() < beat:
                return (series, errors), math.inf
        return (series, errors), float(errors[:, :2].max())

    def _ordered(self, log_survival: float) -> tuple[FloatArray, ...]:
        """Pieces from 0 to where log P falls below `log_survival`: their order, ends, log P and its slopes there."""
        if self._lowest < kernels.LEAST:
            self._make_centre()
        if self._edges is not None and self._edges[2][-1] < log_survival:
            return self._edges
        order, edges = [0], [0.0, math.ldexp(1.0, self._lowest)]
        log_edges = [-math.log(2.0), float(self._series[0, 1].sum())]
        for exponent in range(self._lowest, LARGEST_EXPONENT):
            b = exponent - kernels.LEAST
            if self._first[b] < 0:
                self._make_binade(b)
            first, parts = int(self._first[b]), int(self._parts[b])
            order.extend(range(first, first + parts))
            edges.extend(math.ldexp(1.0 + (i + 1) / parts, exponent) for i in range(parts))
            log_edges.extend(self._series[first : first + parts, 1].sum(axis=1).tolist())
            if not np.isfinite(log_edges[-parts:]).all():
                raise ConvergenceError(
                    f"the law cannot be found between |x|={edges[-1 - parts] / self.per_unit:.6g} and "
                    f"{edges[-1] / self.per_unit:.6g}, so that quantiles beyond are not known (alpha={self.alpha!r})"
                )
            if log_edges[-1] < log_survival:
                break
        slopes = np.empty((len(order), 2))
        self._edges = np.array(order), np.array(edges), np.array(log_edges), slopes
        kernels.edge_slopes(self._edges[0], self._series, self._edges[2], slopes)
        return self._edges

    def _peak_width(self) -> float:
        """sqrt(f(0)/|f''(0)|) from the characteristic function; only sets where the pieces begin."""
        index = self.alpha
        front = gamma(2.0 - index)
        low, high = -690.0, 690.0

        def exponent(log_k: FloatArray) -> FloatArray:
            k = np.exp(log_k)
            stable = -self.jump * k**index
            jumps: FloatArray = symbol_imaginary(k, self.jump / front, index, 1.0) if self.tempered else stable
            return jumps - self.gauss * k * k

        with np.errstate(over="ignore", under="ignore"):

            def below(level: float) -> float:
                def f(log_k: float) -> float:
                    return max(float(exponent(np.array(log_k))), -1e300) + level

                if f(low) < 0.0:
                    return low
                return high if f(high) > 0.0 else float(brentq(f, low, high, xtol=1e-3))

            start, end = below(1e-3) - 4.0, below(50.0)
            grid = np.linspace(start, min(end, 230.0 + start), 2000)
            # Times k for d log k; relative to the largest so that k^3 cannot overflow.
            log_weight = exponent(grid) + grid
            zeroth = np.exp(log_weight - log_weight.max()).sum()
            second = np.exp(log_weight + 2.0 * grid - (log_weight + 2.0 * grid).max()).sum()
            log_ratio = (log_weight + 2.0 * grid).max() - log_weight.max() + math.log(second / zeroth)
        return math.exp(max(-0.5 * log_ratio, -690.0))


def _core_rate(alpha: float, log_jump: float, gauss_time: float) -> float:
    """1/L, with gauss_time/L**2 + jump/L**alpha about 1: the scale of an untempered law.

    A power of two, so that x in units of L is exact.
    """
    log_gauss = math.log(gauss_time) if gauss_time > 0.0 else -math.inf
    start = max(0.5 * log_gauss, log_jump / alpha)

    def balance(log_unit: float) -> float:
        return float(np.logaddexp(log_gauss - 2.0 * log_unit, log_jump - alpha * log_unit))

    if gauss_time > 0.0:
        start = brentq(balance, start - 1e-9, start + math.log(2.0) / alpha + 1e-9, xtol=1e-3)
    return float(np.exp2(-np.round(start / math.log(2.0))))
