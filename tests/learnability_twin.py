"""Divergence and Fisher information of a stable shift by mpmath: another density, another formula, another quadrature.

`python -m tests.learnability_twin` writes the golden values: some fifteen minutes, and it goes on where it stopped. A
test computes one of them again.
"""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import mpmath as mp

GOLDEN = Path(__file__).parent / "unit" / "golden_stable_divergence.json"
ALPHAS = (1.2, 1.8, 1.95, 1.5)
SHIFTS = (0.03, 1.0, 10.8, 1e8)
DIGITS = 24


def density(x, alpha, derivative=0):
    """f(x) or f'(x) from the inverse Fourier integral along a ray k = t exp(i phi), on which it decays twice."""
    x = abs(mp.mpf(x))
    if x ** (alpha / (alpha - 1)) < 60:
        return power_series(x, alpha, derivative)
    if x > 30:
        # Asymptotic series; its terms fall by about x**-alpha here.
        total = mp.mpf(0)
        for n in range(1, 80):
            power = n * alpha + 1
            term = (-1) ** (n + 1) * mp.gamma(n * alpha + 1) / mp.factorial(n) * mp.sin(n * mp.pi * alpha / 2)
            term *= x ** (-power) * (1 if not derivative else -power / x)
            total += term
            if term and abs(term) < mp.eps * abs(total):
                break
        return total / mp.pi
    phi = mp.mpf("0.7") * mp.pi / (2 * alpha)
    ray, power = mp.expj(phi), mp.expj(phi * alpha)

    def integrand(t):
        return (mp.exp(1j * t * ray * x - t**alpha * power) * ray * (1j * t * ray if derivative else 1)).real

    # Cut where the first of the two factors, or the other, is below the rounding.
    lost = (DIGITS + 8) * mp.log(10)
    end = min((lost / power.real) ** (1 / mp.mpf(alpha)), lost / (x * mp.sin(phi)) if x else mp.inf)
    scale = min(mp.mpf(1), 1 / x if x else mp.inf)
    points = [0, scale]
    while points[-1] < end:
        points.append(4 * points[-1])
    return mp.quad(integrand, points) / mp.pi


def power_series(x, alpha, derivative):
    """Taylor series at 0, which loses 26 digits where it is used."""
    with mp.workdps(DIGITS + 30):
        total, n = mp.mpf(0), 0
        while True:
            coefficient = (-1) ** n * mp.gamma((2 * n + 1) / alpha) / mp.factorial(2 * n)
            term = coefficient * (2 * n * x ** (2 * n - 1) if derivative and n else 0 if derivative else x ** (2 * n))
            total += term
            if n > 5 and abs(term) < mp.mpf(10) ** (-DIGITS - 4) * abs(total):
                return total / (mp.pi * alpha)
            n += 1


def half_density(x):
    """The density at alpha = 1/2, by Fresnel integrals."""
    x = abs(x)
    inner = 1 / mp.sqrt(2 * mp.pi * x)
    sine, cosine = 0.5 - mp.fresnels(inner), 0.5 - mp.fresnelc(inner)
    return (mp.sin(1 / (4 * x)) * sine + mp.cos(1 / (4 * x)) * cosine) / mp.sqrt(2 * mp.pi * x**3)


def edges(shift, first=-1):
    """Break points of the line: doubling distances from both peaks, from 2**first on."""
    reach = [mp.mpf(2) ** k for k in range(first, int(mp.log(max(shift, 1), 2)) + 30)]
    middle = shift / 2
    left = [-d for d in reversed(reach)]
    inner = [d for d in reach if d < middle]
    return [*left, 0, *inner, middle, *[shift - d for d in reversed(inner)], shift, *[shift + d for d in reach]]


def divergence(shift, alpha):
    """KL as the definition has it."""
    with mp.workdps(DIGITS):
        exact = mp.mpf(alpha)
        return integral(lambda x: density(x, exact), mp.mpf(shift), -1)


def half_divergence(shift):
    """KL at alpha = 1/2."""
    with mp.workdps(DIGITS):
        return integral(half_density, mp.mpf(shift), -10)


def integral(law, shift, first):
    """int f(x) (log f(x) - log f(x - shift)) dx by Gauss-Legendre panels."""
    total = mp.mpf(0)
    for a, b in pairwise(edges(shift, first)):
        for x, w in legendre(12):
            at = (a + b) / 2 + (b - a) / 2 * x
            f = law(at)
            total += w * (b - a) / 2 * f * (mp.log(f) - mp.log(law(at - shift)))
    return float(total)


def information(alpha):
    """int f'(x)**2/f(x) dx."""
    with mp.workdps(DIGITS):
        alpha = mp.mpf(alpha)
        total = mp.mpf(0)
        points = [0, *[mp.mpf(2) ** k for k in range(-1, 30)]]
        for a, b in pairwise(points):
            for x, w in legendre(16):
                at = (a + b) / 2 + (b - a) / 2 * x
                total += w * (b - a) * density(at, alpha, 1) ** 2 / density(at, alpha)
        return float(total)


@lru_cache
def legendre(n):
    """Nodes and weights of Gauss and Legendre."""
    roots = mp.polyroots(mp.taylor(lambda x: mp.legendre(n, x), 0, n)[::-1], maxsteps=200, extraprec=200)
    slope = [n * (x * mp.legendre(n, x) - mp.legendre(n - 1, x)) / (x * x - 1) for x in roots]
    return [(x, 2 / ((1 - x * x) * d * d)) for x, d in zip(roots, slope, strict=True)]


def main():
    """Compute what is missing, and write after every number."""
    table = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    for alpha in ALPHAS:
        row = table.setdefault(repr(alpha), {"information": None, "divergence": {}})
        for shift in SHIFTS:
            if repr(shift) not in row["divergence"]:
                row["divergence"][repr(shift)] = divergence(shift, alpha)
                GOLDEN.write_text(json.dumps(table, indent=1) + "\n")
        if row["information"] is None:
            row["information"] = information(alpha)
            GOLDEN.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
