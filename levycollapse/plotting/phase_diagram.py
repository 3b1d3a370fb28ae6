"""The picture of a phase diagram."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterSciNotation, NullFormatter
from scipy.ndimage import distance_transform_edt

from .._theory.phase import Phase
from ..errors import ParameterError
from .style import new_axes

SYMBOLS = {
    "kappa": r"$\kappa$",
    "eta_G": r"$\eta_G$",
    "eta_J": r"$\eta_J$",
    "alpha": r"$\alpha$",
    "lam": r"$\lambda$",
    "beta": r"$\beta$",
    "tail_rate": "tail index",
    "window": r"window $H_N$ (network steps)",
}
PHASE_LABELS = {
    Phase.COLLAPSED: "collapsed",
    Phase.CONCENTRATED: "concentrated",
    Phase.BROAD: "broad",
    Phase.LOGARITHMIC: "logarithmic",
    Phase.NONSTATIONARY: "no stationary law",
}
#: Below these fractions of the picture (its width, its height) a region is too small to carry its name.
LABEL_ROOM = (0.13, 0.04)
#: Least distance of a contour's label from the frame, as a fraction of the axes.
LABEL_MARGIN = 0.05
HALO = [patheffects.withStroke(linewidth=2.0, foreground="white")]
#: Contour levels of beta: a 1-2-5 ladder without 1, which is the critical manifold.
LEVELS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 2, 5, 10, 20, 50, 100]
#: Contour levels of a window, in network steps; those beyond the last share its colour.
WINDOW_LEVELS = [10.0**k for k in range(7)]


def plot_phase_diagram(diagram: xr.Dataset, ax: Axes | None = None) -> Axes:
    r"""Draw a two-dimensional phase diagram: exponent or window as colour, phases bounded by their two curves.

    Parameters
    ----------
    diagram : xarray.Dataset
        A result of `phase_diagram` with two axes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. The parameter that the boundary curves are solved for is vertical.

    Raises
    ------
    ParameterError
        If `diagram` has not two axes, or is not a phase diagram.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> diagram = lc.phase_diagram(
    ...     kappa=1.0, eta_G=0.1, eta_J=np.geomspace(0.05, 10, 40), alpha=np.linspace(0.2, 1.8, 40), lam=3.0
    ... )
    >>> ax = lc.plotting.plot_phase_diagram(diagram)
    >>> ax.get_ylabel()
    'jump intensity $\\eta_J$'
    """
    if not isinstance(diagram, xr.Dataset) or not {"threshold", "phase"} <= set(diagram.data_vars):
        raise ParameterError("diagram must be a Dataset made by phase_diagram, over two axes")
    quantity = next((name for name in ("beta", "tail_rate", "window") if name in diagram), None)
    if quantity is None:
        raise ParameterError("diagram must be a Dataset made by phase_diagram")
    field = diagram[quantity]
    if field.ndim != 2:
        raise ParameterError(f"diagram has axes {field.dims}; a picture needs two")
    vertical = diagram["threshold"].attrs["solved_for"]
    horizontal = next(str(name) for name in field.dims if name != vertical)
    x, y = diagram[horizontal].values, diagram[vertical].values
    if x.size < 2 or y.size < 2:
        raise ParameterError(f"diagram has {x.size} x {y.size} points; a picture needs two along each axis")
    if ax is None:
        ax = new_axes()
    values = field.transpose(vertical, horizontal).values
    phases = diagram["phase"].transpose(vertical, horizontal).values

    levels = WINDOW_LEVELS if quantity == "window" else LEVELS
    _draw_field(ax, x, y, values, SYMBOLS[quantity], levels)
    for name, axis, setter in ((horizontal, x, ax.set_xscale), (vertical, y, ax.set_yscale)):
        if _is_logarithmic(axis):
            setter("log")
        getattr(ax, "set_xlabel" if name == horizontal else "set_ylabel")(
            f"{diagram[name].attrs.get('long_name', name)} {SYMBOLS[name]}"
        )
    ax.set(xlim=(x.min(), x.max()), ylim=(y.min(), y.max()))
    for plain_axis, log in ((ax.xaxis, _is_logarithmic(x)), (ax.yaxis, _is_logarithmic(y))):
        if log:
            plain_axis.set_minor_formatter(NullFormatter())
            plain_axis.set_major_formatter(LogFormatterSciNotation())
    _draw_boundaries(ax, diagram, horizontal)
    taken = _label_phases(ax, x, y, phases)
    _draw_contours(ax, x, y, values, taken, levels)
    return ax


def _is_logarithmic(axis: Any) -> bool:
    """Whether the points are spaced evenly in the logarithm (and not in the value)."""
    if axis.min() <= 0 or axis.size < 3:
        return False
    ratios, steps = np.diff(np.log(axis)), np.diff(axis)
    return bool(np.ptp(ratios) <= 1e-6 * abs(ratios.mean()) and np.ptp(steps) > 1e-6 * abs(steps.mean()))


def _draw_field(ax: Axes, x: Any, y: Any, values: Any, label: str, levels: list[float]) -> None:
    ax.set_facecolor("0.88")
    shown = np.ma.masked_invalid(values)
    shown = np.ma.masked_less_equal(shown, 0.0)
    if shown.count() == 0:
        return
    low, high = float(shown.min()), float(shown.max())
    cut = levels is WINDOW_LEVELS and low < levels[-1] < high
    if cut:
        high = levels[-1]
    norm = LogNorm(low, high) if high > low else LogNorm(0.5 * low, 2.0 * high)
    mesh = ax.pcolormesh(x, y, shown, norm=norm, cmap="viridis", shading="nearest", rasterized=True)
    bar = ax.figure.colorbar(mesh, ax=ax, label=label, pad=0.02, extend="max" if cut else "neither")
    bar.ax.minorticks_off()
    ticks = [level for level in sorted({*levels, 1.0}) if low <= level <= high]
    if len(ticks) >= 2:
        bar.set_ticks(ticks, labels=[_level_text(tick) for tick in ticks])


def _level_text(level: float) -> str:
    return f"{level:g}" if level < 1e4 else rf"$10^{{{round(np.log10(level))}}}$"


def _draw_boundaries(ax: Axes, diagram: xr.Dataset, horizontal: str) -> None:
    handles = []
    x = diagram[horizontal].values
    low, high = ax.get_ylim()
    styles: tuple[tuple[str, Literal["solid", "dashed"], str], ...] = (
        ("threshold", "solid", r"threshold $\eta_J=\eta_J^\ast$"),
        ("critical", "dashed", r"critical $\beta=1$"),
    )
    for name, dashes, text in styles:
        curve = diagram[name]
        branches = curve.transpose(horizontal, "branch").values.T if "branch" in curve.dims else [curve.values]
        visible = False
        for branch in branches:
            visible |= bool(np.any((branch >= low) & (branch <= high)))
            ax.plot(x, branch, color="white", linewidth=2.6, linestyle="-", zorder=3)
            ax.plot(x, branch, color="black", linewidth=1.3, linestyle=dashes, zorder=4)
        if len(branches) == 2:
            _join_branches(ax, x, *branches)
        if visible:
            handles.append(Line2D([], [], color="black", linewidth=1.3, linestyle=dashes, label=text))
    if handles:
        ax.legend(
            handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, borderaxespad=0.2, handlelength=2.2
        )


def _join_branches(ax: Axes, x: Any, falling: Any, rising: Any) -> None:
    """Close a curve at the tips where its two branches end together between two grid points."""
    both, neither = np.isfinite(falling) & np.isfinite(rising), np.isnan(falling) & np.isnan(rising)
    tips = np.zeros(x.size, dtype=bool)
    tips[1:] |= both[1:] & neither[:-1]
    tips[:-1] |= both[:-1] & neither[1:]
    ax.vlines(x[tips], falling[tips], rising[tips], color="black", linewidth=1.3, zorder=4)


def _label_phases(ax: Axes, x: Any, y: Any, phases: Any) -> list[Any]:
    """Write each phase's name where its region is roomiest; return the positions, in fractions of the axes."""
    to_unit = ax.transScale + ax.transLimits
    horizontal = to_unit.transform(np.column_stack([x, np.full(x.size, y[0])]))[:, 0]
    vertical = to_unit.transform(np.column_stack([np.full(y.size, x[0]), y]))[:, 1]
    pixels = np.linspace(0, 1, 120)
    nearest_x = np.abs(horizontal[:, None] - pixels).argmin(axis=0)
    nearest_y = np.abs(vertical[:, None] - pixels).argmin(axis=0)
    picture = phases[np.ix_(nearest_y, nearest_x)]
    positions = []
    for member, text in PHASE_LABELS.items():
        region = np.pad(picture == int(member), 1)
        # Distances in units in which a label is as wide as it is high.
        room = distance_transform_edt(region, sampling=(1 / 120 / LABEL_ROOM[1], 1 / 120 / LABEL_ROOM[0]))
        row, column = np.unravel_index(np.argmax(room), room.shape)
        if room[row, column] < 1.0:
            continue
        position = (pixels[column - 1], pixels[row - 1])
        ax.text(
            *position,
            text,
            transform=ax.transAxes,
            ha="center",
            va="center",
            fontstyle="italic",
            path_effects=HALO,
            zorder=5,
        )
        positions.append(np.array(position))
    return positions


def _draw_contours(ax: Axes, x: Any, y: Any, values: Any, taken: list[Any], wanted: list[float]) -> None:
    """Draw contour lines, each labelled where it is farthest from the frame and from other labels."""
    shown = np.ma.masked_invalid(values)
    levels = [level for level in wanted if shown.count() and shown.min() < level < shown.max()]
    if not levels:
        return
    lines = ax.contour(x, y, shown, levels=levels, colors="white", linewidths=0.6)
    to_unit = ax.transScale + ax.transLimits
    places = []
    for path in lines.get_paths():
        best, best_room = None, LABEL_MARGIN
        for polygon in path.to_polygons(closed_only=False):
            line = np.asarray(polygon)
            unit = to_unit.transform(line)
            room = np.minimum(unit, 1.0 - unit).min(axis=1)
            # Away from other labels, and from the ends of the line, which lie on a boundary curve.
            for other, weight in [(label, 0.5) for label in taken] + [(unit[0], 0.8), (unit[-1], 0.8)]:
                room = np.minimum(room, weight * np.hypot(*(unit - other).T))
            if room.max() > best_room:
                best_room = room.max()
                index = int(np.argmax(room))
                best = (line[index], unit[index])
        if best is not None:
            places.append(best[0])
            taken.append(best[1])
    if places:
        for label in ax.clabel(lines, fmt=_level_text, fontsize=6, manual=places):
            label.set_path_effects([patheffects.withStroke(linewidth=1.0, foreground="0.25")])
