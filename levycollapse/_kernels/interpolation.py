"""Interpolation in equispaced tables of smooth functions."""

from __future__ import annotations

from ._jit import elementwise_many

#: Points of the stencil. On a table that samples the highest wave number 8 times a period, 16 points leave 1e-16 of a
#: function whose spectrum decays exponentially.
STENCIL = 16
#: Barycentric weights of 16 equispaced points: (-1)^j binomial(15, j).
WEIGHTS = (1.0, -15.0, 105.0, -455.0, 1365.0, -3003.0, 5005.0, -6435.0)


@elementwise_many("void(float64[:],float64,float64[:])", "(n),()->()")
def interpolate(table, position, out):
    """Value of the table at a fractional index, by the 16 nearest points (fewer margins are clipped)."""
    first = int(position) - 7
    first = min(max(first, 0), len(table) - 16)
    top = 0.0
    bottom = 0.0
    for j in range(16):
        distance = position - (first + j)
        if distance == 0.0:
            out[0] = table[first + j]
            return
        weight = (WEIGHTS[j] if j < 8 else -WEIGHTS[15 - j]) / distance
        top += weight * table[first + j]
        bottom += weight
    out[0] = top / bottom
