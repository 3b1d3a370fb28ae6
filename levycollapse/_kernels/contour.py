r"""Contour integrals for the law of a step, frozen into sums of exponentials (THEORY 7, SAMPLERS 1).

With K(s) = b s^2 + K_J(s), the density and the survival probability at x > 0 are

    f(x) = (1/pi) Im int e^{K(s) - s x} ds,        P(X > x) = (1/pi) Im int e^{K(s) - s x} ds / s,

over the upper half of a contour that keeps the singularity of K_J on its right. On a contour that is fixed for all x
of a piece, the trapezoidal rule in the contour's parameter is a sum of exponentials in x.

Everything is in units in which K has two shape parameters besides alpha:

* tempered: length 1/lam, K_J = jump h(alpha, s) with the reduced symbol h of `symbol`; singular at s = 1.
  Contour: the hyperbola with focus 1, s = s0 + mu [cos(th)(cosh u - 1) + i sin(th) sinh u], s0 in (0, 1);
* untempered: K_J = -jump (-i s)^alpha; singular at s = 0.
  Contour: the ray s = rho e^{i th} exp(u - e^{-u}), whose lower end is reached double-exponentially.

Three integrands. DIRECT is the one above. In the two others a Gaussian e^{g s^2}, whose share of f and P is known in
closed form, is taken out, and what is left, e^{g s^2} expm1(K - g s^2), is small where the tail is far below the
Gaussian core and has no pole at 0:

* EXCESS takes out the Gaussian part of the law, g = b (nothing, for pure jumps);
* NEAR_GAUSSIAN also takes out what the jumps become at alpha = 2, g = b + jump. Near alpha = 2 the remainder is
  smaller than K_J by 2 - alpha, and that many digits are saved in the tail.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import scalar
from .symbol import SERIES_BELOW, quotient
from .symbol_complex import expm1_complex, log1p_complex, reduced_complex

DIRECT, EXCESS, NEAR_GAUSSIAN = 0, 1, 2
#: Nodes that a contour may have. 4000 serve alpha = 0.1 at dt = 1e-6; what needs more is refused.
CAPACITY = 6000
#: Nodes below this share of the largest are dropped.
NEGLIGIBLE = 1e-18
ROUNDING = 2.0**-52


@scalar
def reduced_above_square(s, y, a):
    """h(a, s) - s**2, with relative accuracy for a -> 2; y = 1 - s exact."""
    square = s * s
    if abs(s) < SERIES_BELOW:
        term = complex(1.0, 0.0)
        total = complex(0.0, 0.0)
        n = 1
        while n < 3 or abs(term) > 1e-18 * abs(total):
            term *= square * ((2 * n - a) * (2 * n + 1 - a) / ((2 * n + 1) * (2 * n + 2)))
            total += term
            n += 1
            if n > 40:
                break
        return square * total
    d = 2.0 - a
    p = 1.0 + s
    near = expm1_complex(-d * log1p_complex(-s, y))
    far = expm1_complex(-d * log1p_complex(s, p))
    return (y * y * near + p * p * far + d * (3.0 - d) * square) / (a * (a - 1.0))


@scalar
def jump_cumulant(s, y, log_s, tempered, form, jump, a):
    """K_J(s), less jump s**2 in the form NEAR_GAUSSIAN. `log_s` is used without tempering, y = 1 - s with it."""
    if tempered:
        if form == NEAR_GAUSSIAN:
            return jump * reduced_above_square(s, y, a)
        return jump * reduced_complex(s, y, a)
    turned = complex(log_s.real, log_s.imag - 0.5 * math.pi)
    if form == NEAR_GAUSSIAN:
        square = np.exp(2.0 * turned)
        return -jump * square * expm1_complex((a - 2.0) * turned)
    return -jump * np.exp(a * turned)


@scalar
def cancellation(s, y, form, jump, a, k):
    """Ulps that K_J loses to cancellation: its absolute error over |K_J|, which expm1 passes on."""
    if form != NEAR_GAUSSIAN or abs(s) < SERIES_BELOW:
        return 0.0
    near = abs(y) ** 2 * abs(np.log(y))
    far = abs(1.0 + s) ** 2 * abs(np.log(1.0 + s))
    terms = jump * (2.0 - a) * (near + far + 3.0 * abs(s) ** 2) / (a * (a - 1.0))
    return 2.0 * terms / max(min(abs(k), 1.0), 1e-300)


@scalar
def sector(form, gauss, a):
    """Smallest angle to the real axis along which the integrand still decays."""
    limit = 0.0
    if a > 1.0:
        limit = 0.5 * math.pi * (1.0 - 1.0 / a)
    if gauss > 0.0 or form == NEAR_GAUSSIAN:
        limit = max(limit, 0.25 * math.pi)
    return limit


@scalar
def direct_gap(x, gauss, jump, a):
    """1 - s0 for DIRECT, and K'' + 1/s0^2 there.

    s0 minimises K(s) - s x - log s: the logarithm keeps the contour off the pole of P at 0. It stays 0.5/x away
    from the focus, where the branch point would narrow the hyperbola below the scale of e^{-s x}.
    """
    low, high = -45.0, 45.0
    s, y = 0.5, 0.5
    curvature = 0.0
    for _ in range(40):
        t = 0.5 * (low + high)
        s = 1.0 / (1.0 + math.exp(-t))
        y = 1.0 / (1.0 + math.exp(t))
        q, slope, _bend = quotient(s, y, a)
        if 2.0 * gauss * s + jump * (q + s * slope) - x - 1.0 / s < 0.0:
            low = t
        else:
            high = t
        if high - low < 1e-3:
            break
    if x > 0.0 and y < 0.5 / x:
        y = min(0.5 / x, 1.0 - 0.5 * s)
        s = 1.0 - y
    q, slope, bend = quotient(s, y, a)
    curvature = 2.0 * gauss + jump * (2.0 * slope + s * bend) + 1.0 / (s * s)
    return y, curvature


@scalar
def excess_gap(x, gauss):
    """1 - s0 for the two other forms: the minimum of g s^2 - s x - log(1 - s), at most 0.7."""
    excess = x - 2.0 * gauss
    root = math.sqrt(excess * excess + 8.0 * gauss)
    gap = 2.0 / (excess + root) if excess > 0.0 else ((root - excess) / (4.0 * gauss) if gauss > 0.0 else 0.7)
    return min(gap, 0.7)


@scalar
def hyperbola(form, gauss, jump, a, gap, angle, step, x_low, shift, density, survival, condition):
    """Nodes and weights of the hyperbola; returns their number (0 if they do not fit) and K at the crossing."""
    taken_out = gauss + jump if form == NEAR_GAUSSIAN else gauss
    cosine, sine = math.cos(angle), math.sin(angle)
    mu = gap / (1.0 - cosine)
    s0 = 1.0 - gap
    front = taken_out * s0 * s0
    if form == DIRECT:
        front += jump_cumulant(complex(s0, 0.0), complex(gap, 0.0), 0j, True, form, jump, a).real
    largest, largest_over = 0.0, 0.0
    small = 0
    for j in range(shift.size):
        u = j * step
        if u > 700.0:
            return 0, front
        rise = 2.0 * math.sinh(0.5 * u) ** 2
        fall = math.sinh(u)
        d = complex(mu * cosine * rise, mu * sine * fall)
        tangent = complex(mu * cosine * fall, mu * sine * (1.0 + rise))
        s = complex(s0 + d.real, d.imag)
        y = complex(gap - d.real, -d.imag)
        k = jump_cumulant(s, y, 0j, True, form, jump, a)
        # s^2 - s0^2 as d (2 s0 + d), so that a large Gaussian part does not cancel against `front`.
        g = taken_out * d * complex(2.0 * s0 + d.real, d.imag)
        if form == DIRECT:
            k = k - (front - taken_out * s0 * s0)
            value = np.exp(k + g)
        else:
            value = np.exp(g) * expm1_complex(k)
        weight = (0.5 if j == 0 else 1.0) * step / math.pi
        value = value * tangent * weight
        shift[j] = d
        density[j] = value
        survival[j] = value / s
        condition[j] = 4.0 + abs(k) + abs(g) + cancellation(s, y, form, jump, a, k)
        damp = math.exp(-d.real * x_low)
        size, size_over = abs(value) * damp, abs(survival[j]) * damp
        largest, largest_over = max(largest, size), max(largest_over, size_over)
        small = small + 1 if size < NEGLIGIBLE * largest and size_over < NEGLIGIBLE * largest_over else 0
        if small >= 2:
            return j + 1, front
    return 0, front


@scalar
def ray_node(form, gauss, jump, a, angle, log_rho, u, step, j, shift, density, survival, condition):
    """One node of the ray at parameter u, the density in units of 1/rho; returns |K|."""
    taken_out = gauss + jump if form == NEAR_GAUSSIAN else gauss
    inner = math.exp(-u)
    log_s = complex(log_rho + u - inner, angle)
    s = np.exp(log_s)
    scaled = np.exp(complex(u - inner, angle))
    k = jump_cumulant(s, 0j, log_s, False, form, jump, a)
    g = taken_out * s * s
    value = np.exp(k + g) if form == DIRECT else np.exp(g) * expm1_complex(k)
    over = value * ((1.0 + inner) * step / math.pi)
    shift[j] = s
    survival[j] = over
    density[j] = over * scaled
    condition[j] = 4.0 + abs(k) + abs(g)
    return abs(k) + abs(g)


@scalar
def ray(form, gauss, jump, a, angle, log_rho, step, x_low, x_high, shift, density, survival, condition, even):
    """Nodes and weights of the ray; returns their number (0 if they do not fit).

    The density is in units of 1/rho: at x = 1e200 it would underflow while P does not.
    """
    largest, largest_over = 0.0, 0.0
    # Not 0, for which Numba would compile `ray_node` twice.
    count = np.int64(0)
    for side in range(2):
        small = 0
        i = 0 if side == 0 else 1
        while True:
            if count == shift.size:
                return 0
            u = i * step if side == 0 else -i * step
            if u > 600.0 or u < -7.2:
                # e^{-u} = 1340 at -7.2: s underflows, and r^alpha is 1e-12 at alpha = 0.02.
                if side == 0:
                    return 0
                break
            near_zero = ray_node(
                form, gauss, jump, a, angle, log_rho, u, step, count, shift, density, survival, condition
            )
            even[count] = i % 2 == 0
            s = shift[count]
            size = abs(density[count]) * math.exp(-s.real * x_low)
            size_over = abs(survival[count]) * math.exp(-s.real * x_low)
            if form == DIRECT and side == 1:
                # The real part 1 of e^K has no share in the integral.
                size_over *= min(1.0, near_zero + abs(s) * x_high)
            largest, largest_over = max(largest, size), max(largest_over, size_over)
            count += 1
            i += 1
            small = small + 1 if size < NEGLIGIBLE * largest and size_over < NEGLIGIBLE * largest_over else 0
            if small >= 2:
                break
    return count


@scalar
def sums(count, shift, density, survival, condition, even, x, out):
    """Im of both sums at x, the same over every other node with doubled step, and bounds of their rounding.

    out: density, survival, the two with doubled step, the two rounding bounds.
    """
    out[:] = 0.0
    for j in range(count):
        d = shift[j]
        damp = math.exp(-d.real * x)
        turn = d.imag * x
        c, s = math.cos(turn), math.sin(turn)
        one = damp * density[j].imag * c
        two = -damp * density[j].real * s
        three = damp * survival[j].imag * c
        four = -damp * survival[j].real * s
        out[0] += one + two
        out[1] += three + four
        if even[j]:
            out[2] += 2.0 * (one + two)
            out[3] += 2.0 * (three + four)
        loose = ROUNDING * (condition[j] + abs(d.real * x) + abs(turn))
        # The phase error of the exponential moves Im by the whole modulus, not by the two projections alone.
        out[4] += loose * damp * (abs(density[j].real) + abs(density[j].imag))
        out[5] += loose * (abs(three) + abs(four))
        if turn != 0.0:
            out[5] += ROUNDING * abs(turn) * damp * (abs(survival[j].real) + abs(survival[j].imag))


@scalar
def scaled_gaussian(x, gauss, log_scale):
    """Density and survival of the Gaussian with cumulant gauss s^2, both times e^{-log_scale}; |exponent|."""
    if gauss == 0.0:
        return 0.0, 0.0, 0.0
    z = x / (2.0 * math.sqrt(gauss))
    exponent = -z * z - log_scale
    if exponent < -745.0:
        return 0.0, 0.0, 0.0
    height = math.exp(exponent)
    density = height / math.sqrt(4.0 * math.pi * gauss)
    if z < 25.0:
        survival = 0.5 * math.erfc(z) * math.exp(-log_scale)
    else:
        w = 0.5 / (z * z)
        # Asymptotic series of erfc; its next term is 1e-16 at z = 25.
        series = 1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w * (1.0 - 9.0 * w * (1.0 - 11.0 * w)))))
        survival = 0.5 * height / (z * math.sqrt(math.pi)) * series
    return density, survival, abs(z * z) + abs(log_scale)
