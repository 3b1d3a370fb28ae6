"""One picture of a verdict: spectrum, envelope, local exponent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._envelope.slope import local_exponent
from .._verdict import Verdict
from ..errors import ParameterError
from .laws import _thin_labels
from .style import new_axes

LAG = r"lag $\ell$ (network steps)"


def plot_verdict(verdict: Any, axes: Sequence[Axes] | None = None) -> np.ndarray:
    """Draw what a verdict rests on: spectrum with its fitted tail, envelope with finite-width band, local exponent.

    Parameters
    ----------
    verdict : Verdict
        A result of `levycollapse.verdict`.
    axes : sequence of three matplotlib.axes.Axes, optional
        Where to draw; a new row of three if not given.

    Returns
    -------
    numpy.ndarray of matplotlib.axes.Axes
        The three axes. Without a fitted tail, or without an envelope, what depends on them is left out.

    Raises
    ------
    ParameterError
        If `verdict` is no verdict or `axes` are not three.

    Examples
    --------
    >>> import levycollapse as lc
    >>> found = lc.verdict(lc.Pareto(beta=0.6, tau_min=2.0).rvs(512, rng=4))
    >>> [ax.get_xscale() for ax in lc.plotting.plot_verdict(found)]
    ['log', 'log', 'log']
    """
    if not isinstance(verdict, Verdict):
        raise ParameterError(f"verdict={verdict!r} must be a result of levycollapse.verdict")
    if axes is None:
        figure = new_axes(figsize=(10.2, 2.9), layout="constrained").figure
        assert isinstance(figure, Figure)
        figure.clear()
        axes = list(figure.subplots(1, 3))
    if len(axes) != 3:
        raise ParameterError(f"axes has {len(axes)} items; three are needed")
    _spectrum(verdict, axes[0])
    _envelope(verdict, axes[1])
    _exponent(verdict, axes[2])
    return np.array(axes, dtype=object)


def _spectrum(verdict: Verdict, ax: Axes) -> None:
    ax.set(xlabel=r"time scale $\tau$ (network steps)", ylabel=r"share of units with a longer one")
    units, fit = verdict.fit._units, verdict.fit
    known = np.isfinite(units.log_tau)
    if not known.any():
        return
    tau = np.exp(units.log_tau[known])
    share = (np.arange(units.size)[known] + 1) / units.size
    late = units.censored[known]
    ax.loglog(tau[~late], share[~late], ".", markersize=3, label="units", color="C0")
    if late.any():
        ax.loglog(tau[late], share[late], ">", markersize=4, fillstyle="none", label="lower bounds", color="C0")
    if fit.cutoff is not None:
        top = 2.0 * float(tau[0])
        at = np.geomspace(fit.threshold, top, 100)
        part = fit.k / fit.n_units
        value, low, high = ((at / fit.threshold) ** -b * part for b in fit.beta)
        ax.loglog(at, value, color="C1", label=rf"$\beta$ = {fit.beta.value:.2f}")
        ax.fill_between(at, low, high, color="C1", alpha=0.25, linewidth=0)
        ax.axvline(fit.threshold, color="0.6", linewidth=0.7, linestyle=":")
    # Time scales far below a step would squeeze the tail into a corner.
    ax.set_xlim(left=float(tau[int(0.99 * (tau.size - 1))]) / 2.0)
    ax.set_ylim(0.5 / units.size, 1.5)
    ax.legend(loc="lower left")
    for axis in (ax.xaxis, ax.yaxis):
        _thin_labels(axis)


def _envelope(verdict: Verdict, ax: Axes) -> None:
    ax.set(xlabel=LAG, ylabel=r"envelope $f(\ell)$", xscale="log", yscale="log")
    found = verdict.prediction
    bottoms = []
    if found is not None:
        shown = found.lags > 0
        at = found.lags[shown]
        low, high = found.quantiles[:, shown]
        ax.fill_between(
            at, low, high, color="C1", alpha=0.25, linewidth=0, label=f"networks of {found.width} units, 90 %"
        )
        ax.loglog(at, found.mean[shown], color="C1", linestyle="--", linewidth=0.9, label="their mean")
        bottoms.append(float(found.mean[shown].min()))
    if verdict.lags.size:
        shown = (verdict.lags > 0) & (verdict.f > 0)
        ax.loglog(verdict.lags[shown], verdict.f[shown], color="C0", label="measured")
        if shown.any():
            bottoms.append(float(verdict.f[shown].min()))
        window = verdict.decay.window if verdict.decay is not None else (np.nan, np.nan)
        if np.isfinite(window[0]):
            ax.axvspan(*window, color="0.92", zorder=-1)
    if bottoms:
        ax.set_ylim(max(min(bottoms) / 3.0, 1e-12), 1.5)
        ax.legend(loc="lower left")
    for axis in (ax.xaxis, ax.yaxis):
        _thin_labels(axis)


def _exponent(verdict: Verdict, ax: Axes) -> None:
    ax.set(xlabel=LAG, ylabel=r"local exponent $-\mathrm{d}\log f/\mathrm{d}\log\ell$", xscale="log")
    top = 1.0
    found = verdict.prediction
    if found is not None:
        lags = found.lags[found.lags > 0]
        curve = local_exponent(lags, verdict.fit.law).exponent
        ax.semilogx(lags, curve, color="C1", linestyle="--", linewidth=0.9, label="fitted spectrum")
        ax.axhspan(verdict.fit.beta.lower, verdict.fit.beta.upper, color="C1", alpha=0.2, linewidth=0)
        top = max(top, verdict.fit.beta.upper)
    shown = (verdict.lags > 0) & (verdict.f > 0)
    if shown.sum() >= 7:
        measured = local_exponent(verdict.lags[shown], verdict.f[shown]).exponent
        ax.semilogx(verdict.lags[shown], measured, color="C0", label="measured")
        top = max(top, float(np.nanmedian(measured)))
    ax.set_ylim(0.0, 1.6 * top)
    if ax.lines:
        ax.legend(loc="upper left")
    _thin_labels(ax.xaxis)
