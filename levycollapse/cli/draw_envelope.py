"""The picture of `levycollapse envelope`: f, its local exponent, and the spectrum where one was inverted."""

from __future__ import annotations

from typing import Any

#: Share of its largest value down to which an envelope is shown.
SHOWN = 1e-16


def draw(data: Any, record: dict[str, Any]) -> Any:
    """Axes of a figure of what `envelope` found."""
    from ..plotting import COLUMN_WIDTH, new_axes, style

    inverted = "mass" in data
    panels = 3 if inverted else 2
    with style():
        first = new_axes(figsize=(panels * COLUMN_WIDTH, 2.7))
        figure = first.get_figure(root=True)
        assert figure is not None
        first.remove()
        axes = figure.subplots(1, panels)
        _draw_f(axes[0], data, record)
        _draw_exponent(axes[1], data, record)
        if inverted:
            _draw_spectrum(axes[2], data, record)
        for ax in axes[:2]:
            ax.set(
                xscale="log", xlim=(data["lag"].values[0], data["lag"].values[-1]), xlabel=r"lag $\ell$ (network steps)"
            )
    return axes[0]


def _draw_f(ax: Any, data: Any, record: dict[str, Any]) -> None:
    import numpy as np

    from ..plotting import plot_envelope

    lag, f = data["lag"].values, data["f"].values
    visible = f > 0
    if "mass" in data:
        ax.plot(lag[visible], f[visible], ".", markersize=3, color="0.5", label="given")
        ax.plot(lag, _positive(data["f_fitted"].values), color="C0", label="inverted spectrum")
        ax.set(yscale="log", ylabel=r"envelope $f(\ell)$")
    elif visible.any():
        plot_envelope(lag, f, ax, asymptote=data["asymptote"].values if "asymptote" in data else None)
        for line, name in zip(ax.lines, ("envelope", "asymptote of the tail"), strict=False):
            # The asymptote lies on the envelope where it holds: another colour, or it cannot be seen.
            line.set(label=name, color="C0" if name == "envelope" else "C1")
    if "quantile" in data:
        levels = data["level"].values
        for k, shade in ((0, 0.25), (1, 0.45)):
            low, high = data["quantile"].values[k], data["quantile"].values[-1 - k]
            label = f"{100 * (levels[-1 - k] - levels[k]):.0f} % of networks, {record['network']['units']} units"
            floor = f[visible].min() * 1e-6
            ax.fill_between(lag, np.maximum(low, floor), high, color="C0", alpha=shade, linewidth=0, label=label)
    holds = record.get("asymptote_holds_from", np.nan)
    if lag[0] < holds < lag[-1]:
        ax.axvline(holds, color="0.6", linewidth=0.7, label="holds to 5 %")
    if visible.any():
        low, high = f[visible].min(), f[visible].max()
        ax.set_ylim(max(low, SHOWN * high) / 3, 3 * high)
        ax.legend(loc="upper right" if "quantile" in data else "lower left")


def _draw_exponent(ax: Any, data: Any, record: dict[str, Any]) -> None:
    import numpy as np

    lag, slope = data["lag"].values, data["local_exponent"].values
    if "local_exponent_lower" in data:
        low, high = data["local_exponent_lower"].values, data["local_exponent_upper"].values
        ax.fill_between(lag, low, high, color="C0", alpha=0.3, linewidth=0, label="95 % interval")
    ax.plot(lag, slope, label="local exponent")
    beta = record.get("beta")
    if isinstance(beta, dict):
        if np.isfinite(beta["value"]):
            ax.axhspan(beta["lower"], beta["upper"], color="C1", alpha=0.3, linewidth=0)
            ax.axhline(beta["value"], color="C1", linestyle="--", label=rf"$\beta = {beta['value']:.3g}$")
    elif "tail" in record:
        rate = record["tail"]["rate"]
        if np.isfinite(rate):
            name = r"\beta" if np.isfinite(record["beta"]) else r"\mathrm{rate\ of\ the\ tail}"
            ax.axhline(rate, color="C1", linestyle="--", label=rf"${name} = {rate:.3g}$")
    finite = slope[np.isfinite(slope)]
    if finite.size:
        top = 1.3 * max(finite.max(), 1e-3)
        ax.set_ylim(0, top)
    ax.set_ylabel(r"$-\mathrm{d}\log f/\mathrm{d}\log\ell$")
    ax.legend()


def _draw_spectrum(ax: Any, data: Any, record: dict[str, Any]) -> None:
    tau, mass = data["timescale"].values, data["mass"].values
    start = record["tail"]["start"]
    if record["status"] == "discrete":
        ax.vlines(tau, 0, mass, color="C0")
        ax.plot(tau, mass, "o", markersize=4)
        low, high = record["resolved"]["from"], record["resolved"]["to"]
        ax.set(xlim=(0.5 * min(low, tau.min()), 2 * max(high, tau.max())), ylim=(0, 1.2 * mass.max()))
    else:
        ax.plot(tau, _positive(mass), label="regularised spectrum")
        ax.set(yscale="log", ylim=(max(mass.max() * 1e-8, 0.3 * mass[mass > 0].min()), 3 * mass.max()))
        if start == start:
            ax.axvline(start, color="0.6", linewidth=0.7, label="tail starts")
        ax.legend()
    ax.set(xscale="log", xlabel=r"time scale $\tau$ (network steps)", ylabel="mass at a node")


def _positive(values: Any) -> Any:
    import numpy as np

    return np.where(values > 0, values, np.nan)
