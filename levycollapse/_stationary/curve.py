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

    The integral of exp((c + ik) zeta) is itself over c + ik: that of the tilted unknown, from the far side, costs one
    more transform and keeps the relative accuracy. At c = 0 it has a linear part, `slope`.
    """

    tilt: float
    left: float
    step: float
    density: FloatArray
    integral: FloatArray
    slope: float
    log_scale: float

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
        """Antiderivative of the density: from -inf for tilt > 0, from +inf (negative) for tilt < 0."""
        value: FloatArray = np.exp(self.tilt * zeta + self.log_scale) * interpolate(self.integral, self._at(zeta))
        return value + self.slope * (zeta - self.left)

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
    return Piece(
        solution.tilt,
        solution.left,
        solution.step / OVERSAMPLING,
        np.fft.irfft(spectrum, n=fine) * OVERSAMPLING,
        np.fft.irfft(integral, n=fine) * OVERSAMPLING,
        slope,
        log_scale,
    )


class SpectralCurve:
    """Pieces from left to right; each covers the stretch where its rounding is the smallest."""

    def __init__(self, pieces: list[Piece], breaks: FloatArray, left: float, right: float, step: float) -> None:
        self.pieces = pieces
        self.breaks = breaks
        self.left = left
        self.right = right
        self.step = step
        self._base = next(i for i, p in enumerate(pieces) if p.tilt == 0.0)
        base = pieces[self._base]
        # Where the untilted piece takes over, its primitive starts from the tilted one's value.
        start = np.array([breaks[self._base - 1] if self._base else base.left])
        below = pieces[self._base - 1].primitive(start)[0] if self._base else 0.0
        self._offset = float(below - base.primitive(start)[0])

    def pdf(self, zeta: FloatArray) -> FloatArray:
        """Density."""
        return self._by_piece(zeta, lambda i, z: self.pieces[i].pdf(z))

    def cdf(self, zeta: FloatArray) -> FloatArray:
        """Distribution function: relative accuracy on the left, absolute on the right."""
        return self._by_piece(zeta, lambda i, z: self._below(i, z))

    def sf(self, zeta: FloatArray) -> FloatArray:
        """Survival function: relative accuracy on the right."""
        return self._by_piece(
            zeta, lambda i, z: -self.pieces[i].primitive(z) if i > self._base else 1.0 - self._below(i, z)
        )

    def settle(self, mass: float) -> None:
        """Give the mass beyond the left end, which an untilted first piece does not know."""
        if self._base == 0:
            self._offset = mass - float(self.pieces[0].primitive(np.array([self.left]))[0])

    def _below(self, index: int, zeta: FloatArray) -> FloatArray:
        if index > self._base:
            return 1.0 + self.pieces[index].primitive(zeta)
        offset = self._offset if index == self._base else 0.0
        value: FloatArray = self.pieces[index].primitive(zeta) + offset
        return value

    def _by_piece(self, zeta: FloatArray, evaluate: Callable[[int, FloatArray], FloatArray]) -> FloatArray:
        owner = np.searchsorted(self.breaks, zeta)
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


def panels(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on consecutive panels."""
    x, w = _GAUSS
    half = 0.5 * np.diff(edges)
    middle = 0.5 * (edges[1:] + edges[:-1])
    nodes = (middle[:, None] + half[:, None] * x).ravel()
    return nodes, (half[:, None] * w).ravel()
