"""Quantiles of the symmetric stable laws over alpha, computed once from the law itself."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._checks import FloatArray
from .._laws.stable import SymmetricStable

#: Indices that quantiles are tabulated at; between them a cubic is off by 1e-5 in the index (see the tests).
NODES = np.concatenate([np.arange(12, 24) / 40, np.arange(12, 41) / 20])
#: Upper tail probabilities: of the quartile, of McCulloch's outer quantile, and of one farther out.
TAILS = (0.25, 0.05, 0.005)


class QuantileTable(NamedTuple):
    """Quantiles (node, tail) of the unit laws, and densities there."""

    quantile: FloatArray
    density: FloatArray


@lru_cache(maxsize=1)
def quantile_table() -> QuantileTable:
    """Quantiles and densities of the unit symmetric stable laws at `NODES`."""
    quantile, density = np.empty((NODES.size, len(TAILS))), np.empty((NODES.size, len(TAILS)))
    for i, alpha in enumerate(NODES):
        law = SymmetricStable(float(alpha))
        quantile[i] = law.isf(np.array(TAILS))
        density[i] = law.pdf(quantile[i])
    return QuantileTable(quantile, density)


@lru_cache(maxsize=1)
def log_ratio_deviation() -> FloatArray:
    """Standard deviation of log((q95 - q05)/(q75 - q25)) of a sample, times sqrt(n), at `NODES`.

    Sample quantiles of p_i and p_j covary by min(p_i, p_j) - p_i p_j over n f_i f_j.
    """
    table = quantile_table()
    p = np.array([TAILS[1], TAILS[0], 1.0 - TAILS[0], 1.0 - TAILS[1]])
    among = np.minimum.outer(p, p) - np.outer(p, p)
    out = np.empty(NODES.size)
    for i in range(NODES.size):
        inner, outer = table.quantile[i, :2]
        f = table.density[i, [1, 0, 0, 1]]
        slope = np.array([-1.0 / (2.0 * outer), 1.0 / (2.0 * inner), -1.0 / (2.0 * inner), 1.0 / (2.0 * outer)]) / f
        out[i] = math.sqrt(slope @ among @ slope)
    return out
