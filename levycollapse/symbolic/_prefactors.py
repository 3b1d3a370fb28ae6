"""The constants of the far tail in every phase (THEORY 5, NUMERICS C.4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy as sp

from ..errors import ParameterError
from . import symbols as sym
from ._arguments import expression, stability
from ._arguments import order as checked_order
from ._expansions import Expansion, checked_regime, regular_slope
from ._exponent import characteristic


class LogarithmicConstants(NamedTuple):
    """Constants of rho ~ D abs(zeta)**(-alpha) + D2 abs(zeta)**(1-2 alpha)."""

    D: sp.Expr
    D2: sp.Expr


def numerator_summand(drift: Any = sym.drift, s: Any = sym.s) -> sp.Expr:
    """Expression whose stationary mean is N(s), the numerator of M(s) = N(s)/(-Phi(s)).

    Parameters
    ----------
    drift : number or sympy.Expr, optional
        F, an expression in `zeta`.
    s : number or sympy.Expr, optional
        Exponent: beta above threshold, lambda at and below it.

    Returns
    -------
    sympy.Expr
        s (kappa - F) exp(-s zeta). Its mean exists further to the right than that of exp(-s zeta), because kappa - F
        vanishes where zeta is far to the left.

    See Also
    --------
    moment_identity : The identity that it comes from.

    References
    ----------
    THEORY 5.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.numerator_summand(s=symbolic.beta)
    beta*(kappa - F(zeta))*exp(-beta*zeta)
    """
    force, point = expression("drift", drift), expression("s", s)
    return point * (sym.kappa - force) * sp.exp(-point * sym.zeta)


def prefactor_above_threshold(*, alpha: Any = sym.alpha) -> sp.Expr:
    """Constant C of rho ~ C exp(beta zeta) and of p(tau) ~ C tau**(-1-beta), above threshold.

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        N/Phi'(beta), the residue of M(s) at its pole; `N` stands for N(beta).

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    See Also
    --------
    numerator_summand : What N is the mean of.

    References
    ----------
    THEORY 5.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.prefactor_above_threshold().subs(symbolic.eta_J, 0)
    N/(2*beta*eta_G - kappa)
    """
    return sym.N / sp.powsimp(sp.diff(characteristic(alpha=alpha), sym.beta))


def prefactor_below_threshold(*, by: str = "N", alpha: Any = sym.alpha) -> sp.Expr:
    """Constant A of p(tau) ~ A tau**(-1-lambda) (log tau)**(-1-alpha), below threshold.

    Parameters
    ----------
    by : {"N", "M"}, optional
        Whether it is written with N(lambda) or with the moment M(lambda) = E[tau**lambda], which is finite there.
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        eta_J N/Phi(lambda)**2 or eta_J M/(-Phi(lambda)), from the branch point of M(s).

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2) or `by` is neither.

    References
    ----------
    THEORY 5.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.prefactor_below_threshold(by="M", alpha=1)
    -M*eta_J/(eta_G*lambda**2 + 2*eta_J*lambda*log(2) - kappa*lambda)
    """
    edge = characteristic(sym.lam, alpha=alpha)
    if by == "N":
        return sym.eta_J * sym.N / edge**2
    if by == "M":
        return -sym.eta_J * sym.M / edge
    raise ParameterError(f"by={by!r} must be 'N' or 'M'")


def prefactor_at_threshold(*, alpha: Any = sym.alpha, regime: str | None = None) -> sp.Expr:
    """Constant of the tail at eta_J = eta_J*; `N` stands for N(lambda).

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Stability index.
    regime : {"alpha < 1", "alpha = 1", "alpha > 1"}, optional
        Which of the three; needed, and allowed, only where `alpha` is not a number.

    Returns
    -------
    sympy.Expr
        The constant of tau**(-1-lambda) times (log tau)**(alpha-1), 1/log log tau or 1 in the three regimes.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2), or `regime` is missing, unknown, or given together with a number.

    See Also
    --------
    threshold_tail_series : The terms after the leading one.

    References
    ----------
    THEORY 5, NUMERICS C.4.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.prefactor_at_threshold(regime="alpha < 1")
    N*alpha*sin(pi*alpha)/(pi*eta_J)
    """
    index = stability(alpha)
    chosen = checked_regime(index, regime)
    if chosen == "alpha = 1":
        return sym.N / sym.eta_J
    if chosen == "alpha > 1":
        return sym.N / regular_slope(index)
    # M(lambda - d) ~ N/(e d**alpha), e = -eta_J Gamma(-alpha): the transform of (N/(e Gamma(alpha))) x**(alpha-1);
    # Gamma(-alpha) Gamma(alpha) by the reflection formula.
    return sym.N * index * sp.sin(sp.pi * index) / (sp.pi * sym.eta_J)


def threshold_tail_series(order: int, *, alpha: Any = sym.alpha, regime: str | None = None) -> Expansion:
    """Series of the density far to the left at threshold, in powers of abs(zeta).

    The transform M(lambda - d) = N/(P d - eta_J Gamma(-alpha) d**alpha) is expanded in the smaller of its two terms,
    and each power d**(-w) belongs to exp(lambda zeta) abs(zeta)**(w-1)/Gamma(w).

    Parameters
    ----------
    order : int
        Number of terms, >= 1; relative error of order abs(zeta)**(-order abs(1-alpha)), and never below that of the
        terms in d**2 and of N(s), 1/abs(zeta).
    alpha : number or sympy.Expr, optional
        Stability index other than 1, where the series is one in 1/log.
    regime : {"alpha < 1", "alpha > 1"}, optional
        Which of the two; needed, and allowed, only where `alpha` is not a number.

    Returns
    -------
    Expansion
        Density at `zeta` < 0, with P = Phi'(lambda) without its singular term; `N` stands for N(lambda).

    Raises
    ------
    ParameterError
        If `order` is not an integer >= 1, `alpha` is a number outside (0, 2) or 1, or `regime` does not fit it.

    References
    ----------
    NUMERICS C.4, whose P**n for alpha < 1 must read (-P)**n.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.threshold_tail_series(1, alpha=1.5).series
    N*exp(lambda*zeta)/P
    """
    count = checked_order(order)
    index = stability(alpha)
    chosen = checked_regime(index, regime)
    if chosen == "alpha = 1":
        raise ParameterError("alpha=1: the threshold's tail is a series in 1/log abs(zeta), not in powers")
    singular = -sym.eta_J * sp.gamma(-index)
    terms = []
    for n in range(count):
        # 1/(a + b) = sum (-b)**n/a**(n+1), with the dominant term for a.
        if chosen == "alpha < 1":
            coefficient, power = (-sym.P) ** n / singular ** (n + 1), index - n * (1 - index)
        else:
            coefficient, power = (-singular) ** n / sym.P ** (n + 1), 1 - n * (index - 1)
        terms.append(coefficient * (-sym.zeta) ** (power - 1) * _reciprocal_gamma(power))
    series = sym.N * sp.exp(sym.lam * sym.zeta) * sp.Add(*terms)
    return Expansion(series, {sym.P: regular_slope(index)})


def logarithmic_constants(*, alpha: Any = sym.alpha) -> LogarithmicConstants:
    """Constants of the logarithmic phase, lambda = 0 and 1 < alpha < 2, for a symmetric drift.

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Stability index, above 1.

    Returns
    -------
    LogarithmicConstants
        D = eta_J/(alpha kappa) and D2, which vanishes at alpha = 3/2.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (1, 2).

    References
    ----------
    NUMERICS C.4.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.logarithmic_constants().D
    eta_J/(alpha*kappa)
    """
    index = stability(alpha)
    if index.is_number and not index > 1:
        raise ParameterError(f"alpha={alpha!r} must be a number strictly between 1 and 2, or a symbol")
    first = sym.eta_J / (index * sym.kappa)
    # 1/Gamma(2 - 2 alpha) by reflection: it is 0, not the reciprocal of a pole, at alpha = 3/2.
    second = first**2 * sp.gamma(1 - index) ** 2 * _reciprocal_gamma(2 - 2 * index)
    return LogarithmicConstants(first, second)


def _reciprocal_gamma(w: sp.Expr) -> sp.Expr:
    """1/Gamma(w), which is 0 at the poles; by reflection where w is not known to avoid them."""
    if w.is_number:
        nearest = round(float(w))
        return sp.S.Zero if nearest <= 0 and abs(w - nearest) < 1e-12 else 1 / sp.gamma(w)
    return 1 / sp.gamma(w) if w.is_positive else sp.gamma(1 - w) * sp.sin(sp.pi * w) / sp.pi
