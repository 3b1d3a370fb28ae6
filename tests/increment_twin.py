"""Slow twin of the increment law: textbook cumulant function, straight rays, 60 digits, nothing shared.

The law's own contours are hyperbolas with logarithmic forms of the symbol and parts taken out analytically. Here the
path is a corner: two straight rays from a point of the real axis, the integrand is e^{K(s) - s x} itself, and what
cancels is paid for with digits. The quadrature is double-exponential at the corner and halved until it stands still.
"""

from __future__ import annotations

import math

import mpmath as mp

DIGITS = 60
AGREED = mp.mpf(10) ** -18


def log_density_and_survival(x, alpha, lam, eta_J, eta_G, dt, digits=DIGITS):
    """log f(x) and log P(X > x) for x > 0, as mpmath numbers."""
    with mp.workdps(digits):
        x, alpha, lam, jump, gauss = (mp.mpf(v) for v in (x, alpha, lam, eta_J, eta_G))
        jump, gauss = jump * mp.mpf(dt), gauss * mp.mpf(dt)
        limit = mp.mpf(0)
        if jump and alpha > 1:
            limit = mp.pi / 2 * (1 - 1 / alpha)
        if gauss:
            limit = max(limit, mp.pi / 4)
        angle = limit + mp.mpf("0.62") * (mp.pi / 2 - limit)
        if lam:
            corner = _corner(float(x), float(alpha), float(lam), float(jump), float(gauss))
            corner = mp.mpf(corner[0]) if corner[0] < 0.5 else lam - lam * mp.mpf(corner[1])
        else:
            corner = mp.mpf(0)
        k = _cumulant(alpha, lam, jump, gauss, corner)
        front = mp.re(k(mp.mpf(0))) - corner * x if lam else mp.mpf(0)
        turn = mp.expj(angle)

        def term(u):
            inner = mp.exp(-u)
            d = turn * (mp.exp(u - inner) / x)
            s = corner + d
            value = mp.exp(k(d) - s * x - front)
            return mp.im(value * d) * (1 + inner), mp.im(value * d / s) * (1 + inner), abs(value) * abs(d)

        h = mp.mpf(1) / 8
        old = None
        for _ in range(6):
            new = _trapezoid(term, h, old)
            if old is not None and all(abs(a - b) < AGREED * abs(a) for a, b in zip(new[:2], old[:2], strict=True)):
                break
            old = new
            h /= 2
        else:
            raise AssertionError("the twin does not converge")
        density, survival = new[0], new[1]
        if not lam:
            survival += angle
        return mp.log(density / mp.pi) + front, mp.log(survival / mp.pi) + front


def _cumulant(alpha, lam, jump, gauss, corner):
    """K(corner + d) as a function of d; without tempering the analytic continuation from the imaginary axis."""
    gamma = mp.gamma(-alpha) if alpha != 1 else None

    def tempered(d):
        s, gap = corner + d, (lam - corner) - d
        if alpha == 1:
            jumps = gap * mp.log(gap) + (lam + s) * mp.log(lam + s) - 2 * lam * mp.log(lam)
        else:
            jumps = gamma * (gap**alpha + (lam + s) ** alpha - 2 * lam**alpha)
        return gauss * s * s + jump * jumps

    def stable(d):
        if d == 0:
            return mp.mpf(0)
        constant = mp.pi / (mp.gamma(1 + alpha) * mp.sin(mp.pi * alpha / 2))
        return gauss * d * d - jump * constant * (d / mp.j) ** alpha

    return tempered if lam else stable


def _corner(x, alpha, lam, jump, gauss):
    """Where the path starts, as s/lam and 1 - s/lam: the least of Re K(s) - s x - log s, but 0.6/x off the branch."""
    best = (math.inf, 0.5, 0.5)
    x, jump, gauss = x * lam, jump * lam**alpha, gauss * lam * lam
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
    return best[1] * lam, best[2]


def _trapezoid(term, h, old):
    """Both sums with step h; with the sums at step 2h given, only the new points are evaluated."""
    total = [mp.mpf(0), mp.mpf(0)]
    stride = 1 if old is None else 2
    small_enough = mp.mpf(10) ** (-mp.mp.dps)
    for sign in (1, -1):
        i = 0 if old is None and sign > 0 else 1
        largest, small = mp.mpf(0), 0
        while small < 3 and i * h < 600:
            if sign < 0 and i * h > 7.5:
                break
            a, b, size = term(sign * i * h)
            total[0] += a
            total[1] += b
            size = max(size, abs(b))
            largest = max(largest, size)
            small = small + 1 if size <= small_enough * largest else 0
            i += stride
    if old is None:
        return total[0] * h, total[1] * h
    return total[0] * h + old[0] / 2, total[1] * h + old[1] / 2
