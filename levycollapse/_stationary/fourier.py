"""The stationary equation F rho = H rho as a null vector, by conjugate gradients and FFTs (NUMERICS D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import FloatArray
from ..errors import ConvergenceError
from .box import Landscape, odd_fast
from .problem import ComplexArray, Problem

#: Iterations after which a solve is given up, and iterations times points (five seconds): most need 60 iterations.
MOST_ITERATIONS, MOST_WORK = 2000, 2e7
#: Density at the edges and spectrum at k_max that count as rounding, relative to the maximum.
CLEAN = 3e-14
#: Spectrum at k_max above which the number of points was no estimate.
UNFORESEEN = 1e-6
#: Times that the number of points is raised before the error is accepted as it is.
REFINEMENTS = 5


@dataclass(frozen=True)
class TiltedSolution:
    """The unknown g = exp(-tilt zeta) rho on an equispaced periodic grid, largest value 1.

    Attributes
    ----------
    tilt, left, step : float
        g_i belongs to left + i step.
    values : ndarray, shape (n,)
        g.
    spectrum : ndarray of complex, shape ((n + 1)/2,)
        rfft of g.
    edge, noise : float
        abs(g) at the edges, and abs(g-hat) at k_max over its maximum.
    iterations : int
        Of the conjugate gradients.
    """

    tilt: float
    left: float
    step: float
    values: FloatArray
    spectrum: ComplexArray
    edge: float
    noise: float
    iterations: int

    @property
    def right(self) -> float:
        """End of the box."""
        return self.left + self.step * len(self.values)

    @property
    def k(self) -> FloatArray:
        """Wave numbers of `spectrum`."""
        return wave_numbers(len(self.values), self.step)

    def mirrored(self) -> TiltedSolution:
        """The same solution seen in -zeta, for drifts that are odd."""
        n = len(self.values)
        values: FloatArray = np.concatenate([self.values[:1], self.values[:0:-1]])
        left = -(self.left + self.step * n)
        # Point i of the mirror is left + step*i = -(old point n - i), with the box's end standing for its start.
        return TiltedSolution(
            -self.tilt,
            left,
            self.step,
            values,
            np.conj(self.spectrum),
            self.edge,
            self.noise,
            self.iterations,
        )


def wave_numbers(n: int, step: float) -> FloatArray:
    """Non-negative wave numbers of n (odd) points."""
    k: FloatArray = np.arange((n + 1) // 2, dtype=float) * (2.0 * np.pi / (n * step))
    return k


def solve_tilted(problem: Problem, scene: Landscape, tilt: float, left: float, right: float, n: int) -> TiltedSolution:
    """Solve on a given box, with more points if the spectrum asks for it."""
    solution = solve_once(problem, scene, tilt, left, right, n)
    hopeless = False
    for _ in range(REFINEMENTS):
        if solution.noise <= CLEAN:
            break
        # A drift that confines, flat in the middle and steep outside, needs more than was foreseen.
        factor = 1.5 if solution.noise < UNFORESEEN else 3.0
        finer = solve_once(problem, scene, tilt, left, right, odd_fast(int(factor * len(solution.values))))
        # A drift with a kink has a spectrum that no number of points brings down.
        stuck = finer.noise > 0.3 * solution.noise
        solution = finer
        if stuck and hopeless and solution.noise > 1e3 * CLEAN:
            break
        hopeless = stuck
    return solution


def solve_once(problem: Problem, scene: Landscape, tilt: float, left: float, right: float, n: int) -> TiltedSolution:
    """Null vector of F - H on n points of [left, right)."""
    step = (right - left) / n
    zeta = left + step * np.arange(n, dtype=float)
    force = problem.force(zeta)
    multiplier = problem.multiplier(tilt, wave_numbers(n, step))
    start = np.exp(-np.interp(zeta, scene.zeta, scene.tilted(tilt)))
    plateau = min(problem.kappa, problem.other_kappa, problem.slope * problem.width)
    facing = problem.kappa if tilt >= 0 else -problem.other_kappa
    size = np.abs(facing - multiplier) if np.isfinite(facing) else np.hypot(plateau, np.abs(multiplier))
    g, iterations = null_vector(force, multiplier, start, plateau, size)
    g /= g[np.argmax(np.abs(g))]
    spectrum = np.fft.rfft(g)
    top = max(len(spectrum) // 40, 3)
    size = np.abs(spectrum)
    return TiltedSolution(
        tilt,
        left,
        step,
        g,
        spectrum,
        float(max(abs(g[0]), abs(g[-1]))),
        float(size[-top:].max() / size.max()),
        iterations,
    )


def null_vector(
    force: FloatArray, multiplier: ComplexArray, start: FloatArray, plateau: float, size: FloatArray
) -> tuple[FloatArray, int]:
    """Null vector of F - H nearest to `start`, by CGLS on W (F - H) D with D = 1/size.

    Where the drift has saturated the operator is the multiplier kappa - H, which D inverts: for a tilt close to the
    exponent, where most of the box is far tail, that cuts 1064 iterations to 46. The row weight
    W = (F**2 + h**2)^-1/2, h = abs(H) at k_max, lifts the places near the drift's zero where F and H are both small
    (eta_G = 0, alpha < 1): 399 iterations become 21. W does not change the null vector.
    """
    n = len(start)
    h = min(max(float(np.abs(multiplier[-1])), 1e-3 * plateau), float(np.abs(force).max()))
    w = (h + plateau) / np.sqrt(force**2 + h**2)
    rows = np.stack([w * force, -w])
    # sqrt(2/n) on every mode but the first makes the plain inner product of the modes that of the grid.
    parseval = np.full(len(size), np.sqrt(2.0 / n))
    parseval[0] = np.sqrt(1.0 / n)
    columns = np.stack([np.ones(len(size)), multiplier]) / size
    columns_in, columns_out = columns / parseval, np.conj(columns) * parseval

    r = -np.einsum("ij,ij->j", rows, np.fft.irfft(np.stack([np.ones(len(size)), multiplier]) * np.fft.rfft(start), n=n))
    y = np.zeros(len(size), dtype=complex)
    t = np.fft.rfft(rows * r) * columns_out
    s = t[0] + t[1]
    p = s.copy()
    gamma = np.vdot(s, s).real
    goal = (1e-15 * plateau) ** 2 * float(start @ start)
    best, since = np.inf, 0
    iterations = 0
    while gamma > goal:
        if iterations >= min(MOST_ITERATIONS, max(MOST_WORK / n, 60.0)):
            reached = 1e-15 * np.sqrt(gamma / goal)
            raise ConvergenceError(f"no stationary density after {iterations} iterations: residual {reached:.1e}")
        iterations += 1
        u = np.fft.irfft(columns_in * p, n=n)
        u *= rows
        q = u[0] + u[1]
        length = q @ q
        if length == 0.0:
            break
        step = gamma / length
        y += step * p
        r -= step * q
        t = np.fft.rfft(rows * r)
        t *= columns_out
        s = t[0] + t[1]
        new = np.vdot(s, s).real
        if new < 0.5 * best:
            best, since = new, 0
        else:
            since += 1
            if since > 60 and best < 1e6 * goal:
                break  # rounding: it will not go lower
        p *= new / gamma
        p += s
        gamma = new
    return start + np.fft.irfft(columns_in[0] * y, n=n), iterations
