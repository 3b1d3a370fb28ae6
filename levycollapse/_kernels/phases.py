"""Phase and tail form of a model, decided from the signs of Phi(lam) and Phi(1): no root is needed."""

from __future__ import annotations

from ._jit import elementwise, scalar
from .exponent import EQUAL, reduced_parameters, threshold_excess
from .symbol import psi

# Phase codes; `_theory.phase.Phase` gives them their public names.
COLLAPSED, CONCENTRATED, CRITICAL, BROAD, LOGARITHMIC, NONSTATIONARY = range(6)


@scalar
def sign_at_one(kappa, eta_G, eta_J, alpha, lam, tolerance):
    """-1, 0 or 1: the sign of Phi(1), 0 where it vanishes to `tolerance` times its largest term."""
    jumps = psi(1.0, eta_J, alpha, lam)
    value = (eta_G - kappa) + jumps
    if abs(value) <= tolerance * max(kappa, eta_G, jumps):
        return 0
    return 1 if value > 0.0 else -1


@scalar
def phase_code(kappa, eta_G, eta_J, alpha, lam, tolerance):
    if eta_J > 0.0:
        if lam == 0.0:
            return LOGARITHMIC if alpha > 1.0 else NONSTATIONARY
        g, j = reduced_parameters(kappa, eta_G, eta_J, alpha, lam)
        excess = threshold_excess(g, j, alpha)
        # At equality the largest term of Phi(lam)/(kappa lam) is 1, as in the root finder.
        if excess <= EQUAL or excess <= tolerance * (1.0 + excess):
            return COLLAPSED
        if lam <= 1.0:
            return BROAD
    sign = sign_at_one(kappa, eta_G, eta_J, alpha, lam, max(tolerance, EQUAL))
    if sign == 0:
        return CRITICAL
    return CONCENTRATED if sign < 0 else BROAD


@elementwise("int64")
def phase(kappa, eta_G, eta_J, alpha, lam, tolerance, out):
    for i in range(out.size):
        out[i] = phase_code(kappa[i], eta_G[i], eta_J[i], alpha[i], lam[i], tolerance[i])
