r"""Integrals of e^(-phi(y)) for the one convex phi that covers the spectra without a closed form.

    phi(y) = b y + e^y/cut + l e^(-y) + (y - centre)^2/(2 sd^2),        y = log tau >= start.

Convexity makes quadrature safe: from the minimum, Gauss panels march outwards until phi has risen by 45. Panels are
as wide as the local slope and curvature allow, so a peak may be as narrow or as far out as it likes.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import elementwise, scalar

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
#: e^-45 = 3e-20: what is left out is below rounding, also of integrals a thousand times as wide as their peak.
RISE = 45.0


@scalar
def phi(y, b, inverse_cut, lag, centre, inverse_variance):
    value = b * y + 0.5 * inverse_variance * (y - centre) ** 2
    if inverse_cut > 0.0:
        value += inverse_cut * math.exp(y)
    if lag > 0.0:
        value += lag * math.exp(-y)
    return value


@scalar
def slopes(y, b, inverse_cut, lag, centre, inverse_variance):
    """First and second derivative of phi."""
    up = inverse_cut * math.exp(y) if inverse_cut > 0.0 else 0.0
    down = lag * math.exp(-y) if lag > 0.0 else 0.0
    return b + up - down + inverse_variance * (y - centre), up + down + inverse_variance


@scalar
def minimum(start, b, inverse_cut, lag, centre, inverse_variance):
    """Where phi is least on [start, inf); `start` may be -inf if phi grows to the left."""
    if start > -math.inf:
        first, _ = slopes(start, b, inverse_cut, lag, centre, inverse_variance)
        if first >= 0.0:
            return start
        low = start
    else:
        low = centre
    step = 1.0
    high = low + step
    while slopes(high, b, inverse_cut, lag, centre, inverse_variance)[0] < 0.0:
        low = high
        step *= 2.0
        high = low + step
    if start == -math.inf:
        step = 1.0
        while slopes(low, b, inverse_cut, lag, centre, inverse_variance)[0] > 0.0:
            low -= step
            step *= 2.0
    for _ in range(200):
        y = 0.5 * (low + high)
        first, second = slopes(y, b, inverse_cut, lag, centre, inverse_variance)
        if first < 0.0:
            low = y
        else:
            high = y
        # Near enough for Newton: also where the curvature, which may vanish here, has yet to grow.
        if high - low <= min(1.0, 1e-2 / math.sqrt(second)) or high - low <= 1e-15 * abs(y):
            break
    y = 0.5 * (low + high)
    for _ in range(4):
        first, second = slopes(y, b, inverse_cut, lag, centre, inverse_variance)
        y -= first / second
    return min(max(y, low), high)


@scalar
def exp_minus_tangent(t):
    """e^t - 1 - t, without cancellation."""
    if abs(t) > 0.25:
        return math.expm1(t) - t
    term = 0.5 * t * t
    total = term
    for n in range(3, 14):
        term *= t / n
        total += term
    return total


@scalar
def march(direction, stop, slope, up, down, inverse_variance):
    """Panels from the minimum in one direction, up to the offset `stop`.

    phi(top + t) - phi(top) is formed from t alone, so a peak may be narrower than the spacing of numbers near `top`.
    Returns the integrals of e^(phi(top)-phi) and of that times lag e^-y.
    """
    zero = 0.0
    one = 0.0
    t = 0.0
    while True:
        first = slope + up * math.expm1(t) - down * math.expm1(-t) + inverse_variance * t
        second = up * math.exp(t) + down * math.exp(-t) + inverse_variance
        width = min(1.0, min(4.0 / max(abs(first), 1e-300), 2.0 / math.sqrt(max(second, 1e-300))))
        last = direction * (stop - t) <= width
        if last:
            width = abs(stop - t)
        middle = t + 0.5 * direction * width
        for i in range(NODES.size):
            at = middle + 0.5 * width * NODES[i]
            rise = slope * at + up * exp_minus_tangent(at) + down * exp_minus_tangent(-at)
            rise += 0.5 * inverse_variance * at * at
            value = 0.5 * width * WEIGHTS[i] * math.exp(-rise)
            zero += value
            one += value * (down * math.exp(-at))
        t += direction * width
        rise = slope * t + up * exp_minus_tangent(t) + down * exp_minus_tangent(-t) + 0.5 * inverse_variance * t * t
        if last or rise > RISE:
            return zero, one


@scalar
def log_integral_of_one(start, b, inverse_cut, lag, centre, inverse_variance):
    """Logarithm of the integral of e^(-phi) over [start, inf), and the mean of lag e^(-y) under e^(-phi)."""
    top = minimum(start, b, inverse_cut, lag, centre, inverse_variance)
    up = inverse_cut * math.exp(top) if inverse_cut > 0.0 else 0.0
    down = lag * math.exp(-top) if lag > 0.0 else 0.0
    slope = 0.0
    if top == start:
        slope = max(b + up - down + inverse_variance * (top - centre), 0.0)
    zero, one = march(1.0, math.inf, slope, up, down, inverse_variance)
    if top > start:
        left_zero, left_one = march(-1.0, start - top, slope, up, down, inverse_variance)
        zero += left_zero
        one += left_one
    return math.log(zero) - phi(top, b, inverse_cut, lag, centre, inverse_variance), one / zero


@elementwise("float64", "float64")
def log_integral(start, b, inverse_cut, lag, centre, inverse_variance, out_log, out_mean):
    for i in range(out_log.size):
        found = log_integral_of_one(start[i], b[i], inverse_cut[i], lag[i], centre[i], inverse_variance[i])
        out_log[i], out_mean[i] = found
