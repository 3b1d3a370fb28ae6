"""`levycollapse learnability`: the window H_N of a model or of a measured envelope."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ParameterError
from . import model, ranges, tables
from .files import checked_folder, write_results
from .output import answer

SAMPLES = "10:1e7:61:log"
MOST_SAMPLES = 10_000
#: Noise that is meant if nothing is said: index, scale, signal, level, power.
NOISE = {"noise_alpha": 1.5, "noise_scale": 1.0, "signal": 1.0, "level": 0.05, "power": 0.5}
BANDS = (0.05, 0.25, 0.5, 0.75, 0.95)

Number = str | None
NoiseAlpha = Annotated[Number, typer.Option("--noise-alpha", metavar="NUMBER", help="Tail index of the noise [1.5].")]
NoiseScale = Annotated[Number, typer.Option("--noise-scale", metavar="NUMBER", help="Its scale sigma [1].")]
Signal = Annotated[Number, typer.Option("--signal", metavar="NUMBER", help="Alignment m [1].")]
Level = Annotated[Number, typer.Option("--level", metavar="NUMBER", help="Level of the test [0.05].")]
Power = Annotated[Number, typer.Option("--power", metavar="NUMBER", help="Power at the edge of the window [0.5].")]


def learnability(
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
    f: Annotated[
        Path | None,
        typer.Option("--f", metavar="FILE", help="A measured envelope instead of a model: CSV lag,f, or .npz."),
    ] = None,
    samples: Annotated[
        Number, typer.Option("--samples", metavar="VALUE", help=f"Number of samples N, or a range [{SAMPLES}].")
    ] = None,
    noise_alpha: NoiseAlpha = None,
    noise_scale: NoiseScale = None,
    signal: Signal = None,
    level: Level = None,
    power: Power = None,
    rule: Annotated[str, typer.Option("--rule", help="sup or contiguous.")] = "sup",
    units: Annotated[
        Number, typer.Option("--units", metavar="COUNT", help="Units of a network: shows bands over networks.")
    ] = None,
    networks: Annotated[
        Number, typer.Option("--networks", metavar="COUNT", help="Simulated networks for the bands [1000].")
    ] = None,
    seed: Annotated[
        Number, typer.Option("--seed", metavar="INTEGER", help="Seed of the bands; without one it is new each time.")
    ] = None,
    json_text: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path(
        "results/learnability"
    ),
) -> None:
    """Learnability window H_N: the largest lag that the mean of N samples detects.

    From a model or from a measured envelope (--f). Beside it the largest lag that any method could detect. Saves data
    (NetCDF), picture (PNG and PDF) and a summary (JSON).

    Example: levycollapse learnability --eta-J 2 --noise-alpha 1.5 --samples 100:1e6:50:log
    """
    started = time.perf_counter()
    texts = {
        "kappa": kappa,
        "eta_G": eta_g,
        "eta_J": eta_j,
        "alpha": alpha,
        "lam": lam,
        "center": center,
        "width": drift_width,
        "kappa_right": kappa_right,
    }
    others = {"rtol": rtol, "method": method, "units": units, "networks": networks, "seed": seed}
    if f is not None:
        drift = {"drift_width" if name == "width" else name: text for name, text in texts.items()}
        model.refuse("--f", {**others, **drift})
    checked_folder(output)
    given = {
        "noise_alpha": noise_alpha,
        "noise_scale": noise_scale,
        "signal": signal,
        "level": level,
        "power": power,
    }
    record, data, found = _computed(f, texts, others, _samples(samples), given, rule)
    full = {**record, **model.made_in(started)}
    data.attrs.update(levycollapse_version=full["levycollapse_version"])
    files = write_results(output, "learnability", {"learnability": data}, _draw(found), full)
    shown = {name: value for name, value in record.items() if name != "parameters"}
    answer({**full, "files": [str(path) for path in files]} if json_text else shown, json_text)
    if not json_text:
        for path in files:
            print(path)


def _samples(text: str | None) -> Any:
    import numpy as np

    values = np.atleast_1d(ranges.parse("samples", text or SAMPLES, 61))
    if values.size > MOST_SAMPLES:
        raise ParameterError(f"samples={text!r}: {values.size} are too many; at most {MOST_SAMPLES}")
    return values


def _computed(
    path: Path | None,
    texts: dict[str, str | None],
    others: dict[str, str | None],
    N: Any,
    given: dict[str, str | None],
    rule: str,
) -> tuple[dict[str, Any], Any, Any]:
    import levycollapse as lc

    noise, power = chosen_noise(given)
    options: dict[str, Any] = {"power": power, "rule": rule}
    if path is not None:
        lags, f, _ = tables.read_envelope(path)
        record: dict[str, Any] = {"file": str(path), "lags": int(lags.size)}
        try:
            found = lc.learnability_window((lags, f), N, noise, **options)
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}" if str(error).startswith("lags") else str(error)) from None
    else:
        if others["units"] is not None:
            options["width"] = ranges.whole("units", others["units"])
            options["n_networks"] = ranges.whole("networks", others["networks"] or "1000")
            options["quantiles"] = BANDS
            options["rng"] = None if others["seed"] is None else ranges.whole("seed", others["seed"], least=0)
        else:
            for name in ("networks", "seed"):
                if others[name] is not None:
                    raise ParameterError(f"{name}={others[name]!r} is about the bands over networks; give --units too")
        values = model.parameters(texts)
        made, law = model.stationary_law(values, others["rtol"], others["method"])
        record = {"parameters": values, **model.described(made, law)}
        found = lc.learnability_window(law, N, noise, **options)
    record |= {
        "noise": {"alpha": noise.alpha, "scale": noise.scale, "signal": noise.signal, "level": noise.level},
        "power": found.power,
        "rule": rule,
        "concentration_exponent": noise.concentration_exponent,
        "last": {
            "N": float(N[-1]),
            "window": float(found.window[-1]),
            "status": lc.WindowStatus(int(found.status[-1])),
            "lower": float(found.lower[-1]),
            "growth_exponent": float(found.growth_exponent[-1]),
            "information_window": float(found.information_window[-1]),
        },
        "meaning": found.meaning,
    }
    return record, _dataset(found), found


def chosen_noise(given: dict[str, str | None]) -> tuple[Any, float]:
    """Noise and power that the options name, defaults for the rest."""
    import levycollapse as lc

    numbers = {name: ranges.number(name, text) for name, text in given.items() if text is not None}
    for name in ("noise_alpha", "noise_scale"):
        if name in numbers:
            _renamed(name, numbers[name])
    chosen = {**NOISE, **numbers}
    noise = lc.StableNoise(chosen["noise_alpha"], chosen["noise_scale"], chosen["signal"], chosen["level"])
    return noise, chosen["power"]


def _renamed(name: str, value: float) -> None:
    """Check a number under the name that it has on the command line, where another is called alpha."""
    from .._checks import POSITIVE, checked
    from .._learnability.averaging import INDEX

    checked(name, value, INDEX if name == "noise_alpha" else POSITIVE)


def _dataset(found: Any) -> Any:
    import xarray as xr

    names = {
        "window": "learnability window",
        "lower": "largest lag that is detected for certain",
        "upper": "lag before which its edge lies",
        "threshold": "envelope that the mean of N samples detects",
        "growth_exponent": "d log H/d log N",
        "information_window": "lag that no method exceeds",
        "information_threshold": "envelope that no method detects",
    }
    data = xr.Dataset(
        {name: ("N", getattr(found, name), {"long_name": text}) for name, text in names.items()},
        coords={"N": ("N", found.N, {"long_name": "samples"})},
    )
    for name in ("status", "information_status"):
        data[name] = ("N", getattr(found, name).astype("int8"))
    if found.band is not None:
        data = data.assign_coords(quantile=found.band.levels)
        for name in ("window", "window_low", "window_high"):
            data[f"band_{name}"] = (("quantile", "N"), getattr(found.band, name))
    return data


def _draw(found: Any) -> Any:
    import numpy as np

    from ..plotting import new_axes, plot_window, style

    with style():
        seen = np.isfinite(found.window) & (found.window >= 1)
        if seen.any() and found.N.size > 1:
            return plot_window(found, information=True)
        ax = new_axes()
        ax.set(xlabel="samples $N$", ylabel=r"learnability window $H_N$ (network steps)")
        ax.text(0.5, 0.5, "no window to draw", ha="center", va="center", transform=ax.transAxes)
        return ax
