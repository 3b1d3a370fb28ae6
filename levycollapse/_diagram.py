"""Phase diagrams: exponent, phase and boundary curves over a grid of parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from ._checks import FloatArray, checked, choice, model_arrays
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
}
QUANTITIES = ("beta", "tail_rate")
#: Grid points evaluated between two updates of the progress bar.
CHUNK = 200_000


def phase_diagram(
    *, kappa: Any, eta_G: Any, eta_J: Any, alpha: Any, lam: Any, quantity: str = "beta", progress: bool = False
) -> xr.Dataset:
    """Phase diagram over the parameters that are given as one-dimensional arrays.

    Parameters
    ----------
    kappa, eta_G, eta_J, alpha, lam : float or array_like of shape (n,)
        As in `characteristic`. Each one-dimensional array becomes an axis; the others are fixed.
    quantity : {"beta", "tail_rate"}, optional
        "beta" is the spectral exponent, nan where there is none. "tail_rate" is the index of the time-scale tail,
        which below threshold is lam (with a logarithmic factor) and hence a number in every phase but the
        non-stationary one.
    progress : bool, optional
        Show a progress bar on stderr.

    Returns
    -------
    xarray.Dataset
        The quantity and `phase` (codes of `Phase`) over the axes, in the order of the arguments, and two boundary
        curves: `threshold` (eta_J = eta_J*) and `critical` (beta = 1). A curve is the value of one axis parameter,
        named in its attribute `solved_for`, as a function of the other axes; where that is lam or alpha it has a
        further dimension `branch` of length 2 and is searched within the range of that axis.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, has more than one dimension, or is empty.

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
    """
    choice("quantity", quantity, QUANTITIES)
    given = {"kappa": kappa, "eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}
    values = {name: checked(name, value) for name, value in given.items()}
    for name, array in values.items():
        if array.ndim > 1 or array.size == 0:
            raise ParameterError(f"{name} has shape {array.shape}; it must be a number or a non-empty 1-d array")
    axes = [name for name in PARAMETERS if values[name].ndim == 1]
    grids = _open_mesh(values, axes)
    model_arrays(**grids)
    field, codes = _evaluate(quantity, grids, axes, progress)

    data = xr.Dataset(
        {
            quantity: (axes, field, {"long_name": LONG_NAMES[quantity]}),
            "phase": (axes, codes.astype(np.int8), _phase_attributes()),
        },
        coords={name: (name, values[name], {"long_name": LONG_NAMES[name]}) for name in axes},
        attrs={name: float(values[name]) for name in PARAMETERS if name not in axes},
    )
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


def _evaluate(
    quantity: str, grids: dict[str, FloatArray], axes: list[str], progress: bool
) -> tuple[FloatArray, FloatArray]:
    shape = np.broadcast_shapes(*(grid.shape for grid in grids.values()))
    field, codes = np.empty(shape), np.empty(shape)
    rows = shape[0] if shape else 1
    step = max(1, CHUNK * rows // max(1, math.prod(shape))) if shape else 1
    starts: Any = range(0, rows, step)
    if progress:
        from tqdm import tqdm

        starts = tqdm(starts, desc="phase diagram", unit="block")
    for start in starts:
        part = slice(start, start + step) if shape else ()
        block: dict[str, Any] = {n: g[part] if axes and n == axes[0] else g for n, g in grids.items()}
        field[part] = spectral_exponent(**block) if quantity == "beta" else tail_law(**block).rate
        codes[part] = phase(**block)
    return field, codes


def _boundary(curve: Any, solved_for: str, values: dict[str, FloatArray], axes: list[str], text: str) -> xr.DataArray:
    other_axes = [name for name in axes if name != solved_for]
    others = _open_mesh({name: v for name, v in values.items() if name != solved_for}, other_axes)
    found = curve(solved_for, others, values[solved_for])
    dims = other_axes if solved_for in CLOSED_FORM else [*other_axes, "branch"]
    shape = [values[name].size for name in other_axes] + ([] if solved_for in CLOSED_FORM else [2])
    return xr.DataArray(
        np.broadcast_to(found, shape).copy(), dims=dims, attrs={"long_name": text, "solved_for": solved_for}
    )


def _phase_attributes() -> dict[str, Any]:
    """Codes and names by the CF convention for flags."""
    members = list(Phase)
    return {
        "flag_values": np.array([int(m) for m in members], dtype=np.int8),
        "flag_meanings": " ".join(m.name.lower() for m in members),
    }
