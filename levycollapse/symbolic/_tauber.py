"""From the tail of the spectrum to the envelope at long lags, with logarithms to any order (THEORY 6, NUMERICS C.7)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from ..errors import ParameterError
from . import symbols as sym
from ._arguments import expression
from ._arguments import order as checked_order

_t = sp.Dummy("t", real=True)
_v = sp.Dummy("v", positive=True)


def tauberian_envelope(
    rate: Any = sym.beta, log_power: Any = 0, loglog_power: Any = 0, *, order: int = 1, shifted: bool = False
) -> sp.Expr:
    r"""Envelope at long lags that belongs to p(tau) ~ C tau**(-1-rate) (log tau)**p (log log tau)**q.

    .. math:: f(\ell) \sim C\,\Gamma(r)\,\ell^{-r} \sum_{k < n} \frac{(-1)^k m_k}{k!}\, g^{(k)}(\log\ell),
              \qquad g(v) = v^p (\log v)^q,

    where m_k is the k-th moment of the logarithm of a gamma variable of shape r.

    Parameters
    ----------
    rate : number or sympy.Expr, optional
        Index r of the tail: beta above threshold, lambda at and below it, 0 in the logarithmic phase.
    log_power, loglog_power : number or sympy.Expr, optional
        Powers p and q, as in `TailLaw`.
    order : int, optional
        Number of terms, >= 1; 1 is the leading law, 3 has the next two orders. Without logarithms one is all there is.
    shifted : bool, optional
        Expand about log l - digamma(r) instead of log l, with central moments. The first correction is then inside the
        leading term, and the numerical `tauberian_envelope` is this with order 3.

    Returns
    -------
    sympy.Expr
        The envelope, in `lag` and the tail's constant `C`.

    Raises
    ------
    ParameterError
        If `order` is not an integer >= 1, or the rate is 0 and the power not below -1 or there is a further logarithm.

    References
    ----------
    THEORY 6; NUMERICS C.7; Bingham, Goldie & Teugels, Regular Variation, 1.7.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.tauberian_envelope()
    C*gamma(beta)/lag**beta
    >>> symbolic.tauberian_envelope(symbolic.lam, -1 - symbolic.alpha)
    C*log(lag)**(-alpha - 1)*gamma(lambda)/lag**lambda
    >>> symbolic.tauberian_envelope(0, -symbolic.alpha)
    C*log(lag)**(1 - alpha)/(alpha - 1)
    """
    index, slow, constant, shape = _prepared(rate, log_power, loglog_power)
    return constant * sym.lag ** (-index) * _transformed(slow, shape, checked_order(order), shifted)


def tauberian_factor(
    rate: Any = sym.beta, log_power: Any = 0, loglog_power: Any = 0, *, order: int = 2, shifted: bool = False
) -> sp.Expr:
    """Bracket by which the orders after the first multiply the leading law.

    Parameters
    ----------
    rate, log_power, loglog_power : sympy.Expr or number, optional
        As in `tauberian_envelope`.
    order : int, optional
        As in `tauberian_envelope`.
    shifted : bool, optional
        Multiply the shifted leading law.

    Returns
    -------
    sympy.Expr
        1 + ..., a polynomial in 1/log l where there is one logarithm.

    Raises
    ------
    ParameterError
        As `tauberian_envelope`.

    References
    ----------
    NUMERICS C.7.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.tauberian_factor(1, -2)
    1 - 2*EulerGamma/log(lag)
    """
    _, slow, _, shape = _prepared(rate, log_power, loglog_power)
    whole = _transformed(slow, shape, checked_order(order), shifted)
    leading = _transformed(slow, shape, 1, shifted)
    return sp.Add(*(sp.simplify(term / leading) for term in sp.Add.make_args(whole)))


def _prepared(rate: Any, log_power: Any, loglog_power: Any) -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """Rate, slowly varying function of v, constant, and the shape of the gamma variable."""
    index, p, q = expression("rate", rate), expression("log_power", log_power), expression("loglog_power", loglog_power)
    if index.is_number and not (index.is_real and index >= 0):
        raise ParameterError(f"rate={rate!r} must be a number >= 0, or an expression")
    if not index.is_zero:
        return index, _v**p * sp.log(_v) ** q, sym.C * sp.gamma(index), index
    if not q.is_zero or (p.is_number and not p < -1):
        raise ParameterError(f"rate=0 needs log_power < -1 and no log log, not {log_power!r} and {loglog_power!r}")
    # f = E P(tau > l/u), u exponential, and P(tau > T) = C (log T)**(p+1)/(-p-1).
    return sp.S.Zero, _v ** (p + 1), sym.C / (-p - 1), sp.S.One


def _transformed(slow: sp.Expr, shape: sp.Expr, order: int, shifted: bool) -> sp.Expr:
    """Mean of slow(log l - log u) over a gamma variable u, as a Taylor series with `order` terms."""
    shift = sp.digamma(shape) if shifted else sp.S.Zero
    generating = sp.exp(sp.loggamma(shape + _t) - sp.loggamma(shape) - _t * shift)
    terms = []
    for k in range(order):
        moment = sp.expand(sp.diff(generating, _t, k).subs(_t, 0))
        terms.append((-1) ** k * moment / sp.factorial(k) * sp.diff(slow, _v, k))
    return sp.Add(*(term.subs(_v, sp.log(sym.lag) - shift) for term in terms))
