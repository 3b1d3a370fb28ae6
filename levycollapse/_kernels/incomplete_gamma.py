r"""Incomplete gamma functions in the scaled forms that envelopes of power laws need (THEORY 6).

lower(b, x) = b int_0^1 u^(b-1) e^(-x u) du = b x^(-b) gamma_lower(b, x)         1 at x = 0, positive, never 0/0
log_band(b, low, high) = log int_low^high u^(b-1) e^(-(u-low)) du                with the exponential taken out
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import elementwise, scalar

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


@scalar
def upper_scaled(b, x):
    """e^x Gamma(b, x) x^(1-b) for x >= 1 by its continued fraction (modified Lentz); about 1 for large x."""
    tiny = 1e-300
    c = 1.0 / tiny
    a = x + 1.0 - b
    d = 1.0 / a if a != 0.0 else 1.0 / tiny
    value = d
    for n in range(1, 2000):
        factor = n * (b - n)
        a += 2.0
        d = a + factor * d
        if d == 0.0:
            d = tiny
        c = a + factor / c
        if c == 0.0:
            c = tiny
        d = 1.0 / d
        step = c * d
        value *= step
        if abs(step - 1.0) < 2e-16:
            break
    return x * value


@scalar
def log_lower_scaled(b, x):
    """Logarithm of b x^(-b) gamma_lower(b, x), b > 0."""
    if x < b + 1.0:
        # e^-x sum x^n/(b+1)_n: all terms positive.
        term = 1.0
        total = 1.0
        n = 0
        while term > 1e-17 * total:
            n += 1
            term *= x / (b + n)
            total += term
        return math.log(total) - x
    log_x = math.log(x)
    if x > 1e308:
        return math.lgamma(b + 1.0) - b * log_x
    # 1 - Q(b, x), Q by the continued fraction; Q <= 0.5 or so here.
    upper = upper_scaled(b, x) * math.exp(-x + (b - 1.0) * log_x - math.lgamma(b)) if b < 1e6 else 0.0
    return math.lgamma(b + 1.0) - b * log_x + math.log1p(-upper)


@elementwise("float64")
def log_lower(b, x, out):
    for i in range(out.size):
        out[i] = log_lower_scaled(b[i], x[i])


@scalar
def log_upper(b, x):
    """Logarithm of int_0^inf (x+t)^(b-1) e^(-t) dt = log(e^x Gamma(b, x)), x >= max(1, b)."""
    return math.log(upper_scaled(b, x)) + (b - 1.0) * math.log(x)


@scalar
def log_band_gauss(b, low, high):
    """The same integral by one Gauss rule: exact to rounding where u^(b-1) e^-u varies by a few e-folds."""
    half = 0.5 * (high - low)
    total = 0.0
    for i in range(NODES.size):
        t = half * (1.0 + NODES[i])
        total += WEIGHTS[i] * math.exp((b - 1.0) * math.log1p(t / low) - t)
    return math.log(half * total) + (b - 1.0) * math.log(low)


@scalar
def log_band_of_one(b, low, high):
    """Logarithm of int_low^high u^(b-1) e^(low-u) du for b > 0, 0 < low < high, in a form without cancellation."""
    spread = (high - low) / low
    if spread <= 1.0 and high - low <= 4.0 and abs(b - 1.0) * spread <= 8.0:
        return log_band_gauss(b, low, high)
    if low >= max(1.0, b):
        first = log_upper(b, low)
        if high - low > 40.0 + abs(b - 1.0) * math.log1p(spread):
            return first
        return first + math.log1p(-math.exp(log_upper(b, high) - first - (high - low)))
    # gamma_lower(b, high) - gamma_lower(b, low), times e^low.
    log_high = log_lower_scaled(b, high) + b * math.log(high)
    log_low = log_lower_scaled(b, low) + b * math.log(low)
    return low - math.log(b) + log_high + math.log(-math.expm1(log_low - log_high))


@elementwise("float64")
def log_band(b, low, high, out):
    for i in range(out.size):
        out[i] = log_band_of_one(b[i], low[i], high[i])
