"""A Markov chain on a graded grid whose stationary vector approximates the law (THEORY 8, the second method)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
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
from .far_tail import Beyond, Constants, Nothing, log_power, power_mixture, summable
from .problem import Problem

#: Nodes, if not asked for: their elimination takes about a third of a second.
DEFAULT_NODES = 801
#: Most nodes: the matrix takes half a gigabyte and its elimination minutes.
MOST_NODES = 8001
#: The chain reaches down to exp(-60) where tails are exponential.
CHAIN_NATS = 60.0
#: Distance, in units of the local spacing, within which (or within a width of the drift) the interpolation's
#: variance counts at the place where the jump starts.
NEAR = 5.0
#: A drift that saturates makes the law of an untempered model decay like abs(zeta)^-alpha: mass left out, at best.
LOST_MASS = 2e-5
#: Farthest node of an untempered model, in decades of the width.
FARTHEST = 40.0
#: A peak narrower than this share of the drift's width gets nodes of its own.
SHARP = 1e-3
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
            rates[i, wall] += _mass_beyond(problem, np.array([max(end, inner[i])]))[0]
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
            close = far < max(NEAR * inner[i], problem.width)
            added = (mass * (z - near[:, None]) * (far[:, None] - z)).sum(axis=1)
            excess[i] += added[close].sum()
    return rates, excess


def _mass_beyond(problem: Problem, distance: FloatArray) -> FloatArray:
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
    """Masses on nodes as a density: monotone interpolation of its logarithm, and of those of both distributions."""

    def __init__(self, nodes: FloatArray, masses: FloatArray, cells: FloatArray, left: float, right: float) -> None:
        self.nodes = nodes
        self.masses = masses
        self.left = left
        self.right = right
        middles = 0.5 * (nodes[1:] + nodes[:-1])
        self._scale = float(np.diff(nodes).min()) * 10.0
        self._pdf = PchipInterpolator(self._at(nodes), np.log(masses / cells))
        # Half of an end node's cell is missing, so that its mass belongs to what lies inside the first middle.
        self._cdf = PchipInterpolator(self._at(middles), np.log(np.cumsum(masses)[:-1]))
        self._sf = PchipInterpolator(self._at(middles), np.log(np.cumsum(masses[::-1])[:-1][::-1]))
        self._half = float(np.interp(0.5, np.cumsum(masses)[:-1], middles))

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        return np.asarray(np.exp(self._pdf(self._at(zeta))))

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Distribution function."""
        at = self._at(zeta)
        return np.asarray(np.where(zeta < self._half, np.exp(self._cdf(at)), -np.expm1(self._sf(at))))

    def sf(self, zeta: FloatArray) -> FloatArray:
        """Survival function."""
        at = self._at(zeta)
        return np.asarray(np.where(zeta < self._half, -np.expm1(self._cdf(at)), np.exp(self._sf(at))))

    def rule(self) -> tuple[FloatArray, FloatArray]:
        """Nodes and masses between the ends."""
        inside = (self.nodes >= self.left) & (self.nodes <= self.right)
        return self.nodes[inside], self.masses[inside]

    def _at(self, zeta: FloatArray) -> FloatArray:
        return np.arcsinh(zeta / self._scale)


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


def refined(problem: Problem, n: int, ends: tuple[float, float]) -> FloatArray:
    """`graded`, with a share of the nodes geometric around each stable zero of the drift, down to the sharpest peak.

    Without Gaussian noise weak jumps of small alpha leave a peak there of width 1/k_max, which may be 1e-9 of the rest.
    """
    finest = 1.0 / spectral_limit(problem)
    zeros = _stable_zeros(problem)
    peaks = [max(finest, 1e-12 * max(problem.width, abs(zero))) for zero in zeros]
    sharp = [(zero, peak) for zero, peak in zip(zeros, peaks, strict=True) if peak < SHARP * problem.width]
    if not sharp:
        return graded(problem, n, ends)
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
    return nodes


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
    """The law by the chain, with an error estimate from a grid half as fine."""
    count = DEFAULT_NODES if n is None else int(n)
    ends = _ends(problem, box, walls)
    make = refined if walls is None and problem.lam > 0 else graded
    fine = _solved(problem, make(problem, count, ends), walls is not None)
    coarse = _solved(problem, make(problem, count // 2 + 1, ends), walls is not None)
    seen = (fine.cdf(fine.nodes) > 1e-6) & (fine.sf(fine.nodes) > 1e-6)
    at = fine.nodes[seen & (fine.nodes >= fine.left) & (fine.nodes <= fine.right)]
    # Second order: the finer grid has a third of the difference as its error.
    error = float(np.abs(np.log(fine.pdf(at) / coarse.pdf(at))).max()) / 3.0
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


def _solved(problem: Problem, nodes: FloatArray, walled: bool) -> NodalCurve:
    chain = build_chain(problem, nodes, corrected=problem.eta_G == 0 and problem.lam > 0 and not walled)
    masses = chain.stationary()
    if not np.isfinite(masses).all() or masses.min() <= 0:
        raise ConvergenceError("the chain has a node that cannot be reached; give a narrower box")
    if walled:
        return NodalCurve(nodes, masses, chain.cells, float(nodes[0]), float(nodes[-1]))
    # A reflecting end disturbs its neighbourhood: a quarter of the nats, or two decades of a power.
    share = 1e-2 if problem.lam == 0 and problem.eta_J > 0 else 0.75
    return NodalCurve(nodes, masses, chain.cells, share * float(nodes[0]), share * float(nodes[-1]))


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
    constants = Constants(problem, curve.nodes, curve.masses)
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
