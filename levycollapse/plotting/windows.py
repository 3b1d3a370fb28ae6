"""The picture of learnability windows over sample sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._learnability.status import WindowStatus
from ..errors import ParameterError
from .laws import _thin_labels, _widen
from .style import new_axes

#: Longer windows are left out of the picture.
LONGEST_SHOWN = 1e12


def plot_window(windows: Any, ax: Axes | None = None, *, information: bool = False) -> Axes:
    """Draw learnability windows H_N over the number of samples, for one source or several.

    Parameters
    ----------
    windows : LearnabilityWindow or mapping of str to LearnabilityWindow
        Results of `learnability_window` with several N each; the names label the lines.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if not given.
    information : bool, optional
        Also draw, dotted, the window that no method exceeds.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, both logarithmic. Bands over networks are shaded between their outermost and innermost pairs of
        quantiles. An upward triangle marks N from which every lag of a table is detected, at its last lag.

    Raises
    ------
    ParameterError
        If there is nothing to draw: no window is above 0, or there are fewer than two N.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> noise = lc.StableNoise(alpha=1.5, scale=1.0, signal=2.0, level=0.05)
    >>> N = np.geomspace(10, 1e7, 40)
    >>> laws = {"one time scale": lc.ExponentialEnvelope(rate=0.1), "many": lc.Pareto(beta=0.8)}
    >>> ax = lc.plotting.plot_window({name: lc.learnability_window(law, N, noise) for name, law in laws.items()})
    >>> ax.get_yscale(), len(ax.lines)
    ('log', 2)
    """
    named = dict(windows) if isinstance(windows, Mapping) else {None: windows}
    for found in named.values():
        if not all(hasattr(found, name) for name in ("window", "information_window", "band")):
            raise ParameterError(f"windows={found!r} must be results of learnability_window")
        if np.ndim(found.N) != 1 or np.size(found.N) < 2:
            raise ParameterError(f"windows has N of shape {np.shape(found.N)}; a line needs a 1-d array of two or more")
    shown = [_shown(found.window) for found in named.values()]
    if not any(np.isfinite(values).any() for values in shown):
        raise ParameterError("windows has no window between 1 and 1e12 to show")
    if ax is None:
        ax = new_axes()
    fresh = not ax.lines
    top = 10.0
    for (name, found), values in zip(named.items(), shown, strict=True):
        order = np.argsort(found.N)
        N, status = np.asarray(found.N)[order], np.asarray(found.status)[order]
        (line,) = ax.loglog(N, values[order], label=name)
        color = line.get_color()
        top = max(top, np.nanmax(values, initial=1.0))
        if information:
            limit = _shown(found.information_window)[order]
            ax.loglog(N, limit, color=color, linestyle=":", linewidth=0.9)
            top = max(top, np.nanmax(limit, initial=1.0))
        beyond = status == WindowStatus.BEYOND_TABLE
        if beyond.any():
            ends = np.asarray(found.lower)[order]
            ax.loglog(N[beyond], ends[beyond], "^", color=color, markersize=3)
            top = max(top, ends[beyond].max())
        if found.band is not None:
            bands = _shown(found.band.window)[:, order]
            for k in range(bands.shape[0] // 2):
                ax.fill_between(N, bands[k], bands[-1 - k], color=color, alpha=0.2, linewidth=0)
            top = max(top, np.nanmax(bands, initial=1.0))
    ax.set(xlabel="samples $N$", ylabel=r"learnability window $H_N$ (network steps)")
    counts = np.concatenate([found.N for found in named.values()])
    _widen(ax, fresh, (float(counts.min()), float(counts.max())), (1.0, 1.5 * top))
    _thin_labels(ax.xaxis)
    _thin_labels(ax.yaxis)
    if any(name is not None for name in named):
        ax.legend(loc="upper left")
    return ax


def _shown(window: Any) -> Any:
    """Windows that a logarithmic axis can show, nan for the others."""
    values = np.asarray(window, dtype=float)
    return np.where((values >= 1) & (values <= LONGEST_SHOWN), values, np.nan)
