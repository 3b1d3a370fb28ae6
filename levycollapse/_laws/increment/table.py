"""Tables for drawing from a law by inversion: what they are made of and how good they are."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._checks import FloatArray
from ..._kernels import tables as kernels
from ...errors import ConvergenceError

#: Interleaved streams of a large `rvs`: enough for the passes to vectorise, few enough to seed quickly.
LANES = 256
#: Below this many draws the words come from the Generator itself, which costs less than seeding the lanes.
FEW = 4096
#: log2 of the cells a binade that each side is tried with: 2**6 reach 1e-9 in the tail of most laws (2e-10), 2**5 at a
#: centre without a narrow peak.
COARSEST_TAIL, COARSEST_CENTRE, FINEST = 6, 5, 9
#: Where the error of interpolation at four Chebyshev nodes is largest.
PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(5) / 4)
WORD_MAX = np.iinfo(np.uint64).max


@dataclass(frozen=True, eq=False)
class QuantileTable:
    r"""Immutable table of the quantiles of a symmetric law.

    Hand `coefficients` and `cells_log2` to the kernels of `_kernels.tables`.

    Attributes
    ----------
    coefficients : ndarray, shape (512 * 2**cells_log2,)
        Cubics, float64, C-contiguous and read-only, in units of the law.
    cells_log2 : int
        log2 of the cells in a binade of 2 P(X > \|x\|) and of 1 - 2 P(X > \|x\|).
    error : float
        Largest relative error of the survival probability over all cells, measured when the table was built.
    seconds : float
        Time that building and measuring took.
    """

    coefficients: FloatArray
    cells_log2: int
    error: float
    seconds: float

    def __post_init__(self) -> None:
        self.coefficients.setflags(write=False)

    def rvs(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` values."""
        out = np.empty(size)
        if size < FEW:
            bits = rng.integers(0, WORD_MAX, size, dtype=np.uint64, endpoint=True)
            kernels.fill(bits, self.coefficients, self.cells_log2, out)
        else:
            state = rng.integers(0, WORD_MAX, (4, LANES), dtype=np.uint64, endpoint=True)
            kernels.fill_stream(state, self.coefficients, self.cells_log2, out)
        return out


class Quantiles(Protocol):
    """What a table is made from: the law at x >= 0, in units of `per_unit`."""

    per_unit: float

    def log_survival(self, x: FloatArray) -> FloatArray:
        """Logarithm of P(X > x)."""

    def invert(self, survival: FloatArray, centre: FloatArray) -> FloatArray:
        """Find x from P(X > x)."""

    def error(self, x: FloatArray) -> FloatArray:
        """Relative error of P(X > x)."""


def build_table(law: Quantiles, tolerance: float) -> QuantileTable:
    """Table of a symmetric law whose survival probability is right to `tolerance` in every cell.

    Each side has its own number of cells; the coarser side is cut to the finer one's at the end, which changes
    nothing but the layout.

    Raises
    ------
    ConvergenceError
        If 2**FINEST cells a binade do not reach the tolerance.
    """
    begin = time.perf_counter()
    sides = [_side(law, tail, tolerance) for tail in (True, False)]
    cells_log2 = max(log2 for _cubics, log2, _error in sides)
    cubics_of_sides = [refined(cubic, cells_log2 - log2) for cubic, log2, _error in sides]
    coefficients = np.concatenate([rows(cubic, cells_log2) for cubic in cubics_of_sides])
    error = max(error for _cubics, _log2, error in sides)
    return QuantileTable((coefficients / law.per_unit).ravel(), cells_log2, error, time.perf_counter() - begin)


def _side(law: Quantiles, tail: bool, tolerance: float) -> tuple[FloatArray, int, float]:
    """Cubics of one side in the law's units, log2 of its cells a binade, and the error measured in them."""
    for log2 in range(COARSEST_TAIL if tail else COARSEST_CENTRE, FINEST + 1):
        cubic = cubics(_magnitude(law, cell_points(log2, chebyshev_nodes()), tail))
        error = _side_error(law, cubic, log2, tail)
        if error <= tolerance:
            break
    else:
        raise ConvergenceError(
            f"the quantile table has a relative error of {error:.2g} in survival probability with 2**{FINEST} cells "
            f"a binade; {tolerance:.1g} is asked"
        )
    return cubic, log2, error


def _magnitude(law: Quantiles, p: FloatArray, tail: bool) -> FloatArray:
    survival, centre = (0.5 * p, 1.0 - p) if tail else (0.5 * (1.0 - p), p)
    return law.invert(survival.ravel(), centre.ravel()).reshape(p.shape)


def _side_error(law: Quantiles, cubic: FloatArray, log2: int, tail: bool) -> float:
    """Largest |P(X > x(p))/P - 1| at the extrema of the interpolation error, plus the law's own estimate."""
    p = cell_points(log2, PLACES)
    powers = PLACES[:, None] ** np.arange(4)
    x = np.maximum(cubic @ powers.T, 0.0).ravel()
    log_goal = np.log(0.5 * p if tail else 0.5 * (1.0 - p)).ravel()
    measured = np.abs(np.expm1(law.log_survival(x) - log_goal)).max()
    return float(measured + law.error(x[:: PLACES.size]).max())


def refined(cubic: FloatArray, halvings: int) -> FloatArray:
    """The same cubics on cells cut 2**halvings times; the rows stay in order."""
    if not halvings:
        return cubic
    scale = 0.5**halvings
    start = np.arange(1 << halvings) * scale
    c0, c1, c2, c3 = (column[:, None] for column in cubic.T)
    pieces = (
        c0 + start * (c1 + start * (c2 + start * c3)),
        scale * (c1 + start * (2.0 * c2 + start * (3.0 * c3))),
        scale**2 * (c2 + 3.0 * start * c3),
        scale**3 * np.broadcast_to(c3, (len(cubic), start.size)),
    )
    return np.stack([piece.ravel() for piece in pieces], axis=1)


def chebyshev_nodes() -> FloatArray:
    """The four Chebyshev nodes of a cell, in (0, 1)."""
    return 0.5 - 0.5 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)


def binades() -> FloatArray:
    """The lower ends of the binades of the uniform u that are in use, ascending."""
    return np.ldexp(1.0, np.arange(kernels.FIRST_BINADE, kernels.BINADES - 1) - (kernels.BINADES - 1))


def cell_points(log2: int, places: FloatArray) -> FloatArray:
    """Probabilities u/2 at the given places of every cell of one side, shape (cells, places), ascending."""
    lowest = np.repeat(0.5 * binades(), 1 << log2)
    cell = np.tile(np.arange(1 << log2), binades().size)
    points: FloatArray = lowest[:, None] * (1.0 + (cell[:, None] + places) / (1 << log2))
    return points


def rows(cubic: FloatArray, log2: int) -> FloatArray:
    """The rows of one side as the kernels want them: in powers of 2**64 u, empty where there is no uniform.

    In powers of s = u/(lower end of the binade) = 1 + (cell + place)/n first, whose coefficients are as large as x.
    """
    n = 1 << log2
    start = n + np.tile(np.arange(n), len(cubic) // n).astype(float)
    c0, c1, c2, c3 = cubic.T
    powers = np.stack(
        [
            c0 - start * (c1 - start * (c2 - start * c3)),
            n * (c1 - start * (2.0 * c2 - start * (3.0 * c3))),
            n**2 * (c2 - 3.0 * start * c3),
            n**3 * c3,
        ],
        axis=1,
    )
    lowest = np.repeat(np.ldexp(binades(), kernels.SHIFT), n)
    side = np.zeros((kernels.BINADES << log2, 4))
    begin = kernels.FIRST_BINADE << log2
    side[begin : begin + len(powers)] = powers / lowest[:, None] ** np.arange(4)
    return side


def cubics(values: FloatArray) -> FloatArray:
    """Monomial coefficients of the cubics through values at the Chebyshev nodes, shape (cells, 4)."""
    vandermonde = np.vander(chebyshev_nodes(), increasing=True)
    return np.ascontiguousarray(values @ np.linalg.inv(vandermonde).T)
