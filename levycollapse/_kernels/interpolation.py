"""Interpolation in equispaced tables of smooth functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import scalar

#: Points of the stencil. On a table that samples the highest wave number 8 times a period, 16 points leave 1e-16 of a
#: function whose spectrum decays exponentially.
STENCIL = 16
#: Barycentric weights of 16 equispaced points: (-1)^j binomial(15, j).
WEIGHTS = (1.0, -15.0, 105.0, -455.0, 1365.0, -3003.0, 5005.0, -6435.0)


@scalar
def value_at(table, position):
    first = int(position) - 7
    first = min(max(first, 0), len(table) - 16)
    top = 0.0
    bottom = 0.0
    for j in range(16):
        distance = position - (first + j)
        if distance == 0.0:
            return table[first + j]
        weight = (WEIGHTS[j] if j < 8 else -WEIGHTS[15 - j]) / distance
        top += weight * table[first + j]
        bottom += weight
    return top / bottom


@scalar
def fill(table, positions, out):
    for i in range(out.size):
        out[i] = value_at(table, positions[i])


def interpolate(table: Any, position: Any) -> Any:
    """Value of the table at fractional indices, by the 16 nearest points (fewer margins are clipped)."""
    at = np.asarray(position, dtype=np.float64)
    out = np.empty(at.shape)
    fill(table, at.reshape(-1), out.reshape(-1))
    return out[()]
