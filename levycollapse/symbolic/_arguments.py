"""Validation of the arguments of the symbolic functions."""

from __future__ import annotations

from operator import index
from typing import Any, SupportsIndex

import sympy as sp

from ..errors import ParameterError


def expression(name: str, value: Any) -> sp.Expr:
    """Return `value` as a SymPy expression; strings are not parsed."""
    allowed = "a number or a SymPy expression"
    if isinstance(value, str | bool):
        raise ParameterError(f"{name}={value!r} must be {allowed}")
    try:
        result = sp.sympify(value)
    except (sp.SympifyError, TypeError, ValueError):
        raise ParameterError(f"{name}={value!r} must be {allowed}") from None
    if not isinstance(result, sp.Expr):
        raise ParameterError(f"{name}={value!r} must be {allowed}")
    return result


def stability(value: Any) -> sp.Expr:
    """Return the stability index, as the exact 1 where it equals 1."""
    alpha = expression("alpha", value)
    if alpha.is_number:
        if not (alpha.is_real and 0 < alpha < 2):
            raise ParameterError(f"alpha={value!r} must be a number strictly between 0 and 2, or a symbol")
        if (alpha - 1).is_zero:
            return sp.S.One
    return alpha


def order(value: Any) -> int:
    """Return the order of an expansion."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or index(value) < 1:
        raise ParameterError(f"order={value!r} must be an integer >= 1")
    return index(value)
