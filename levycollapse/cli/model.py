"""The model on the command line: options that several commands share, their defaults, and what they make."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from .._checks import model_arrays
from ..errors import ParameterError
from .ranges import number

DEFAULTS = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 0.62, "alpha": 1.5, "lam": 3.0, "center": 0.0, "width": 1.0}

Number = str | None
Kappa = Annotated[Number, typer.Option("--kappa", metavar="NUMBER", help="Restoring plateau [1].")]
EtaG = Annotated[Number, typer.Option("--eta-G", metavar="NUMBER", help="Gaussian intensity [0.1].")]
EtaJ = Annotated[Number, typer.Option("--eta-J", metavar="NUMBER", help="Jump intensity [0.62].")]
Alpha = Annotated[Number, typer.Option("--alpha", metavar="NUMBER", help="Stability index [1.5].")]
Lam = Annotated[Number, typer.Option("--lam", metavar="NUMBER", help="Tempering lambda [3].")]
Center = Annotated[Number, typer.Option("--center", metavar="NUMBER", help="Zero of the drift [0].")]
DriftWidth = Annotated[Number, typer.Option("--drift-width", metavar="NUMBER", help="Width of the drift [1].")]
KappaRight = Annotated[
    Number, typer.Option("--kappa-right", metavar="NUMBER", help="Plateau on the right, if another [kappa].")
]
Rtol = Annotated[Number, typer.Option("--rtol", metavar="NUMBER", help="Relative error to reach [1e-8].")]
Method = Annotated[str | None, typer.Option("--method", help="auto, fourier or chain [auto].")]


def parameters(texts: dict[str, str | None]) -> dict[str, float]:
    """Numbers of the options given and the defaults of the others; `kappa_right` only if it is given."""
    values = {
        name: default if texts.get(name) is None else number(name, str(texts[name]))
        for name, default in DEFAULTS.items()
    }
    if texts.get("kappa_right") is not None:
        values["kappa_right"] = number("kappa_right", str(texts["kappa_right"]))
    return values


def refuse(file_option: str, texts: dict[str, Any]) -> None:
    """Refuse options that say what a file says."""
    for name, text in texts.items():
        if text is not None:
            raise ParameterError(
                f"{name}={str(text)!r} does not go with {file_option}, whose file says it; leave it out"
            )


def stationary_law(values: dict[str, float], rtol: str | None, method: str | None) -> tuple[Any, Any]:
    """The model of these numbers and its stationary law."""
    import levycollapse as lc

    model_arrays(**{name: values[name] for name in ("kappa", "eta_G", "eta_J", "alpha", "lam")})
    drift = lc.SaturatingDrift(values["kappa"], values["center"], values["width"], values.get("kappa_right"))
    jumps = lc.TemperedStable(values["alpha"], values["lam"], values["eta_J"])
    model = lc.CollapseModel(drift, values["eta_G"], jumps)
    options: dict[str, Any] = {} if rtol is None else {"rtol": number("rtol", rtol)}
    return model, lc.stationary_density(model, method=method or "auto", **options)


def described(model: Any, law: Any) -> dict[str, Any]:
    """What a record says of a model and of its law."""
    tail = law.tail
    return {
        "status": law.status,
        "error": float(law.error),
        "tail_error": float(law.tail_error),
        "phase": model.phase,
        "beta": float(model.beta),
        "tail": {
            "form": tail.form,
            "rate": float(tail.rate),
            "log_power": float(tail.log_power),
            "loglog_power": float(tail.loglog_power),
            "prefactor": None if tail.prefactor is None else float(tail.prefactor),
        },
        "mean_timescale": float(law.mean_timescale),
    }


def made_in(started: float) -> dict[str, Any]:
    """What every summary ends with; `started` is the clock at the command's start."""
    from .. import __version__

    return {"seconds": round(time.perf_counter() - started, 3), "levycollapse_version": __version__}
