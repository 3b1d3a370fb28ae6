"""The jump symbol, derived from its Levy-Khintchine integral (THEORY 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from ..errors import ParameterError
from . import symbols as sym
from ._arguments import expression, stability

_w = sp.Symbol("w", positive=True)


@dataclass(frozen=True)
class SymbolDerivation:
    """The steps from the Levy density to the jump symbol.

    Attributes
    ----------
    density : sympy.Expr
        Levy density at z > 0; it is even.
    increment : sympy.Expr
        exp(s z) + exp(-s z) - 2, which is O(z**2): both signs of a jump together.
    regularised : sympy.Expr
        Integrand with z**(-1-alpha) replaced by z**(w-1).
    transform : sympy.Expr
        Its integral over z > 0, term by term for w > 0. Both sides are analytic for Re w > -2, since the increment
        is O(z**2), so the equality holds there.
    symbol : sympy.Expr
        The value at w = -alpha.
    at_one : sympy.Expr
        The limit alpha -> 1, where the pole of Gamma meets a zero of the bracket.
    """

    density: sp.Expr
    increment: sp.Expr
    regularised: sp.Expr
    transform: sp.Expr
    symbol: sp.Expr
    at_one: sp.Expr


def levy_density(z: Any = sym.z, *, alpha: Any = sym.alpha) -> sp.Expr:
    r"""Levy density nu(z) = eta_J \|z\|**(-1-alpha) exp(-lambda \|z\|).

    Parameters
    ----------
    z : number or sympy.Expr, optional
        Jump size.
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        Jumps per unit time and unit size.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    J. Rosinski, Stoch. Proc. Appl. 117 (2007) 677; THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.levy_density(alpha=1)
    eta_J*exp(-lambda*z)/z**2
    """
    size = sp.Abs(expression("z", z))
    return sym.eta_J * size ** (-1 - stability(alpha)) * sp.exp(-sym.lam * size)


def symbol_derivation() -> SymbolDerivation:
    """Derivation of the jump symbol from the Levy-Khintchine integral, step by step.

    Returns
    -------
    SymbolDerivation
        The steps, each an expression.

    References
    ----------
    THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.symbol_derivation().increment
    exp(s*z) - 2 + exp(-s*z)
    """
    density = levy_density()
    increment = sp.exp(sym.s * sym.z) + sp.exp(-sym.s * sym.z) - 2
    regularised = sym.eta_J * sym.z ** (_w - 1) * sp.exp(-sym.lam * sym.z) * increment
    transform = sym.eta_J * sum(
        coefficient * _mellin().subs(_p, sym.lam - rate) for coefficient, rate in exponential_terms(increment)
    )
    return SymbolDerivation(density, increment, regularised, transform, jump_symbol(), jump_symbol(alpha=1))


def jump_symbol(s: Any = sym.s, *, alpha: Any = sym.alpha) -> sp.Expr:
    r"""Jump symbol psi(s), the cumulant function of the jumps per unit time.

    Parameters
    ----------
    s : number or sympy.Expr, optional
        Where; \|Re s\| <= lambda.
    alpha : number or sympy.Expr, optional
        Stability index. The form for a symbol is singular at 1 (a pole times a zero): ask for ``alpha=1`` to get
        the limit.

    Returns
    -------
    sympy.Expr
        psi(s).

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    See Also
    --------
    symbol_derivation : The steps.
    variance_gamma_symbol, gaussian_symbol, stable_symbol : Its limits.

    Notes
    -----
    As a floating-point formula it loses about 2 log10(lambda/s) digits to cancellation for s << lambda, and all of
    them as alpha -> 1. Use `levycollapse.TemperedStable.symbol` to compute, or the mpmath backend of `numeric`.

    References
    ----------
    J. Rosinski, Stoch. Proc. Appl. 117 (2007) 677; THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.jump_symbol()
    eta_J*(-2*lambda**alpha + (lambda - s)**alpha + (lambda + s)**alpha)*gamma(-alpha)
    >>> symbolic.jump_symbol(symbolic.lam, alpha=1)
    2*eta_J*lambda*log(2)
    """
    return sym.eta_J * reduced_symbol(expression("s", s), stability(alpha))


def variance_gamma_symbol(s: Any = sym.s) -> sp.Expr:
    """Limit of the jump symbol for alpha -> 0: the variance-gamma law, infinite at s = lambda.

    Parameters
    ----------
    s : number or sympy.Expr, optional
        Where.

    Returns
    -------
    sympy.Expr
        -eta_J log(1 - s**2/lambda**2).

    References
    ----------
    THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.variance_gamma_symbol()
    -eta_J*log(1 - s**2/lambda**2)
    """
    limit = sp.limit(reduced_symbol(_x, sym.alpha), sym.alpha, 0)
    joined = sp.logcombine(-limit, force=True).replace(sp.log, lambda e: sp.log(sp.expand(e)))
    return -sym.eta_J * joined.subs(_x, expression("s", s))


def gaussian_symbol(s: Any = sym.s) -> sp.Expr:
    """Limit of the jump symbol for alpha -> 2 with eta_J = D/Gamma(2-alpha): Gaussian noise that adds D to eta_G.

    At a fixed eta_J the symbol diverges there, because the small jumps have infinite variance.

    Parameters
    ----------
    s : number or sympy.Expr, optional
        Where.

    Returns
    -------
    sympy.Expr
        D s**2.

    References
    ----------
    THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.gaussian_symbol()
    D*s**2
    """
    scaled = sp.gammasimp(reduced_symbol(_x, sym.alpha) / sp.gamma(2 - sym.alpha))
    return sym.D * sp.expand(sp.limit(scaled, sym.alpha, 2)).subs(_x, expression("s", s))


def stable_symbol(k: Any = sym.k, *, alpha: Any = sym.alpha) -> sp.Expr:
    """Limit of the jump symbol for lambda -> 0 on the imaginary axis, psi(i k): the stable law.

    It is negative, -sigma**alpha k**alpha, which relates eta_J to the stable scale sigma.

    Parameters
    ----------
    k : number or sympy.Expr, optional
        Wave number, > 0.
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        2 eta_J Gamma(-alpha) cos(pi alpha/2) k**alpha, and -pi eta_J k at alpha = 1.

    Raises
    ------
    ParameterError
        If `alpha` is a number outside (0, 2).

    References
    ----------
    THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.stable_symbol()
    2*eta_J*k**alpha*cos(pi*alpha/2)*gamma(-alpha)
    >>> symbolic.stable_symbol(alpha=1)
    -pi*eta_J*k
    """
    index = stability(alpha)
    limit = _stable_at_one() if index == 1 else _stable().subs(sym.alpha, index)
    return sym.eta_J * limit.subs(sym.k, expression("k", k))


def cumulant(n: Any, t: Any = 1, *, alpha: Any = sym.alpha) -> sp.Expr:
    """Cumulant of order `n` of the jump process at time `t`: the n-th moment of the Levy density.

    Parameters
    ----------
    n : int or sympy.Expr
        Order >= 1; or an expression that SymPy knows to be even, for the general formula.
    t : number or sympy.Expr, optional
        Time.
    alpha : number or sympy.Expr, optional
        Stability index.

    Returns
    -------
    sympy.Expr
        2 t eta_J Gamma(n-alpha) lambda**(alpha-n) for even `n`, 0 for odd.

    Raises
    ------
    ParameterError
        If `n` is neither a positive integer nor known to be even, or `alpha` a number outside (0, 2).

    References
    ----------
    THEORY 2.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.cumulant(4)
    2*eta_J*lambda**(alpha - 4)*gamma(4 - alpha)
    """
    index = expression("n", n)
    if (index.is_number and not (index.is_Integer and index >= 1)) or (index.is_even is None and index.is_odd is None):
        raise ParameterError(f"n={n!r} must be an integer >= 1, or an expression known to be even")
    if index.is_odd:
        return sp.S.Zero
    moment = _mellin().subs({_w: index - stability(alpha), _p: sym.lam})
    return 2 * expression("t", t) * sym.eta_J * moment


_p = sp.Dummy("p", positive=True)
_x = sp.Dummy("x", real=True)


@cache
def _mellin() -> sp.Expr:
    """Integral of z**(w-1) exp(-p z) over z > 0, as SymPy finds it."""
    integral = sp.integrate(sym.z ** (_w - 1) * sp.exp(-_p * sym.z), (sym.z, 0, sp.oo))
    return sp.powsimp(integral)


def exponential_terms(increment: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """Split a sum of c exp(r z) into its pairs (c, r)."""
    pairs = []
    for term in sp.Add.make_args(sp.expand(increment)):
        coefficient, exponential = term.as_independent(sym.z, as_Add=False)
        exponential = sp.powsimp(exponential)
        rate = sp.S.Zero if exponential == 1 else sp.expand(exponential.args[0]).coeff(sym.z)
        pairs.append((coefficient, rate))
    return pairs


def levy_integral(increment: sp.Expr, alpha: sp.Expr) -> sp.Expr:
    """Integral over z > 0 of increment(z) z**(-1-alpha) exp(-lambda z), for a sum of exponentials that is O(z**2).

    Each exponential is integrated for z**(w-1), w > 0, and the sum continued to w = -alpha: the increment is O(z**2),
    so both sides are analytic for Re w > -2. At alpha = 1 it is the limit, because Gamma has a pole there.
    """
    if alpha == 1:
        limit = sp.expand(sp.limit(levy_integral(increment, sym.alpha), sym.alpha, 1))
        return sp.collect(limit, sorted(limit.atoms(sp.log), key=sp.default_sort_key))
    powers = sp.Add(
        *(c * (_mellin() / sp.gamma(_w)).subs({_p: sym.lam - r, _w: -alpha}) for c, r in exponential_terms(increment))
    )
    return sp.gamma(-alpha) * powers


def reduced_symbol(s: sp.Expr, alpha: sp.Expr) -> sp.Expr:
    """psi(s)/eta_J for a checked alpha."""
    if alpha == 1 and sp.expand(s - sym.lam) == 0:
        return _edge_at_one()
    return _reduced(alpha).subs(_x, s)


@cache
def _reduced(alpha: sp.Expr) -> sp.Expr:
    return levy_integral(sp.exp(_x * sym.z) + sp.exp(-_x * sym.z) - 2, alpha)


@cache
def _edge_at_one() -> sp.Expr:
    """psi(lambda)/eta_J at alpha = 1, where substitution would give 0 log 0."""
    return sp.simplify(sp.limit(reduced_symbol(sym.lam, sym.alpha), sym.alpha, 1))


@cache
def _stable() -> sp.Expr:
    bracket = (reduced_symbol(sp.I * sym.k, sym.alpha) / sp.gamma(-sym.alpha)).subs(sym.lam, 0)
    polar = bracket.replace(
        lambda e: e.is_Pow and e.exp == sym.alpha,
        lambda e: sp.Abs(e.base) ** sym.alpha * sp.exp(sp.I * sp.arg(e.base) * sym.alpha),
    )
    return sp.gamma(-sym.alpha) * sp.expand_complex(polar)


@cache
def _stable_at_one() -> sp.Expr:
    return sp.limit(_stable(), sym.alpha, 1)
