"""A scheme's transfer operator on a grid: its law after many steps without Monte Carlo."""

from __future__ import annotations

import numpy as np

from levycollapse._kernels.drift_maps import apply_any_map
from levycollapse._kernels.streams import padded
from levycollapse._simulate.schemes import plan


def mapped(scheme_map, z):
    """One of the kernels' own maps, on a copy."""
    out = np.zeros(padded(z.size))
    out[: z.size] = z
    kind, constants, cells = scheme_map
    apply_any_map(kind, out, constants, cells, np.empty(out.size, np.uint64), np.empty(out.size), None)
    return out[: z.size]


def stationary(model, scheme, dt, low=-18.0, high=14.0, spacing=0.04):
    """(grid, weights, read-out): E g = sum(weights * g(readout)) over the scheme's stationary law.

    The trapezoidal rule on an analytic density that is 0.1 wide or more has an error of exp(-60); the box cuts
    exp(-(beta - s) 18) off E exp(-s zeta).
    """
    grid = np.arange(low, high, spacing)
    maps = plan(model.drift, scheme, dt)
    step = grid[None, :] - mapped(maps.step, grid)[:, None]
    kernel = model.increment(dt).pdf(step) * spacing
    # Left eigenvector of the transition matrix for the eigenvalue 1, normalised.
    matrix = kernel.T - np.eye(grid.size)
    matrix[-1] = 1.0
    weights = np.linalg.solve(matrix, np.append(np.zeros(grid.size - 1), 1.0))
    return weights, mapped(maps.read, grid)
