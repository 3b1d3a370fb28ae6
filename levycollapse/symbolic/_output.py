"""From expressions to fast numeric functions and to LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import lambertw
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter

from ..errors import ParameterError
from . import symbols as sym
from ._arguments import expression

BACKENDS = ("numpy", "mpmath")

#: A Python name for every symbol whose own name is not one.
_PYTHON_NAMES = {sym.lam: "lam", sym.eta_J_star: "eta_J_star"}

_LATEX_NAMES = {
    sym.eta_G: r"\eta_G",
    sym.eta_J: r"\eta_J",
    sym.eta_J_star: r"\eta_J^\ast",
    sym.d_0: "d_0",
    sym.b_0: "b_0",
    sym.lag: r"\ell",
    sym.cutoff: r"\ell_c",
}


def numeric(expr: Any, arguments: Sequence[sp.Symbol] | None = None, backend: str = "numpy") -> Callable[..., Any]:
    """Numeric function of an expression.

    Parameters
    ----------
    expr : sympy.Expr
        Any expression of this sub-package. Undefined functions, such as a general drift, must be replaced first.
    arguments : sequence of sympy.Symbol, optional
        Arguments of the function. By default those declared symbols that occur in `expr`, in the order (beta, s, k,
        zeta, z, t, Delta, kappa, eta_G, eta_J, alpha, lam, D, lag, C, N, M, n, alpha_noise, epsilon, amplitude, rho,
        gamma, cutoff, shape), which is that of the package's numerical functions. By name they are called as SymPy
        shows them, `a` for alpha_noise.
    backend : {"numpy", "mpmath"}, optional
        NumPy with SciPy's special functions (double precision; float arrays broadcast), or mpmath at its working
        precision.

    Returns
    -------
    callable
        The function. Its arguments may be given by position or by name, lambda as ``lam``.

    Raises
    ------
    ParameterError
        If `backend` is not one of the two, or `expr` contains a symbol that is not an argument or an undefined
        function.

    Notes
    -----
    Closed forms lose digits to cancellation where the package's numerical functions do not: use those to compute,
    and this to check an expression or to evaluate one that has no numerical twin.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> threshold = symbolic.numeric(symbolic.jump_threshold())
    >>> round(float(threshold(kappa=1.0, eta_G=0.1, alpha=1.5, lam=3.0)), 12)
    0.206428391898
    """
    formula = expression("expr", expr)
    if backend not in BACKENDS:
        raise ParameterError(f"backend={backend!r} must be one of {', '.join(map(repr, BACKENDS))}")
    undefined = sorted(map(str, formula.atoms(AppliedUndef)))
    if undefined:
        raise ParameterError(f"expr contains the undefined function {undefined[0]}; substitute an expression for it")
    free = formula.free_symbols
    chosen = [a for a in sym.ARGUMENT_ORDER if a in free] if arguments is None else list(arguments)
    if not all(isinstance(a, sp.Symbol) for a in chosen):
        raise ParameterError(f"arguments={arguments!r} must be SymPy symbols")
    missing = sorted(map(str, free - set(chosen)))
    if missing:
        raise ParameterError(f"expr contains {missing[0]}, which is not among the arguments {chosen}")
    renamed = {old: sp.Symbol(name, **old.assumptions0) for old, name in _PYTHON_NAMES.items()}
    modules = "mpmath" if backend == "mpmath" else [{"lambertw": _real_lambert}, "scipy", "numpy"]
    function: Callable[..., Any] = sp.lambdify(
        [renamed.get(a, a) for a in chosen], formula.xreplace(renamed), modules=modules, cse=True
    )
    return function


def latex(expr: Any) -> str:
    r"""LaTeX of an expression, with the field's names: ``\eta_J``, ``\eta_J^\ast``, ``\lambda``.

    Parameters
    ----------
    expr : sympy.Expr, sympy.Eq or any object that SymPy prints
        What to print.

    Returns
    -------
    str
        LaTeX without dollar signs.

    Examples
    --------
    >>> from levycollapse import symbolic
    >>> print(symbolic.latex(symbolic.cumulant(2)))
    2 \eta_J \lambda^{\alpha - 2} \Gamma\left(2 - \alpha\right)
    """
    text: str = _Printer({"symbol_names": _LATEX_NAMES}).doprint(expr)
    return text


class _Printer(LatexPrinter):  # type: ignore[misc]
    """Sums in ascending order of the small quantities, and not starting with a minus sign where they need not."""

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        terms = sorted(super()._as_ordered_terms(expr, order=order), key=_degree)
        positive = next((term for term in terms if not term.could_extract_minus_sign()), terms[0])
        terms.remove(positive)
        return [positive, *terms]

    def _print_polygamma(self, expr: sp.Expr, exp: str | None = None) -> str:
        order, argument = expr.args
        # psi is the jump symbol here, so the digamma function goes by its name.
        name = r"\operatorname{digamma}" if order == 0 else rf"\operatorname{{polygamma}}_{{{self._print(order)}}}"
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"{name}{power}\left({self._print(argument)}\right)"


def _degree(term: sp.Expr) -> int:
    """Degree of a term in d_0, u, b_0 and 1/Delta."""
    orders = {sym.d_0: 1, sym.u: 1, sym.b_0: 1, sym.Delta: -1}
    powers = term.as_powers_dict()
    return sum(orders[x] * int(power) for x, power in powers.items() if x in orders and power.is_Integer)


def _real_lambert(x: Any, branch: int = 0) -> Any:
    """Lambert W on a real branch; SciPy's is complex. nan beyond the branch point, where it is not real."""
    value = lambertw(x, branch)
    return np.where(np.abs(value.imag) == 0, value.real, np.nan)
