r"""Roots of the characteristic equation, thresholds, inverse design and sensitivities.

With x = beta/lam the equation Phi(beta) = 0, divided by kappa beta, reads

    R(x) = g x + j h(x)/x = 1,    g = eta_G lam/kappa,    j = eta_J Gamma(2-alpha) lam^(alpha-1)/kappa,

whose left side is a sum of positive increasing terms. Two parametrisations make it nearly linear: x itself
below 1/2, and t = y^min(alpha, 1), y = 1 - x, above (there h' blows up like y^(alpha-1) for alpha < 1).
Halley's iteration from a start of known order then needs two to four evaluations (NUMERICS C.2).
"""

from __future__ import annotations

import math

from ._jit import elementwise, scalar
from .gamma import gamma
from .symbol import (
    LOG2,
    SERIES_BELOW,
    psi,
    quotient,
    quotient_at_half,
    reduced,
    reduced_index_derivative,
    reduced_over_square,
)

#: Two terms that should cancel are equal when they differ by less than this times the larger: 8 ulp, the
#: rounding error of the symbol (12 ulp at worst, 4 typical) as measured against mpmath.
EQUAL = 8 * 2.0**-52

# Status codes; `_theory.exponent.ExponentStatus` gives them their public names.
ROOT, GAUSSIAN, AT_THRESHOLD, BELOW_THRESHOLD, UNTEMPERED, UNREPRESENTABLE = range(6)
NOT_CONVERGED = 8

#: Relative rounding error of g, j and h together (measured: 5e-15 at worst over 1e6 models).
ROUNDING = 6e-15
#: Below this alpha the variable y**alpha carries too little of y; its logarithmic form is iterated instead.
SMALL_INDEX = 0.05
#: Ten were the most in 1e6 random models; a loop that gets here has not converged, and says so.
MOST_EVALUATIONS = 100


@scalar
def product_difference(a, b, c):
    """A - b*c with one rounding of the product's error kept (Dekker), so that cancellation is harmless."""
    product = b * c
    if not 1e-250 < abs(product) < 1e290 or not (abs(b) < 1e290 and abs(c) < 1e290):
        return a - product
    split = 134217729.0
    t = split * b
    b_high = t - (t - b)
    b_low = b - b_high
    t = split * c
    c_high = t - (t - c)
    c_low = c - c_high
    error = ((b_high * c_high - product) + b_high * c_low + b_low * c_high) + b_low * c_low
    return (a - product) - error


@scalar
def root_below_half(g, j, a):
    """Root in (0, 1/2]: start from the small-x series, then Halley in x. Returns x, evaluations."""
    total = g + j
    lead = 1.0 / total
    share = j / total
    c3 = (2.0 - a) * (3.0 - a) / 12.0
    first = share * c3 * lead * lead
    second = first * (4.0 - a) * (5.0 - a) / 30.0 * lead * lead
    second -= 2.0 * first * first
    x = lead / (1.0 + first + second) if first < 0.15 else min(lead / (1.0 + first), 0.5)
    if not 0.0 < x <= 0.5:
        x = 0.5
    low = 0.0
    high = 0.5
    for evaluations in range(1, MOST_EVALUATIONS):
        q, slope, curvature = quotient(x, 1.0 - x, a)
        f = g * x + j * q - 1.0
        df = g + j * slope
        ddf = j * curvature
        if f > 0.0:
            high = x
        else:
            low = x
        step = f / df
        step = step / (1.0 - 0.5 * step * ddf / df)
        new = x - step
        if abs(step) <= 1e-5 * x:
            return min(new, 0.5), evaluations
        if not low < new <= high:
            new = 0.5 * (low + high)
        x = new
    return math.nan, MOST_EVALUATIONS


@scalar
def root_above_half(g, j, a, excess, excess_half, slope_half):
    """Root in (1/2, 1): start from a hyperbola through both ends, then Halley in u = y**min(a, 1).

    `excess` = R(1) - 1 > 0, `excess_half` = R(1/2) - 1 < 0, `slope_half` = R'(1/2). Returns y, evaluations.
    """
    m = min(a, 1.0)
    u_high = math.exp(-m * LOG2)
    slope = -slope_half * 0.5 / (m * u_high)
    c = ((excess_half - excess) / (u_high * slope) - 1.0) / u_high
    b = (excess_half * (1.0 + c * u_high) - excess) / u_high
    secant = u_high * excess / (excess - excess_half)
    u = -excess / b if b < 0.0 else secant
    if not 0.0 < u < u_high:
        u = secant
    low = 0.0
    high = u_high
    for evaluations in range(1, MOST_EVALUATIONS):
        y = u if m == 1.0 else math.exp(math.log(u) / m)
        if y < 1e-300:
            return 0.0, evaluations
        x = 1.0 - y
        q, slope, curvature = quotient(x, y, a)
        f = g * x + j * q - 1.0
        df = g + j * slope
        ddf = j * curvature
        if m == 1.0:
            df_u = -df
            ddf_u = ddf
        else:
            y_u = y / (m * u)
            df_u = -df * y_u
            ddf_u = ddf * y_u * y_u - df * y_u * (1.0 / m - 1.0) / u
        if f > 0.0:
            low = u
        else:
            high = u
        step = f / df_u
        correction = 1.0 - 0.5 * step * ddf_u / df_u
        if correction > 0.2:
            step = step / correction
        new = u - step
        # Converged in x, and in u as well unless the residual is already rounding: Halley's last step cubes the error.
        if abs(step) * y <= 1e-5 * u * m * x and (abs(step) <= 3e-5 * u * m or abs(f) < 4e-16):
            return (new if m == 1.0 else math.exp(math.log(new) / m)), evaluations
        if not low < new < high:
            new = 0.5 * (low + high)
        u = new
    return math.nan, MOST_EVALUATIONS


@scalar
def root_above_half_small_index(g, j, a, excess, excess_half, slope_half):
    """The same for small a, where y**a hardly depends on y: Halley in v = (1 - y**a)/a, which tends to -log y.

    Two numbers are carried, v and t = 1 - a v = y**a: v alone is accurate while t is near 1, t alone near 0.
    """
    t_half = math.exp(-a * LOG2)
    v = -math.expm1(-a * LOG2) / a
    low = v
    high = 1.0 / a
    # Nearly linear in v from the middle; where that would leave the interval, the secant to the upper end.
    start = v - excess_half * t_half / (0.5 * slope_half)
    t = 1.0 - a * start
    if t < 0.1:
        t = t_half * excess / (excess - excess_half)
        start = (1.0 - t) / a
    v = start
    for evaluations in range(1, MOST_EVALUATIONS):
        y = math.exp((math.log1p(-a * v) if t > 0.3 else math.log(t)) / a)
        if y < 1e-300:
            return 0.0, evaluations
        x = 1.0 - y
        q, slope, curvature = quotient(x, y, a)
        f = g * x + j * q - 1.0
        df = g + j * slope
        x_v = y / t
        df_v = df * x_v
        ddf_v = j * curvature * x_v * x_v - df * x_v * (1.0 - a) / t
        if f > 0.0:
            high = v
        else:
            low = v
        step = f / df_v
        correction = 1.0 - 0.5 * step * ddf_v / df_v
        if correction > 0.2:
            step = step / correction
        if abs(step) * y <= 1e-5 * t * x and (abs(step) <= 3e-5 * t or abs(f) < 4e-16):
            v -= step
            t += a * step
            return math.exp((math.log1p(-a * v) if t > 0.3 else math.log(t)) / a), evaluations
        if low < v - step < high or (t + a * step <= 0.3 and low <= v - step <= high and t + a * step > 0.0):
            v -= step
            t += a * step
        else:
            v = 0.5 * (low + high)
            t = 1.0 - a * v
    return math.nan, MOST_EVALUATIONS


@scalar
def reduced_parameters(kappa, eta_G, eta_J, alpha, lam):
    """(g, j) of the module's equation, for eta_J > 0 and lam > 0."""
    return eta_G * lam / kappa, eta_J * gamma(2.0 - alpha) * lam ** (alpha - 1.0) / kappa


@scalar
def threshold_excess(g, j, alpha):
    """Phi(lam)/(kappa lam) = R(1) - 1: within `EQUAL` of 0 the model is at threshold, below it there is no root."""
    return (g - 1.0) + j * reduced(1.0, 0.0, alpha)


@scalar
def root(kappa, eta_G, eta_J, alpha, lam):
    """(beta, lam - beta, relative error, status, evaluations of h) of one model."""
    if eta_J == 0.0:
        beta = kappa / eta_G
        if not 0.0 < beta < math.inf:
            return math.nan, math.nan, math.nan, UNREPRESENTABLE, 0
        return beta, lam - beta, 2.0**-52, GAUSSIAN, 0
    if lam == 0.0:
        return math.nan, math.nan, math.nan, UNTEMPERED, 0
    g, j = reduced_parameters(kappa, eta_G, eta_J, alpha, lam)
    if not g + j < 1e150:
        # The root is so far below lam that the quadratic of THEORY 3 is exact; its own scale may still be finite.
        beta = kappa / (eta_G + eta_J * gamma(2.0 - alpha) * lam ** (alpha - 2.0))
        if not beta > 0.0:
            return math.nan, math.nan, math.nan, UNREPRESENTABLE, 0
        return beta, lam - beta, ROUNDING, ROOT, 0
    excess = threshold_excess(g, j, alpha)
    if not excess > -EQUAL:
        return math.nan, math.nan, math.nan, BELOW_THRESHOLD, 0
    if excess <= EQUAL:
        return lam, 0.0, ROUNDING, AT_THRESHOLD, 0
    # R(x) >= (g + j) x, so that R(1/2) need not be looked at where this alone reaches 1.
    slope = 0.0
    excess_half = 0.0
    if g + j < 2.0:
        q, slope, _ = quotient_at_half(alpha)
        excess_half = 0.5 * g + j * q - 1.0
    if excess_half >= 0.0:
        x, evaluations = root_below_half(g, j, alpha)
        y = 1.0 - x
    else:
        if alpha < SMALL_INDEX:
            y, evaluations = root_above_half_small_index(g, j, alpha, excess, excess_half, g + j * slope)
        else:
            y, evaluations = root_above_half(g, j, alpha, excess, excess_half, g + j * slope)
        x = 1.0 - y
    beta = lam * x
    if math.isnan(x):
        return math.nan, math.nan, math.nan, NOT_CONVERGED, evaluations + 1
    if not beta > 0.0:
        return math.nan, math.nan, math.nan, UNREPRESENTABLE, evaluations
    # d log beta = -(relative rounding of R)/(x R'(x)), and x R' >= R = 1 (Euler on positive increasing terms).
    return beta, lam * y, ROUNDING, ROOT, evaluations + 1


@elementwise("float64")
def exponent(kappa, eta_G, eta_J, alpha, lam, out):
    for i in range(out.size):
        out[i] = root(kappa[i], eta_G[i], eta_J[i], alpha[i], lam[i])[0]


@elementwise("float64", "float64", "float64", "int64", "int64")
def exponent_with_status(kappa, eta_G, eta_J, alpha, lam, beta, gap, error, status, evaluations):
    for i in range(beta.size):
        found = root(kappa[i], eta_G[i], eta_J[i], alpha[i], lam[i])
        beta[i], gap[i], error[i], status[i], evaluations[i] = found


@scalar
def phi(beta, kappa, eta_G, eta_J, alpha, lam):
    return eta_G * beta * beta + psi(beta, eta_J, alpha, lam) - kappa * beta


@elementwise("float64")
def characteristic(beta, kappa, eta_G, eta_J, alpha, lam, out):
    for i in range(out.size):
        out[i] = phi(beta[i], kappa[i], eta_G[i], eta_J[i], alpha[i], lam[i])


@scalar
def intensity(beta, kappa, eta_G, alpha, lam):
    """eta_J for which beta is the root; nan where there is none."""
    room = product_difference(kappa, eta_G, beta)
    if room <= 0.0:
        # beta = kappa/eta_G, as far as the division that made it can tell, needs no jumps.
        return 0.0 if room >= -EQUAL * kappa else math.nan
    if beta > lam:
        return math.nan
    x = beta / lam
    factor = gamma(2.0 - alpha)
    # (kappa beta - eta_G beta^2)/c(beta) in an order in which no factor leaves the range before the result does.
    if x < SERIES_BELOW:
        return room / x * (lam ** (1.0 - alpha) / (factor * reduced_over_square(x, alpha)))
    return room * x * (lam ** (1.0 - alpha) / (factor * reduced(x, (lam - beta) / lam, alpha)))


@elementwise("float64")
def intensity_for_exponent(beta, kappa, eta_G, alpha, lam, out):
    for i in range(out.size):
        out[i] = intensity(beta[i], kappa[i], eta_G[i], alpha[i], lam[i])


@scalar
def threshold(kappa, eta_G, alpha, lam):
    if lam == 0.0:
        return math.nan
    room = product_difference(kappa, eta_G, lam)
    return 0.0 if room <= 0.0 else intensity(lam, kappa, eta_G, alpha, lam)


@elementwise("float64")
def jump_threshold(kappa, eta_G, alpha, lam, out):
    for i in range(out.size):
        out[i] = threshold(kappa[i], eta_G[i], alpha[i], lam[i])


@scalar
def digamma(z):
    """Digamma for 0 < z <= 2: recurrence up to z >= 10, then the asymptotic series (error below 1e-17)."""
    shift = 0.0
    while z < 10.0:
        shift += 1.0 / z
        z += 1.0
    w = 1.0 / (z * z)
    tail = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - w * (691 / 32760 - w / 12))))))
    return math.log(z) - 0.5 / z - tail - shift


@scalar
def derivatives_at_root(x, y, eta_G, eta_J, alpha, lam, kappa):
    """D beta/d (kappa, eta_G, eta_J, alpha, lam) at the root beta = lam x, y = 1 - x > 0, eta_J > 0.

    Every one is -(d Phi/d parameter)/Phi'(beta), with Phi'(beta) = kappa x R'(x) a sum of positive terms.
    """
    g, j = reduced_parameters(kappa, eta_G, eta_J, alpha, lam)
    q, slope, _ = quotient(x, y, alpha)
    rate = g + j * slope
    d_kappa = lam / (kappa * rate)
    d_eta_G = -x * lam * lam / (kappa * rate)
    d_eta_J = -lam * j * q / (eta_J * rate)
    log_slope = math.log(lam) - digamma(2.0 - alpha)
    d_alpha = -lam * j * (q * log_slope + reduced_index_derivative(x, y, alpha) / x) / rate
    # d psi/d lam = -eta_J Gamma(3-alpha) lam**(alpha-1) h(alpha-1, x): negative, no cancellation.
    d_lam = j * (2.0 - alpha) * reduced(x, y, alpha - 1.0) / (x * rate)
    return d_kappa, d_eta_G, d_eta_J, d_alpha, d_lam


@scalar
def derivatives(kappa, eta_G, eta_J, alpha, lam):
    beta, gap, _, status, _ = root(kappa, eta_G, eta_J, alpha, lam)
    if status == GAUSSIAN:
        # beta = kappa/eta_G whatever alpha and lam; a first jump lowers it by c(beta)/kappa while beta <= lam and
        # makes it drop to lam beyond (no derivative).
        d_eta_J = -psi(beta, 1.0, alpha, lam) / kappa if beta <= lam else math.nan
        return 1.0 / eta_G, -beta / eta_G, d_eta_J, 0.0, 0.0
    if status == ROOT:
        return derivatives_at_root(beta / lam, gap / lam, eta_G, eta_J, alpha, lam, kappa)
    if status == AT_THRESHOLD:
        if alpha <= 1.0:
            # Phi'(lam) is infinite: seen from above threshold, only lam itself moves the root.
            return 0.0, 0.0, 0.0, 0.0, 1.0
        psi_J = psi(lam, 1.0, alpha, lam)
        jump_scale = gamma(2.0 - alpha) * lam ** (alpha - 1.0)
        e = alpha - 1.0
        slope = 2.0 * eta_G * lam + eta_J * jump_scale * 2.0**e / e - kappa
        d_psi_alpha = eta_J * jump_scale * lam * reduced_index_derivative(1.0, 0.0, alpha)
        d_psi_alpha += eta_J * psi_J * (math.log(lam) - digamma(2.0 - alpha))
        d_psi_lam = -eta_J * (2.0 - alpha) * jump_scale * reduced(1.0, 0.0, alpha - 1.0)
        return lam / slope, -lam * lam / slope, -psi_J / slope, -d_psi_alpha / slope, -d_psi_lam / slope
    return math.nan, math.nan, math.nan, math.nan, math.nan


@elementwise("float64", "float64", "float64", "float64", "float64")
def sensitivities(kappa, eta_G, eta_J, alpha, lam, d_kappa, d_eta_G, d_eta_J, d_alpha, d_lam):
    for i in range(d_kappa.size):
        found = derivatives(kappa[i], eta_G[i], eta_J[i], alpha[i], lam[i])
        d_kappa[i], d_eta_G[i], d_eta_J[i], d_alpha[i], d_lam[i] = found
