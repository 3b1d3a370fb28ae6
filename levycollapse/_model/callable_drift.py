"""A drift given as a function: how it is evaluated, and how its plateaus are found and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import FINITE, FloatArray, as_float_array, checked, choice, plain
from ..errors import ParameterError
from .drift import Drift, scalar_time

#: abs(zeta) at which plateaus are looked for: 41 octaves up to 1e12, off the integers, where a periodic f may vanish.
FAR: FloatArray = 0.9372 * np.exp2(np.arange(41.0))
#: A drift whose last three octaves agree to this has saturated (kappa - a/abs(zeta) does at 1e12).
SETTLED = 1e-9
#: A drift that still grows by this factor an octave at the far end confines (abs(zeta)**0.07 does).
GROWING = 1.05
#: How far a given plateau may be from F at abs(zeta) = 1e12.
AGREES = 1e-2


class CallableDrift(Drift):
    """The drift that `Drift.from_callable` returns."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        *,
        left: float | None,
        right: float | None,
        flow: Callable[[Any, float], Any] | None,
        compile: bool | str,
    ) -> None:
        if not callable(f):
            raise ParameterError(f"f={f!r} must be a function of zeta")
        choice("compile", compile, ("auto", True, False))
        self.function = f
        #: The function compiled by Numba, or None.
        self.compiled = _compiled(f, insist=compile is True) if compile else None
        self._evaluate = _array_form(f, self.compiled)
        with np.errstate(all="ignore"):
            near = self._evaluate(np.linspace(-1.0, 1.0, 9))
        if not np.isfinite(near).all():
            raise ParameterError(f"f must be finite for finite zeta; on linspace(-1, 1, 9) it gives {near.tolist()}")
        self._left = _plateau("left", left, self._evaluate, -1.0)
        self._right = _plateau("right", right, self._evaluate, 1.0)
        self._flow = flow
        self._given = (f, left, right, flow, compile)
        if flow is not None:
            self._check_flow(flow)

    def __reduce__(self) -> Any:
        """Pickle by what was given: the machine code and the way of evaluation are made again."""
        return _rebuilt, self._given

    @property
    def left(self) -> float:
        """Plateau F(-inf)."""
        return self._left

    @property
    def right(self) -> float:
        """Plateau -F(+inf)."""
        return self._right

    @property
    def exact_flow(self) -> Callable[[Any, float], Any] | None:
        """The flow that was given, None if the flow is numerical."""
        return self._flow

    def __call__(self, zeta: Any) -> Any:
        """F(zeta), elementwise."""
        return plain(self._evaluate(checked("zeta", zeta, FINITE)))

    def flow(self, zeta: Any, t: Any) -> Any:
        """Flow over a time `t`: the one that was given, or numerical; see `Drift.flow`."""
        if self._flow is None:
            return super().flow(zeta, t)
        start, time = checked("zeta", zeta, FINITE), scalar_time(t)
        return plain(np.asarray(self._flow(start, time), dtype=float))

    def _check_flow(self, flow: Callable[[Any, float], Any]) -> None:
        if not callable(flow):
            raise ParameterError(f"flow={flow!r} must be a function of (zeta, t)")
        points = np.array([-2.0, -0.5, 0.3, 1.7])
        time = 1e-3
        expected = super().flow(points, time)
        try:
            given = as_float_array("flow", flow(points, time))
        except Exception as error:
            raise ParameterError(f"flow fails at zeta={points.tolist()}, t={time}: {_described(error)}") from error
        scale = np.maximum(np.abs(np.asarray(expected) - points), 1e-6)
        if given.shape != points.shape or not np.all(np.abs(given - expected) <= 1e-3 * scale):
            raise ParameterError(
                f"flow contradicts f: flow({points.tolist()}, {time}) gives {given.tolist()}, "
                f"integrating f gives {np.asarray(expected).tolist()}"
            )

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", repr(self.function))
        return f"Drift.from_callable({name}, left={self.left!r}, right={self.right!r})"


def _rebuilt(f: Any, left: Any, right: Any, flow: Any, compile: Any) -> CallableDrift:
    return CallableDrift(f, left=left, right=right, flow=flow, compile=compile)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _real(values: Any) -> FloatArray:
    """Values of f as doubles; a complex one is not a force."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("it is complex")
    return array.astype(float)


def _compiled(f: Callable[[Any], Any], *, insist: bool) -> Any:
    from numba import njit
    from numba.core.errors import NumbaError

    # An object that Numba cannot even look at raises TypeError; a body it cannot type, NumbaError.
    try:
        function = f if hasattr(f, "py_func") else njit(error_model="numpy")(f)
        float(function(0.25))
    except (NumbaError, TypeError, ValueError, AttributeError, NotImplementedError) as error:
        if insist:
            raise ParameterError(f"compile=True, but f cannot be compiled: {str(error).splitlines()[0]}") from None
        return None
    return function


def _array_form(f: Callable[[Any], Any], compiled: Any) -> Callable[[FloatArray], FloatArray]:
    """How to evaluate f on an array: directly if it takes one, element by element otherwise."""
    probe = np.array([-1.5, 0.25, 0.5])
    one_by_one = compiled if compiled is not None else f
    try:
        with np.errstate(all="ignore"):
            direct = np.broadcast_to(_real(f(probe)), probe.shape)
            single = np.array([float(one_by_one(z)) for z in probe])
        takes_arrays = bool(np.allclose(direct, single, rtol=1e-9, atol=1e-12, equal_nan=True))
    except Exception:  # whatever a user's function raises on an array, it may still work on numbers
        takes_arrays = False
    if takes_arrays:
        return lambda z: np.broadcast_to(_real(f(z)), np.shape(z)).copy()

    def looped(z: FloatArray) -> FloatArray:
        return _real([one_by_one(value) for value in np.ravel(z).tolist()]).reshape(np.shape(z))

    try:
        with np.errstate(all="ignore"):
            looped(probe)
    except Exception as error:
        raise ParameterError(f"f fails at zeta=-1.5: {_described(error)}") from error
    return looped


def _plateau(name: str, given: float | None, evaluate: Callable[[FloatArray], FloatArray], side: float) -> float:
    """The inward plateau on one side: F(-inf) on the left, -F(+inf) on the right."""
    try:
        with np.errstate(all="ignore"):
            inward = -side * evaluate(side * FAR)
    except Exception as error:
        raise ParameterError(
            f"f fails for zeta between {side * FAR[0]:g} and {side * FAR[-1]:g} ({_described(error)}); it must have a "
            "value, or an infinite one, everywhere"
        ) from error
    if np.isnan(inward).any():
        at = side * FAR[np.isnan(inward)][0]
        raise ParameterError(f"f(zeta={at:g}) is nan; the drift must have a value, or an infinite one, everywhere")
    end = float(inward[-1]) + 0.0
    if given is not None:
        array = as_float_array(name, given)
        value = float(array) if array.ndim == 0 else np.nan
        if np.isnan(value) or value == -np.inf:
            raise ParameterError(f"{name}={given!r} must be a number, or inf where the drift confines")
        if np.isinf(value):
            agrees = end == np.inf or end > inward[-20]
        else:
            agrees = abs(end - value) <= AGREES * (abs(value) or 1.0)
        if not agrees:
            raise ParameterError(
                f"{name}={given!r} contradicts f, whose inward value at zeta={side * FAR[-1]:g} is {end!r}"
            )
        return value
    if np.isinf(end):
        return end
    last = inward[-4:]
    if np.all(np.abs(np.diff(last)) <= SETTLED * np.abs(last[1:])):
        return end
    size = np.abs(inward[-5:])
    if np.all(size[1:] >= GROWING * size[:-1]) and np.all(inward[-5:] * end > 0):
        return np.inf if end > 0 else -np.inf
    raise ParameterError(
        f"the plateau on the {name} cannot be read off f: its inward value at zeta={side * FAR[-1]:g} is {end!r} and "
        f"has not settled; give {name}="
    )
