"""Slow twins of the theory core in mpmath, from the textbook formulas of THEORY 2-3, with nothing shared."""

from __future__ import annotations

import mpmath as mp

DIGITS = 50


def working(digits: int = DIGITS):
    """Context with guard digits: cancellation down to s/lam = 1e-8 costs 16, the double root twice that."""
    return mp.workdps(digits + 50)


def symbol(s, eta_J, alpha, lam):
    s, eta_J, alpha, lam = (mp.mpmathify(v) for v in (s, eta_J, alpha, lam))

    def xlogx(z):
        return mp.mpf(0) if z == 0 else z * mp.log(z)

    if alpha == 1:
        return eta_J * (xlogx(lam - s) + xlogx(lam + s) - 2 * xlogx(lam))
    return eta_J * mp.gamma(-alpha) * ((lam - s) ** alpha + (lam + s) ** alpha - 2 * lam**alpha)


def phi(beta, kappa, eta_G, eta_J, alpha, lam):
    beta, kappa, eta_G = (mp.mpmathify(v) for v in (beta, kappa, eta_G))
    return eta_G * beta**2 + symbol(beta, eta_J, alpha, lam) - kappa * beta


def threshold(kappa, eta_G, alpha, lam):
    kappa, eta_G, lam = (mp.mpf(v) for v in (kappa, eta_G, lam))
    return max(mp.mpf(0), kappa * lam - eta_G * lam**2) / symbol(lam, 1, alpha, lam)


def intensity(beta, kappa, eta_G, alpha, lam):
    beta, kappa, eta_G = (mp.mpf(v) for v in (beta, kappa, eta_G))
    return (kappa * beta - eta_G * beta**2) / symbol(beta, 1, alpha, lam)


def exponent(kappa, eta_G, eta_J, alpha, lam):
    """Root of Phi(b)/b on (0, lam) by bisection in log(b/(lam-b)) and then the secant method."""
    lam = mp.mpf(lam)

    def f(logit):
        # b = lam/(1+exp(-t)): either end is reached with full relative accuracy.
        b = lam / (1 + mp.exp(-logit))
        return phi(b, kappa, eta_G, eta_J, alpha, lam) / b

    if phi(lam, kappa, eta_G, eta_J, alpha, lam) < 0:
        return mp.nan
    low, high = mp.mpf(-60), mp.mpf(60)
    while f(high) < 0:
        low, high = high, 2 * high
    while f(low) > 0:
        low, high = 2 * low, low
    for _ in range(14):
        middle = (low + high) / 2
        if f(middle) > 0:
            high = middle
        else:
            low = middle
    t = mp.findroot(f, (low, high), solver="anderson", tol=mp.mpf(10) ** (-2 * DIGITS), verify=False)
    return lam / (1 + mp.exp(-t))
