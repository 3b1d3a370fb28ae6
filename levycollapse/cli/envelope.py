"""`levycollapse envelope`: from a model or time scales to f(l), and from f(l) back to its spectrum."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .._checks import POSITIVE, checked
from ..errors import ParameterError
from . import model, ranges, tables
from .draw_envelope import draw
from .files import checked_folder, write_results
from .output import answer

LAGS = "1:1e4:128:log"
MOST_LAGS = 10_000
#: Smallest and largest lag and time scale.
EXTREME = 1e-100, 1e100
#: Values of f that the bands may keep: one for each network and lag.
MOST_VALUES = 2**27
#: Accuracy to which the asymptote is said to hold.
HOLDS_TO = 0.05
BANDS = (0.05, 0.25, 0.5, 0.75, 0.95)


def envelope(
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
    tau: Annotated[
        Path | None,
        typer.Option("--tau", metavar="FILE", help="Time scales instead of a model: CSV tau[,weight], .npz or .npy."),
    ] = None,
    f: Annotated[
        Path | None,
        typer.Option("--f", metavar="FILE", help="An envelope to invert: CSV lag,f[,sigma], or .npz; sigma relative."),
    ] = None,
    lags: Annotated[str | None, typer.Option("--lags", metavar="RANGE", help=f"Lags > 0 [{LAGS}].")] = None,
    units: Annotated[
        str | None, typer.Option("--units", metavar="COUNT", help="Units of a network: shows bands over networks.")
    ] = None,
    networks: Annotated[
        str | None, typer.Option("--networks", metavar="COUNT", help="Simulated networks for the bands [1000].")
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="INTEGER", help="Seed of the bands; without one it is new each time."),
    ] = None,
    json_text: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path("results/envelope"),
) -> None:
    """Envelope f(l) of a model or of time scales, or the spectrum of an envelope.

    From a model: f, its local exponent, the asymptote of its tail and the lag from which that holds to 5 %; with
    --units, bands over networks of that many units. From time scales (--tau): f and its local exponent. From an
    envelope (--f): exponent with interval, and the spectrum. Saves data (NetCDF), picture (PNG and PDF) and a summary
    (JSON).

    Example: levycollapse envelope --eta-J 0.8 --lags 1:1e5:100:log
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
    if tau is not None or f is not None:
        drift = {"drift_width" if name == "width" else name: text for name, text in texts.items()}
        if f is not None:
            others = {"tau": None if tau is None else str(tau), "lags": lags, **others}
        model.refuse("--tau" if f is None else "--f", {**others, **drift})
    checked_folder(output)
    if f is not None:
        record, data = _inverted(f)
    elif tau is not None:
        record, data = _of_timescales(tau, _lags(lags))
    else:
        record, data = _of_model(texts, others, _lags(lags))
    data["lag"].attrs.update(long_name="lag", units="network steps")
    full = {**record, **model.made_in(started)}
    data.attrs.update(summary=_attribute(full), levycollapse_version=full["levycollapse_version"])
    files = write_results(output, "envelope", {"envelope": data}, draw(data, record), full)
    shown = {name: value for name, value in record.items() if name != "parameters"}
    answer({**full, "files": [str(path) for path in files]} if json_text else shown, json_text)
    if not json_text:
        for path in files:
            print(path)


def _attribute(record: dict[str, Any]) -> str:
    from .output import strict

    return json.dumps(strict(record), allow_nan=False)


def _lags(text: str | None) -> Any:
    import numpy as np

    lags = ranges.parse("lags", text or LAGS, 128)
    if isinstance(lags, float):
        raise ParameterError(f"lags={text!r} must be a range such as {LAGS}")
    if lags.size > MOST_LAGS:
        raise ParameterError(f"lags={text!r}: {lags.size} are too many; at most {MOST_LAGS}")
    checked("lags", lags, POSITIVE)
    _in_range("lags", lags)
    return np.asarray(lags)


def _in_range(name: str, values: Any) -> None:
    """Products and ratios of lags and time scales must be numbers, and so must the limits of a picture."""
    outside = (values < EXTREME[0]) | (values > EXTREME[1])
    if outside.any():
        raise ParameterError(f"{name}: {float(values[outside][0])!r} must be between {EXTREME[0]:g} and {EXTREME[1]:g}")


# --- from a model ---


def _of_model(texts: dict[str, str | None], others: dict[str, str | None], lags: Any) -> tuple[dict[str, Any], Any]:
    import xarray as xr

    import levycollapse as lc

    units, networks, seed = _band_options(others, lags.size)
    if texts["width"] is not None:
        # Under the name of its option.
        checked("drift_width", ranges.number("drift_width", texts["width"]), POSITIVE)
    values = model.parameters(texts)
    found, law = model.stationary_law(values, others["rtol"], others["method"])
    f, slope = law.envelope(lags), lc.local_exponent(lags, law).exponent
    asymptote = lc.tauberian_envelope(law.tail, lags)
    record = {
        "parameters": values,
        **model.described(found, law),
        **_ends(lags, f, slope),
        "asymptote_holds_from": float(asymptote.holds_from(HOLDS_TO, law)),
    }
    data = xr.Dataset(
        {
            "f": ("lag", f, {"long_name": "envelope"}),
            "local_exponent": ("lag", slope, {"long_name": "-d log f/d log lag"}),
            "asymptote": ("lag", asymptote.envelope, {"long_name": "Tauberian envelope with its next order"}),
            "asymptote_leading": ("lag", asymptote.leading, {"long_name": "its leading form"}),
        },
        coords={"lag": lags},
    )
    if units is not None:
        bands = lc.finite_width_envelope(law, lags, units, quantiles=BANDS, n_networks=networks, rng=seed)
        data = data.assign_coords(level=list(BANDS))
        data["variance"] = ("lag", bands.variance, {"long_name": "variance of f over networks"})
        for name, band in (
            ("quantile", bands.quantiles),
            ("quantile_low", bands.quantiles_low),
            ("quantile_high", bands.quantiles_high),
        ):
            data[name] = (("level", "lag"), band)
        data["quantile"].attrs["long_name"] = "quantiles of f over networks"
        data["quantile_low"].attrs["long_name"] = "lower end of their 95 % intervals"
        data["quantile_high"].attrs["long_name"] = "upper end of their 95 % intervals"
        record["network"] = {
            "units": units,
            "simulated": networks,
            "seed": seed,
            "crossover_lag": float(bands.crossover_lag),
            "largest_timescale_median": float(bands.largest.median),
        }
    return record, data


def _band_options(texts: dict[str, str | None], n_lags: int) -> tuple[int | None, int, int | None]:
    """Units, networks and seed."""
    if texts["units"] is None:
        for name in ("networks", "seed"):
            if texts[name] is not None:
                raise ParameterError(f"{name}={texts[name]!r} is about the bands over networks; give --units too")
        return None, 0, None
    units = ranges.whole("units", texts["units"])
    networks = ranges.whole("networks", texts["networks"] or "1000")
    seed = None if texts["seed"] is None else ranges.whole("seed", texts["seed"], least=0)
    if networks * max(n_lags, units) > MOST_VALUES:
        raise ParameterError(
            f"networks={networks} with {n_lags} lags and units={units} are too many; "
            f"networks times either must be at most {MOST_VALUES}"
        )
    return units, networks, seed


def _ends(lags: Any, f: Any, slope: Any) -> dict[str, Any]:
    """The last point, in numbers."""
    return {"last": {"lag": float(lags[-1]), "f": float(f[-1]), "local_exponent": float(slope[-1])}}


# --- from time scales ---


def _of_timescales(path: Path, lags: Any) -> tuple[dict[str, Any], Any]:
    import numpy as np
    import xarray as xr

    import levycollapse as lc

    tau, weights = tables.read_timescales(path)
    _in_range(f"{path}: tau", tau)
    f = lc.envelope(tau, lags, weights)
    slope = lc.local_exponent(lags, tau=tau, weights=weights).exponent
    with np.errstate(over="ignore"):
        mean = float(np.average(tau, weights=None if weights is None else weights / weights.max()))
    record = {
        "file": str(path),
        "timescales": {"count": int(tau.size), "least": float(tau.min()), "mean": mean, "largest": float(tau.max())},
        "weighted": weights is not None,
        **_ends(lags, f, slope),
    }
    data = xr.Dataset(
        {
            "f": ("lag", f, {"long_name": "envelope"}),
            "local_exponent": ("lag", slope, {"long_name": "-d log f/d log lag"}),
        },
        coords={"lag": lags},
    )
    return record, data


# --- from an envelope ---


def _inverted(path: Path) -> tuple[dict[str, Any], Any]:
    import xarray as xr

    import levycollapse as lc

    lags, f, sigma = tables.read_envelope(path)
    try:
        found = lc.invert_envelope(lags, f, sigma)
        slope = lc.local_exponent(lags, f, sigma=sigma)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None
    record = {
        "file": str(path),
        "status": found.status.value,
        "beta": found.beta._asdict(),
        "level": found.level,
        "tail": {"start": float(found.tail_start), "prefactor": float(found.tail_prefactor)},
        "resolved": {"from": found.resolved[0], "to": found.resolved[1], "log_spacing": float(found.resolution)},
        "noise": {"sigma": float(found.sigma), "given": sigma is not None},
        "fit": {"chi_square": float(found.chi_square), "values": found.n_used, "lags": int(lags.size)},
        "exponentials": [
            {"timescale": float(scale), "weight": float(weight)}
            for scale, weight in zip(found.exponentials.timescales, found.exponentials.weights, strict=True)
        ],
    }
    data = xr.Dataset(
        {
            "f": ("lag", f, {"long_name": "envelope, as given"}),
            "f_fitted": ("lag", found.envelope(lags), {"long_name": "envelope of the regularised spectrum"}),
            "local_exponent": ("lag", slope.exponent, {"long_name": "-d log f/d log lag"}),
            "local_exponent_lower": ("lag", slope.lower, {"long_name": "lower end of its interval"}),
            "local_exponent_upper": ("lag", slope.upper, {"long_name": "upper end of its interval"}),
            "mass": ("timescale", found.weights, {"long_name": "regularised spectrum: masses at the time scales"}),
            "exponential_weight": ("exponential", found.exponentials.weights),
            "exponential_timescale": ("exponential", found.exponentials.timescales),
        },
        coords={
            "lag": lags,
            "timescale": ("timescale", found.timescales, {"long_name": "time scale", "units": "network steps"}),
        },
    )
    if sigma is not None:
        data["sigma"] = ("lag", sigma, {"long_name": "relative error of f, as given"})
    return record, data
