"""Which tilts are solved, and how the solutions are put together (NUMERICS D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import FloatArray
from ..errors import ConvergenceError
from .box import ROUNDING_NATS, Landscape, points, spectral_limit
from .curve import Piece, SpectralCurve, piece
from .fourier import TiltedSolution, solve_tilted
from .problem import Problem

#: Rounding is 1e-16 of the largest value of the tilted unknown: exp(9) above it, a value has twelve digits. The
#: quasi-potential misses the algebraic factors of the density, which can cost half of them: then the second and third
#: budget are tried.
BUDGETS = (9.0, 6.0, 3.0)
#: Where there is no far tail to compare with, a middle budget is taken at once.
BLIND_BUDGET = 6.0
#: kappa - F below this share of kappa no longer matters.
SATURATED = 1e-14
#: Where the analytic tail is not available the ladder reaches the first of these depths (1e-130, 1e-65, 1e-33) whose
#: last solve has at most so many points. With 1e-33 alone E exp(s abs(zeta)) at s = 0.9 lam missed up to a fifth.
DEEP_NATS = (300.0, 150.0, 76.0)
DEEP_POINTS = 60_000
#: Below exp(-650) times the maximum densities are not worth resolving (the smallest double is exp(-708)).
FLOOR_NATS = 650.0


@dataclass(frozen=True)
class Side:
    """How far the solver must reach on the left.

    Attributes
    ----------
    end : float
        Where the far tail takes over.
    decay : float or None
        Rate at which kappa - F falls there, None where the far tail is not a pole and a cut (the drift saturates
        slowly, or confines).
    budget : float
        Nats above rounding that the solutions may lose there.
    floor : bool
        Whether it is the range of floating-point numbers that ends there.
    """

    end: float
    decay: float | None
    budget: float
    floor: bool = False


def left_side(problem: Problem, scene: Landscape, budget: float) -> Side:
    """Where the far left begins."""
    floor = problem.eta_J == 0
    bulk = scene.edges(0.0, budget)[0]
    if np.isfinite(problem.kappa):
        left = scene.zeta < 0
        zeta = scene.zeta[left]
        with np.errstate(divide="ignore"):
            fall = np.log(np.abs(problem.deficit(zeta)) / problem.kappa)
        reached = _outward(zeta, fall, np.log(SATURATED))
        halfway = _outward(zeta, fall, 0.5 * np.log(SATURATED))
        # Twice as far for twice the decay is exponential; kappa - F ~ 1/zeta**2 needs 1e7 times.
        if reached is not None and halfway is not None and abs(reached) < 4.0 * max(abs(halfway), problem.width):
            decay = 0.5 * -np.log(SATURATED) / max(halfway - reached, 1e-300)
            end = min(reached, bulk)
            if scene.depth(end) < FLOOR_NATS:
                return Side(end, float(min(decay, 1e6 / problem.width)), budget)
            floor = True
    blind = min(budget, BLIND_BUDGET)
    if floor:
        return Side(scene.edges(0.0, FLOOR_NATS)[0], None, blind, True)
    k_max = spectral_limit(problem)
    for nats in DEEP_NATS:
        side = Side(scene.edges(0.0, nats)[0], None, blind)
        ends = scene.edges(max(left_tilts(scene, side, problem.tail_rate), default=0.0), ROUNDING_NATS)
        if (ends[1] - ends[0]) * k_max < np.pi * DEEP_POINTS:
            break
    return side


def _outward(zeta: FloatArray, fall: FloatArray, level: float) -> float | None:
    """The point nearest to the middle beyond which `fall` stays below a level."""
    above = np.flatnonzero(fall > level)
    if not len(above) or above[0] == 0:
        return None
    i = int(above[0])
    if not np.isfinite(fall[i - 1]):
        return float(zeta[i - 1])
    return float(np.interp(level, [fall[i - 1], fall[i]], [zeta[i - 1], zeta[i]]))


def left_tilts(scene: Landscape, side: Side, rate: float) -> list[float]:
    """Tilts c > 0, ascending, whose solutions keep to the budget down to the far tail and where neighbours overlap."""
    end, budget = side.end, side.budget

    def noise(tilt: float) -> float:
        return float(np.interp(end, scene.zeta, scene.tilted(tilt)))

    if noise(0.0) <= budget * 1.01:
        return []
    low, high = 0.0, rate
    if np.isinf(rate):
        # The tilt that puts the maximum at the end.
        near = end + 1e-3 * abs(end)
        high = (scene.depth(end) - scene.depth(near)) / (near - end)
    for _ in range(60):
        middle = 0.5 * (low + high)
        if noise(middle) > budget:
            low = middle
        else:
            high = middle
        if high - low < 1e-3 * (rate - high if np.isfinite(rate) else high):
            break
    last = high if high < rate else low
    return _filled(scene, 0.0, last, budget)


def _filled(scene: Landscape, low: float, high: float, budget: float) -> list[float]:
    """`high`, after the tilts between it and `low` that the overlaps need."""
    worst = np.min(np.maximum(scene.tilted(low), scene.tilted(high)))
    if worst <= budget or high - low < 1e-9 * high:
        return [high]
    middle = 0.5 * (low + high)
    return _filled(scene, low, middle, budget) + _filled(scene, middle, high, budget)


@dataclass(frozen=True)
class Assembled:
    """The curve between the far tails, the untilted solution, and the disagreement of neighbours at the breaks."""

    curve: SpectralCurve
    base: TiltedSolution
    solutions: list[TiltedSolution]
    mismatch: float


def assemble(
    problem: Problem,
    scene: Landscape,
    sides: tuple[Side, Side],
    box: tuple[float, float] | None,
    n: int | None,
) -> Assembled:
    """Solve the ladder and chain it, normalised by the untilted solution."""
    k_max = spectral_limit(problem)

    def solve(tilt: float) -> TiltedSolution:
        left, right = scene.edges(tilt, ROUNDING_NATS)
        return solve_tilted(problem, scene, tilt, left, right, points(right - left, k_max))

    left, right = scene.edges(0.0, ROUNDING_NATS) if box is None else box
    base = solve_tilted(problem, scene, 0.0, left, right, points(right - left, k_max) if n is None else n | 1)
    below = [solve(tilt) for tilt in left_tilts(scene, sides[0], problem.tail_rate)]
    if problem.symmetric:
        above = [solution.mirrored() for solution in below]
    else:
        mirror = Landscape(-scene.zeta[::-1], scene.potential[::-1])
        tilts = left_tilts(mirror, sides[1], problem.mirrored().tail_rate)
        above = [solve(-tilt) for tilt in tilts]
    total = base.spectrum[0].real * base.step
    if not total > 0:
        raise ConvergenceError("the solver found no positive density; the drift may be too rough for method='fourier'")
    middle = piece(base, -float(np.log(total)))
    left_pieces, left_breaks, left_error = _chain(scene, middle, below)
    right_pieces, right_breaks, right_error = _chain(scene, middle, above)
    curve = SpectralCurve(
        [*left_pieces[::-1], middle, *right_pieces],
        np.array(left_breaks[::-1] + right_breaks),
        sides[0].end,
        -sides[1].end,
        base.step,
    )
    return Assembled(curve, base, [base, *below, *above], float(np.max([left_error, right_error])))


def _chain(scene: Landscape, start: Piece, solutions: list[TiltedSolution]) -> tuple[list[Piece], list[float], float]:
    """Scale each solution to its neighbour where both are at their best."""
    pieces: list[Piece] = []
    breaks: list[float] = []
    error = 0.0
    previous = start
    for solution in solutions:
        both = np.maximum(scene.tilted(previous.tilt), scene.tilted(solution.tilt))
        at = float(scene.zeta[np.argmin(both)])
        samples = at + solution.step * np.linspace(-2.0, 2.0, 17)
        log_ratio = previous.log_pdf(samples) - piece(solution, 0.0).log_pdf(samples)
        if not np.isfinite(log_ratio).all():
            return pieces, breaks, np.inf
        scale = float(log_ratio.mean())
        error = max(error, float(np.abs(log_ratio - scale).max()))
        previous = piece(solution, scale)
        pieces.append(previous)
        breaks.append(at)
    return pieces, breaks, error
