"""The steps that the test of persistent scales puts data and simulations through alike."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from .._checks import FloatArray

#: Median distance from the median to standard deviation, for a normal law.
NORMAL = 1.482602218505602
#: How often scales of units and of steps are taken out in turn.
ROUNDS = 3
#: A single value counts for no more than this many standard deviations.
CAP = 20.0
#: For the correlations of values, and of their sizes, three are enough: beyond, one jump would decide.
CLIP = 3.0
#: Lags at which the sizes are compared.
LAGS = (1, 2, 3)
#: How much of the correlation of sizes is taken off the mean cube, so that scales that drift a little do not move it:
#: the ratio of what both gain from scales that are AR(1) with 0.9 to 0.97, measured (9 to 12).
SLOPE = 10.0
#: Singular values of noise stay below this multiple of sqrt(units) + sqrt(steps).
EDGE = 1.05
#: Lag-one correlations smaller than this are taken for none.
UNCORRELATED = 0.02


class Scaled(NamedTuple):
    """Values without the scales of their unit and step, and those scales."""

    values: FloatArray
    unit: FloatArray
    step: FloatArray


class Noise(NamedTuple):
    """Gaussian noise as dependent as the data: lag-one correlation, and loadings of common factors (unit, factor)."""

    correlation: float
    loadings: FloatArray


def middle(x: FloatArray, axis: int) -> FloatArray:
    """Median along an axis, with that axis kept; a third of the time of np.median, of which the test is made."""
    rows = np.ascontiguousarray(x.T if axis == 0 else x)
    half = rows.shape[1] // 2
    ordered = np.partition(rows, half, axis=1)
    upper = ordered[:, half]
    # NumPy's selection is vectorised for one place only; the other is the largest of what stands before it.
    found: FloatArray = upper if rows.shape[1] % 2 else 0.5 * (upper + ordered[:, :half].max(axis=1))
    return found[None, :] if axis == 0 else found[:, None]


def scaled(x: FloatArray) -> Scaled:
    """Centre each unit, and divide by the median size of each unit and of each step in turn."""
    values = x - middle(x, 1)
    unit, step = np.ones((x.shape[0], 1)), np.ones((1, x.shape[1]))
    for _ in range(ROUNDS):
        for axis, scale in ((1, unit), (0, step)):
            size = NORMAL * middle(np.abs(values), axis)
            scale *= size
            values = values / size
    return Scaled(values, unit, step)


def statistics(values: FloatArray) -> tuple[float, float]:
    """Mean cube of the sizes, and the sum of the covariances of a unit's sizes at the lags."""
    sizes = np.abs(values)
    capped = np.minimum(sizes, CAP)
    cube = float(np.mean(capped * capped * capped))
    near = np.minimum(sizes, CLIP)
    near -= near.mean(axis=1, keepdims=True)
    return cube, sum(float(np.mean(near[:, k:] * near[:, :-k])) for k in LAGS)


def noise_of(values: FloatArray) -> Noise:
    """Dependence of scaled values, between the steps of a unit and between units."""
    x = np.clip(values, -CLIP, CLIP)
    x = x - x.mean(axis=1, keepdims=True)
    x /= x.std(axis=1, keepdims=True)
    units, steps = x.shape
    # Centring makes neighbours of independent values look correlated by about -1/steps.
    correlation = float(np.mean(x[:, 1:] * x[:, :-1])) * steps / (steps - 1) + 1.0 / steps
    left, singular, _right = np.linalg.svd(x, full_matrices=False)
    edge = EDGE * (math.sqrt(units) + math.sqrt(steps))
    k = int((singular > edge).sum())
    loadings = left[:, :k] * np.sqrt(np.maximum(singular[:k] ** 2 - 0.5 * edge**2, 0.0) / steps)
    common = np.sum(loadings**2, axis=1, keepdims=True)
    return Noise(correlation, loadings * np.sqrt(np.minimum(1.0, 0.95 / np.maximum(common, 1e-300))))


def simulated(noise: Noise, scales: Scaled, rng: np.random.Generator) -> FloatArray:
    """Gaussian panel with the dependence and the scales of the data."""
    units, steps = scales.values.shape
    own = 1.0 - np.sum(noise.loadings**2, axis=1, keepdims=True)
    drawn = np.sqrt(own) * _coloured(rng.standard_normal((units, steps + 1)), noise.correlation)
    if noise.loadings.shape[1]:
        common = rng.standard_normal((noise.loadings.shape[1], steps + 1))
        drawn = drawn + noise.loadings @ _coloured(common, noise.correlation)
    panel: FloatArray = drawn * scales.unit * scales.step
    return panel


def _coloured(white: FloatArray, correlation: float) -> FloatArray:
    """Unit-variance noise with a lag-one correlation: AR(1) if positive, MA(1), as of differences, if negative."""
    if correlation < -UNCORRELATED:
        rho = min(0.499, -correlation)
        weight = (1.0 - math.sqrt(1.0 - 4.0 * rho * rho)) / (2.0 * rho)
        moved: FloatArray = (white[:, 1:] - weight * white[:, :-1]) / math.sqrt(1.0 + weight * weight)
        return moved
    if correlation > UNCORRELATED:
        rho = min(correlation, 0.95)
        start = rho * white[:, :1]
        fresh = math.sqrt(1.0 - rho * rho) * white[:, 1:]
        out: FloatArray = lfilter([1.0], [1.0, -rho], fresh, axis=1, zi=start)[0]
        return out
    return white[:, 1:]
