"""Tables for drawing from a law by inversion: what they are made of and how good they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._checks import FloatArray
from ..._kernels import tables as kernels

#: Interleaved streams of a large `rvs`: enough for the passes to vectorise, few enough to seed quickly.
LANES = 256
#: Below this many draws the words come from the Generator itself, which costs less than seeding the lanes.
FEW = 4096
WORD_MAX = np.iinfo(np.uint64).max


@dataclass(frozen=True, eq=False)
class QuantileTable:
    r"""Immutable table of the quantiles of a symmetric law.

    Hand `coefficients` and `cells_log2` to the kernels of `_kernels.tables`.

    Attributes
    ----------
    coefficients : ndarray, shape (104 * 2**cells_log2, 4)
        Cubics, float64, C-contiguous and read-only, in units of the law.
    cells_log2 : int
        log2 of the cells in a binade of v = 2 P(X > \|x\|) and of 1 - v.
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


def table_from_quantile(magnitude: Callable[[FloatArray], FloatArray], cells_log2: int = 6) -> QuantileTable:
    """Table of any symmetric law from its quantile function x(v), v = 2 P(X > x), called with an array.

    A reference: nothing is measured, and `error` is nan. `IncrementLaw.table` is the one to use.
    """
    points = cell_points(cells_log2, chebyshev_nodes())
    values = np.concatenate([magnitude(points), magnitude(1.0 - points)])
    return QuantileTable(cubics(values), cells_log2, float("nan"), 0.0)


def chebyshev_nodes() -> FloatArray:
    """The four Chebyshev nodes of a cell, in (0, 1)."""
    return 0.5 - 0.5 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)


def cell_points(log2: int, places: FloatArray) -> FloatArray:
    """Probabilities at the given places of every cell of one side, shape (cells, places), ascending."""
    exponent, cell = np.divmod(np.arange(int(kernels.BINADES) << log2), 1 << log2)
    lowest = np.ldexp(1.0, exponent + kernels.LOWEST_EXPONENT)
    points: FloatArray = lowest[:, None] * (1.0 + (cell[:, None] + places) / (1 << log2))
    return points


def cubics(values: FloatArray) -> FloatArray:
    """Monomial coefficients of the cubics through values at the Chebyshev nodes, shape (cells, 4)."""
    vandermonde = np.vander(chebyshev_nodes(), increasing=True)
    return np.ascontiguousarray(values @ np.linalg.inv(vandermonde).T)
