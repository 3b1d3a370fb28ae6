r"""Sums of exponentials over many time scales: S0 = sum w e^(-l d) and S1 = sum w d e^(-l d), d = mu - mu_min >= 0.

The slowest rate is taken out first (f = e^(-l mu_min) S0), so nothing underflows at long lags. Few samples are summed
one by one. Many are aggregated on a grid that is geometric in d, 32 cells an octave, each cell keeping the moments of
its samples about its centre; the cell's sum is then a Taylor polynomial in z = l * (half width), exact for the samples
as they lie, not for a smoothed spectrum. Cells are found from the leading bits of the floating-point number, without
a logarithm. The truncation error is bounded lag by lag, and a lag that fails the bound is summed one by one.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import scalar

#: Leading mantissa bits that number a cell: 2**5 an octave, half width at most d/64.
BITS = 5
#: Moments kept. z <= 0.7 for every cell with l d <= 45, where z**14/14! = 8e-14.
MOMENTS = 14
FACTORIAL = float(math.factorial(MOMENTS))
#: e^(-l d) below e^-800 is zero in double precision: such samples are dropped.
NEGLIGIBLE = 800.0
#: Largest z in the cell that reaches down to d = 0.
FIRST = 0.5
#: Truncation error allowed, relative to the sum, before a lag is summed one by one.
TOLERANCE = 2e-12
BLOCK = 2048


@scalar
def direct(rates, weights, uniform, low, lag):
    """S0 and S1 at one lag, sample by sample."""
    s0 = 0.0
    s1 = 0.0
    for i in range(rates.size):
        d = rates[i] - low
        if d < math.inf:
            term = math.exp(-lag * d)
            if not uniform:
                term *= weights[i]
            s0 += term
            s1 += d * term
    return s0, s1


@scalar
def direct_from_timescales(tau, weights, uniform, low, lag):
    """S0 and S1 at one lag from time scales: no array of rates is made."""
    s0 = 0.0
    s1 = 0.0
    for i in range(tau.size):
        d = 1.0 / tau[i] - low
        if d < math.inf:
            term = math.exp(-lag * d)
            if not uniform:
                term *= weights[i]
            s0 += term
            s1 += d * term
    return s0, s1


@scalar
def aggregate(tau, weights, uniform, low, high, lag_min, lag_max):
    """Cell moments, centres and half widths of d = 1/tau - low <= high, for lags in [lag_min, lag_max]."""
    shift = 52 - BITS
    edge = np.empty(2)
    edge[0] = 2.0 * FIRST / lag_max
    edge[1] = max(min(NEGLIGIBLE / lag_min, min(high, 1e300) * 1.0001), edge[0])
    keys = edge.view(np.int64)
    first = keys[0] >> shift
    cells = (keys[1] >> shift) - first + 2
    start = np.empty(cells)
    start_keys = start.view(np.int64)
    for k in range(1, cells):
        start_keys[k] = (first + k - 1) << shift
    start[0] = 0.0
    moments = np.zeros((cells, MOMENTS + 1))
    centre = np.empty(cells)
    half = np.empty(cells)
    inverse = np.empty(cells)
    for k in range(cells):
        stop = start[k + 1] if k + 1 < cells else start[k] * (1.0 + 2.0**-BITS)
        half[k] = 0.5 * (stop - start[k])
        centre[k] = start[k] + half[k]
        inverse[k] = 1.0 / half[k]
    ceiling = edge[1]
    d = np.empty(BLOCK)
    bits = d.view(np.int64)
    for begin in range(0, tau.size, BLOCK):
        count = min(BLOCK, tau.size - begin)
        for i in range(count):
            d[i] = 1.0 / tau[begin + i] - low
        for i in range(count):
            if not d[i] < ceiling:
                continue
            k = max((bits[i] >> shift) - first + 1, 0)
            t = (d[i] - centre[k]) * inverse[k]
            power = 1.0 if uniform else weights[begin + i]
            for j in range(MOMENTS + 1):
                moments[k, j] += power
                power *= t
    return moments, centre, half


@scalar
def occupied(moments, centre, half):
    """The cells that hold samples, in increasing d; their moments divided by j!."""
    count = 0
    for k in range(centre.size):
        if moments[k, 0] != 0.0:
            count += 1
    packed = np.empty((count, MOMENTS + 1))
    c = np.empty(count)
    r = np.empty(count)
    n = 0
    for k in range(centre.size):
        if moments[k, 0] != 0.0:
            packed[n] = moments[k]
            c[n] = centre[k]
            r[n] = half[k]
            n += 1
    return packed, c, r


@scalar
def from_cells(moments, centre, half, lag):
    """S0, S1 at one lag from the cells, and a bound of the truncation error of S0."""
    s0 = 0.0
    s1 = 0.0
    bound = 0.0
    for k in range(centre.size):
        exponent = lag * centre[k]
        if exponent > NEGLIGIBLE:
            break
        z = lag * half[k]
        front = math.exp(-exponent)
        zero = moments[k, 0]
        one = moments[k, 1]
        term = 1.0
        # z**j/j! falls below rounding long before j = MOMENTS for the many cells with l d << 1.
        for j in range(1, MOMENTS):
            term *= -z / j
            zero += term * moments[k, j]
            one += term * moments[k, j + 1]
            if abs(term) < 1e-17:
                break
        s0 += front * zero
        s1 += front * (centre[k] * zero + half[k] * one)
        if z > 0.3:
            rest = front * moments[k, 0] * z**MOMENTS / FACTORIAL * (1.0 + math.exp(z))
            bound += rest
    return s0, s1, bound


@scalar
def shifted_sums(tau, weights, uniform, low, high, lags, aggregated):
    """S0 and S1 at every lag > 0. 1/tau lies in [low, low + high]; `weights` is ignored when `uniform`."""
    s0 = np.empty(lags.size)
    s1 = np.empty(lags.size)
    if not aggregated:
        rates = 1.0 / tau
        for n in range(lags.size):
            s0[n], s1[n] = direct(rates, weights, uniform, low, lags[n])
        return s0, s1
    lag_min = lags.min()
    lag_max = lags.max()
    moments, centre, half = aggregate(tau, weights, uniform, low, high, lag_min, lag_max)
    moments, centre, half = occupied(moments, centre, half)
    for n in range(lags.size):
        a, b, bound = from_cells(moments, centre, half, lags[n])
        if not bound <= TOLERANCE * a:
            a, b = direct_from_timescales(tau, weights, uniform, low, lags[n])
        s0[n] = a
        s1[n] = b
    return s0, s1
