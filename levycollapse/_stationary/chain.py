"""A Markov chain on a graded grid whose stationary vector approximates the law (THEORY 8, the second method)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.optimize import brentq
from scipy.special import gamma, gammainc, rgamma

from .._checks import FloatArray
from .._kernels.gth import stationary_vector
from .._model.collapse_model import CollapseModel
from .._theory.tail import TailForm, TailLaw, no_tail
from ..errors import ConvergenceError, ParameterError
from .box import landscape, spectral_limit
from .curve import panels
from .density import DensityStatus, StationaryDensity, with_prefactor
from .far_tail import Beyond, Constants, Nothing, log_power, mass_beyond, power_mixture, summable
from .problem import Problem

#: Nodes, if not asked for: their elimination takes about a third of a second.
DEFAULT_NODES = 801
#: Most nodes: the matrix takes half a gigabyte and its elimination minutes.
MOST_NODES = 8001
#: The chain reaches down to exp(-60) where tails are exponential.
CHAIN_NATS = 60.0
#: Distance, in units of the local spacing or of the drift's width, whichever is more, within which the interpolation's
#: variance counts at the place where the jump starts. With 5 spacings and 1 width the tail's rate stayed wrong by
#: 4e-5 on any grid (alpha 1.3). Untempered jumps have no variance: it cannot count everywhere.
NEAR_SPACINGS, NEAR_WIDTHS = 20.0, 5.0
#: Ratio of successive changes of the density, between grids of n/4, n/2 and n nodes, from which the error counts as of
#: second order and is extrapolated away.
SECOND_ORDER = 2.0
#: The error is taken as this share of the extrapolated density's change, and what no grid of a thousand nodes gets
#: below. Over 12 models and pure jumps that leave sharp peaks the largest error was 0.95 of that.
CHANGE_SHARE, FLOOR_ERROR = 0.6, 1e-3
#: A drift that saturates makes the law of an untempered model decay like abs(zeta)^-alpha: mass left out, at best.
LOST_MASS = 2e-5
#: Farthest node of an untempered model, in decades of the width.
FARTHEST = 40.0
#: A peak narrower than this share of the drift's width gets nodes of its own.
SHARP = 1e-3
#: Points of Gauss's rule between two nodes.
PANEL_POINTS = 6
#: Nodes per width of the drift in the middle.
RESOLUTION = 12.0


@dataclass(frozen=True)
class Chain:
    """Nodes, their cells' widths and the rates between them.

    Attributes
    ----------
    nodes : ndarray, shape (n,)
        Places.
    cells : ndarray, shape (n,)
        Lengths that turn masses into densities.
    rates : ndarray, shape (n, n)
        Off-diagonal generator, from row to column; the diagonal is 0.
    """

    nodes: FloatArray
    cells: FloatArray
    rates: FloatArray

    def stationary(self) -> FloatArray:
        """Stationary masses, each with a small relative error of its own."""
        masses: FloatArray = stationary_vector(self.rates.copy())
        return masses


def build_chain(problem: Problem, nodes: FloatArray, *, corrected: bool = False) -> Chain:
    """Rates whose generator agrees with the model's to second order in the spacing, all of them >= 0.

    Jumps beyond the nearest node land on the two nodes around them, in shares that keep their mean. Jumps within it
    become variance, from which the variance is taken off that those shares add nearby. Drift and diffusion use
    fitted rates. Jumps beyond an end stop there, which is a reflecting wall. Fitting needs the decay of the density,
    which without diffusion is only known in the far tails: `corrected` takes it from a first solution, and the error
    falls from first to second order (3 % to 0.05 % at 801 nodes).
    """
    n = len(nodes)
    spacing = np.diff(nodes)
    below = np.concatenate([[np.inf], spacing])
    above = np.concatenate([spacing, [np.inf]])
    cells = 0.5 * (np.where(np.isinf(below), 0.0, below) + np.where(np.isinf(above), 0.0, above))
    rates = np.zeros((n, n))
    diffusion = np.full(n, problem.eta_G)
    if problem.eta_J > 0:
        inner = np.minimum(below, above)
        jumps, excess = _jump_rates(problem, nodes, inner)
        rates += jumps
        diffusion = diffusion + np.maximum(_half_variance(problem, inner) - 0.5 * excess, 0.0)
    middles = 0.5 * (nodes[1:] + nodes[:-1])
    force = problem.force(middles)
    here = np.arange(n - 1)

    def with_decay(decay: FloatArray) -> Chain:
        whole = rates.copy()
        whole[here, here + 1] += _fitted(diffusion[:-1], force, decay, spacing) / cells[:-1]
        whole[here + 1, here] += _fitted(diffusion[1:], -force, decay, spacing) / cells[1:]
        np.fill_diagonal(whole, 0.0)
        return Chain(nodes, cells, whole)

    chain = with_decay(_expected_decay(problem, middles, force))
    if corrected:
        log_density = np.log(chain.stationary() / cells)
        chain = with_decay(np.sign(force) * np.diff(log_density) / spacing)
    return chain


def _expected_decay(problem: Problem, zeta: FloatArray, force: FloatArray) -> FloatArray:
    """Decay rate of the density against the drift: the root of the local characteristic equation, or of the power."""
    if problem.eta_J > 0 and problem.lam == 0:
        power = problem.alpha if np.isfinite(problem.kappa) else 1.0 + problem.alpha
        return np.asarray(power * np.abs(zeta) / (zeta**2 + 4.0 * problem.width**2))
    return problem.local_rate(force)


def _fitted(here: FloatArray, force: FloatArray, decay: FloatArray, spacing: FloatArray) -> FloatArray:
    """Rate along a force, times the cell's length, for diffusion `here`.

    Against the force it is the exponentially fitted one, (D/h) B(F h/D) with B(x) = x/(exp(x) - 1). Along it, it is
    what gives the flux (F - D s) exp(s h/2) of a density that grows with the expected rate s: exponential fitting again
    where there is only diffusion (s = F/D), but not the first-order upwind rate F where jumps make the tail.
    """
    along = force > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        strength = np.abs(force)

        def against(diffusion: FloatArray) -> FloatArray:
            peclet = strength * spacing / diffusion
            value = np.where(peclet < 1e-8, diffusion / spacing * (1.0 - 0.5 * peclet), strength / np.expm1(peclet))
            return np.where(diffusion > 0, value, 0.0)

        step = np.minimum(decay * spacing, 2.0)
        rate = step / spacing
        forward = np.maximum(strength - here * rate, 0.0) * np.exp(0.5 * step) + against(here) * np.exp(step)
        return np.where(along, forward, against(here))


def _half_variance(problem: Problem, cut: FloatArray) -> FloatArray:
    """Int_0^cut z**2 nu(z) dz: half the variance of the jumps with abs(z) < cut."""
    power = 2.0 - problem.alpha
    if problem.lam == 0:
        value: FloatArray = problem.eta_J * cut**power / power
        return value
    value = problem.eta_J * gamma(power) * problem.lam**-power * gammainc(power, problem.lam * cut)
    return value


def _jump_rates(problem: Problem, nodes: FloatArray, inner: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rates of the jumps longer than `inner`, and the variance that landing on nodes adds near each of them."""
    n = len(nodes)
    rates = np.zeros((n, n))
    excess = np.zeros(n)
    x, w = np.polynomial.legendre.leggauss(6)
    left, right = nodes[:-1], nodes[1:]
    for i in range(n):
        start = nodes[i]
        for side in (-1.0, 1.0):
            # Cells beyond the inner one, as distances near < far from this node.
            if side > 0:
                near, far, to_near, to_far = (
                    left[i:] - start,
                    right[i:] - start,
                    np.arange(i, n - 1),
                    np.arange(i + 1, n),
                )
            else:
                near, far = start - right[:i], start - left[:i]
                to_near, to_far = np.arange(1, i + 1), np.arange(0, i)
            end = start - nodes[0] if side < 0 else nodes[-1] - start
            wall = 0 if side < 0 else n - 1
            rates[i, wall] += _jumps_beyond(problem, np.array([max(end, inner[i])]))[0]
            if not near.size:
                continue
            low = np.maximum(near, inner[i])
            kept = low < far
            near, far, low, to_near, to_far = near[kept], far[kept], low[kept], to_near[kept], to_far[kept]
            # Gauss in log z: the density is a power over a cell that may be as long as its distance.
            a, b = np.log(low), np.log(far)
            half = 0.5 * (b - a)
            z = np.exp(0.5 * (a + b)[:, None] + half[:, None] * x)
            mass = half[:, None] * w * problem.eta_J * z**-problem.alpha * np.exp(-problem.lam * z)
            share = (z - near[:, None]) / (far - near)[:, None]
            np.add.at(rates[i], to_far, (mass * share).sum(axis=1))
            np.add.at(rates[i], to_near, (mass * (1.0 - share)).sum(axis=1))
            close = far < max(NEAR_SPACINGS * inner[i], NEAR_WIDTHS * problem.width)
            added = (mass * (z - near[:, None]) * (far[:, None] - z)).sum(axis=1)
            excess[i] += added[close].sum()
    return rates, excess


def _jumps_beyond(problem: Problem, distance: FloatArray) -> FloatArray:
    """Int_distance^inf nu(z) dz, by panels in log z."""
    alpha, lam = problem.alpha, problem.lam
    if lam == 0:
        value: FloatArray = problem.eta_J * distance**-alpha / alpha
        return value
    result = np.empty(distance.shape)
    for index, start in enumerate(distance):
        reach = max(start * np.exp(40.0 / alpha), 0.0) if lam * start < 1e-8 else start + 60.0 / lam
        reach = min(reach, start + 60.0 / lam)
        log_z, weights = panels(np.linspace(np.log(start), np.log(reach), max(int(4 * np.log(reach / start)), 1) + 8))
        z = np.exp(log_z)
        result[index] = problem.eta_J * float(weights @ (z**-alpha * np.exp(-lam * z)))
    return result


def graded(problem: Problem, n: int, ends: tuple[float, float]) -> FloatArray:
    """N nodes, as even as resolving the drift's width allows: sinh of an even grid."""
    left, right = ends
    longest = max(abs(left), abs(right))

    def spacing(scale: float) -> float:
        return float(scale * (np.arcsinh(right / scale) - np.arcsinh(left / scale)) / n)

    scale = 10.0 * longest
    while scale > problem.width and spacing(scale) > problem.width / RESOLUTION:
        scale *= 0.8
    nodes: FloatArray = scale * np.sinh(np.linspace(np.arcsinh(left / scale), np.arcsinh(right / scale), n))
    return nodes


class NodalCurve:
    """Densities on nodes as a density: a spline of its logarithm, integrated between nodes.

    Parameters
    ----------
    nodes, density : ndarray, shape (n,)
        Places and (not normalised) densities there.
    left, right : float
        Where far tails take over.
    """

    def __init__(self, nodes: FloatArray, density: FloatArray, left: float, right: float) -> None:
        self.nodes = self.joints = nodes
        self.left = left
        self.right = right
        self._scale = float(np.diff(nodes).min()) * 10.0
        self._x = np.arcsinh(nodes / self._scale)
        log_density = np.log(density)
        self._log_pdf = CubicSpline(self._x, log_density)
        masses = self._integral(self._x[:-1], self._x[1:])
        self._below = np.concatenate([[0.0], np.cumsum(masses)])
        self._above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
        self._log_density = log_density
        self._scale_to(float(masses.sum()))

    def settle(self, below: float | None, above: float | None) -> None:
        """Take the masses of the far tails for the chain's own beyond the ends (None: keep those), and normalise."""
        low, high = float(self.cdf(np.array(self.left))), float(self.sf(np.array(self.right)))
        more_below, more_above = (0.0 if below is None else below - low), (0.0 if above is None else above - high)
        self._below = self._below + more_below
        self._above = self._above + more_above
        self._scale_to(1.0 + more_below + more_above)

    def _scale_to(self, total: float) -> None:
        self._log_density = self._log_density - np.log(total)
        self._log_pdf = CubicSpline(self._x, self._log_density)
        self._below = self._below / total
        self._above = self._above / total

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        return np.asarray(np.exp(self._log_pdf(np.arcsinh(zeta / self._scale))))

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Distribution function, with relative accuracy on the left and to the settled total on the right."""
        at = np.asarray(zeta, dtype=float)
        return np.where(at <= 0.0, self._mass_below(at), 1.0 - self.sf(at))

    def _mass_below(self, zeta: FloatArray) -> FloatArray:
        x = np.arcsinh(zeta / self._scale)
        i = np.clip(np.searchsorted(self._x, x, side="right") - 1, 0, len(self._x) - 2)
        return np.asarray(self._below[i] + self._integral(self._x[i], x))

    def sf(self, zeta: FloatArray) -> FloatArray:
        """Survival function, with relative accuracy on the right."""
        x = np.arcsinh(np.asarray(zeta) / self._scale)
        i = np.clip(np.searchsorted(self._x, x, side="right") - 1, 0, len(self._x) - 2)
        return np.asarray(self._above[i + 1] + self._integral(x, self._x[i + 1]))

    def rule(self) -> tuple[FloatArray, FloatArray]:
        """Quadrature nodes and masses between the ends."""
        return self._rule(self.left, self.right)

    def whole_rule(self) -> tuple[FloatArray, FloatArray]:
        """The same from the first to the last node."""
        return self._rule(float(self.nodes[0]), float(self.nodes[-1]))

    def _rule(self, left: float, right: float) -> tuple[FloatArray, FloatArray]:
        ends = np.arcsinh(np.array([left, right]) / self._scale)
        inner = self._x[(self._x > ends[0]) & (self._x < ends[1])]
        x, weights = panels(np.concatenate([ends[:1], inner, ends[1:]]))
        return self._scale * np.sinh(x), weights * self._scale * np.cosh(x) * np.exp(self._log_pdf(x))

    def _integral(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Mass between points of one panel each, by Gauss's rule in arcsinh."""
        half, middle = 0.5 * (high - low), 0.5 * (high + low)
        total = np.zeros(np.shape(half))
        for node, weight in zip(*np.polynomial.legendre.leggauss(PANEL_POINTS), strict=True):
            x = middle + half * node
            total += weight * self._scale * np.cosh(x) * np.exp(self._log_pdf(x))
        return np.asarray(half * total)


class PowerTail:
    """A sum of powers of z = -zeta, scaled to meet the chain at `end`: the tail of an untempered model.

    Parameters
    ----------
    end : float
        Where it begins, < 0.
    terms : sequence of (float, float)
        (constant, power) of each term c z^-p.
    density : float
        The chain's density at `end`.

    Attributes
    ----------
    amplitude : float
        What the chain makes of the constant, relative to theory: 1 within the error of its grid.
    """

    def __init__(self, end: float, terms: Sequence[tuple[float, float]], density: float) -> None:
        self.end = end
        self.terms = terms
        self.amplitude = 1.0
        self.amplitude = density / float(self.pdf(np.array(end)))

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        z = -np.asarray(zeta, dtype=float)
        return np.asarray(self.amplitude * sum(c * z**-p for c, p in self.terms))

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Mass to the left."""
        z = -np.asarray(zeta, dtype=float)
        return np.asarray(self.amplitude * sum(c * z ** (1.0 - p) / (p - 1.0) for c, p in self.terms))

    def moment(self, s: float) -> float:
        """Its mass; only s = 0 is ever asked for, every other moment is inf."""
        return float(self.cdf(np.array(self.end)))


def untempered_terms(problem: Problem) -> list[tuple[float, float]]:
    """Terms (constant, power) of the left tail at lam = 0 (NUMERICS C.4, B.15); none where they are not known."""
    alpha = problem.alpha
    if problem.rate is not None:
        return [(problem.eta_J / (alpha * problem.rate), 1.0 + alpha)]
    if np.isinf(problem.kappa):
        return []
    leading = problem.eta_J / (alpha * problem.kappa)
    terms = [(leading, alpha)]
    if problem.kappa == problem.other_kappa:
        terms.append((leading**2 * gamma(1.0 - alpha) ** 2 * float(rgamma(2.0 - 2.0 * alpha)), 2.0 * alpha - 1.0))
    return terms


def refined(problem: Problem, n: int, ends: tuple[float, float]) -> tuple[FloatArray, list[float]]:
    """`graded`, with a share of the nodes geometric around each stable zero of the drift, down to the sharpest peak.

    The second result are the zeros that were given nodes.

    Without Gaussian noise weak jumps of small alpha leave a peak there of width 1/k_max, which may be 1e-9 of the rest.
    """
    finest = 1.0 / spectral_limit(problem)
    zeros = _stable_zeros(problem)
    peaks = [max(finest, 1e-12 * max(problem.width, abs(zero))) for zero in zeros]
    sharp = [(zero, peak) for zero, peak in zip(zeros, peaks, strict=True) if peak < SHARP * problem.width]
    if not sharp:
        return graded(problem, n, ends), []
    nodes = graded(problem, n // 2, ends)
    share = (n // 2) // (2 * len(sharp))
    for zero, peak in sharp:
        spacing = float(np.interp(zero, nodes[:-1], np.diff(nodes)))
        reach = spacing
        while reach * np.log(reach / peak) / share < spacing and reach < 0.5 * min(-ends[0], ends[1]):
            reach *= 1.1
        distance = peak * np.sinh(np.linspace(0.0, np.arcsinh(reach / peak), share + 1)[1:])
        nodes = nodes[np.abs(nodes - zero) > reach + 0.5 * spacing]
        nodes = np.sort(np.concatenate([nodes, zero - distance, [zero], zero + distance]))
    return nodes, sorted(zero for zero, _ in sharp)


def _stable_zeros(problem: Problem) -> list[float]:
    """Where the drift changes its sign downwards."""
    zeta = landscape(problem).zeta
    force = problem.force(zeta)
    found = []
    for i in np.flatnonzero((force[:-1] > 0) & (force[1:] <= 0)):
        exact = force[i + 1] == 0
        found.append(float(zeta[i + 1] if exact else brentq(lambda x: float(problem.force(x)), zeta[i], zeta[i + 1])))
    return found


def chain_density(
    model: CollapseModel,
    problem: Problem,
    *,
    n: int | None,
    box: tuple[float, float] | None,
    walls: tuple[float, float] | None,
) -> StationaryDensity:
    """The law by the chain, extrapolated from nested grids where they converge, with an error estimate from them."""
    ends = _ends(problem, box, walls)
    nodes = _nested(problem, DEFAULT_NODES if n is None else int(n), ends, walls is not None)
    fine, error = _extrapolated(problem, nodes, walls is not None)
    if not np.isfinite(error):
        raise ConvergenceError("the chain's law is not a number somewhere; give a narrower box")
    tails = [_beyond(problem, fine, walls is not None, mirrored=False)]
    tails.append(_beyond(problem.mirrored(), fine, walls is not None, mirrored=True))
    fine.settle(mass_beyond(tails[0], fine.left), mass_beyond(tails[1], -fine.right))
    # The same tails, of the density as it is now.
    left = _beyond(problem, fine, walls is not None, mirrored=False)
    right = _beyond(problem.mirrored(), fine, walls is not None, mirrored=True)
    mirror = problem.mirrored()
    infinite = (-np.inf, np.inf)
    return StationaryDensity(
        fine,
        left,
        right,
        origin=problem.origin,
        tail=_chain_tail(model, problem, fine, walls is not None),
        moment_range=infinite if walls is not None else (-mirror.tail_rate, problem.tail_rate),
        closed=(_closed(mirror), _closed(problem)),
        status=DensityStatus.DISCRETISED,
        error=error,
        tail_error=np.nan,
        step=float(np.diff(fine.nodes).min()),
    )


def _nested(problem: Problem, n: int, ends: tuple[float, float], walled: bool) -> FloatArray:
    """About n nodes, of which every second and fourth make coarser grids of the same kind with the same sharp peaks."""
    zeros: list[float] = []
    if not walled and problem.lam > 0:
        nodes, zeros = refined(problem, n, ends)
    else:
        nodes = graded(problem, n, ends)
    kept = [0, *np.searchsorted(nodes, zeros).tolist(), len(nodes) - 1]
    parts = [nodes[:1]]
    for first, last in itertools.pairwise(kept):
        index = np.linspace(first, last, 4 * max(round((last - first) / 4), 1) + 1)
        at = PchipInterpolator(np.arange(first, last + 1), nodes[first : last + 1])(index[1:])
        parts.append(np.concatenate([at[:-1], nodes[last : last + 1]]))
    return np.concatenate(parts)


def _extrapolated(problem: Problem, nodes: FloatArray, walled: bool) -> tuple[NodalCurve, float]:
    """The curve on nested grids, and its error where both distribution functions exceed 1e-6."""
    grids = nodes, nodes[::2], nodes[::4]
    chains = [_solved(problem, grid, walled) for grid in grids]
    logs = [np.log(masses / cells) for masses, cells in chains]
    masses, cells = chains[0]
    # A reflecting end disturbs its neighbourhood: a quarter of the nats, or two decades of a power.
    reach = 1.0 if walled else 1e-2 if problem.lam == 0 and problem.eta_J > 0 else 0.75
    left, right = reach * float(nodes[0]), reach * float(nodes[-1])
    common = grids[2]
    below = np.cumsum(masses)[::4]
    seen = (below > 1e-6) & (below < 1.0 - 1e-6) & (common >= left) & (common <= right)
    change, before = logs[0][::2] - logs[1], logs[1][::2] - logs[2]
    largest, largest_before = float(np.abs(change[::2][seen]).max()), float(np.abs(before[seen]).max())
    if largest_before < SECOND_ORDER * largest:
        return NodalCurve(nodes, masses / cells, left, right), largest + FLOOR_ERROR
    # Four for second order; what converges faster needs a smaller correction.
    share = 1.0 / (max(largest_before / largest, 4.0) - 1.0)
    scale = 10.0 * float(np.diff(nodes).min())
    correction = PchipInterpolator(np.arcsinh(grids[1] / scale), share * change)(np.arcsinh(nodes / scale))
    error = np.abs(change[::2] + share * (change[::2] - before))[seen].max()
    return NodalCurve(nodes, masses / cells * np.exp(correction), left, right), CHANGE_SHARE * float(
        error
    ) + FLOOR_ERROR


def _solved(problem: Problem, nodes: FloatArray, walled: bool) -> tuple[FloatArray, FloatArray]:
    """Masses and cells."""
    chain = build_chain(problem, nodes, corrected=problem.eta_G == 0 and problem.lam > 0 and not walled)
    masses = chain.stationary()
    if not np.isfinite(masses).all() or masses.min() <= 0:
        raise ConvergenceError("the chain has a node that cannot be reached; give a narrower box")
    return masses, chain.cells


def _beyond(problem: Problem, curve: NodalCurve, walled: bool, *, mirrored: bool) -> Beyond:
    """Far tail on the left of a problem, which may be the mirrored one."""
    if walled:
        return Nothing()
    end = -curve.right if mirrored else curve.left
    here = float(curve.pdf(np.array([-end if mirrored else end]))[0])
    if problem.lam == 0 and problem.eta_J > 0:
        terms = untempered_terms(problem)
        return PowerTail(end, terms, here) if terms else Nothing()
    if np.isinf(problem.tail_rate):
        return Nothing()
    return power_mixture(end, problem.tail_rate, log_power(problem, end), here)


def _chain_tail(model: CollapseModel, problem: Problem, curve: NodalCurve, walled: bool) -> TailLaw:
    if walled:
        return no_tail(TailForm.UNKNOWN)
    law = model.tail
    if problem.lam == 0 and problem.eta_J > 0:
        terms = untempered_terms(problem)
        return with_prefactor(law, terms[0][0] if terms else np.nan)
    if np.isinf(problem.kappa):
        return with_prefactor(law, np.nan)
    constants = Constants(problem, *curve.whole_rule())
    return with_prefactor(law, constants.prefactor() * float(np.exp(-problem.tail_rate * problem.origin)))


def _closed(problem: Problem) -> bool:
    return problem.eta_J > 0 and (problem.lam == 0 or summable(problem))


def _ends(problem: Problem, box: tuple[float, float] | None, walls: tuple[float, float] | None) -> tuple[float, float]:
    given = walls if walls is not None else box
    if given is not None:
        ends = given[0] - problem.origin, given[1] - problem.origin
        if not ends[0] < 0 < ends[1] and walls is None:
            raise ParameterError(f"box={given!r} must contain the drift's zero {problem.origin:g}")
        return ends
    if problem.lam == 0 and problem.eta_J > 0:
        return -_untempered_end(problem), _untempered_end(problem.mirrored())
    return landscape(problem).edges(0.0, CHAIN_NATS)


def _untempered_end(problem: Problem) -> float:
    """A hundred times where the mass beyond, D abs(zeta)^(1-alpha)/(alpha-1), no longer counts."""
    if np.isinf(problem.kappa):
        # F rho ~ jumps: the mass beyond falls like abs(zeta)^-alpha at least.
        return float(problem.width * 1e2 * LOST_MASS ** (-1.0 / problem.alpha))
    constant = problem.eta_J / (problem.alpha * problem.kappa * (problem.alpha - 1.0))
    decades = np.log10(constant / LOST_MASS) / (problem.alpha - 1.0)
    return float(problem.width * 10.0 ** min(max(decades + 2.0, 6.0), FARTHEST))
