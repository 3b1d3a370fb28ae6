"""Twin of the increment law: textbook cumulant function, straight rays, ball arithmetic of 45 digits, nothing shared.

The law's own contours are hyperbolas with logarithmic forms of the symbol and parts taken out analytically. Here the
path is a corner: two straight rays from a point of the real axis, the integrand is e^{K(s) - s x} itself, and what
cancels is paid for with digits. The quadrature is double-exponential at the corner and halved until it stands still;
the radius of the ball says whether the digits were enough.

Arb (python-flint) makes a value some ten times as fast as mpmath, which is what lets a whole grid be tested.
"""

from __future__ import annotations

import math

from flint import acb, arb, ctx

DIGITS = 45
#: Two step lengths agree to this, and the ball is no wider.
AGREED = 1e-17
HALVINGS = 9


def log_density_and_survival(x, alpha, lam, eta_J, eta_G, dt, digits=DIGITS):
    """log f(x) and log P(X > x) for x > 0, as real balls."""
    with ctx.workdps(digits):
        x, alpha, lam = arb(x), arb(alpha), arb(lam)
        jump, gauss = arb(eta_J) * arb(dt), arb(eta_G) * arb(dt)
        limit = arb(0)
        if jump > 0 and alpha > 1:
            limit = arb.pi() / 2 * (1 - 1 / alpha)
        if gauss > 0:
            limit = limit.max(arb.pi() / 4)
        angle = limit + (arb.pi() / 2 - limit) * 0.62
        if lam > 0:
            near_zero, near_lam = _corner(float(x * lam), float(alpha), float(jump * lam**alpha), float(gauss * lam**2))
            corner = arb(near_zero) * lam if near_zero < 0.5 else lam - lam * arb(near_lam)
        else:
            corner = arb(0)
        k = _cumulant(alpha, lam, jump, gauss, corner)
        front = k(acb(0)).real - corner * x if lam > 0 else arb(0)
        turn = acb(angle.cos(), angle.sin())

        def term(u):
            u = arb(u)
            inner = (-u).exp()
            d = turn * ((u - inner).exp() / x)
            s = corner + d
            value = (k(d) - s * x - front).exp() * d
            over = value / s
            return value.imag * (1 + inner), over.imag * (1 + inner), max(_size(value), _size(over.imag))

        step, old = 0.125, None
        for _ in range(HALVINGS):
            new = _trapezoid(term, step, old)
            if old is not None and all(abs(a - b) < abs(a) * AGREED for a, b in zip(new, old, strict=True)):
                break
            old = new
            step /= 2
        else:
            raise AssertionError(f"the twin does not converge, or {digits} digits are too few: {new}, {old}")
        density, survival = new
        if not lam > 0:
            survival += angle
        if min(density.rel_accuracy_bits(), survival.rel_accuracy_bits()) < -math.log2(AGREED):
            raise AssertionError(f"{digits} digits are too few for the twin: {density}, {survival}")
        return (density / arb.pi()).log() + front, (survival / arb.pi()).log() + front


def _cumulant(alpha, lam, jump, gauss, corner):
    """K(corner + d) as a function of d; without tempering the analytic continuation from the imaginary axis."""
    if lam > 0:
        start, beyond = lam - corner, lam + corner
        if alpha == 1:

            def tempered(d):
                gap, far, s = start - d, beyond + d, corner + d
                return gauss * s * s + jump * (gap * gap.log() + far * far.log() - 2 * lam * lam.log())

        else:
            front, constant = jump * (-alpha).gamma(), 2 * lam**alpha

            def tempered(d):
                gap, far, s = start - d, beyond + d, corner + d
                return gauss * s * s + front * (gap**alpha + far**alpha - constant)

        return tempered
    constant = jump * arb.pi() / ((1 + alpha).gamma() * (arb.pi() * alpha / 2).sin())
    return lambda d: gauss * d * d - constant * (d / acb(0, 1)) ** alpha


def _corner(x, alpha, jump, gauss):
    """Where the path starts, s and 1 - s in units of lam: the least of Re K(s) - s x - log s, but 0.6/x off 1."""
    best = (math.inf, 0.5, 0.5)
    for i in range(-240, 241):
        t = i / 8
        s, gap = 1 / (1 + math.exp(-t)), 1 / (1 + math.exp(t))
        if gap < min(0.6 / x, 0.5):
            break
        if alpha == 1:
            jumps = gap * math.log(gap) + (1 + s) * math.log(1 + s)
        else:
            jumps = math.gamma(-alpha) * (gap**alpha + (1 + s) ** alpha - 2)
        value = gauss * s * s + jump * jumps - s * x - math.log(s)
        best = min(best, (value, s, gap))
    return best[1:]


def _size(value):
    """Upper bound of |value| as a ball without radius: a float may under- or overflow."""
    return value.abs_upper()


def _trapezoid(term, step, old):
    """Both sums with this step; with the sums at twice the step given, only the new points are evaluated."""
    total = [arb(0), arb(0)]
    stride = 1 if old is None else 2
    small_enough = arb(10) ** -ctx.dps
    for sign in (1, -1):
        i = 0 if old is None and sign > 0 else 1
        largest, small = arb(0), 0
        while small < 3 and i * step < 600:
            if sign < 0 and i * step > 7.5:
                # r^alpha is 1e-785 ** alpha here.
                break
            a, b, size = term(sign * i * step)
            total[0] += a
            total[1] += b
            largest = max(largest, size)
            small = small + 1 if size <= small_enough * largest else 0
            i += stride
    if old is None:
        return total[0] * step, total[1] * step
    return total[0] * step + old[0] / 2, total[1] * step + old[1] / 2
