"""Stationary vector of a Markov chain by the elimination of Grassmann, Taksar and Heyman: no subtraction anywhere."""

from __future__ import annotations

import numpy as np

from ._jit import scalar


@scalar
def stationary_vector(rates):
    """Stationary masses of the chain with off-diagonal `rates`[i, j] from i to j, which are overwritten.

    Every entry of the result has a small relative error, however small it is, since only positive numbers are added,
    multiplied and divided (O'Cinneide 1993).
    """
    n = rates.shape[0]
    for last in range(n - 1, 0, -1):
        leaving = 0.0
        for j in range(last):
            leaving += rates[last, j]
        for i in range(last):
            rates[i, last] /= leaving
        for i in range(last):
            share = rates[i, last]
            if share > 0.0:
                for j in range(last):
                    rates[i, j] += share * rates[last, j]
    out = np.empty(n)
    out[0] = 1.0
    total = 1.0
    for j in range(1, n):
        value = 0.0
        for i in range(j):
            value += out[i] * rates[i, j]
        out[j] = value
        total += value
    for j in range(n):
        out[j] /= total
    return out
