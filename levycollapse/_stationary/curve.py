"""The density as a chain of tilted solutions, evaluated anywhere with relative accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._checks import FloatArray
from .._kernels.interpolation import interpolate
from .fourier import TiltedSolution

#: Table points per grid point.
OVERSAMPLING = 4
#: Gauss-Legendre nodes per panel, and grid steps that a panel covers.
NODES, PANEL = 16, 8
_GAUSS = np.polynomial.legendre.leggauss(NODES)


class Curve(Protocol):
    """A density on a stretch of the line, with its integrals and a quadrature rule."""

    left: float
    right: float
    #: Points between which alone the density is smooth; none if it is smooth everywhere on the scale of one step.
    joints: FloatArray

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        ...

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Distribution function."""
        ...

    def sf(self, zeta: FloatArray) -> FloatArray:
        """Survival function."""
        ...

    def rule(self) -> tuple[FloatArray, FloatArray]:
        """Nodes, and weights with the density in them."""
        ...


@dataclass(frozen=True)
class Piece:
    """One tilted solution as tables of g and of its integral, rho = exp(tilt zeta + log_scale) g.

    The integral of exp((c + ik) zeta) is itself over c + ik: that of the tilted unknown costs one more transform and
    keeps the relative accuracy. At c = 0 it has a linear part, `slope`. It belongs to the periodic unknown, so that it
    counts every image of the box too: all it says is differences, and its value at the far end of the box, `images`,
    is what to take off.
    """

    tilt: float
    left: float
    step: float
    density: FloatArray
    integral: FloatArray
    slope: float
    log_scale: float
    images: float

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        value: FloatArray = np.exp(self.tilt * zeta + self.log_scale) * interpolate(self.density, self._at(zeta))
        return value

    def log_pdf(self, zeta: FloatArray) -> FloatArray:
        """Logarithm of the density, also where its factors overflow; nan where rounding made it negative."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value: FloatArray = self.tilt * zeta + self.log_scale + np.log(interpolate(self.density, self._at(zeta)))
        return value

    def primitive(self, zeta: FloatArray) -> FloatArray:
        """Antiderivative of the density, up to a constant."""
        value: FloatArray = np.exp(self.tilt * zeta + self.log_scale) * interpolate(self.integral, self._at(zeta))
        return value + self.slope * (zeta - self.left)

    def below(self, zeta: float) -> float:
        """Mass between the left end of the box and zeta; useful for tilt >= 0."""
        return float(self.primitive(np.array([zeta]))[0]) - self.images

    def above(self, zeta: float) -> float:
        """Mass between zeta and the right end of the box; useful for tilt <= 0."""
        whole = self.slope * len(self.integral) * self.step
        return self.images + whole - float(self.primitive(np.array([zeta]))[0])

    def clean(self, share: float) -> tuple[float, float]:
        """The stretch around its maximum where g is at least `share` of it."""
        top = int(np.argmax(self.density))
        low = np.flatnonzero(~(self.density >= share * self.density[top]))
        before, after = low[low < top], low[low > top]
        first = int(before[-1]) + 1 if before.size else 0
        last = int(after[0]) - 1 if after.size else len(self.density) - 1
        return self.left + first * self.step, self.left + last * self.step

    def _at(self, zeta: FloatArray) -> FloatArray:
        return (zeta - self.left) / self.step


def piece(solution: TiltedSolution, log_scale: float) -> Piece:
    """Tables of a solution, multiplied by exp(log_scale)."""
    n = len(solution.values)
    fine = OVERSAMPLING * n
    spectrum = solution.spectrum
    u = solution.tilt + 1j * solution.k
    slope = 0.0
    if solution.tilt == 0.0:
        slope = float(spectrum[0].real) / n * np.exp(log_scale)
        u[0] = 1.0
    integral = spectrum / u
    if solution.tilt == 0.0:
        integral[0] = 0.0
    table = np.fft.irfft(integral, n=fine) * OVERSAMPLING
    far = solution.left if solution.tilt >= 0.0 else solution.right
    return Piece(
        solution.tilt,
        solution.left,
        solution.step / OVERSAMPLING,
        np.fft.irfft(spectrum, n=fine) * OVERSAMPLING,
        table,
        slope,
        log_scale,
        float(np.exp(solution.tilt * far + log_scale) * table[0]),
    )


class SpectralCurve:
    """Pieces from left to right; each covers the stretch where its rounding is the smallest.

    Both integrals are summed from their own end inwards, so that each is continuous and has relative accuracy.
    `settle` says what lies beyond the ends.
    """

    def __init__(self, pieces: list[Piece], breaks: FloatArray, left: float, right: float, step: float) -> None:
        self.pieces = pieces
        self.breaks = breaks
        self.left = left
        self.right = right
        self.step = step
        self.joints = np.empty(0)
        self._base = next(i for i, p in enumerate(pieces) if p.tilt == 0.0)
        base = pieces[self._base]
        low = breaks[self._base - 1] if self._base else left
        high = breaks[self._base] if self._base < len(breaks) else right
        top = base.left + base.step * float(np.argmax(base.density))
        #: Where the distribution function stops and one minus the survival function goes on.
        self.middle = float(min(max(top, low), high))
        self._below: list[float] = []
        self._above: list[float] = []
        self.settle(None, None)

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        return self._by_piece(zeta, lambda i, z: self.pieces[i].pdf(z))

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Distribution function: relative accuracy on the left, absolute on the right."""
        left = zeta <= self.middle
        return np.where(left, self._mass_below(zeta), 1.0 - self._mass_above(zeta))

    def sf(self, zeta: FloatArray) -> FloatArray:
        """Survival function: relative accuracy on the right."""
        return np.where(zeta <= self.middle, 1.0 - self._mass_below(zeta), self._mass_above(zeta))

    def settle(self, below: float | None, above: float | None) -> None:
        """Give the masses beyond the ends; None for what the outermost pieces say themselves."""
        first, last = self.pieces[0], self.pieces[-1]
        here = max(first.below(self.left), 0.0) if below is None else below
        self._below = [here - _value(first, self.left)]
        for i, at in enumerate(self.breaks[: self._base]):
            here = self._below[-1] + _value(self.pieces[i], at)
            self._below.append(here - _value(self.pieces[i + 1], at))
        here = max(last.above(self.right), 0.0) if above is None else above
        self._above = [here + _value(last, self.right)]
        for i in range(len(self.breaks) - 1, self._base - 1, -1):
            here = self._above[-1] - _value(self.pieces[i + 1], self.breaks[i])
            self._above.append(here + _value(self.pieces[i], self.breaks[i]))
        self._above.reverse()

    def mass_error(self) -> float:
        """How far the masses on both sides of the middle are from 1 together: a step of the distribution function."""
        at = np.array([self.middle])
        return abs(float(self._mass_below(at)[0] + self._mass_above(at)[0]) - 1.0)

    def joint_error(self) -> float:
        """Relative disagreement, at the breaks, of the masses that neighbouring pieces have beyond them."""
        worst = [0.0]
        for i, at in enumerate(self.breaks):
            one, other = self.pieces[i], self.pieces[i + 1]
            left = i < self._base
            masses = (one.below(at), other.below(at)) if left else (one.above(at), other.above(at))
            # The untilted piece only knows masses to its rounding.
            worst.append(abs(masses[0] / masses[1] - 1.0) if masses[1] > 0 else np.inf)
        return float(np.max(worst))

    def end_errors(self, masses: tuple[float | None, float | None]) -> tuple[float, float]:
        """Relative disagreement of the outermost pieces with the masses beyond the ends; 0 for None."""
        own = self.pieces[0].below(self.left), self.pieces[-1].above(self.right)
        first, last = (
            0.0 if given is None else abs(mine - given) / given if given > 0 else np.inf
            for mine, given in zip(own, masses, strict=True)
        )
        return float(first), float(last)

    def _mass_below(self, zeta: FloatArray) -> FloatArray:
        """Distribution function, summed from the left up to the untilted piece."""
        return self._by_piece(
            np.minimum(zeta, self.middle), lambda i, z: self.pieces[i].primitive(z) + self._below[i], last=self._base
        )

    def _mass_above(self, zeta: FloatArray) -> FloatArray:
        """Survival function, summed from the right down to the untilted piece."""
        return self._by_piece(
            np.maximum(zeta, self.middle),
            lambda i, z: self._above[i - self._base] - self.pieces[i].primitive(z),
            first=self._base,
        )

    def _by_piece(
        self,
        zeta: FloatArray,
        evaluate: Callable[[int, FloatArray], FloatArray],
        *,
        first: int = 0,
        last: int | None = None,
    ) -> FloatArray:
        owner = np.clip(np.searchsorted(self.breaks, zeta), first, last)
        result = np.empty(zeta.shape)
        for index in range(len(self.pieces)):
            mine = owner == index
            if mine.any():
                result[mine] = evaluate(index, zeta[mine])
        return result

    def rule(self, left: float | None = None, right: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Composite Gauss-Legendre nodes over the curve, and weights times density."""
        start = self.left if left is None else left
        end = self.right if right is None else right
        nodes, weights = panels(np.linspace(start, end, max(int(np.ceil((end - start) / (PANEL * self.step))), 1) + 1))
        return nodes, weights * self.pdf(nodes)


def _value(one: Piece, zeta: float) -> float:
    return float(one.primitive(np.array([zeta]))[0])


def panels(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on consecutive panels."""
    x, w = _GAUSS
    half = 0.5 * np.diff(edges)
    middle = 0.5 * (edges[1:] + edges[:-1])
    nodes = (middle[:, None] + half[:, None] * x).ravel()
    return nodes, (half[:, None] * w).ravel()
