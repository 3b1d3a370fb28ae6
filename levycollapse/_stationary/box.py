"""Box and number of points, before anything is solved (NUMERICS D)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from .._checks import FloatArray
from ..errors import ConvergenceError
from .problem import Problem

#: exp(-37) is the rounding of a double.
ROUNDING_NATS = 37.0
#: How far the spectrum must fall; two nats below the measured decay for tanh, which the estimate bounds.
SPECTRUM_NATS = 35.0
#: Points beyond which a solve no longer takes seconds.
MOST_POINTS = 600_000


@dataclass(frozen=True)
class Landscape:
    """Quasi-potential U(zeta), so that rho is roughly exp(-U): it sets boxes, tilts and starting vectors.

    Attributes
    ----------
    zeta, potential : ndarray, shape (n,)
        Graded points and U - min U, the integral of the local decay rate.
    """

    zeta: FloatArray
    potential: FloatArray

    def tilted(self, tilt: float) -> FloatArray:
        """U of the tilted unknown exp(-tilt zeta) rho, its minimum subtracted."""
        tilted = self.potential + tilt * self.zeta
        shifted: FloatArray = tilted - tilted.min()
        return shifted

    def edges(self, tilt: float, nats: float) -> tuple[float, float]:
        """Outermost points where the tilted unknown has fallen by `nats`."""
        above = self.tilted(tilt)
        inside = np.flatnonzero(above < nats)
        first, last = int(inside[0]), int(inside[-1])
        if first == 0 or last == len(above) - 1:
            raise ConvergenceError(
                f"the density does not fall by exp(-{nats:g}) within zeta={self.zeta[0]:g}..{self.zeta[-1]:g}"
            )
        left = np.interp(nats, [above[first], above[first - 1]], [self.zeta[first], self.zeta[first - 1]])
        right = np.interp(nats, [above[last], above[last + 1]], [self.zeta[last], self.zeta[last + 1]])
        return float(left), float(right)

    def depth(self, zeta: float) -> float:
        """U at one point."""
        return float(np.interp(zeta, self.zeta, self.potential))


def landscape(problem: Problem) -> Landscape:
    """Sample the drift and integrate its local decay rate outward from the center."""
    width = problem.width
    far = 4000.0 * max(width, 1.0 / problem.tail_rate, 1.0 / problem.mirrored().tail_rate)
    # sinh spacing: uniform at a twelfth of the width inside, geometric (12 points a factor e) outside.
    steps = int(np.ceil(12.0 * np.arcsinh(far / width)))
    distance = width * np.sinh(np.arange(1, steps + 1) / 12.0)
    zeta = np.concatenate([-distance[::-1], [0.0], distance])
    force = problem.force(zeta)
    rate = np.sign(force) * problem.local_rate(force)
    potential = np.concatenate([[0.0], -np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(zeta))])
    return Landscape(zeta, potential - potential.min())


def spectral_limit(problem: Problem, nats: float = SPECTRUM_NATS) -> float:
    """Wave number beyond which the spectrum of rho is rounding: int_0^k w atan(abs(G)/(slope w q)) dq = nats."""
    k = np.geomspace(1e-4, 1e12, 641) * max(1.0 / problem.width, 1e-6)
    generator = np.abs(problem.multiplier(0.0, k))
    plateau = min(problem.kappa, problem.other_kappa)
    if np.isinf(plateau):
        decay = generator / problem.slope
    else:
        width = plateau / problem.slope
        decay = width * np.arctan(generator / plateau)
    fallen = np.concatenate([[0.0], np.cumsum(0.5 * (decay[1:] + decay[:-1]) * np.diff(k))])
    if fallen[-1] < nats:
        return float(k[-1])
    return float(np.interp(nats, fallen, k))


def points(length: float, k_max: float) -> int:
    """Odd, fast number of points that resolves k_max on a box of this length."""
    wanted = int(np.ceil(length * k_max / np.pi))
    if wanted > MOST_POINTS:
        raise ConvergenceError(
            f"the density needs {wanted} points (more than {MOST_POINTS}): the noise is too weak to smooth it; "
            "use method='chain'"
        )
    return odd_fast(max(wanted, 33))


def odd_fast(wanted: int) -> int:
    """Smallest odd number >= wanted without a prime factor above 11."""
    index = bisect_left(_ODD_FAST, wanted)
    return _ODD_FAST[index] if index < len(_ODD_FAST) else wanted | 1


def _odd_smooth(limit: int) -> list[int]:
    found = [1]
    for prime in (3, 5, 7, 11):
        for number in found:
            if number * prime <= limit:
                found.append(number * prime)
    return sorted(found)


_ODD_FAST = _odd_smooth(4 * MOST_POINTS)
