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

from .._checks import FloatArray
from .._kernels import drift_maps as maps
from .._model.callable_drift import CallableDrift
from .._model.collapse_model import CollapseModel
from .._model.drift import Drift, LinearDrift, SaturatingDrift, asymmetric_shift
from ..errors import ParameterError, StepSizeWarning

SCHEMES = ("euler-maruyama", "strang")

#: Where a function's slope and the error of its numerical flow are measured.
PROBES: FloatArray = np.linspace(-10.0, 10.0, 401)
#: Cells per width of a tabulated drift: its polynomials of degree seven are then off by 3e-16 of the plateau.
CELLS_PER_WIDTH = 16
#: Widths from the center at which a drift is its plateau to 1e-17, and the longest time kappa t/width that one table
#: of a flow covers; beyond, it is applied several times, since the formula of the flow then loses digits (12 ulp at 4).
PLATEAU, FLOW_REACH = 20.0, 1.0
#: Error allowed to a numerical flow, relative to 1 + abs(zeta), and the most pieces that are tried.
FLOW_ERROR = 1e-11
MOST_PIECES = 64
#: dt times the largest slope of the drift beyond which a scheme warns. Euler-Maruyama overshoots the equilibrium
#: above 1 and is unstable above 2; its bias in the moments is a few per cent at 0.5, where Strang's is 1e-3.
STEEPEST = {"euler-maruyama": 0.5, "strang": 1.0}

Constants = tuple[float, ...]
NO_CONSTANTS: Constants = (0.0,) * maps.N_CONSTANTS
NO_CELLS: FloatArray = np.zeros(maps.COEFFICIENTS)
#: Kind, constants and cells of a map, as the kernels take them.
Map = tuple[int, Constants, FloatArray]
STILL: Map = (maps.STILL, NO_CONSTANTS, NO_CELLS)


@dataclass(frozen=True)
class Plan:
    """Maps of one scheme: of every step, of step 0, and of the read-out.

    `custom` is a compiled map for a drift that is not built in; `python` holds the three maps as functions of an
    array where there is none, and then nothing else counts.
    """

    step: Map
    first: Map
    read: Map
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
    if isinstance(drift, SaturatingDrift):
        unit = _unit(drift)
        step = _tabulated(drift, lambda y: dt * np.asarray(unit(y)), PLATEAU)
        return Plan(step, step, STILL)
    if isinstance(drift, LinearDrift):
        step = maps.LINEAR, _padded(dt * drift.rate, drift.center), NO_CELLS
        return Plan(step, step, STILL)
    compiled = getattr(drift, "compiled", None)
    if compiled is not None:
        step = maps.CUSTOM, _padded(dt), NO_CELLS
        return Plan(step, step, STILL, custom=_compiled_map(maps.euler_map, compiled))

    def euler(z: FloatArray) -> Any:
        return z + dt * np.asarray(drift(z))

    return Plan(STILL, STILL, STILL, python=(euler, euler, np.copy))


def _strang(drift: Drift, dt: float) -> Plan:
    if isinstance(drift, SaturatingDrift):
        whole, half = (_saturating_flow(drift, t) for t in (dt, 0.5 * dt))
        return Plan(whole, half, half)
    if isinstance(drift, LinearDrift):
        whole, half = (
            (maps.LINEAR, _padded(-math.expm1(-drift.rate * t), drift.center), NO_CELLS) for t in (dt, 0.5 * dt)
        )
        return Plan(whole, half, half)
    exact = drift.exact_flow if isinstance(drift, CallableDrift) else None
    if exact is not None:
        custom = _compiled_flow(exact)
        if custom is not None:
            whole, half = ((maps.CUSTOM, _padded(t), NO_CELLS) for t in (dt, 0.5 * dt))
            return Plan(whole, half, half, custom=custom)
    elif (compiled := getattr(drift, "compiled", None)) is not None:
        flow = _compiled_map(maps.flow_map, compiled)
        whole, half = ((maps.CUSTOM, _numerical_flow(flow, t, drift), NO_CELLS) for t in (dt, 0.5 * dt))
        return Plan(whole, half, half, custom=flow)

    def flow_over(t: float) -> Callable[[FloatArray], Any]:
        return lambda z: np.asarray(drift.flow(z, t))

    return Plan(STILL, STILL, STILL, python=(flow_over(dt), flow_over(0.5 * dt), flow_over(0.5 * dt)))


def _padded(*constants: float) -> Constants:
    return tuple(float(c) for c in constants) + (0.0,) * (maps.N_CONSTANTS - len(constants))


def _unit(drift: SaturatingDrift) -> SaturatingDrift:
    """The drift as a function of y = (zeta - center)/width, still in zeta per unit time."""
    return SaturatingDrift(drift.kappa, kappa_right=None if drift.left == drift.right else drift.right)


def _saturating_flow(drift: SaturatingDrift, t: float) -> Map:
    """Table of the flow over a time t."""
    widths = max(drift.left, drift.right) * t / drift.width
    pieces = max(1, math.ceil(widths / FLOW_REACH))
    reduced = t / drift.width / pieces
    if drift.left == drift.right:

        def moved(y: FloatArray) -> FloatArray:
            # flow(y) - y, which would cancel for a short time: with T = tanh y, l = 1 - exp(-h) for h = kappa t/width
            # it is -2 artanh(l T/(1 + sqrt(1 - (1 - exp(-2h)) T**2))).
            tangent, decay = np.tanh(y), math.exp(-drift.left * reduced)
            root = np.sqrt(np.cosh(y) ** -2.0 + (decay * tangent) ** 2)
            back = 2.0 * np.arctanh(-math.expm1(-drift.left * reduced) * tangent / (1.0 + root))
            return np.asarray(-drift.width * back)

    else:

        def moved(y: FloatArray) -> FloatArray:
            sides = (drift.left, drift.right)
            here, there = np.where(y < 0, *sides), np.where(y < 0, *sides[::-1])
            shift, _ = asymmetric_shift(np.where(y == 0, 1.0, np.abs(y)), here, there, reduced)
            return np.asarray(drift.width * np.where(y == 0, 0.0, np.copysign(shift, -y)))

    return _tabulated(drift, moved, PLATEAU + min(widths, FLOW_REACH), pieces)


def _tabulated(drift: SaturatingDrift, added: Callable[[FloatArray], FloatArray], reach: float, pieces: int = 1) -> Map:
    """Map z + added((z - center)/width), `added` constant beyond `reach` from a table of polynomials.

    They interpolate at Chebyshev nodes. Where the two plateaus are equal the table is odd to the last bit.
    """
    symmetric = drift.left == drift.right
    if not symmetric:
        reach += 0.5 * abs(math.log(drift.left / drift.right))
    edge = math.ceil(reach * CELLS_PER_WIDTH)
    middles = np.arange(0 if symmetric else -edge, edge + 1, dtype=float)[:, None]
    n = maps.COEFFICIENTS
    nodes = 0.5 * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    at_middle = added(middles / CELLS_PER_WIDTH)
    # Relative to the middle, so that the coefficients lose no digits.
    rest = added((middles + nodes) / CELLS_PER_WIDTH) - at_middle
    cells = rest @ np.linalg.inv(np.vander(nodes, increasing=True)).T
    cells[:, :1] += at_middle
    if symmetric:
        cells[0, ::2] = 0.0
        cells = np.concatenate([cells[:0:-1] * -((-1.0) ** np.arange(n)), cells])
    return maps.TABULATED, _padded(drift.center, CELLS_PER_WIDTH / drift.width, edge, pieces), aligned(cells.ravel())


def aligned(values: FloatArray) -> FloatArray:
    """Copy a flat array to where a cache line begins, so that a cell of eight numbers is in one."""
    room = np.empty(values.size + 8)
    start = -room.ctypes.data // 8 % 8
    copy = room[start : start + values.size]
    copy[:] = values
    return copy


def _numerical_flow(flow: Any, t: float, drift: Drift) -> Constants:
    """Constants of a Runge-Kutta flow with enough pieces: twice as many change it by FLOW_ERROR at most."""
    pieces, coarse = 1, _flowed(flow, t, 1)
    while True:
        fine = _flowed(flow, t, 2 * pieces)
        with np.errstate(invalid="ignore"):
            error = float(np.max(np.abs(fine - coarse) / (1.0 + np.abs(fine))))
        if error <= FLOW_ERROR:
            return _padded(t / pieces, pieces)
        if pieces >= MOST_PIECES:
            warnings.warn(
                f"the numerical flow of {drift!r} over {t!r} has an error of about {error:.1g} on abs(zeta) <= 10; "
                "give Drift.from_callable its exact flow, or take a smaller dt",
                StepSizeWarning,
                stacklevel=5,
            )
            return _padded(t / pieces, pieces)
        pieces, coarse = 2 * pieces, fine


def _flowed(flow: Any, t: float, pieces: int) -> FloatArray:
    z: FloatArray = PROBES.copy()
    flow(z, _padded(t / pieces, pieces))
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
