r"""The jump symbol, in forms that keep their relative accuracy (NUMERICS C.1).

Everything is expressed through the reduced symbol

    h(a, x) = [(1-x)^a + (1+x)^a - 2] / (a (a-1)),        psi(s) = eta_J Gamma(2-a) lam^a h(a, s/lam),

which is analytic in a (also at 0 and 1) for x < 1, positive and convex. Three forms cover it:

* x < 1/4: a power series whose terms are all positive for a < 2, so nothing cancels;
* a >= 1/2: powers written as expm1((a-1) log .)/(a-1), regular through a = 1;
* a < 1/2: powers written as expm1(a log .)/a, regular through a = 0. It also serves -1 < a < 0, which the
  derivative of psi with respect to lam needs.

`y` is 1 - x and must be passed exact: near x = 1 the symbol is ill conditioned in x for a < 1.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import elementwise, inlined, scalar
from .elementary import exp_and_expm1
from .gamma import gamma

LOG2 = math.log(2.0)
LOG_HALF = math.log(0.5)
LOG_THREE_HALVES = math.log(1.5)
SERIES_BELOW = 0.25
#: 1/((2n+1)(2n+2)), the part of the series' ratios that does not depend on the index: a division saved per term.
RECIPROCALS = np.array([1.0 / ((2 * n + 1) * (2 * n + 2)) for n in range(64)])
#: k/lam from which |lam + ik| = k to rounding.
FAR_ON_IMAGINARY_AXIS = 1e8
#: Below this |a|, expm1(a t)/a equals t to rounding for every |t| < 1e5; it also avoids subnormal a.
TINY_INDEX = 1e-150


@scalar
def reduced_over_square(x, a):
    """h(a, x)/x**2 for 0 <= x < 1/4, by its series; h(a, x) ~ x**2 at 0."""
    square = x * x
    term = 1.0
    total = 1.0
    n = 1
    while term > 1e-18 * total:
        term *= square * (2 * n - a) * (2 * n + 1 - a) / ((2 * n + 1) * (2 * n + 2))
        total += term
        n += 1
    return total


@inlined
def log_of_gap(x, y):
    """log(1 - x), from whichever of x and y = 1 - x carries the information."""
    return math.log(y) if x > 0.5 else math.log1p(-x)


@scalar
def reduced(x, y, a):
    """h(a, x) for 0 <= x <= 1 with y = 1 - x exact and -1 < a < 2; inf for y < 0."""
    if y < 0.0:
        return math.inf
    if x < SERIES_BELOW:
        return x * x * reduced_over_square(x, a)
    b = math.log1p(x)
    if a >= 0.5:
        e = a - 1.0
        if y == 0.0:
            return 2.0 * LOG2 if e == 0.0 else 2.0 * math.expm1(e * LOG2) / (e * a)
        ell = log_of_gap(x, y)
        if e == 0.0:
            return y * ell + (1.0 + x) * b
        return (y * math.expm1(e * ell) + (1.0 + x) * math.expm1(e * b)) / (e * a)
    if y == 0.0:
        if a <= 0.0:
            return math.inf
        return (math.expm1(a * b) - 1.0) / (a * (a - 1.0))
    ell = log_of_gap(x, y)
    if abs(a) < TINY_INDEX:
        return -(ell + b)
    return (math.expm1(a * ell) + math.expm1(a * b)) / (a * (a - 1.0))


@inlined
def quotient(x, y, a):
    """Q = h/x and its first two x-derivatives, 0 < x <= 1; what the root finder iterates on.

    Needs y > 0: at y = 0 the derivatives are infinite (the first for a <= 1, the second always).
    """
    if x < SERIES_BELOW:
        square = x * x
        term = 1.0
        q, slope, curvature = 1.0, 1.0, 0.0
        n = 1
        while term * n * n > 1e-18:
            term *= square * (2 * n - a) * (2 * n + 1 - a) * RECIPROCALS[n]
            n += 1
            q += term
            slope += (2 * n - 1) * term
            curvature += (2 * n - 1) * (2 * n - 2) * term
        return x * q, slope, curvature / x
    p = 1.0 + x
    # log1p(x) from log(p) and the rounding of p: half the time of log1p.
    b = math.log(p) + (x - (p - 1.0)) / p
    return quotient_from_logarithms(x, y, a, b, log_of_gap(x, y))


@inlined
def quotient_at_half(a):
    """The quotient and its derivatives at x = 1/2, whose logarithms are constants."""
    return quotient_from_logarithms(0.5, 0.5, a, LOG_THREE_HALVES, LOG_HALF)


@inlined
def quotient_from_logarithms(x, y, a, b, ell):
    """The quotient for x >= 1/4, given b = log(1 + x) and ell = log(1 - x)."""
    p = 1.0 + x
    over_x = 1.0 / x
    if a >= 0.5:
        e = a - 1.0
        if e == 0.0:
            h = y * ell + p * b
            first = b - ell
            second = 1.0 / p + 1.0 / y
        else:
            gap_power, gap_term = exp_and_expm1(e * ell)
            far_power, far_term = exp_and_expm1(e * b)
            over_e = 1.0 / e
            h = (y * gap_term + p * far_term) * over_e / a
            first = (far_term - gap_term) * over_e
            second = far_power / p + gap_power / y
    elif abs(a) < TINY_INDEX:
        h = -(ell + b)
        first = 1.0 / y - 1.0 / p
        second = 1.0 / (p * p) + 1.0 / (y * y)
    else:
        gap_power, gap_term = exp_and_expm1(a * ell)
        far_power, far_term = exp_and_expm1(a * b)
        over_e = 1.0 / (a - 1.0)
        over_y, over_p = 1.0 / y, 1.0 / p
        h = (gap_term + far_term) * over_e / a
        first = (far_power * over_p - gap_power * over_y) * over_e
        second = far_power * over_p * over_p + gap_power * over_y * over_y
    q = h * over_x
    slope = (first - q) * over_x
    return q, slope, (second - 2.0 * slope) * over_x


@scalar
def expm1_second(v):
    """D(v) = (exp(v)(v-1) + 1)/v**2, the derivative of expm1(v)/v."""
    if abs(v) < 0.5:
        term = 1.0
        total = 0.5
        n = 1
        while abs(term) > 1e-18:
            term *= v / n
            total += term / (n + 2)
            n += 1
        return total
    return (math.exp(v) * (v - 1.0) + 1.0) / (v * v)


@scalar
def reduced_index_derivative(x, y, a):
    """dh/da, for 0 < x <= 1 and 0 < a < 2 (NUMERICS C.1)."""
    if x < 0.4:
        square = x * x
        coefficient = 1.0
        harmonic = 0.0
        total = 0.0
        n = 1
        while coefficient * harmonic > 1e-18 * total or n < 3:
            coefficient *= square * (2 * n - a) * (2 * n + 1 - a) / ((2 * n + 1) * (2 * n + 2))
            harmonic += 1.0 / (2 * n - a) + 1.0 / (2 * n + 1 - a)
            total += coefficient * harmonic
            n += 1
            if n > 60:
                break
        return -square * total
    h = reduced(x, y, a)
    b = math.log1p(x)
    if y == 0.0:
        if a >= 0.5:
            return (-h + 2.0 * b * b * expm1_second((a - 1.0) * b)) / a
        if a < TINY_INDEX:
            return -math.inf
        power = math.exp(a * b)
        return (-h + (power * b - (power - 2.0) / a) / a) / (a - 1.0)
    ell = log_of_gap(x, y)
    if a >= 0.5:
        e = a - 1.0
        return (-h + y * ell * ell * expm1_second(e * ell) + (1.0 + x) * b * b * expm1_second(e * b)) / a
    return (-h + ell * ell * expm1_second(a * ell) + b * b * expm1_second(a * b)) / (a - 1.0)


@scalar
def psi(s, eta_J, alpha, lam):
    """The symbol at real s; inf outside [-lam, lam], where exponential moments of a jump diverge."""
    s = abs(s)
    if s == 0.0 or eta_J == 0.0:
        return 0.0
    if s > lam:
        return math.inf
    x = s / lam
    if x < SERIES_BELOW:
        # s**2 lam**(alpha-2), in an order in which neither factor underflows on its own.
        return eta_J * gamma(2.0 - alpha) * (x * lam ** (0.5 * alpha)) ** 2 * reduced_over_square(x, alpha)
    return eta_J * gamma(2.0 - alpha) * lam**alpha * reduced(x, (lam - s) / lam, alpha)


@scalar
def psi_imaginary(k, eta_J, alpha, lam):
    """psi(ik) for real k: real, even and <= 0. The log characteristic function of a jump part per unit time."""
    k = abs(k)
    if k == 0.0 or eta_J == 0.0:
        return 0.0
    if lam == 0.0:
        return -eta_J * untempered_constant(alpha) * k**alpha
    x = k / lam
    if x < SERIES_BELOW:
        square = x * x
        term = 1.0
        total = 1.0
        n = 1
        while abs(term) > 1e-18:
            term *= -square * (2 * n - alpha) * (2 * n + 1 - alpha) / ((2 * n + 1) * (2 * n + 2))
            total += term
            n += 1
        return -eta_J * gamma(2.0 - alpha) * (x * lam ** (0.5 * alpha)) ** 2 * total
    if x > FAR_ON_IMAGINARY_AXIS:
        return psi_imaginary_far(k, eta_J, alpha, lam)
    theta = math.atan2(k, lam)
    log_modulus = 0.5 * math.log1p(x * x)
    front = 2.0 * eta_J * gamma(2.0 - alpha)
    if alpha < 0.5:
        half = math.sin(0.5 * alpha * theta)
        if alpha < TINY_INDEX:
            return -front * log_modulus
        bracket = math.expm1(alpha * log_modulus) * math.cos(alpha * theta) - 2.0 * half * half
        return front * lam**alpha * bracket / (alpha * (alpha - 1.0))
    e = alpha - 1.0
    if e == 0.0:
        return front * lam * (log_modulus - x * theta)
    half = math.sin(0.5 * e * theta)
    power, growth = math.exp(e * log_modulus), math.expm1(e * log_modulus)
    bracket = growth - power * (2.0 * half * half + x * math.sin(e * theta))
    return front * lam**alpha * bracket / (alpha * e)


@scalar
def psi_imaginary_far(k, eta_J, alpha, lam):
    """psi(ik) for k >> lam, where |lam + ik| is k to rounding and k/lam itself may overflow."""
    log_ratio = math.log(k) - math.log(lam)
    theta = math.atan2(k, lam)
    front = 2.0 * eta_J * gamma(2.0 - alpha)
    e = alpha - 1.0
    if e == 0.0:
        return front * (lam * log_ratio - k * theta)
    # lam^p expm1(p log_ratio) as a difference where that does not cancel: neither factor need be in range.
    if alpha < 0.5:
        if alpha < TINY_INDEX:
            return -front * log_ratio
        growth = lam**alpha * math.expm1(alpha * log_ratio) if alpha * log_ratio < 1.0 else k**alpha - lam**alpha
        half = math.sin(0.5 * alpha * theta)
        return front * (growth * math.cos(alpha * theta) - lam**alpha * 2.0 * half * half) / (alpha * e)
    near = abs(e * log_ratio) < 1.0
    growth = lam**alpha * math.expm1(e * log_ratio) if near else lam * k**e - lam**alpha
    half = math.sin(0.5 * e * theta)
    bracket = growth - lam * k**e * 2.0 * half * half - k**alpha * math.sin(e * theta)
    return front * bracket / (alpha * e)


@scalar
def untempered_constant(alpha):
    """-psi(ik)/(eta_J |k|**alpha) at lam = 0: -2 Gamma(-alpha) cos(pi alpha/2), regular through alpha = 1.

    Equals pi / (Gamma(1+alpha) sin(pi alpha/2)) by the reflection formula.
    """
    angle = 0.5 * math.pi * (alpha if alpha <= 1.0 else 2.0 - alpha)
    return math.pi / (math.gamma(1.0 + alpha) * math.sin(angle))


@elementwise("float64")
def symbol(s, eta_J, alpha, lam, out):
    for i in range(out.size):
        out[i] = psi(s[i], eta_J[i], alpha[i], lam[i])


@elementwise("float64")
def symbol_imaginary(k, eta_J, alpha, lam, out):
    for i in range(out.size):
        out[i] = psi_imaginary(k[i], eta_J[i], alpha[i], lam[i])


@elementwise("float64")
def stable_constant(alpha, out):
    for i in range(out.size):
        out[i] = untempered_constant(alpha[i])
