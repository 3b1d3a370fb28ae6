"""How every kernel of the package is compiled.

`error_model="numpy"` makes division by zero an IEEE result instead of an exception, which is
also what lets loops vectorise. `fastmath` stays off: it deletes NaN checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import guvectorize, njit, vectorize

Compiled = Callable[..., Any]


def scalar(function: Compiled) -> Compiled:
    """Compile a function of numbers, to be called from other kernels."""
    return njit(error_model="numpy", cache=True, nogil=True)(function)


def elementwise(*signatures: str) -> Callable[[Compiled], Compiled]:
    """Make a NumPy ufunc of a function of numbers."""
    return vectorize(list(signatures), nopython=True, cache=True)


def elementwise_many(signature: str, layout: str) -> Callable[[Compiled], Compiled]:
    """Make a NumPy gufunc with several outputs of a function of one-element arrays."""
    return guvectorize([signature], layout, nopython=True, cache=True)


def compiled(function: Compiled) -> Compiled:
    """Compile a loop over arrays. It releases the GIL, so that plain threads run it side by side."""
    return njit(error_model="numpy", cache=True, nogil=True)(function)


def inlined(function: Compiled) -> Compiled:
    """Compile a function of numbers that must vanish into its caller's loop, or the loop will not vectorise."""
    return njit(error_model="numpy", inline="always")(function)
