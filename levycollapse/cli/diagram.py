"""`levycollapse phase-diagram`: compute, save and draw a phase diagram."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ParameterError
from . import ranges
from .files import made_folder, write_dataset, write_text
from .learnability import Level, NoiseAlpha, NoiseScale, Power, Signal, chosen_noise
from .output import as_json

#: Where a parameter that is not on an axis stands if it is not given, and the range of one that is.
FIXED = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 0.62, "alpha": 1.5, "lam": 3.0}
DEFAULT_AXES = {"eta_J": "0.01:20:log", "alpha": "0.05:1.95"}
MOST_POINTS = 100_000_000
#: Points along an axis, and the number that is samples if it is not given.
POINTS, POINTS_OF_WINDOWS, SAMPLES = 400, 30, "1e4"
#: Grids above this show their progress when stderr is a terminal.
LONG, LONG_FOR_WINDOWS = 500_000, 100


def phase_diagram(
    kappa: Annotated[str | None, typer.Option("--kappa", metavar="VALUE", help="Restoring plateau [1].")] = None,
    eta_g: Annotated[str | None, typer.Option("--eta-G", metavar="VALUE", help="Gaussian intensity [0.1].")] = None,
    eta_j: Annotated[
        str | None, typer.Option("--eta-J", metavar="VALUE", help="Jump intensity [an axis, 0.01:20:log].")
    ] = None,
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="VALUE", help="Stability index [an axis, 0.05:1.95].")
    ] = None,
    lam: Annotated[str | None, typer.Option("--lam", metavar="VALUE", help="Tempering lambda [3].")] = None,
    points: Annotated[
        int | None, typer.Option(help="Points along an axis whose range does not say [400; 30 for window].")
    ] = None,
    quantity: Annotated[str, typer.Option(help="What to compute: beta, tail_rate or window.")] = "beta",
    samples: Annotated[
        str | None, typer.Option("--samples", metavar="NUMBER", help="For window: number of samples N [1e4].")
    ] = None,
    noise_alpha: NoiseAlpha = None,
    noise_scale: NoiseScale = None,
    signal: Signal = None,
    level: Level = None,
    power: Power = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the four files.")] = Path(
        "results/phase_diagram"
    ),
) -> None:
    """Phase diagram over two of the five parameters.

    Saves data (NetCDF), picture (PNG and PDF) and a summary (JSON).

    A VALUE is a number, or a range START:STOP[:POINTS][:lin|:log] that puts the parameter on an axis. Two parameters
    must be on axes; eta_J and alpha are if you name no others.

    With --quantity window the learnability window for so many samples in such noise, at 20 to 50 ms a point.

    Example: levycollapse phase-diagram --lam 0.5:20:300:log --kappa 0.1:3 --eta-J 0.3
    """
    started = time.perf_counter()
    given = {"kappa": kappa, "eta_G": eta_g, "eta_J": eta_j, "alpha": alpha, "lam": lam}
    noise = {
        "noise_alpha": noise_alpha,
        "noise_scale": noise_scale,
        "signal": signal,
        "level": level,
        "power": power,
    }
    window = quantity == "window"
    options = _window_options(quantity, samples, noise)
    values = _choose_axes(given, points if points is not None else POINTS_OF_WINDOWS if window else POINTS)
    from .. import __version__
    from .._diagram import phase_diagram as compute
    from ..plotting import plot_phase_diagram, save_figure, style

    axes = {name: value for name, value in values.items() if not isinstance(value, float)}
    size = math.prod(axis.size for axis in axes.values())
    if size > MOST_POINTS:
        raise ParameterError(f"{size} grid points are too many; a diagram takes at most {MOST_POINTS}")
    folder = made_folder(output)
    print(f"{' x '.join(str(a.size) for a in axes.values())} points over {' x '.join(axes)}", file=sys.stderr)
    long = size >= (LONG_FOR_WINDOWS if window else LONG)
    data = compute(**values, quantity=quantity, progress=long and sys.stderr.isatty(), **options)
    data.attrs["levycollapse_version"] = __version__

    with style():
        axes_drawn = plot_phase_diagram(data)
        files = save_figure(axes_drawn, folder / "phase_diagram")
    write_dataset(folder / "phase_diagram.nc", data)
    summary = _summary(data, quantity, axes)
    summary["seconds"] = round(time.perf_counter() - started, 3)
    summary["levycollapse_version"] = __version__
    write_text(folder / "summary.json", as_json(summary) + "\n")
    _report(summary, [folder / "phase_diagram.nc", *files, folder / "summary.json"])


def _window_options(quantity: str, samples: str | None, noise: dict[str, str | None]) -> dict[str, Any]:
    """What `phase_diagram` must know for windows; for other quantities nothing, and nothing may be said."""
    if quantity != "window":
        for name, text in {"samples": samples, **noise}.items():
            if text is not None:
                raise ParameterError(f"{name}={text!r} is about windows; give --quantity window too")
        return {}
    law, power = chosen_noise(noise)
    return {"N": ranges.number("samples", samples or SAMPLES), "noise": law, "power": power}


def _choose_axes(given: dict[str, str | None], points: int) -> dict[str, Any]:
    values = {name: ranges.parse(name, text, points) for name, text in given.items() if text is not None}
    chosen = [name for name, value in values.items() if not isinstance(value, float)]
    for name, text in DEFAULT_AXES.items():
        if len(chosen) < 2 and name not in values:
            values[name] = ranges.parse(name, text, points)
            chosen.append(name)
    if len(chosen) != 2:
        named = ", ".join(chosen) or "none"
        raise ParameterError(f"exactly two parameters must be ranges such as 0.1:10:log; these are: {named}")
    for name, number in FIXED.items():
        values.setdefault(name, number)
    return {name: values[name] for name in FIXED}


def _summary(data: Any, quantity: str, axes: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from .._theory.phase import Phase

    codes = data["phase"].values
    field = data[quantity].values
    finite = field[np.isfinite(field)]
    fixed = {name: data.attrs[name] for name in FIXED if name not in axes}
    if quantity == "window":
        names = ("N", "noise_alpha", "noise_scale", "noise_signal", "noise_level", "power")
        fixed |= {name: data.attrs[name] for name in names}
    return {
        "quantity": quantity,
        "axes": {name: {"from": float(a[0]), "to": float(a[-1]), "points": int(a.size)} for name, a in axes.items()},
        "fixed": fixed,
        "points": int(codes.size),
        "phases": {m.name.lower(): int((codes == int(m)).sum()) for m in Phase if (codes == int(m)).any()},
        "range": [float(finite.min()), float(finite.max())] if finite.size else None,
    }


def _report(summary: dict[str, Any], files: list[Path]) -> None:
    total = summary["points"]
    for name, count in summary["phases"].items():
        print(f"{name:<14} {100 * count / total:5.1f} % of {total} points")
    if summary["range"]:
        low, high = summary["range"]
        print(f"{summary['quantity']:<14} {low:.4g} to {high:.4g}")
    print(f"time           {summary['seconds']:.1f} s")
    for path in files:
        print(path)
