"""The characteristic equation: threshold, critical manifold, inverse design, sensitivities (THEORY 3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy as sp

from . import symbols as sym
from ._arguments import expression, stability
from ._levy import reduced_symbol


class Sensitivities(NamedTuple):
    """Derivatives of the exponent with respect to each parameter, as expressions in beta and the parameters."""

    kappa: sp.Expr
    eta_G: sp.Expr
    eta_J: sp.Expr
    alpha: sp.Expr
    lam: sp.Expr


def characteristic(beta: Any = sym.beta, *, alpha: Any = sym.alpha) -> sp.Expr:
    """Characteristic function Phi(beta) = eta_G beta**2 + psi(beta) - kappa beta.

    Parameters
    ----------
    beta : number or sympy.Expr, optional
        Where. Phi(lambda) decides whether there is a root, Phi(1) = 0 is the critical manifold.
    alpha : number or sympy.Expr, optional
        Stability index; at 1 the symbol has its own form.

    Returns
    -------
    sympy.Expr
        Phi.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.characteristic(symbolic.lam, alpha=1)
    eta_G*lambda**2 + 2*eta_J*lambda*log(2) - kappa*lambda
    """
    point = expression("beta", beta)
    return sym.eta_G * point**2 + sym.eta_J * reduced_symbol(point, stability(alpha)) - sym.kappa * point


def jump_threshold(*, alpha: Any = sym.alpha) -> sp.Expr:
    """Threshold intensity eta_J*, at which Phi(lambda) = 0.

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        max(0, kappa lambda - eta_G lambda**2) / c(lambda), with c = psi/eta_J.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.jump_threshold(alpha=1)
    Max(0, -eta_G*lambda + kappa)/(2*log(2))
    """
    edge = reduced_symbol(sym.lam, stability(alpha))
    return sp.Max(0, sym.kappa - sym.eta_G * sym.lam) / (edge / sym.lam)


def intensity_for_exponent(beta: Any = sym.beta, *, alpha: Any = sym.alpha) -> sp.Expr:
    """Inverse design: the intensity that produces an exponent, Phi(beta) = 0 solved for eta_J.

    Parameters
    ----------
    beta : number or sympy.Expr, optional
        The wanted exponent, in (0, lambda] and below kappa/eta_G.
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        (kappa beta - eta_G beta**2) / c(beta), with c = psi/eta_J.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    THEORY 3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.intensity_for_exponent(symbolic.lam, alpha=1)
    (-eta_G*lambda + kappa)/(2*log(2))
    """
    point = expression("beta", beta)
    return (sym.kappa - sym.eta_G * point) / (reduced_symbol(point, stability(alpha)) / point)


def critical_intensity(*, alpha: Any = sym.alpha) -> sp.Expr:
    """Critical manifold beta = 1, solved for eta_J.

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        (kappa - eta_G) / c(1); the manifold exists for lambda > 1 and kappa > eta_G.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.critical_intensity()
    (-eta_G + kappa)/((-2*lambda**alpha + (lambda - 1)**alpha + (lambda + 1)**alpha)*gamma(-alpha))
    """
    return intensity_for_exponent(sp.S.One, alpha=alpha)


def exponent_sensitivities(*, alpha: Any = sym.alpha) -> Sensitivities:
    """Derivatives of the exponent with respect to the five parameters, by implicit differentiation.

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    Sensitivities
        - (d Phi/d parameter) / Phi'(beta), each an expression in beta < lambda and the parameters.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    THEORY 3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> slopes = symbolic.exponent_sensitivities()
    >>> (slopes.eta_G / slopes.kappa).simplify()
    -beta
    """
    index = stability(alpha)
    phi = characteristic(alpha=index)
    slope, by_kappa, by_eta_G, by_eta_J, by_lam = (
        sp.powsimp(sp.diff(phi, variable)) for variable in (sym.beta, sym.kappa, sym.eta_G, sym.eta_J, sym.lam)
    )
    by_alpha = sym.eta_J * (_alpha_slope_at_one() if index == 1 else _alpha_slope().subs(sym.alpha, index))
    return Sensitivities(*(-d / slope for d in (by_kappa, by_eta_G, by_eta_J, by_alpha, by_lam)))


def _alpha_slope() -> sp.Expr:
    return sp.diff(reduced_symbol(sym.beta, sym.alpha), sym.alpha)


def _alpha_slope_at_one() -> sp.Expr:
    """Limit of d c/d alpha at alpha = 1, where c = g(alpha) S(alpha)/(alpha-1) with S(1) = 0.

    g(alpha) = Gamma(-alpha) alpha (alpha-1) / alpha = Gamma(2-alpha)/alpha is regular, S is the bracket of the symbol.
    """
    regular = sp.gamma(2 - sym.alpha) / sym.alpha
    bracket = reduced_symbol(sym.beta, sym.alpha) / sp.gamma(-sym.alpha)
    first, second = (sp.diff(bracket, sym.alpha, n).subs(sym.alpha, 1) for n in (1, 2))
    return sp.diff(regular, sym.alpha).subs(sym.alpha, 1) * first + second / 2
