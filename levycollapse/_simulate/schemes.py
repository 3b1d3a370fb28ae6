"""What a time step does with the drift: from a drift, a scheme and dt to the constants of the kernels (THEORY 7)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numba.core.errors import NumbaError
from numpy.polynomial import Chebyshev, Polynomial

from .._checks import FloatArray
from .._kernels import drift_maps as maps
from .._model.callable_drift import CallableDrift
from .._model.collapse_model import CollapseModel
from .._model.drift import Drift, LinearDrift, SaturatingDrift
from ..errors import ParameterError, StepSizeWarning

SCHEMES = ("euler-maruyama", "strang")

#: Where a function's slope and the error of its numerical flow are measured.
PROBES: FloatArray = np.linspace(-10.0, 10.0, 401)
#: Degree of the polynomial in tanh**2 of a flow, and the longest time kappa t/width for it: its error is then
#: 2e-15 width, and grows with the tenth power of the time.
FLOW_DEGREE = 9
FLOW_REACH = 0.1
#: Error allowed to a numerical flow, relative to 1 + abs(zeta), and the most pieces that are tried.
FLOW_ERROR = 1e-11
MOST_PIECES = 64
#: dt times the largest slope of the drift beyond which a scheme warns. Euler-Maruyama overshoots the equilibrium
#: above 1 and is unstable above 2; its bias in the moments is a few per cent at 0.5, where Strang's is 1e-3.
STEEPEST = {"euler-maruyama": 0.5, "strang": 1.0}

Constants = tuple[float, ...]
NO_CONSTANTS: Constants = (0.0,) * maps.N_CONSTANTS


@dataclass(frozen=True)
class Plan:
    """Maps of one scheme: of every step, of step 0, and of the read-out.

    `custom` is a compiled map for a drift that is not built in; `python` holds the three maps as functions of an
    array where there is none, and then nothing else counts.
    """

    step: tuple[int, Constants]
    first: tuple[int, Constants]
    read: tuple[int, Constants]
    custom: Any = None
    python: tuple[Callable[[FloatArray], Any], ...] | None = None

    @property
    def kernel_maps(self) -> tuple[Any, ...]:
        """The maps as the kernels take them."""
        return (*self.step, *self.first, *self.read)


def plan(drift: Drift, scheme: str, dt: float) -> Plan:
    """Maps of a scheme for a drift with numbers, not arrays, for parameters."""
    if scheme == "euler-maruyama":
        return _euler(drift, dt)
    return _strang(drift, dt)


def warn_if_steep(drift: Drift, scheme: str, dt: float) -> None:
    """Warn where dt is too large for the slope of the drift."""
    steepness = dt * largest_slope(drift)
    if steepness > STEEPEST[scheme]:
        warnings.warn(
            f"dt={dt!r} times the largest slope of the drift is {steepness:.3g}, above {STEEPEST[scheme]}: {scheme} is "
            "far from the SDE there" + (", and unstable" if scheme == "euler-maruyama" and steepness >= 2 else ""),
            StepSizeWarning,
            stacklevel=3,
        )


def largest_slope(drift: Drift) -> float:
    """Largest abs(F'), per unit time; of a function, on the points PROBES."""
    if isinstance(drift, SaturatingDrift):
        return float(0.5 * (drift.left + drift.right) / drift.width)
    if isinstance(drift, LinearDrift):
        return float(drift.rate)
    values = np.asarray(drift(PROBES))
    return float(np.max(np.abs(np.diff(values) / np.diff(PROBES))))


def _euler(drift: Drift, dt: float) -> Plan:
    still = (maps.STILL, NO_CONSTANTS)
    if isinstance(drift, SaturatingDrift):
        pull, push, center = _saturating(drift)
        step = maps.EULER_SATURATING, _padded(dt * pull, dt * push, center, 1.0 / drift.width)
        return Plan(step, step, still)
    if isinstance(drift, LinearDrift):
        step = maps.EULER_LINEAR, _padded(dt * drift.rate, drift.center)
        return Plan(step, step, still)
    compiled = getattr(drift, "compiled", None)
    if compiled is not None:
        step = maps.CUSTOM, _padded(dt)
        return Plan(step, step, still, custom=_compiled_map(maps.euler_map, compiled))

    def euler(z: FloatArray) -> Any:
        return z + dt * np.asarray(drift(z))

    return Plan(still, still, still, python=(euler, euler, np.copy))


def _strang(drift: Drift, dt: float) -> Plan:
    if isinstance(drift, SaturatingDrift):
        if drift.left == drift.right:
            whole, half = ((maps.FLOW_SATURATING, _saturating_flow(drift, t)) for t in (dt, 0.5 * dt))
            return Plan(whole, half, half)
        pull, push, center = _saturating(drift)
        constants = (pull, push, center, 1.0 / drift.width)
        whole, half = (
            (maps.FLOW_UNEQUAL, _numerical_flow(maps.flow_unequal, t, constants, drift)) for t in (dt, 0.5 * dt)
        )
        return Plan(whole, half, half)
    if isinstance(drift, LinearDrift):
        whole, half = ((maps.FLOW_LINEAR, _padded(-math.expm1(-drift.rate * t), drift.center)) for t in (dt, 0.5 * dt))
        return Plan(whole, half, half)
    exact = drift.exact_flow if isinstance(drift, CallableDrift) else None
    if exact is not None:
        custom = _compiled_flow(exact)
        if custom is not None:
            whole, half = ((maps.CUSTOM, _padded(t)) for t in (dt, 0.5 * dt))
            return Plan(whole, half, half, custom=custom)
    elif (compiled := getattr(drift, "compiled", None)) is not None:
        flow = _compiled_map(maps.flow_map, compiled)
        whole, half = ((maps.CUSTOM, _numerical_flow(flow, t, (), drift)) for t in (dt, 0.5 * dt))
        return Plan(whole, half, half, custom=flow)

    def flow_over(t: float) -> Callable[[FloatArray], Any]:
        return lambda z: np.asarray(drift.flow(z, t))

    still = (maps.STILL, NO_CONSTANTS)
    return Plan(still, still, still, python=(flow_over(dt), flow_over(0.5 * dt), flow_over(0.5 * dt)))


def _padded(*constants: float) -> Constants:
    return tuple(float(c) for c in constants) + (0.0,) * (maps.N_CONSTANTS - len(constants))


def _saturating(drift: SaturatingDrift) -> tuple[float, float, float]:
    """(a, b, c') of F = b - a tanh((zeta - c')/w)."""
    left, right = drift.left, drift.right
    center = drift.center - 0.5 * drift.width * math.log(left / right)
    return 0.5 * (left + right), 0.5 * (left - right), center


def _saturating_flow(drift: SaturatingDrift, t: float) -> Constants:
    """Polynomial of the flow over a time t, by interpolation on Chebyshev nodes in T**2.

    With T = tanh y, the flow of y' = -tanh y over a time h goes back by 2 artanh(l T/(1 + sqrt(1 - q T**2))),
    l = 1 - exp(-h), q = 1 - exp(-2h): analytic in T**2 up to 1/q, far beyond 1 for small h.
    """
    reduced = drift.kappa * t / drift.width
    pieces = max(1, math.ceil(reduced / FLOW_REACH))
    loss, loss_of_square = -math.expm1(-reduced / pieces), -math.expm1(-2.0 * reduced / pieces)

    def back(square: FloatArray) -> FloatArray:
        root = np.sqrt(square)
        tangent: FloatArray = loss * root / (1.0 + np.sqrt(1.0 - loss_of_square * square))
        return np.asarray(2.0 * drift.width * np.arctanh(tangent) / root)

    fit = Chebyshev.interpolate(back, FLOW_DEGREE, domain=[0.0, 1.0]).convert(kind=Polynomial, domain=[-1.0, 1.0])
    coefficients = np.zeros(FLOW_DEGREE + 1)
    coefficients[: fit.coef.size] = fit.coef
    return _padded(*coefficients[::-1], drift.center, 1.0 / drift.width, pieces)


def _numerical_flow(flow: Any, t: float, constants: Constants, drift: Drift) -> Constants:
    """Constants of a Runge-Kutta flow with enough pieces: twice as many change it by FLOW_ERROR at most."""
    pieces, coarse = 1, _flowed(flow, t, 1, constants)
    while True:
        fine = _flowed(flow, t, 2 * pieces, constants)
        with np.errstate(invalid="ignore"):
            error = float(np.max(np.abs(fine - coarse) / (1.0 + np.abs(fine))))
        if error <= FLOW_ERROR:
            return _padded(t / pieces, pieces, *constants)
        if pieces >= MOST_PIECES:
            warnings.warn(
                f"the numerical flow of {drift!r} over {t!r} has an error of about {error:.1g} on abs(zeta) <= 10; "
                "give Drift.from_callable its exact flow, or take a smaller dt",
                StepSizeWarning,
                stacklevel=5,
            )
            return _padded(t / pieces, pieces, *constants)
        pieces, coarse = 2 * pieces, fine


def _flowed(flow: Any, t: float, pieces: int, constants: Constants) -> FloatArray:
    z: FloatArray = PROBES.copy()
    flow(z, _padded(t / pieces, pieces, *constants))
    return z


# Cached, so that a second simulation with the same drift does not compile again.
@lru_cache(maxsize=32)
def _compiled_map(make: Callable[[Any], Any], function: Any) -> Any:
    @njit(error_model="numpy", nogil=True)
    def force(z: float, p: Any) -> Any:
        return function(z)

    return njit(error_model="numpy", nogil=True)(make(force))


@lru_cache(maxsize=32)
def _compiled_flow(flow: Callable[[Any, float], Any]) -> Any:
    """Map of an exact flow, None if Numba cannot compile it to a function of numbers."""
    try:
        function = flow if hasattr(flow, "py_func") else njit(error_model="numpy")(flow)
        float(function(0.25, 0.125))
    except (NumbaError, TypeError, ValueError, AttributeError, NotImplementedError):
        return None
    return njit(error_model="numpy", nogil=True)(maps.exact_map(function))


def scalar_parameters(model: CollapseModel) -> None:
    """Refuse a model whose parameters are arrays."""
    parameters = {name: getattr(model, name) for name in ("kappa", "eta_G", "eta_J", "alpha", "lam")}
    parameters["drift"] = model.drift(0.0)
    for name, value in parameters.items():
        if np.ndim(value):
            raise ParameterError(f"{name} must be a number to simulate, not an array of shape {np.shape(value)}")
