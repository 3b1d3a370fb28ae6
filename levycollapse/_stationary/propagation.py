"""Propagators without time steps: the closed form of a linear drift, and a matrix that is squared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from .._checks import FloatArray
from .curve import panels
from .problem import ComplexArray, Problem

#: 1-norm of the generator times the shortest interval: within it neither the Pade form nor the Taylor sum needs
#: scaling.
SHORT_NORM = 2.0
#: Terms of the Taylor sum: 2**30/30! is 4e-24.
TERMS = 30
#: Decay of a wave number's amplitude beyond which it is 0.
GONE = -700.0


def ornstein_uhlenbeck(
    problem: Problem,
    start: Callable[[FloatArray, FloatArray], ComplexArray],
    grid: FloatArray,
    k: FloatArray,
    times: FloatArray,
) -> ComplexArray:
    """Spectra under a linear drift: rho-hat_t(k) = rho-hat_0(k e^{-theta t}) exp int_0^t G(k e^{-theta r}) dr.

    Substituting q = k e^{-theta r} the integral is that of G(q)/(theta q), which is tabulated once: one table serves
    every time. The start is asked for its transform between the grid's wave numbers, from its own values on the grid.
    """
    rate = float(problem.rate or np.nan)
    # G vanishes like q**2, and by q = 1e-9 k_1 the rest of its integral is below rounding.
    edges = np.concatenate([[0.0], np.geomspace(1e-9 * k[1], k[-1], 400)])
    nodes, weights = panels(edges)
    drop = (problem.multiplier(0.0, nodes) * 1j).real / rate
    cumulated = np.concatenate([[0.0], np.cumsum((weights * drop).reshape(-1, 16).sum(axis=1))])
    begin = start(grid, k)
    values = np.fft.irfft(begin, n=len(grid))
    result = []
    for time in times:
        shrunk = k * np.exp(-rate * time)
        exponent = _between(problem, rate, edges, cumulated, k) - _between(problem, rate, edges, cumulated, shrunk)
        alive = exponent > GONE
        moved = np.zeros(len(k), dtype=complex)
        # Relative to the zero of the drift, where the flow has its fixed point.
        for part in np.array_split(np.flatnonzero(alive), max(1, int(alive.sum()) * len(grid) // 1_000_000)):
            at_zero = np.exp(-1j * np.multiply.outer(shrunk[part], grid)) @ values
            moved[part] = at_zero * np.exp(exponent[part] + 1j * k[part] * grid[0])
        result.append(moved if time > 0 else begin)
    return np.array(result)


def _between(problem: Problem, rate: float, edges: FloatArray, cumulated: FloatArray, q: FloatArray) -> FloatArray:
    """Int_0^q G(q)/(theta q) dq: whole panels and the rest of one."""
    owner = np.clip(np.searchsorted(edges, q, side="right") - 1, 0, len(edges) - 2)
    x, w = np.polynomial.legendre.leggauss(16)
    half = 0.5 * (q - edges[owner])
    nodes = edges[owner][:, None] + half[:, None] * (1.0 + x)
    drop = (problem.multiplier(0.0, nodes.ravel()) * 1j).real.reshape(nodes.shape) / rate
    return np.asarray(cumulated[owner] + half * (drop @ w))


def dense_steps(
    force: FloatArray, generator: FloatArray, k: FloatArray, begin: ComplexArray, times: FloatArray
) -> tuple[ComplexArray, float]:
    """Spectra at the times by powers exp(2**j h A) of one short propagator, and what rounding makes of them.

    Every interval is a sum of powers of two times h and a remainder, so that one chain of squarings serves all times;
    a remainder is a Taylor sum. Squaring doubles the rounding of a propagator.
    """
    n = len(force)
    identity = np.eye(n)
    waves = np.fft.rfft(identity, axis=0)
    matrix = np.fft.irfft(generator[:, None] * waves, n=n, axis=0)
    matrix -= np.fft.irfft((1j * k)[:, None] * waves, n=n, axis=0) * force
    short = SHORT_NORM / float(np.abs(matrix).sum(axis=0).max())
    intervals = np.diff(times, prepend=0.0)
    counts = [int(interval / short) for interval in intervals]
    values = np.fft.irfft(begin, n=n)
    states = []
    powers = [scipy.linalg.expm(short * matrix)]
    for _ in range(max(counts).bit_length() - 1):
        powers.append(powers[-1] @ powers[-1])
    for interval, count in zip(intervals, counts, strict=True):
        rest = interval - count * short
        term = values.copy()
        for order in range(1, TERMS + 1):
            term = rest / order * (matrix @ term)
            values = values + term
        for bit, power in enumerate(powers):
            if count >> bit & 1:
                values = power @ values
        states.append(np.fft.rfft(values))
    return np.array(states), max(float(np.finfo(float).eps * sum(counts)), 1e-15)
