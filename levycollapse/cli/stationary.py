"""`levycollapse stationary`: the law of zeta and its time-scale spectrum, without simulation."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from . import model
from .files import checked_folder, write_results
from .output import answer

#: Quantiles that are printed; symmetrical, so that those of tau are those of zeta read backwards.
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
#: Points of the grid in log tau, and the mass that it leaves out on each side.
TIMESCALES, LEFT_OUT = 512, 1e-9
#: log tau beyond this is no double, nor is the spectrum there.
LARGEST = 340.0
#: Decades beyond which labels of an axis get in each other's way.
CROWDED = 100.0


def stationary(
    kappa: model.Kappa = None,
    eta_g: model.EtaG = None,
    eta_j: model.EtaJ = None,
    alpha: model.Alpha = None,
    lam: model.Lam = None,
    center: model.Center = None,
    drift_width: model.DriftWidth = None,
    kappa_right: model.KappaRight = None,
    rtol: model.Rtol = None,
    method: model.Method = None,
    json_text: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path("results/stationary"),
) -> None:
    """Stationary law of zeta and its time-scale spectrum.

    Answers with status and error, phase and beta, the tail with its constant, the mean time scale and quantiles; saves
    density and spectrum (NetCDF), their picture (PNG and PDF) and a summary (JSON). Among the quantiles, time scales
    of 0 and inf are beyond the range of floating-point numbers.

    Example: levycollapse stationary --eta-J 0.8 --lam 2
    """
    started = time.perf_counter()
    values = model.parameters(
        {
            "kappa": kappa,
            "eta_G": eta_g,
            "eta_J": eta_j,
            "alpha": alpha,
            "lam": lam,
            "center": center,
            "width": drift_width,
            "kappa_right": kappa_right,
        }
    )
    checked_folder(output)
    found, law = model.stationary_law(values, rtol, method)
    record = {**model.described(found, law), "quantiles": _quantiles(law)}
    data = _dataset(law, record, values)
    axes = _draw(law)
    full = {"parameters": values, **record, **model.made_in(started)}
    files = write_results(output, "stationary", {"stationary": data}, axes, full)
    if json_text:
        answer({**full, "files": [str(path) for path in files]}, True)
        return
    answer({**record, "quantiles": ""}, False)
    for row in record["quantiles"]:
        print(f"  {row['level']:<6g} zeta {row['zeta']:<12.6g} tau {row['tau']:.6g}")
    for path in files:
        print(path)


def _quantiles(law: Any) -> list[dict[str, float]]:
    """Quantiles of zeta and, at the same level, of tau = exp(-zeta)."""
    import numpy as np

    zeta = law.ppf(np.array(QUANTILES))
    with np.errstate(over="ignore"):
        tau = np.exp(-zeta[::-1])
    return [
        {"level": level, "zeta": float(z), "tau": float(t)} for level, z, t in zip(QUANTILES, zeta, tau, strict=True)
    ]


def _dataset(law: Any, record: dict[str, Any], values: dict[str, float]) -> Any:
    import numpy as np
    import xarray as xr

    from .. import __version__

    zeta = law.zeta
    least, largest = np.clip(-law.ppf(np.array([1.0 - LEFT_OUT, LEFT_OUT])), -LARGEST, LARGEST)
    tau = np.exp(np.linspace(least, largest, TIMESCALES))
    return xr.Dataset(
        {
            "density": ("zeta", law.density, {"long_name": "density of zeta"}),
            "distribution": ("zeta", law.cdf(zeta), {"long_name": "distribution function of zeta"}),
            "timescale_density": ("tau", law.timescale_pdf(tau), {"long_name": "time-scale spectrum p(tau)"}),
        },
        coords={
            "zeta": ("zeta", zeta, {"long_name": "log decay rate"}),
            "tau": ("tau", tau, {"long_name": "time scale", "units": "network steps"}),
        },
        attrs={
            "parameters": json.dumps(values),
            "status": record["status"].name,
            "phase": record["phase"].name,
            **{name: record[name] for name in ("error", "tail_error", "beta", "mean_timescale")},
            **{f"tail_{name}": value for name, value in record["tail"].items() if isinstance(value, float)},
            "levycollapse_version": __version__,
        },
    )


def _draw(law: Any) -> Any:
    """The density of zeta and the spectrum of tau over the same stretch, with the tail law."""
    import numpy as np
    from matplotlib.ticker import LogLocator, NullLocator

    from ..plotting import COLUMN_WIDTH, new_axes, plot_density, style

    with style():
        left = new_axes(figsize=(2 * COLUMN_WIDTH, 2.7))
        figure = left.get_figure(root=True)
        assert figure is not None
        left.remove()
        left, right = figure.subplots(1, 2)
        plot_density(law, left)
        for line, name in zip(left.lines, ("stationary law", "tail law"), strict=False):
            zeta, density = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            shown = np.abs(zeta) < LARGEST
            # The law lies on the density where it holds: another colour, or it cannot be seen.
            line.set(label=name, color="C0" if name == "stationary law" else "C1")
            right.plot(
                np.exp(-zeta[shown]),
                density[shown] * np.exp(zeta[shown]),
                color=line.get_color(),
                linestyle=line.get_linestyle(),
                linewidth=line.get_linewidth(),
                label="spectrum" if name == "stationary law" else name,
            )
        # A tail that falls slowly does not come down to where the picture of the others ends.
        left.set_ylim(bottom=max(left.get_ylim()[0], 0.3 * float(np.min(left.lines[0].get_ydata()))))
        right.set(xscale="log", yscale="log")
        if np.ptp(np.log10(right.get_xlim())) > CROWDED:
            right.xaxis.set_major_locator(LogLocator(numticks=5))
            right.xaxis.set_minor_locator(NullLocator())
        right.set(xlabel=r"time scale $\tau$ (network steps)", ylabel=r"spectrum $p(\tau)$ (1/step)")
        left.legend(loc="upper left")
        right.legend(loc="upper right")
    return left
