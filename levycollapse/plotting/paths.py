"""Pictures of simulated paths and of their distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from ..errors import ParameterError
from .style import new_axes

ZETA = r"log decay rate $\zeta$"


def plot_paths(result: xr.Dataset, ax: Axes | None = None, *, count: int = 12) -> Axes:
    """Draw some simulated paths over time.

    Parameters
    ----------
    result : xarray.Dataset
        A result of `simulate`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if not given.
    count : int, optional
        How many paths, the first ones.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    ParameterError
        If `result` has no zeta over path and time, or `count` is not positive.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> result = lc.simulate(model, n_paths=20, t_end=2.0, dt=0.1, store_every=1, rng=1)
    >>> len(lc.plotting.plot_paths(result, count=5).lines)
    5
    """
    zeta = _zeta(result)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ParameterError(f"count={count!r} must be an integer >= 1")
    if ax is None:
        ax = new_axes()
    shown = zeta.isel(path=slice(0, count))
    ax.plot(shown["time"].values, shown.transpose("time", "path").values, linewidth=0.7)
    ax.set(xlabel="training time", ylabel=ZETA, xlim=(float(zeta["time"][0]), float(zeta["time"][-1])))
    return ax


def plot_distribution(
    result: xr.Dataset, ax: Axes | None = None, *, horizontal: bool = False, density: Any = None
) -> Axes:
    """Draw the distribution of the last states of a simulation, on a logarithmic scale.

    Parameters
    ----------
    result : xarray.Dataset
        A result of `simulate`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if not given.
    horizontal : bool, optional
        Put zeta on the vertical axis, beside a picture of paths.
    density : object with pdf(zeta), optional
        A law to draw over the histogram.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    ParameterError
        If `result` has no zeta over path and time.

    Notes
    -----
    Bins are of equal width (Freedman and Diaconis). A bin with one path is drawn like any other: on a logarithmic
    scale the ends of a histogram are mostly noise.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> result = lc.simulate(model, n_paths=500, t_end=5.0, dt=0.1, rng=1)
    >>> lc.plotting.plot_distribution(result).get_yscale()
    'log'
    """
    last = _zeta(result).isel(time=-1).values
    if ax is None:
        ax = new_axes()
    heights, edges = np.histogram(last, bins="fd" if np.ptp(last) > 0 else 1, density=True)
    ax.stairs(heights, edges, orientation="horizontal" if horizontal else "vertical", fill=True, color="0.75")
    set_density = ax.set_xscale if horizontal else ax.set_yscale
    set_density("log")
    (ax.set_xlabel if horizontal else ax.set_ylabel)("density")
    (ax.set_ylabel if horizontal else ax.set_xlabel)(ZETA)
    if density is not None:
        grid = np.linspace(edges[0], edges[-1], 400)
        values = density.pdf(grid)
        ax.plot(*((values, grid) if horizontal else (grid, values)), color="C1")
    positive = heights[heights > 0]
    limits = (0.5 * positive.min(), 2.0 * positive.max())
    (ax.set_xlim if horizontal else ax.set_ylim)(*limits)
    return ax


def _zeta(result: xr.Dataset) -> xr.DataArray:
    if not isinstance(result, xr.Dataset) or "zeta" not in result or set(result["zeta"].dims) != {"path", "time"}:
        raise ParameterError("result must be a Dataset made by simulate, with zeta over path and time")
    return result["zeta"]
