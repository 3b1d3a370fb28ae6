"""Pictures of a stationary density with its far tail, and of an envelope with its asymptote."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullLocator

from .._checks import FINITE, POSITIVE, FloatArray, as_float_array, checked
from .._theory.tail import TailLaw
from ..errors import ParameterError
from .paths import ZETA
from .style import new_axes

#: A tail's law is drawn where it is below this share of the largest density: above, it means nothing.
LAW_BELOW = 0.3
#: Share of the largest value of f that a picture reaches down to: ratios of its limits must not overflow.
DEEPEST = 1e-290
#: A density is shown within this many interquartile ranges of its median, however slowly it falls.
WIDEST = 500.0
#: An asymptote is drawn where it believes itself to this relative accuracy.
BELIEVED = 0.3
#: A logarithmic axis has about so many labels.
LABELS = 7


def plot_density(
    density: Any, ax: Axes | None = None, *, histogram: Any = None, depth: float = 1e-12, label: str | None = None
) -> Axes:
    """Draw a stationary density on a logarithmic scale, with the leading law of its left tail.

    Parameters
    ----------
    density : StationaryDensity
        A result of `stationary_density`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if not given. Several densities may share them.
    histogram : Histogram or array_like, optional
        A simulation behind it: an observer that has seen values, or samples of zeta.
    depth : float, optional
        Share of its largest value down to which the density is shown, between 0 and 1.
    label : str, optional
        Name in a legend, which the caller draws.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. The law is dashed, in the colour of the density, and left out where it has no constant.

    Raises
    ------
    ParameterError
        If `density` is no stationary density, `depth` is not between 0 and 1, or the histogram has seen nothing.

    Notes
    -----
    Judge a law by the distance of the two lines, not by their slopes: in the collapsed phase the leading law is still
    tens of per cent off where the density is 1e-30, which on this scale is hardly a line's width.

    Examples
    --------
    >>> import levycollapse as lc
    >>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    >>> ax = lc.plotting.plot_density(lc.stationary_density(model))
    >>> ax.get_yscale(), len(ax.lines)
    ('log', 2)
    """
    if not all(hasattr(density, name) for name in ("pdf", "ppf", "zeta", "density", "tail")):
        raise ParameterError(f"density={density!r} must be a result of stationary_density")
    if not 0.0 < float(checked("depth", depth, POSITIVE)) < 1.0:
        raise ParameterError(f"depth={depth!r} must be between 0 and 1")
    bars = None if histogram is None else _bars(histogram)
    if ax is None:
        ax = new_axes()
    fresh = not ax.lines
    top = float(np.max(density.density))
    zeta = np.linspace(*_reach(density, depth * top), 1601)
    if bars is not None:
        ax.stairs(*bars, fill=True, color="0.8", zorder=0)
    (line,) = ax.semilogy(zeta, density.pdf(zeta), label=label)
    law = _leading_law(density.tail, zeta)
    law[~((law < LAW_BELOW * top) & (zeta < density.ppf(0.5)))] = np.nan
    if np.isfinite(law).any():
        ax.semilogy(zeta, law, color=line.get_color(), linestyle="--", linewidth=0.9)
    ax.set(xlabel=ZETA, ylabel="density")
    _widen(ax, fresh, (float(zeta[0]), float(zeta[-1])), (depth * top, 2.0 * top))
    _thin_labels(ax.yaxis)
    return ax


def plot_envelope(
    lags: Any, f: Any, ax: Axes | None = None, *, asymptote: Any = None, label: str | None = None
) -> Axes:
    """Draw an envelope over lags, both on logarithmic scales.

    Parameters
    ----------
    lags : array_like
        Increasing lags > 0 in network steps, shape (n,).
    f : array_like
        The envelope at them, shape (n,); zeros, where it has vanished, are left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes if not given. Several envelopes may share them.
    asymptote : TauberianEnvelope or array_like, optional
        What it tends to: values, or a result of `tauberian_envelope` at the same lags, which is left out where its own
        error estimate is above 30 %. Dashed, in the envelope's colour.
    label : str, optional
        Name in a legend, which the caller draws.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    ParameterError
        If lags and values are not tables of one length, or no value is positive.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> lags = np.geomspace(1.0, 1e4, 50)
    >>> ax = lc.plotting.plot_envelope(lags, lc.Pareto(beta=0.8).envelope(lags), asymptote=0.93 * lags**-0.8)
    >>> ax.get_xscale(), len(ax.lines)
    ('log', 2)
    """
    at = checked("lags", lags, POSITIVE)
    values = checked("f", f, FINITE)
    if at.ndim != 1 or values.shape != at.shape:
        raise ParameterError(f"lags and f must be tables of one length, not of shapes {at.shape} and {values.shape}")
    positive = values > 0
    if not positive.any():
        raise ParameterError("f has no positive value to show on a logarithmic scale")
    other = None if asymptote is None else _asymptote(asymptote, at)
    if ax is None:
        ax = new_axes()
    fresh = not ax.lines
    high = float(values[positive].max())
    low = max(float(values[positive].min()), DEEPEST * high)
    (line,) = ax.loglog(at, np.where(positive, values, np.nan), label=label)
    if other is not None:
        ax.loglog(at, other, color=line.get_color(), linestyle="--", linewidth=0.9)
    ax.set(xlabel=r"lag $\ell$ (network steps)", ylabel=r"envelope $f(\ell)$")
    margin = max(high / low, 10.0) ** 0.05
    _widen(ax, fresh, (float(at[0]), float(at[-1])), (low / margin, high * margin))
    _thin_labels(ax.xaxis)
    _thin_labels(ax.yaxis)
    return ax


def _asymptote(asymptote: Any, lags: FloatArray) -> FloatArray:
    """Values at the lags, nan where they are not to be drawn."""
    values = as_float_array("asymptote", getattr(asymptote, "envelope", asymptote))
    if values.shape != lags.shape:
        raise ParameterError(f"asymptote has shape {values.shape}, the lags {lags.shape}")
    error = getattr(asymptote, "relative_error", np.zeros(lags.shape))
    return np.where((values > 0) & (error <= BELIEVED), values, np.nan)


def _bars(histogram: Any) -> tuple[FloatArray, FloatArray]:
    """Heights, nan where nothing fell, and edges."""
    if hasattr(histogram, "edges") and hasattr(histogram, "density"):
        heights, edges = np.array(histogram.density, dtype=float), np.asarray(histogram.edges, dtype=float)
    else:
        samples = checked("histogram", histogram, FINITE).ravel()
        if not samples.size:
            raise ParameterError("histogram has no samples")
        heights, edges = np.histogram(samples, bins="fd" if np.ptp(samples) > 0 else 1, density=True)
    if not (heights > 0).any():
        raise ParameterError("histogram has seen no values")
    heights[~(heights > 0)] = np.nan
    return heights, edges


def _reach(density: Any, level: float) -> tuple[float, float]:
    """Where the density falls below `level` on both sides, within WIDEST."""
    quarter, middle, three = density.ppf([0.25, 0.5, 0.75])
    ends = []
    for side in (-1.0, 1.0):
        distance = (three - quarter) * np.geomspace(0.25, WIDEST, 400)
        above = np.flatnonzero(density.pdf(middle + side * distance) >= level)
        last = int(above[-1]) if above.size else 0
        ends.append(float(middle + side * distance[min(last + 1, 399)]))
    return ends[0], ends[1]


def _leading_law(tail: TailLaw, zeta: FloatArray) -> FloatArray:
    """Density of zeta that belongs to the tail of tau: C exp(rate zeta) abs(zeta)**p (log abs(zeta))**q."""
    if tail.prefactor is None or not np.isfinite(tail.prefactor):
        return np.full(zeta.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = np.where(zeta < 0, -zeta, np.nan)
        law = tail.prefactor * np.exp(tail.rate * zeta)
        if tail.log_power:
            law = law * x**tail.log_power
        if tail.loglog_power:
            law = law * np.where(x > 1, np.log(x), np.nan) ** tail.loglog_power
    return np.asarray(law)


def _widen(ax: Axes, fresh: bool, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Limits that hold these, and what the axes showed before."""
    old_x, old_y = (x, y) if fresh else (ax.get_xlim(), ax.get_ylim())
    ax.set_xlim(min(x[0], old_x[0]), max(x[1], old_x[1]))
    ax.set_ylim(min(y[0], old_y[0]), max(y[1], old_y[1]))


def _thin_labels(axis: Any) -> None:
    """Labels at whole powers of ten, no more than fit, and no minor ticks between powers that are left out."""
    axis.set_major_locator(LogLocator(numticks=LABELS))
    axis.set_major_formatter(LogFormatterSciNotation())
    axis.set_minor_locator(NullLocator())
