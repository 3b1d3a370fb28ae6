"""Learnability windows as expressions (learnability 5.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy as sp

from ..errors import ParameterError
from . import symbols as sym
from ._arguments import expression

KINDS = ("exponential", "power", "logarithmic", "tempered")


class WindowLaw(NamedTuple):
    """Envelope, its window, and what follows from the two.

    Attributes
    ----------
    envelope : sympy.Expr
        f(l), in `lag`.
    window : sympy.Expr
        H_n, the lag at which f equals the threshold, in `n`.
    samples : sympy.Expr
        n(l), the number of samples at which the window reaches `lag`.
    growth : sympy.Expr
        d log H/d log n, in `n`.
    """

    envelope: sp.Expr
    window: sp.Expr
    samples: sp.Expr
    growth: sp.Expr


def concentration_exponent(alpha: Any = sym.alpha_noise) -> sp.Expr:
    """Exponent kappa = a/(a - 1) of averaging noise of tail index a.

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Tail index of the noise.

    Returns
    -------
    sympy.Expr
        The exponent; not the drift's plateau `kappa`.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.concentration_exponent()
    a/(a - 1)
    """
    index = expression("alpha", alpha)
    return index / (index - 1)


def detection_threshold(alpha: Any = sym.alpha_noise) -> sp.Expr:
    """Envelope that the mean of n samples detects: epsilon n**(-(a - 1)/a).

    Parameters
    ----------
    alpha : number or sympy.Expr, optional
        Tail index a of the noise.

    Returns
    -------
    sympy.Expr
        The threshold; `epsilon` is that of a single sample, quantile times scale over signal.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.detection_threshold(2)
    epsilon/sqrt(n)
    """
    return sym.epsilon * sym.n ** (-1 / concentration_exponent(alpha))


def window_law(kind: str, alpha: Any = sym.alpha_noise) -> WindowLaw:
    r"""Window of an envelope, by solving f(l) = threshold for l.

    Parameters
    ----------
    kind : {"exponential", "power", "logarithmic", "tempered"}
        A exp(-rho l), A l**-beta, A/log(e + l)**gamma, or A l**-beta exp(-(l/l_c)**p).
    alpha : number or sympy.Expr, optional
        Tail index a of the noise.

    Returns
    -------
    WindowLaw
        Envelope, window, samples and growth exponent. The window is meant where it is at least 1.

    Raises
    ------
    ParameterError
        If `kind` is none of the four.

    References
    ----------
    L. Livi, arXiv:2512.05790.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> symbolic.window_law("power", alpha=2).growth
    1/(2*beta)
    >>> symbolic.window_law("exponential", alpha=2).window
    log(A*sqrt(n)/epsilon)/rho
    """
    if kind not in KINDS:
        raise ParameterError(f"kind={kind!r} must be one of {', '.join(map(repr, KINDS))}")
    level = detection_threshold(alpha)
    # Over the threshold: what the logarithm, power or Lambert function is taken of.
    excess = sym.amplitude / level
    lag = sym.lag
    if kind == "exponential":
        envelope = sym.amplitude * sp.exp(-sym.rho * lag)
        window = sp.log(excess) / sym.rho
    elif kind == "power":
        envelope = sym.amplitude * lag**-sym.beta
        window = excess ** (1 / sym.beta)
    elif kind == "logarithmic":
        envelope = sym.amplitude / sp.log(sp.E + lag) ** sym.gamma
        window = sp.exp(excess ** (1 / sym.gamma)) - sp.E
    else:
        envelope = sym.amplitude * lag**-sym.beta * sp.exp(-((lag / sym.cutoff) ** sym.shape))
        ratio = sym.shape / sym.beta
        argument = ratio * (excess * sym.cutoff**-sym.beta) ** ratio
        window = sym.cutoff * (sp.LambertW(argument) / ratio) ** (1 / sym.shape)
    # level(n) = f(l): n = (epsilon/f)**kappa.
    samples = (sym.epsilon / envelope) ** concentration_exponent(alpha)
    # f(H) = level: the local exponents of both sides, d log H/d log n (-b) = -1/kappa.
    local = -sp.simplify(lag * sp.diff(sp.log(envelope), lag))
    growth = sp.simplify((1 / (concentration_exponent(alpha) * local)).subs(lag, window))
    return WindowLaw(envelope, window, samples, growth)
