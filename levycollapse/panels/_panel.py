"""A panel of zeta, checked: what is measured, and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .._checks import FloatArray, as_float_array
from ..errors import ParameterError
from ..tails._units import UnitStatus

AXES = ("seed", "unit", "time", "replicate")


@dataclass(frozen=True)
class Panel:
    """Zeta over (seed, unit, time, replicate), nan where there is none.

    Attributes
    ----------
    zeta : ndarray
        Log decay rates, or upper bounds of them where censored.
    status : ndarray
        `UnitStatus` of each.
    times : ndarray
        Training times of the checkpoints, increasing.
    seeds : ndarray
        Labels of the seeds.
    """

    zeta: FloatArray
    status: NDArray[np.int8]
    times: FloatArray
    seeds: NDArray[Any]

    def measured(self) -> FloatArray:
        """Zeta, with nan where it is only a bound."""
        return np.where(self.status == UnitStatus.CENSORED_LONG, np.nan, self.zeta)


def read_panel(panel: Any) -> Panel:
    """Check a panel: a Dataset with zeta and status as of `networks.zeta_panel`, or a DataArray of zeta.

    Raises
    ------
    ParameterError
        If it is neither, dimensions are wrong, times do not increase, or a status is unknown.
    """
    status = None
    if isinstance(panel, xr.Dataset):
        if "zeta" not in panel:
            raise ParameterError(f"panel has variables {sorted(map(str, panel))}; it must have zeta")
        status = panel.get("status")
        panel = panel["zeta"]
    if not isinstance(panel, xr.DataArray):
        raise ParameterError(f"panel is a {type(panel).__name__}; it must be an xarray.DataArray of zeta or a Dataset")
    zeta = _ordered("panel", panel)
    values = as_float_array("panel", zeta.values)
    if np.isinf(values).any():
        raise ParameterError("panel has infinite entries; nan marks a unit without zeta")
    times = as_float_array("time", zeta["time"].values) if "time" in zeta.coords else np.arange(float(values.shape[2]))
    if not (np.isfinite(times).all() and (np.diff(times) > 0).all()):
        raise ParameterError("panel has times that are not finite or do not increase")
    seeds = zeta["seed"].values if "seed" in zeta.coords else np.arange(values.shape[0])
    if status is None:
        found = np.where(np.isnan(values), int(UnitStatus.GROWING), int(UnitStatus.RESOLVED)).astype(np.int8)
    else:
        found = _ordered("status", status).values.astype(np.int8)
        if found.shape != values.shape or not np.isin(found, [int(item) for item in UnitStatus]).all():
            raise ParameterError("panel has a status that is not a UnitStatus, or of another shape than zeta")
    return Panel(values, found, times, seeds)


def _ordered(name: str, array: xr.DataArray) -> xr.DataArray:
    dims = set(array.dims)
    if not {"unit", "time"} <= dims or not dims <= set(AXES):
        raise ParameterError(
            f"{name} has dimensions {array.dims}; it must have unit and time, and may have seed and replicate"
        )
    missing = [axis for axis in ("seed", "replicate") if axis not in dims]
    return array.expand_dims(missing).transpose(*AXES) if missing else array.transpose(*AXES)
