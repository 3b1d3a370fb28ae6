"""Expansions of the exponent near threshold and far below the tempering (THEORY 3, NUMERICS C.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from ..errors import ParameterError
from . import symbols as sym
from ._arguments import order as checked_order
from ._arguments import stability
from ._exponent import characteristic
from ._levy import cumulant
from ._reversion import SmallTerm, logarithmic_reversion, power_reversion

REGIMES = ("alpha < 1", "alpha = 1", "alpha > 1")


@dataclass(frozen=True)
class Expansion:
    """A series, in small quantities that are defined beside it.

    Attributes
    ----------
    series : sympy.Expr
        The sum of the terms that the order keeps.
    where : dict of sympy.Symbol to sympy.Expr
        What the symbols in `series` stand for; each may contain those after it.
    """

    series: sp.Expr
    where: dict[sp.Symbol, sp.Expr]

    def explicit(self, *, keep: tuple[sp.Symbol, ...] = ()) -> sp.Expr:
        """Series with the definitions put in.

        Parameters
        ----------
        keep : tuple of sympy.Symbol, optional
            Symbols to leave, for example ``(Delta,)`` to have the distance from threshold as an argument.

        Returns
        -------
        sympy.Expr
            An expression in the parameters and the symbols kept.
        """
        result = self.series
        for symbol, value in self.where.items():
            if symbol not in keep:
                result = result.xreplace({symbol: value})
        return result


def near_threshold_series(order: int, *, alpha: Any = sym.alpha, regime: str | None = None) -> Expansion:
    r"""Series of d = lambda - beta just above threshold, in Delta = Phi(lambda) = (eta_J - eta_J*) c(lambda).

    The equation it solves is exact,

    .. math:: \Delta = P d - \eta_J \Gamma(-\alpha) d^\alpha - \sum_{n \ge 2} q_n d^n,

    with a logarithm in place of the power at alpha = 1. There are two small quantities, and `order` counts their
    total degree. In each regime d = d_0 (1 + ...), and the bracket keeps the products u**i d_0**j with i + j < order:

    * ``alpha > 1``: d_0 = Delta/P and u = eta_J Gamma(-alpha) d_0**alpha/Delta ~ Delta**(alpha-1).
      Relative error of order Delta**(order (alpha-1)).
    * ``alpha < 1``: d_0 = (Delta/(eta_J \|Gamma(-alpha)\|))**(1/alpha) and u = P d_0/Delta ~ Delta**((1-alpha)/alpha);
      q_n d_0**n/Delta counts as u d_0**(n-1). Relative error of order Delta**(order (1-alpha)/alpha).
    * ``alpha = 1``: d_0 = -(Delta/eta_J)/W_{-1}(-Delta/(eta_J B)), a Lambert W, is the root without the q_n. The
      bracket keeps d_0**j, j < order, with coefficients that are exact polynomials in 1/(L-1), L = log(B/d_0).
      Relative error of order d_0**order/L.

    Parameters
    ----------
    order : int
        Order, >= 1; 1 is the leading term. The number of terms grows like the partitions of the order: 45 at order 8
        and 195 at order 12 for alpha <= 1, 120 and 618 for alpha > 1 (0.1 and 0.6 s).
    alpha : number or sympy.Expr, optional
        Stability index.
    regime : {"alpha < 1", "alpha = 1", "alpha > 1"}, optional
        Which of the three; needed, and allowed, only where `alpha` is not a number.

    Returns
    -------
    Expansion
        d. The definitions end with Delta in terms of the parameters.

    Raises
    ------
    ParameterError
        If `order` is not an integer >= 1, `alpha` is a number outside (0, 2), or `regime` is missing, unknown, or given
        together with a number.

    Notes
    -----
    Do not use it for alpha close to 1 (\|alpha - 1\| < 0.2, say) unless \|u\| is small: the terms are powers of u, and
    Delta**\|alpha-1\| is not small there. For alpha > 1 it needs P > 0, which holds above threshold.

    References
    ----------
    THEORY 3, NUMERICS C.3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.near_threshold_series(2, regime="alpha > 1").series
    d_0*(u + 1 + d_0**2*q_2/Delta)
    >>> symbolic.near_threshold_series(2, regime="alpha < 1").series
    d_0*(1 - u/alpha)
    >>> symbolic.near_threshold_series(1, alpha=1).series
    d_0
    """
    degree, index = checked_order(order), stability(alpha)
    chosen = checked_regime(index, regime)
    if chosen == "alpha = 1":
        return _lambert_series(degree)
    strength = sym.eta_J * sp.gamma(-index)
    p = regular_slope(index)
    if chosen == "alpha > 1":
        exponent, first_weight = sp.S.One, 1
        terms = [SmallTerm(sym.u, index, 1)]
        where = {sym.u: strength * sym.d_0**index / sym.Delta, sym.d_0: sym.Delta / sym.P}
    else:
        exponent, first_weight = index, 2
        terms = [SmallTerm(-sym.u, sp.S.One, 1)]
        where = {sym.u: sym.P * sym.d_0 / sym.Delta, sym.d_0: (-sym.Delta / strength) ** (1 / index)}
    analytic = range(2, degree + 2 - first_weight)
    terms += [SmallTerm(sym.q(n) * sym.d_0**n / sym.Delta, sp.Integer(n), n + first_weight - 2) for n in analytic]
    where |= {sym.P: p} | {sym.q(n): _analytic_coefficient(n, index) for n in analytic}
    where[sym.Delta] = characteristic(sym.lam, alpha=index)
    return Expansion(sym.d_0 * power_reversion(exponent, terms, degree), where)


def small_exponent_series(order: int, *, alpha: Any = sym.alpha) -> Expansion:
    """Series of the exponent for beta << lambda, in odd powers of kappa.

    It reverts kappa = D beta (1 + r_2 beta**2 + r_3 beta**4 + ...), where D is half of the total variance per unit
    time of both noises and r_n the 2n-th cumulant over (2n)! D. All stability indices are covered by one form.

    Parameters
    ----------
    order : int
        Number of powers of kappa, >= 1: kappa, kappa**3, ..., kappa**(2 order - 1).
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    Expansion
        beta, with an error of order kappa**(2 order + 1).

    Raises
    ------
    ParameterError
        If `order` is not an integer >= 1, or `alpha` is a number outside (0, 2).

    References
    ----------
    THEORY 3, NUMERICS C.3.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.small_exponent_series(3).series
    b_0*(3*b_0**4*r_2**2 - b_0**4*r_3 - b_0**2*r_2 + 1)
    >>> symbolic.small_exponent_series(1).explicit(keep=(symbolic.D,))
    kappa/D
    """
    degree, index = checked_order(order), stability(alpha)
    levels = range(2, degree + 1)
    terms = [SmallTerm(-sym.r(n) * sym.b_0 ** (2 * n - 2), sp.Integer(2 * n - 1), n - 1) for n in levels]
    where = {sym.b_0: sym.kappa / sym.D}
    where |= {sym.r(n): cumulant(2 * n, alpha=index) / (sp.factorial(2 * n) * sym.D) for n in levels}
    where[sym.D] = sym.eta_G + cumulant(2, alpha=index) / 2
    return Expansion(sym.b_0 * power_reversion(sp.S.One, terms, degree), where)


def _lambert_series(order: int) -> Expansion:
    levels = range(2, order + 1)
    rho = 1 / (sym.L - 1)
    terms = [SmallTerm(rho * sym.q(n) * sym.d_0 ** (n - 1) / sym.eta_J, sp.Integer(n), n - 1) for n in levels]
    where = {
        sym.d_0: sym.Delta / (sym.eta_J * sym.L),
        sym.L: -sp.LambertW(-sym.Delta / (sym.eta_J * sym.B), -1),
        sym.B: 2 * sym.lam * sp.exp(1 + (2 * sym.eta_G * sym.lam - sym.kappa) / sym.eta_J),
    }
    where |= {sym.q(n): _analytic_coefficient(n, sp.S.One) for n in levels}
    where[sym.Delta] = characteristic(sym.lam, alpha=sp.S.One)
    return Expansion(sym.d_0 * logarithmic_reversion(rho, terms, order), where)


def _analytic_coefficient(n: int, alpha: sp.Expr) -> sp.Expr:
    """Coefficient of d**n in Phi(lambda - d), n >= 2: eta_J Gamma(n-alpha) (2 lambda)**(alpha-n)/n!, and the noise."""
    jumps = sym.eta_J * sp.gamma(n - alpha) * (2 * sym.lam) ** (alpha - n) / sp.factorial(n)
    return jumps + sym.eta_G if n == 2 else jumps


def regular_slope(alpha: sp.Expr) -> sp.Expr:
    """Phi'(lambda) without the term of (lambda - beta)**alpha, which is all of it for alpha > 1; alpha != 1."""
    singular = sym.eta_J * sp.gamma(-alpha) * alpha * (2 * sym.lam) ** (alpha - 1)
    return 2 * sym.eta_G * sym.lam - sym.kappa + singular


def checked_regime(alpha: sp.Expr, given: str | None) -> str:
    allowed = ", ".join(map(repr, REGIMES))
    if alpha.is_number:
        if given is not None:
            raise ParameterError(f"regime={given!r} must not be given with alpha={alpha}, which decides it")
        return REGIMES[1 + int(sp.sign(alpha - 1))]
    if given not in REGIMES:
        raise ParameterError(f"regime={given!r} must be one of {allowed} where alpha is not a number")
    return given
