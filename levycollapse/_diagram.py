"""Phase diagrams: exponent, phase and boundary curves over a grid of parameters."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any

import numpy as np
import xarray as xr

from ._checks import FINITE, POSITIVE, FloatArray, checked, choice, model_arrays
from ._learnability.averaging import SAMPLES
from ._learnability.detection import log_threshold
from ._learnability.model_grid import model_windows
from ._learnability.noise import StableNoise, noise_of, power_of
from ._learnability.status import WindowStatus
from ._theory.boundaries import CLOSED_FORM, PARAMETERS, SOLVED_FOR, critical_curve, threshold_curve
from ._theory.exponent import spectral_exponent
from ._theory.phase import Phase, phase
from ._theory.tail import tail_law
from .errors import ParameterError

LONG_NAMES = {
    "kappa": "restoring plateau",
    "eta_G": "Gaussian intensity",
    "eta_J": "jump intensity",
    "alpha": "stability index",
    "lam": "tempering",
    "beta": "spectral exponent",
    "tail_rate": "index of the time-scale tail",
    "window": "learnability window H_N",
    "N": "samples",
}
QUANTITIES = ("beta", "tail_rate", "window")
#: Grid points evaluated between two updates of the progress bar.
CHUNK = 200_000


def phase_diagram(
    *,
    kappa: Any,
    eta_G: Any,
    eta_J: Any,
    alpha: Any,
    lam: Any,
    quantity: str = "beta",
    progress: bool = False,
    N: Any = None,
    noise: StableNoise | None = None,
    power: float = 0.5,
    center: float = 0.0,
    drift_width: float = 1.0,
) -> xr.Dataset:
    """Phase diagram over the parameters that are given as one-dimensional arrays.

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like of shape (n,)
        As in `characteristic`. Each one-dimensional array becomes an axis; the others are fixed.
    quantity : {"beta", "tail_rate", "window"}, optional
        "beta" is the spectral exponent, nan where there is none. "tail_rate" is the index of the time-scale tail,
        which below threshold is lam (with a logarithmic factor) and hence a number in every phase but the
        non-stationary one. "window" is the learnability window H_N of the model with a saturating drift, which takes a
        stationary law for every point: 20 to 50 ms each, and a second without tempering.
    progress : bool, optional
        Show a progress bar on stderr.
    N : float or array_like of shape (n,), optional
        Numbers of samples >= 1, for "window" only; several become a further axis, at no further cost.
    noise : StableNoise, optional
        Noise, alignment and level of the test, for "window" only.
    power : float, optional
        Probability of detection at the edge of the window.
    center, drift_width : float, optional
        Of the drift, for "window" only. Exponents and phases do not depend on them; windows do, like the unit of time.

    Returns
    -------
    xarray.Dataset
        The quantity and `phase` (codes of `Phase`) over the axes, in the order of the arguments, and two boundary
        curves: `threshold` (eta_J = eta_J*) and `critical` (beta = 1). A curve is the value of one axis parameter,
        named in its attribute `solved_for`, as a function of the other axes; where that is lam or alpha it has a
        further dimension `branch` of length 2 and is searched within the range of that axis. With "window" also
        `window_status`, codes of `WindowStatus`: nan in `window` is a model without a law or one that was not computed.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, has more than one dimension, or is empty; or if `N` and `noise` do not go
        with the quantity.

    Notes
    -----
    "Collapsed" does not mean a light tail: below threshold the spectrum still falls like tau**(-1-lam) with a
    logarithmic factor; see `Phase`.

    References
    ----------
    L. Livi, arXiv:2606.29519; THEORY 3-4.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> diagram = lc.phase_diagram(
    ...     kappa=1.0, eta_G=0.1, eta_J=np.geomspace(0.1, 10, 5), alpha=np.linspace(0.5, 1.5, 3), lam=3.0
    ... )
    >>> dict(diagram.sizes)
    {'eta_J': 5, 'alpha': 3}
    >>> diagram.threshold.values.round(4)
    array([0.5839, 0.5049, 0.2064])
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=2.0, level=0.05)
    >>> diagram = lc.phase_diagram(
    ...     kappa=1.0, eta_G=0.1, eta_J=[0.5, 2.0], alpha=1.5, lam=3.0, quantity="window", N=10_000, noise=noise
    ... )
    >>> diagram.window.values.round(2)
    array([ 5.13, 59.13])
    """
    choice("quantity", quantity, QUANTITIES)
    if quantity != "window" and not (N is None and noise is None):
        raise ParameterError(f"N and noise go with quantity='window', not with {quantity!r}")
    given = {"kappa": kappa, "eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}
    values = {name: checked(name, value) for name, value in given.items()}
    for name, array in values.items():
        if array.ndim > 1 or array.size == 0:
            raise ParameterError(f"{name} has shape {array.shape}; it must be a number or a non-empty 1-d array")
    axes = [name for name in PARAMETERS if values[name].ndim == 1]
    grids = _open_mesh(values, axes)
    model_arrays(**grids)
    codes = _evaluate(lambda **block: phase(**block), grids, axes, progress and quantity != "window")
    if quantity == "window":
        fields = _windows(grids, axes, values, N, noise_of(noise), power, center, drift_width, progress)
    else:
        function = spectral_exponent if quantity == "beta" else _tail_rate
        fields = xr.Dataset({quantity: (axes, _evaluate(function, grids, axes, progress))})
        fields[quantity].attrs["long_name"] = LONG_NAMES[quantity]

    data = xr.Dataset(
        {**fields.data_vars, "phase": (axes, codes.astype(np.int8), _flags(Phase))},
        coords={name: (name, values[name], {"long_name": LONG_NAMES[name]}) for name in axes},
        attrs={name: float(values[name]) for name in PARAMETERS if name not in axes} | fields.attrs,
    ).assign_coords(fields.coords)
    data["phase"].attrs["long_name"] = "phase"
    solved_for = next((name for name in SOLVED_FOR if name in axes), None)
    if solved_for is not None:
        for label, curve, text in (
            ("threshold", threshold_curve, "threshold eta_J = eta_J*"),
            ("critical", critical_curve, "critical manifold beta = 1"),
        ):
            data[label] = _boundary(curve, solved_for, values, axes, text)
    return data


def _open_mesh(values: dict[str, FloatArray], axes: list[str]) -> dict[str, FloatArray]:
    """Each axis along its own dimension, fixed parameters without one."""
    mesh = {}
    for name, array in values.items():
        if name in axes:
            shape = [1] * len(axes)
            shape[axes.index(name)] = array.size
            mesh[name] = array.reshape(shape)
        else:
            mesh[name] = array
    return mesh


def _evaluate(function: Any, grids: dict[str, FloatArray], axes: list[str], progress: bool) -> FloatArray:
    shape = np.broadcast_shapes(*(grid.shape for grid in grids.values()))
    field = np.empty(shape)
    rows = shape[0] if shape else 1
    step = max(1, CHUNK * rows // max(1, math.prod(shape))) if shape else 1
    for start in _shown(range(0, rows, step), progress):
        part = slice(start, start + step) if shape else ()
        block: dict[str, Any] = {n: g[part] if axes and n == axes[0] else g for n, g in grids.items()}
        field[part] = function(**block)
    return field


def _tail_rate(**block: Any) -> FloatArray:
    return np.asarray(tail_law(**block).rate)


def _windows(
    grids: dict[str, FloatArray],
    axes: list[str],
    values: dict[str, FloatArray],
    N: Any,
    noise: StableNoise,
    power: float,
    center: float,
    drift_width: float,
    progress: bool,
) -> xr.Dataset:
    """Windows and their status, over the axes and over N where there are several."""
    if N is None:
        raise ParameterError("N is missing: quantity='window' needs numbers of samples >= 1")
    count = checked("N", N, SAMPLES)
    if count.ndim > 1 or count.size == 0:
        raise ParameterError(f"N has shape {count.shape}; it must be a number or a non-empty 1-d array")
    place, spread = checked("center", center, FINITE), checked("drift_width", drift_width, POSITIVE)
    if place.ndim or spread.ndim:
        raise ParameterError("center and drift_width must be single numbers")
    target = power_of(noise, power)
    shape = tuple(values[name].size for name in axes)
    window, status = np.empty(shape + count.shape), np.empty(shape + count.shape, dtype=np.int8)
    found = model_windows(grids, float(place), float(spread), log_threshold(np.log(count), noise, target))
    for index, edges, codes in _shown(found, progress, math.prod(shape)):
        window[index], status[index] = edges, codes
    dims = [*axes, "N"] if count.ndim else axes
    data = xr.Dataset(
        {
            "window": (dims, window, {"long_name": LONG_NAMES["window"], "units": "network steps"}),
            "window_status": (dims, status, {"long_name": "status of the window", **_flags(WindowStatus)}),
        },
        attrs={
            **{f"noise_{name}": getattr(noise, name) for name in ("alpha", "scale", "signal", "level")},
            "power": target,
            "center": float(place),
            "drift_width": float(spread),
        },
    )
    if count.ndim:
        return data.assign_coords(N=("N", count, {"long_name": LONG_NAMES["N"]}))
    return data.assign_attrs(N=float(count))


def _shown(work: Any, progress: bool, total: int | None = None) -> Any:
    """What is iterated over, with a progress bar if it is wanted."""
    if not progress:
        return work
    from tqdm import tqdm

    return tqdm(work, desc="phase diagram", total=total, unit="block" if total is None else "point")


def _boundary(curve: Any, solved_for: str, values: dict[str, FloatArray], axes: list[str], text: str) -> xr.DataArray:
    other_axes = [name for name in axes if name != solved_for]
    others = _open_mesh({name: v for name, v in values.items() if name != solved_for}, other_axes)
    found = curve(solved_for, others, values[solved_for])
    dims = other_axes if solved_for in CLOSED_FORM else [*other_axes, "branch"]
    shape = [values[name].size for name in other_axes] + ([] if solved_for in CLOSED_FORM else [2])
    return xr.DataArray(
        np.broadcast_to(found, shape).copy(), dims=dims, attrs={"long_name": text, "solved_for": solved_for}
    )


def _flags(kind: type[IntEnum]) -> dict[str, Any]:
    """Codes and names by the CF convention for flags."""
    members = list(kind)
    return {
        "flag_values": np.array([int(m) for m in members], dtype=np.int8),
        "flag_meanings": " ".join(m.name.lower() for m in members),
    }
