"""How every kernel of the package is compiled.

`error_model="numpy"` makes division by zero an IEEE result instead of an exception, which is
also what lets loops vectorise. `fastmath` stays off, because it deletes NaN checks; `summing` allows sums to be
reordered, no more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numba import guvectorize, njit, vectorize

Compiled = Callable[..., Any]
Decorator = Callable[[Compiled], Compiled]


def scalar(function: Compiled) -> Compiled:
    """Compile a function of numbers, to be called from other kernels."""
    return _cached(lambda **cache: njit(error_model="numpy", nogil=True, **cache)(function))


def inlined(function: Compiled) -> Compiled:
    """Compile a small function so that LLVM always inlines it: loops over it can then vectorise."""
    return _cached(lambda **cache: njit(error_model="numpy", nogil=True, forceinline=True, **cache)(function))


def summing(function: Compiled) -> Compiled:
    """Compile a sum whose terms may be added in any order, so that it vectorises; NaN and inf keep their rules."""
    return _cached(
        lambda **cache: njit(error_model="numpy", nogil=True, fastmath={"reassoc", "contract"}, **cache)(function)
    )


def uncached(function: Compiled) -> Compiled:
    """Compile a function that takes compiled functions as arguments.

    Never cached on disk: Numba would write references to the caller's own modules into the index of the cache, and
    every later process would import them to read it.
    """
    return njit(error_model="numpy", nogil=True)(function)


def elementwise(*signatures: str) -> Decorator:
    """Make a function of arrays (a NumPy ufunc) of a function of numbers."""
    return _quiet(lambda f: _cached(lambda **cache: vectorize(list(signatures), nopython=True, **cache)(f)))


def elementwise_many(signature: str, layout: str) -> Decorator:
    """Make a function of arrays with several outputs of a function of one-element arrays.

    Its thin wrapper is not kept on disk: two processes that write it at the same time leave a file that crashes every
    later one (Numba 0.68, seen with two test workers and an empty cache). What it calls is kept.
    """
    return _quiet(guvectorize([signature], layout, nopython=True))


def _cached(compile_with: Callable[..., Compiled]) -> Compiled:
    """Keep the machine code on disk, or do without where no folder can be written."""
    try:
        return compile_with(cache=True)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        warnings.warn(
            "compiled kernels cannot be kept (neither the package's folder nor the user's cache can be written), so "
            "that every process compiles them again; set NUMBA_CACHE_DIR to a folder that can",
            RuntimeWarning,
            stacklevel=2,
        )
        return compile_with()


def _quiet(compile_ufunc: Decorator) -> Decorator:
    """Compile at the first call, and keep the floating-point flags of a kernel to itself.

    A program that needs one kernel does not wait for all; and what a kernel raises on its way says nothing, since its
    result and status do.
    """

    def decorator(function: Compiled) -> Compiled:
        ufunc: Compiled | None = None

        @wraps(function)
        def call(*arguments: Any) -> Any:
            nonlocal ufunc
            if ufunc is None:
                ufunc = compile_ufunc(function)
            with np.errstate(all="ignore"):
                return ufunc(*arguments)

        return call

    return decorator
