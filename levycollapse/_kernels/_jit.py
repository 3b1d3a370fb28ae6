"""How every kernel of the package is compiled.

`error_model="numpy"` makes division by zero an IEEE result instead of an exception, which is
also what lets loops vectorise. `fastmath` stays off, because it deletes NaN checks; `summing` allows sums to be
reordered, no more.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numba import from_dtype, njit, types
from numba.core.caching import IndexDataCacheFile

Compiled = Callable[..., Any]
Decorator = Callable[[Compiled], Compiled]

#: Values that an elementwise kernel takes at a time, where its arguments are not flat as they are.
PIECE = 8192


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


def elementwise(*outputs: str) -> Decorator:
    """Make a function of arrays, which broadcast, of a loop over flat arrays: inputs first, then as many as `outputs`.

    Numba's own `vectorize` and `guvectorize` would compile their wrappers in every process (0.1 to 0.5 s each): what
    they keep on disk for the first is the loop's body alone, and for the second a file that two processes at once can
    spoil (Numba 0.68). One signature, whatever is passed: there is one thing to compile and to keep.

    Parameters
    ----------
    *outputs : str
        Types of the results. Inputs are float64.
    """
    results = [np.dtype(name) for name in outputs]

    def decorator(loop: Compiled) -> Compiled:
        inputs = loop.__code__.co_argcount - len(results)
        signature = types.void(
            *[types.Array(types.float64, 1, "A", readonly=True, aligned=False)] * inputs,
            *[types.Array(from_dtype(dtype), 1, "A") for dtype in results],
        )
        flags: Any = [["readonly"]] * inputs + [["writeonly", "allocate"]] * len(results)
        compiled: Compiled | None = None

        @wraps(loop)
        def call(*arguments: Any) -> Any:
            nonlocal compiled
            if compiled is None:
                # At the first call: a program that needs one kernel does not wait for all.
                compiled = _cached(lambda **cache: njit(signature, error_model="numpy", nogil=True, **cache)(loop))
            operands: Any = [np.asarray(argument, dtype=np.float64) for argument in arguments] + [None] * len(results)
            # In pieces, as a ufunc works: a grid is not written out, and an interrupt does not wait for its end.
            with np.nditer(
                operands,
                flags=["external_loop", "buffered", "zerosize_ok"],
                op_flags=flags,
                op_dtypes=[np.dtype(np.float64)] * inputs + results,
                order="C",
                buffersize=PIECE,
            ) as pieces:
                filled = pieces.operands[inputs:]
                for piece in pieces:
                    compiled(*piece)
            # A number for numbers.
            answers = tuple(array[()] for array in filled)
            return answers[0] if len(answers) == 1 else answers

        return call

    return decorator


class _NamedByKey(IndexDataCacheFile):
    """Files of machine code named by what is in them.

    Numba counts them. Two processes that save code for different types at once would choose the same number, and the
    index would lead one type to the other's code.
    """

    def save(self, key: Any, data: Any) -> None:
        overloads = self._load_index()
        name = f"{self._index_name.removesuffix('.nbi')}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        if overloads.get(key) != name:
            self._save_index({**overloads, key: name})


def _cached(compile_with: Callable[..., Compiled]) -> Compiled:
    """Keep the machine code on disk, or do without where no folder can be written."""
    try:
        dispatcher = compile_with(cache=True)
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
    kept = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if kept is not None:  # there is none under NUMBA_DISABLE_JIT
        kept.__class__ = _NamedByKey
    return dispatcher
