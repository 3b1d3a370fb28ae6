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


def stationary(
    kappa: model.Kappa = None,
    eta_g: model.EtaG = None,
    eta_j: model.EtaJ = None,
    alpha: model.Alpha = None,
    lam: model.Lam = None,
    center: model.Center = None,
    width: model.Width = None,
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
            "width": width,
            "kappa_right": kappa_right,
        }
    )
    checked_folder(output)
    found, law = model.stationary_law(values, rtol, method)
    record = {**model.described(found, law), "quantiles": _quantiles(law)}
    data = _dataset(law, record, values)
    axes = _draw(law)
    full = {"parameters": values, **record, **model.made_in(started)}
    files = write_results(output, "stationary", data, axes, full)
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
    ends = -law.ppf(np.array([1.0 - LEFT_OUT, LEFT_OUT]))
    tau = np.exp(np.linspace(*np.clip(ends, -LARGEST, LARGEST), TIMESCALES))
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

    from ..plotting import COLUMN_WIDTH, new_axes, style

    low, middle_low, middle_high, high = law.ppf(np.array([1e-7, 0.05, 0.95, 1.0 - 1e-5]))
    # Where the tails fall like a power of zeta, the extreme quantiles are astronomically far out.
    reach = 30.0 * (middle_high - middle_low)
    low, high = max(low, middle_low - reach), min(high, middle_high + reach)
    zeta = np.linspace(low, high, 1200)
    density = law.pdf(zeta)
    tail = _tail(law.tail, zeta)
    with style():
        left = new_axes(figsize=(2 * COLUMN_WIDTH, 2.7))
        figure = left.get_figure(root=True)
        assert figure is not None
        left.remove()
        left, right = figure.subplots(1, 2)
        left.plot(zeta, density, label="stationary law")
        left.plot(zeta, tail, "--", label="tail law")
        left.set(xlabel=r"log decay rate $\zeta$", ylabel=r"density $\rho(\zeta)$", yscale="log")
        shown = np.abs(zeta) < LARGEST
        tau = np.exp(-zeta[shown])
        right.plot(tau, density[shown] / tau, label="spectrum")
        right.plot(tau, tail[shown] / tau, "--", label="tail law")
        right.set(xlabel=r"time scale $\tau$ (steps)", ylabel=r"spectrum $p(\tau)$ (1/step)")
        right.set(xscale="log", yscale="log")
        for axes, height in ((left, density), (right, density[shown] / tau)):
            axes.set_ylim(0.3 * height.min(), 3.0 * height.max())
            axes.legend()
    return left


def _tail(tail: Any, zeta: Any) -> Any:
    """Tail law as a density of zeta, nan where log tau or its logarithm is not positive."""
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        log_tau = np.where(zeta < 0, -zeta, np.nan)
        value = tail.prefactor * np.exp(-tail.rate * log_tau) * log_tau**tail.log_power
        if tail.loglog_power:
            value = value * np.where(log_tau > 1, np.log(log_tau), np.nan) ** tail.loglog_power
    return value
