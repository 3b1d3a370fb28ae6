"""The far left tail beyond every grid: a pole and a branch cut, as a mixture of exponentials (NUMERICS C.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.special import gamma

from .._checks import FloatArray
from .._kernels import exponent as exponent_kernels
from .._kernels.interpolation import interpolate
from .._theory.exponent import ExponentStatus
from .curve import panels
from .problem import ComplexArray, Problem

#: Share of the distance from the branch point to the next singularity of N(s) over which the cut is integrated.
CUT_SHARE = 0.9
#: A table of the far tail: its step and size in log(1 + distance/scale), and the number of points that pays for it.
TABLE_STEP, TABLE_SIZE, FEW = 0.08, 260, 64
#: It is halved until the table's error, at the points where it bends most, is less.
TABLE_HALVINGS, CHECKED, TABLE_ERROR = 4, 24, 1e-11
TABLE_REACH = float(np.expm1(TABLE_STEP * TABLE_SIZE))


class Beyond(Protocol):
    """What lies beyond the left end of a curve."""

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        ...

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Mass to the left."""
        ...

    def moment(self, s: float) -> float:
        """Integral of exp(-s zeta) rho over all of it."""
        ...


class Nothing:
    """A side on which the density has run out of floating-point numbers."""

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density: 0."""
        return np.zeros(np.shape(zeta))

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Mass to the left: 0."""
        return np.zeros(np.shape(zeta))

    def moment(self, s: float) -> float:
        """Integral of exp(-s zeta) rho: 0."""
        return 0.0


class FarTail:
    """rho(zeta) = sum_j weights_j exp((rate + offsets_j) (zeta - end)) for zeta < end.

    The pole of the transform M(s) gives one term, the cut a continuum of them, discretised once for every zeta.
    Where many points are wanted the sum is tabulated: exp(-slowest rate zeta) rho is smooth in
    log(end - zeta + scale).

    Parameters
    ----------
    end : float
        Where the far tail begins, < 0.
    rate : float
        lam, where the cut begins.
    offsets, weights : ndarray, shape (n,)
        The mixture. Offsets far below the rounding of `rate` count: at s = lam its moments need them.
    """

    def __init__(self, end: float, rate: float, offsets: FloatArray, weights: FloatArray) -> None:
        self.end = end
        self.rate = rate
        self.offsets = offsets
        self.weights = weights
        self._lowest = float(offsets.min())
        self._scale = max(0.5 * abs(end), 1e-3 / (rate + self._lowest))
        self._tables: dict[str, tuple[float, FloatArray]] = {}

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        return self._value("pdf", self.weights, zeta)

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Integral of the density from -inf."""
        return self._value("cdf", self.weights / (self.rate + self.offsets), zeta)

    def moment(self, s: float) -> float:
        """Integral of exp(-s zeta) rho from -inf to `end`, for s below every rate (or at the branch point)."""
        used = self.weights != 0
        return float(np.sum(self.weights[used] / ((self.rate - s) + self.offsets[used])) * np.exp(-s * self.end))

    def _value(self, name: str, weights: FloatArray, zeta: FloatArray) -> FloatArray:
        distance = self.end - np.ravel(zeta)
        near = distance < TABLE_REACH * self._scale
        reduced = np.empty(distance.shape)
        if near.sum() > FEW:
            if name not in self._tables:
                self._tables[name] = self._tabulated(weights)
            step, table = self._tables[name]
            reduced[near] = np.exp(interpolate(table, np.log1p(distance[near] / self._scale) / step + 8))
            reduced[~near] = self._sum(weights, distance[~near])
        else:
            reduced = self._sum(weights, distance)
        result: FloatArray = np.exp(-(self.rate + self._lowest) * distance) * reduced
        return result.reshape(np.shape(zeta))

    def _tabulated(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Step and table of the logarithm; finer where one exponential takes over from another within a step."""
        for halving in range(TABLE_HALVINGS + 1):
            step, size = TABLE_STEP / 2**halving, TABLE_SIZE * 2**halving
            table = np.log(self._sum(weights, self._scale * np.expm1(step * np.arange(-8, size + 8))))
            bend = np.abs(np.diff(table, 4))[8:-8]
            middle = np.argsort(bend)[-CHECKED:] + 10.5
            exact = np.log(self._sum(weights, self._scale * np.expm1(step * (middle - 8.0))))
            if np.abs(interpolate(table, middle) - exact).max() < TABLE_ERROR:
                break
        return step, table

    def _sum(self, weights: FloatArray, distance: FloatArray) -> FloatArray:
        """The mixture over its slowest exponential."""
        excess = self.offsets - self._lowest
        used = weights != 0
        result = np.empty(distance.shape)
        for start in range(0, len(distance), 1024):
            part = distance[start : start + 1024]
            result[start : start + 1024] = np.exp(-np.multiply.outer(part, excess[used])) @ weights[used]
        return result


class Constants:
    """N(s) = s E[(kappa - F) exp(-s zeta)] and what follows from it (THEORY 5, NUMERICS C.4)."""

    def __init__(self, problem: Problem, nodes: FloatArray, weights: FloatArray, rest: float = 0.0) -> None:
        self.problem = problem
        #: What N(tail_rate) has from beyond the nodes.
        self.rest = rest
        weighted = weights * problem.deficit(nodes)
        # For every s > 0 that is asked for, what is negligible at s = 0 to the right of the middle stays so.
        used = (nodes < 0) | (np.abs(weighted) > 1e-18 * np.abs(weighted).max())
        self._nodes = nodes[used]
        self._weighted = weighted[used]

    def numerator(self, s: FloatArray, end: float = 0.0) -> FloatArray:
        """N(s) exp(s end), s > 0; with the end of the nodes for `end` no factor overflows."""
        flat = np.ravel(np.asarray(s, dtype=float))
        exponent = np.multiply.outer(-flat, self._nodes - end)
        if exponent.max() > 600.0:
            # Where exp(-s zeta) would overflow the density is as small.
            kept = self._weighted != 0
            exponent = exponent[:, kept] + np.log(np.abs(self._weighted[kept]))
            top = exponent.max(axis=1, keepdims=True)
            with np.errstate(over="ignore"):
                value = flat * np.exp(top[:, 0]) * (np.exp(exponent - top) @ np.sign(self._weighted[kept]))
        else:
            value = flat * (np.exp(exponent) @ self._weighted)
        return np.asarray(value.reshape(np.shape(s)))

    def at_rate(self, end: float = 0.0) -> float:
        """N at the rate of the tail itself, times exp(rate end)."""
        rate = self.problem.tail_rate
        return float(self.numerator(np.array(rate), end)) + self.rest * float(np.exp(rate * end))

    def pole(self, end: float = 0.0) -> float:
        """C exp(beta end), C = N(beta)/Phi'(beta); 0 where Phi has no simple zero."""
        problem = self.problem
        status = problem.exponent_status
        if status is ExponentStatus.ROOT or status is ExponentStatus.GAUSSIAN:
            slope = characteristic_slope(problem)
        elif status is ExponentStatus.AT_THRESHOLD and problem.alpha > 1:
            slope = regular_slope(problem)
        else:
            return 0.0
        return self.at_rate(end) / slope

    def prefactor(self) -> float:
        """The constant of `TailLaw` in the phases that have one."""
        problem = self.problem
        status = problem.exponent_status
        if status is ExponentStatus.AT_THRESHOLD and problem.alpha <= 1:
            numerator = self.at_rate()
            if problem.alpha == 1:
                return numerator / problem.eta_J
            # eta_J |Gamma(-a)| Gamma(a) = eta_J Gamma(1-a) Gamma(a)/a = eta_J pi/(a sin(pi a))
            return float(numerator * problem.alpha * np.sin(np.pi * problem.alpha) / (np.pi * problem.eta_J))
        if status is ExponentStatus.BELOW_THRESHOLD:
            numerator = self.at_rate()
            return problem.eta_J * numerator / problem.characteristic_at(problem.lam) ** 2
        return self.pole()


def characteristic_slope(problem: Problem) -> float:
    """Phi'(beta) = kappa x R'(x), a sum of positive terms: from d beta/d kappa = beta/Phi'(beta)."""
    if problem.eta_J == 0:
        return problem.kappa
    d_kappa = exponent_kernels.sensitivities(problem.kappa, problem.eta_G, problem.eta_J, problem.alpha, problem.lam)[0]
    return float(problem.root / d_kappa)


def regular_slope(problem: Problem) -> float:
    """Phi'(lam) for alpha > 1."""
    e = problem.alpha - 1.0
    scale = problem.eta_J * gamma(2.0 - problem.alpha) * (2.0 * problem.lam) ** e / e
    return float(2.0 * problem.eta_G * problem.lam - problem.kappa + scale)


def cut_slope(problem: Problem, log_y: FloatArray) -> ComplexArray:
    """[Phi(lam + y + i0) - Phi(lam)]/y at log y, without cancellation in y and regular through alpha = 1."""
    alpha, lam = problem.alpha, problem.lam
    e = alpha - 1.0
    y = np.exp(np.maximum(log_y, -500.0))

    def over_e(exponent: Any) -> ComplexArray:
        """(exp(e x) - 1)/e."""
        x = np.asarray(exponent, dtype=np.complex128)
        if e == 0.0:
            return x
        with np.errstate(over="ignore"):
            return np.asarray(np.expm1(e * x) / e, dtype=np.complex128)

    ratio = np.log1p(0.5 * y / lam)
    far = over_e(np.log(2.0 * lam + y)) + 2.0 * lam * (2.0 * lam) ** e * over_e(ratio) / y
    jump = problem.eta_J * gamma(2.0 - alpha) / alpha
    slope: ComplexArray = problem.eta_G * (2.0 * lam + y) - problem.kappa + jump * (far - over_e(log_y - 1j * np.pi))
    return slope


def mixture(problem: Problem, constants: Constants, end: float, decay: float) -> FarTail:
    """Pole and cut for zeta < end, where kappa - F falls like exp(decay zeta)."""
    base = problem.lam if problem.eta_J > 0 else problem.root
    offsets: list[FloatArray] = []
    weights: list[FloatArray] = []
    pole = constants.pole(end)
    if pole > 0:
        offsets.append(np.array([-problem.gap if problem.eta_J > 0 else 0.0]))
        weights.append(np.array([pole]))
    if problem.eta_J > 0:
        reach = CUT_SHARE * (problem.tail_rate + decay - problem.lam)
        # Beyond 40 e-folds at `end` nothing is left of the cut.
        reach = min(reach, 40.0 / max(-end, 1e-3 / problem.lam))
        if reach > 1e-6 * problem.lam:
            at_threshold = problem.exponent_status is ExponentStatus.AT_THRESHOLD
            offset = 0.0 if at_threshold else problem.characteristic_at(problem.lam)
            y, dy_y, log_y = _cut_nodes(reach, _resonance(problem, offset, reach) if offset < 0 else ())
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                if at_threshold:
                    spectral = np.imag(-1.0 / cut_slope(problem, log_y))
                else:
                    spectral = y * np.imag(-1.0 / (offset + y * cut_slope(problem, log_y)))
            spectral = np.where(np.isfinite(spectral), spectral, 0.0)
            offsets.append(y)
            smooth = _smooth_numerator(constants, problem.lam, reach, y, end)
            weights.append(smooth * spectral * dy_y / np.pi)
    if not offsets:
        # Nothing that a far tail could be: its joint with the curve will say so.
        return FarTail(end, base, np.zeros(1), np.zeros(1))
    return FarTail(end, base, np.concatenate(offsets), np.concatenate(weights))


def power_mixture(end: float, rate: float, power: float, density: float) -> FarTail:
    """Density (end/zeta)^power exp(rate (zeta - end)), power > 0: the leading law, matched at `end` < 0."""
    if power == 0.0:
        return FarTail(end, rate, np.zeros(1), np.array([density]))
    y, dy_y, _ = _cut_nodes(60.0 / abs(end))
    weights = y**power * np.exp(y * end) * dy_y / gamma(power) * density * abs(end) ** power
    return FarTail(end, rate, y, weights)


def rest_of_numerator(problem: Problem, end: float, density: float) -> float:
    """What N(rate) has from beyond `end` where kappa - F falls slowly and the density follows its leading law."""
    z, weights = panels(np.log(-end) + np.linspace(0.0, 40.0, 41))
    x = -np.exp(z)
    law = (x / end) ** -log_power(problem, end)
    per_node = weights * -x * law * problem.deficit(x)
    with np.errstate(over="ignore"):
        return float(problem.tail_rate * np.exp(np.log(density) - problem.tail_rate * end) * per_node.sum())


def log_power(problem: Problem, end: float) -> float:
    """Power q of the leading law exp(rate zeta) abs(zeta)^-q; under a drift that confines F rho is like the jumps."""
    status = problem.exponent_status
    if status is ExponentStatus.CONFINED:
        growth, exponential = _growth(problem, end)
        return 1.0 + problem.alpha + (0.0 if exponential else growth)
    if status is ExponentStatus.BELOW_THRESHOLD:
        return 1.0 + problem.alpha
    if status is ExponentStatus.AT_THRESHOLD:
        return max(1.0 - problem.alpha, 0.0)
    return 0.0


def leading_rate(problem: Problem, end: float) -> float:
    """Its rate: that of the tail, and that of a drift that grows exponentially."""
    if problem.exponent_status is ExponentStatus.CONFINED:
        growth, exponential = _growth(problem, end)
        return problem.tail_rate + (growth * np.log(2.0) / abs(end) if exponential else 0.0)
    return problem.tail_rate


def _growth(problem: Problem, end: float) -> tuple[float, bool]:
    """Binary logarithm of how much a drift that confines grows from `end` to twice that, and if exponentially."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        before, after = np.diff(np.log2(problem.force(np.array([0.5, 1.0, 2.0]) * end)))
    if not np.isfinite(after):
        return 2.0 * float(before), True
    return float(after), bool(after > 1.5 * before and after > 4.0)


def summable(problem: Problem) -> bool:
    """Whether E exp(rate |zeta|) is finite on the left at the rate itself."""
    return problem.exponent_status in (ExponentStatus.BELOW_THRESHOLD, ExponentStatus.CONFINED)


def _cut_nodes(reach: float, extra: Sequence[float] = ()) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes y in (0, reach], weights dy/y, and log y: panels of 1.5 in log y over 26 decades, then growing ones.

    The growing panels matter at and near threshold for alpha close to 1, where the integrand dies like 1/(log y)^2.
    """
    near = np.log(reach) - np.arange(0.0, 61.0, 1.5)
    far = near[-1] - 30.0 * (np.exp2(np.arange(1.0, 46.0)) - 1.0)
    edges = np.unique(np.concatenate([far, near, np.asarray(extra, dtype=float)]))
    log_y, weights = panels(edges)
    return np.exp(log_y), weights, log_y


def _resonance(problem: Problem, offset: float, reach: float) -> tuple[float, ...]:
    """Panel edges, in log y, around the zero of Re Phi beyond lam that a collapsed model has.

    Few jumps make it a narrow resonance, the remains of the Gaussian root: without its own panels the far tail
    was wrong by 1e-8.
    """
    log_y = np.log(reach) - np.linspace(20.0, 0.0, 401)
    phi = offset + np.exp(log_y) * cut_slope(problem, log_y)
    crossed = np.flatnonzero((phi.real[:-1] < 0) & (phi.real[1:] >= 0))
    if not len(crossed):
        return ()
    i = int(crossed[0])
    rise = (phi.real[i + 1] - phi.real[i]) / (log_y[i + 1] - log_y[i])
    center = log_y[i] - phi.real[i] / rise
    width = max(abs(phi.imag[i]) / rise, 1e-3)
    steps = width * np.exp2(np.arange(0.0, 12.0))
    steps = np.concatenate([-steps[::-1], [0.0], steps[:]])
    edges = center + steps[np.abs(steps) < 1.5]
    return tuple(edges[edges < np.log(reach)].tolist())


def _smooth_numerator(constants: Constants, lam: float, reach: float, y: FloatArray, end: float) -> FloatArray:
    """N(lam + y) exp((lam + y) end), analytic up to 1/CUT_SHARE of the reach: 61 Chebyshev points leave 1e-15."""
    count = 61
    angle = np.pi * (np.arange(count) + 0.5) / count
    at = 0.5 * reach * (1.0 + np.cos(angle))
    values = constants.numerator(lam + at, end)
    # A drift that exceeds its plateau somewhere can make N change sign on the cut; a far end takes all of it away.
    logarithmic = bool((values > 0).all())
    values = np.log(values) if logarithmic else values * np.exp(-at * end)
    series = 2.0 / count * np.cos(np.multiply.outer(np.arange(count), angle)) @ values
    series[0] *= 0.5
    smooth: FloatArray = np.asarray(np.polynomial.chebyshev.chebval(2.0 * y / reach - 1.0, series))
    if logarithmic:
        return np.asarray(np.exp(smooth))
    return np.asarray(smooth * np.exp(y * end))


def mass_beyond(tail: Beyond, end: float) -> float | None:
    """Mass of a tail that begins at `end`; None where there is no tail."""
    return None if isinstance(tail, Nothing) else float(tail.cdf(np.array([end]))[0])
