"""The generator of the SDE on exponentials, and the moment identity that follows (THEORY 5)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from . import symbols as sym
from ._arguments import expression, stability
from ._levy import levy_integral, reduced_symbol


def generator_on_exponential(drift: Any = sym.drift, s: Any = sym.s, *, alpha: Any = sym.alpha) -> sp.Expr:
    """Generator of d zeta = F dt + sqrt(2 eta_G) dW + dJ applied to exp(-s zeta).

    Parameters
    ----------
    drift : number or sympy.Expr, optional
        F, an expression in `zeta`.
    s : number or sympy.Expr, optional
        Exponent.
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        (eta_G s**2 + psi(s) - s F) exp(-s zeta), by differentiation and the Levy integral.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    See Also
    --------
    moment_identity : What it implies for the stationary law.

    References
    ----------
    THEORY 5.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.generator_on_exponential(drift=0, alpha=1.5).subs(symbolic.eta_J, 0)
    eta_G*s**2*exp(-s*zeta)
    """
    force, point, index = expression("drift", drift), expression("s", s), stability(alpha)
    f = sp.exp(-sym.s * sym.zeta)
    local = force * sp.diff(f, sym.zeta) + sym.eta_G * sp.diff(f, sym.zeta, 2)
    both_signs = f.subs(sym.zeta, sym.zeta + sym.z) + f.subs(sym.zeta, sym.zeta - sym.z) - 2 * f
    jumps = levy_integral(sp.expand(sp.expand(both_signs) / f), index)
    return (f * (sp.expand(local / f) + sym.eta_J * jumps)).subs(sym.s, point)


def moment_identity(drift: Any = sym.drift, s: Any = sym.s, *, alpha: Any = sym.alpha) -> sp.Expr:
    """Expression whose stationary mean is 0: (Phi(s) + s (kappa - F)) exp(-s zeta).

    It is the generator on exp(-s zeta), written with the drift's distance from its plateau.

    Parameters
    ----------
    drift, s, alpha : sympy.Expr or number, optional
        As in `generator_on_exponential`.

    Returns
    -------
    sympy.Expr
        The summand of the identity. Its mean exists for -beta_R < s < beta only.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    THEORY 5.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.moment_identity(drift=symbolic.kappa, alpha=1).subs(symbolic.eta_J, 0)
    (eta_G*s**2 - kappa*s)*exp(-s*zeta)
    """
    force, point = expression("drift", drift), expression("s", s)
    phi = sym.eta_G * point**2 + sym.eta_J * reduced_symbol(point, stability(alpha)) - sym.kappa * point
    return (phi + point * (sym.kappa - force)) * sp.exp(-point * sym.zeta)
