"""The symbol in the complex strip |Re s| <= lam, by the same three forms as on the real axis."""

from __future__ import annotations

import math

from ._jit import elementwise, scalar
from .gamma import gamma
from .symbol import SERIES_BELOW, TINY_INDEX, psi, psi_imaginary


@scalar
def log1p_complex(z, w):
    """log(w) for w = 1 + z, both given; accurate to rounding of its modulus for |z| >= 1/4."""
    modulus = math.hypot(w.real, w.imag)
    if not 0.5 < modulus < 2.0:
        return complex(math.log(modulus), math.atan2(w.imag, w.real))
    real = 0.5 * math.log1p(z.real * (2.0 + z.real) + z.imag * z.imag)
    return complex(real, math.atan2(w.imag, w.real))


@scalar
def expm1_complex(z):
    half = math.sin(0.5 * z.imag)
    growth = math.expm1(z.real)
    real = growth * math.cos(z.imag) - 2.0 * half * half
    return complex(real, math.exp(z.real) * math.sin(z.imag))


@scalar
def reduced_complex(x, y, a):
    """h(a, x) for complex x with y = 1 - x; see `symbol.reduced`."""
    if abs(x) < SERIES_BELOW:
        square = x * x
        term = complex(1.0, 0.0)
        total = complex(1.0, 0.0)
        n = 1
        while abs(term) > 1e-18:
            term *= square * ((2 * n - a) * (2 * n + 1 - a) / ((2 * n + 1) * (2 * n + 2)))
            total += term
            n += 1
        return square * total
    p = 1.0 + x
    far = log1p_complex(x, p)
    near = log1p_complex(-x, y)
    if a >= 0.5:
        e = a - 1.0
        if e == 0.0:
            return y * near + p * far
        return (y * expm1_complex(e * near) + p * expm1_complex(e * far)) / (e * a)
    if abs(a) < TINY_INDEX:
        return -(near + far)
    return (expm1_complex(a * near) + expm1_complex(a * far)) / (a * (a - 1.0))


@scalar
def psi_complex(s, eta_J, alpha, lam):
    if s.imag == 0.0:
        return complex(psi(s.real, eta_J, alpha, lam), 0.0)
    if s.real == 0.0:
        return complex(psi_imaginary(s.imag, eta_J, alpha, lam), 0.0)
    h = reduced_complex(s / lam, (lam - s) / lam, alpha)
    return eta_J * gamma(2.0 - alpha) * lam**alpha * h


@elementwise("float64", "float64")
def symbol_complex(real, imaginary, eta_J, alpha, lam, out_real, out_imaginary):
    for i in range(out_real.size):
        value = psi_complex(complex(real[i], imaginary[i]), eta_J[i], alpha[i], lam[i])
        out_real[i] = value.real
        out_imaginary[i] = value.imag
