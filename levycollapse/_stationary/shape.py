"""Where a drift has its equilibrium and on which scale it changes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from .._checks import FloatArray
from .._model.collapse_model import CollapseModel
from .._model.drift import Drift, LinearDrift, SaturatingDrift
from ..errors import ParameterError

#: Smallest width that a drift given as a function can have, relative to the spread of its zeros (at least 1).
SHARPEST = 1e-3
#: Distances at which a drift given as a function is sampled, from its equilibrium.
DISTANCES: FloatArray = np.concatenate([[0.0], np.geomspace(1e-9, 1e9, 3601)])


def shape(model: CollapseModel) -> tuple[float, float, float]:
    """(zero, width, largest slope -F') of the drift of a scalar model."""
    drift = model.drift
    if isinstance(drift, SaturatingDrift):
        plateau = 2.0 / (1.0 / drift.left + 1.0 / drift.right)
        return float(drift.center), float(drift.width), float(plateau / drift.width)
    if isinstance(drift, LinearDrift):
        # It has no width of its own: the scale of its law serves.
        if model.lam > 0:
            variance = model.eta_G + 0.5 * model.jumps.cumulant(2)
        else:
            variance = model.eta_G + drift.rate * (model.eta_J / drift.rate) ** (2.0 / model.alpha)
        return float(drift.center), float(np.sqrt(variance / drift.rate)), float(drift.rate)
    first, last = _outermost_zeros(drift)
    center = 0.5 * (first + last)
    near = max(1.0, 2.0 * (last - first))
    steepest = reference = 0.0
    for side, plateau in ((-1.0, drift.left), (1.0, drift.right)):
        force = np.asarray(drift(center + side * DISTANCES), dtype=float)
        slopes = np.abs(np.diff(force) / np.diff(DISTANCES))
        middle = 0.5 * (DISTANCES[1:] + DISTANCES[:-1])
        # Closer than this the differences are rounding.
        seen = middle > 1e-6 * max(1.0, abs(center))
        if np.isinf(plateau):
            # A drift that confines has no steepest point: what matters is the middle.
            seen &= middle <= near
            plateau = float(np.abs(force[near >= DISTANCES]).max())
        reference = max(reference, plateau)
        steepest = max(steepest, float(slopes[seen].max()))
    # A drift that jumps has no width; the chain wants one for its grid.
    width = max(reference / steepest if steepest > 0 else 0.0, SHARPEST * near)
    return center, width, reference / width


def _outermost_zeros(drift: Drift) -> tuple[float, float]:
    ladder = np.geomspace(1e-6, 1e9, 1201)
    sample = np.concatenate([-ladder[::-1], [0.0], ladder])
    force = np.asarray(drift(sample), dtype=float)
    changes = np.flatnonzero(np.sign(force[1:]) != np.sign(force[:-1]))
    if not len(changes):
        raise ParameterError("the drift does not change sign between zeta=-1e9 and 1e9: no equilibrium to be found")

    def zero(index: int) -> float:
        for end in (index, index + 1):
            if force[end] == 0:
                return float(sample[end])
        return float(brentq(lambda z: float(drift(z)), sample[index], sample[index + 1]))

    return zero(int(changes[0])), zero(int(changes[-1]))
