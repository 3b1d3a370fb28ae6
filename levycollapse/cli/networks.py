"""`levycollapse networks ...`: what a trained network's file holds, its time scales, and a verdict on its phase.

torch is imported by `levycollapse.networks` alone, once a command runs.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from ..errors import ParameterError
from . import model, sequences
from .files import checked_folder, write_results
from .output import answer

#: Lags of the envelope: at most so many, geometric, up to half of the longest sequence.
LAGS = 64
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

app = typer.Typer(
    help="Time scales of trained recurrent networks (needs torch).\n\n"
    "Example: levycollapse networks verdict weights.safetensors --inputs sequences.npy -o out",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Weights: .safetensors, .npz, or a state dict of torch (.pt, .pth, .bin)."),
]
Inputs = Annotated[
    Path | None,
    typer.Option("--inputs", metavar="FILE", help="Sequences (B, T, D) or (T, D): .npy, .npz or .safetensors."),
]
Lengths = Annotated[
    Path | None,
    typer.Option("--lengths", metavar="FILE", help="Valid steps of each sequence (B,), such a file [all steps]."),
]
Submodule = Annotated[
    str | None, typer.Option("--submodule", metavar="NAME", help="Which network of the file, as `inspect` names it.")
]
Kernel = Annotated[str, typer.Option("--kernel", help="diagonal, gates, first-order or jacobian.")]
BurnIn = Annotated[int, typer.Option("--burn-in", metavar="STEPS", help="First steps that do not count.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Folder for files [none are written].")]


@app.command()
def inspect(file: File, json_text: Json = False) -> None:
    """Recurrent networks in a file of weights, none of whose contents is executed.

    Example: levycollapse networks inspect weights.safetensors
    """
    found = _networks().inspect(file)
    if json_text:
        answer({"file": str(file), "networks": [_described(info) for info in found]}, True)
        return
    for info in found:
        print(info)
        print(f"  inputs of shape (sequences, steps, {info.input_size})")


@app.command()
def timescales(
    file: File,
    inputs: Inputs = None,
    lengths: Lengths = None,
    submodule: Submodule = None,
    kernel: Kernel = "diagonal",
    burn_in: BurnIn = 0,
    json_text: Json = False,
    output: Output = None,
) -> None:
    """Time scale of every unit of a network on given sequences.

    Answers with the number of units of each status and quantiles of tau; with -o saves every unit's time scale,
    interval and status (NetCDF), their picture (PNG and PDF) and a summary (JSON).

    Example: levycollapse networks timescales weights.safetensors --inputs sequences.npy
    """
    started = time.perf_counter()
    networks = _networks()
    info, x, valid = _given(networks, file, inputs, lengths, submodule, output)
    data = networks.timescales(file, x, submodule=info.name, lengths=valid, kernel=kernel, burn_in=burn_in)
    record = {"network": _described(info), "sequences": list(x.shape[:2]), "kernel": kernel, **_summary(data)}
    full = {"file": str(file), "inputs": str(inputs), **record, **model.made_in(started)}
    files = []
    if output is not None:
        data.attrs["levycollapse_version"] = full["levycollapse_version"]
        files = write_results(output, "timescales", {"timescales": data}, _draw(data), full)
    answer({**full, "files": [str(path) for path in files]} if json_text else record, json_text)
    if not json_text:
        for path in files:
            print(path)


@app.command()
def verdict(
    file: File,
    inputs: Inputs = None,
    lengths: Lengths = None,
    submodule: Submodule = None,
    kernel: Kernel = "diagonal",
    burn_in: BurnIn = 0,
    json_text: Json = False,
    output: Output = None,
) -> None:
    """What a network's spectrum and envelope say of its phase, and what they cannot say.

    The spectrum comes from the first half of the sequences and the envelope from the others. With -o saves both
    (NetCDF), their picture (PNG and PDF) and the verdict (JSON).

    Example: levycollapse networks verdict weights.safetensors --inputs sequences.npy -o out
    """
    import numpy as np

    import levycollapse as lc

    started = time.perf_counter()
    networks = _networks()
    info, x, valid = _given(networks, file, inputs, lengths, submodule, output)
    half = len(x) // 2
    if not half:
        raise ParameterError(f"{inputs} holds one sequence; a verdict needs one for the spectrum, one for the envelope")
    first, second = (None, None) if valid is None else (valid[:half], valid[half:])
    options: dict[str, Any] = {"submodule": info.name, "kernel": kernel, "burn_in": burn_in}
    spectrum = networks.timescales(file, x[:half], lengths=first, **options)
    steps = (x.shape[1] if second is None else int(second.max())) - burn_in
    lags = np.unique(np.geomspace(1, max(steps // 2, 1), LAGS).round().astype(np.int64))
    envelope = networks.envelope(file, x[half:], lags, lengths=second, **options)
    found = lc.verdict(spectrum, envelope)
    full = {
        "file": str(file),
        "inputs": str(inputs),
        "network": _described(info),
        "kernel": kernel,
        "sequences": {"spectrum": half, "envelope": len(x) - half, "steps": int(x.shape[1])},
        **json.loads(found.to_json()),
        **model.made_in(started),
    }
    files = []
    if output is not None:
        from ..plotting import plot_verdict, style

        with style():
            axes = plot_verdict(found)
        files = write_results(output, "verdict", {"spectrum": spectrum, "envelope": envelope}, axes[0], full)
    if json_text:
        answer({**full, "files": [str(path) for path in files]}, True)
        return
    print(found)
    for path in files:
        print(path)


def _networks() -> ModuleType:
    try:
        from .. import networks
    except ImportError as error:
        raise ParameterError(str(error)) from None
    return networks


def _given(
    networks: ModuleType,
    file: Path,
    inputs: Path | None,
    lengths: Path | None,
    submodule: str | None,
    output: Path | None,
) -> tuple[Any, Any, Any]:
    """The network that is meant, its sequences (B, T, D) and their lengths."""
    if output is not None:
        checked_folder(output)
    found = networks.inspect(file)
    chosen = [info for info in found if submodule in (None, info.name)]
    if len(chosen) != 1:
        names = ", ".join(repr(info.name) for info in found)
        raise ParameterError(f"submodule={submodule!r}: {file} holds {names}; choose one of them")
    info = chosen[0]
    shape = f"(sequences, steps, {info.input_size})"
    if inputs is None:
        raise ParameterError(f"--inputs is missing: give a .npy, .npz or .safetensors file of shape {shape}")
    x = sequences.read(inputs, "inputs")
    x = x[None] if x.ndim == 2 else x
    if x.ndim != 3 or x.shape[2] != info.input_size or not x.size:
        raise ParameterError(
            f"{inputs} has shape {x.shape}; it must be {shape} or, for one sequence, without the first"
        )
    return info, x, None if lengths is None else sequences.read(lengths, "lengths")


def _described(info: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(info), "inputs": f"(sequences, steps, {info.input_size})"}


def _summary(data: Any) -> dict[str, Any]:
    import numpy as np

    from ..tails import UnitStatus

    status, tau = data["status"].values, data["tau"].values
    known = tau[(status == UnitStatus.RESOLVED) | (status == UnitStatus.BELOW_STEP)]
    bounds = data["tau_low"].values[status == UnitStatus.CENSORED_LONG]
    values = np.quantile(known, QUANTILES) if known.size else np.full(len(QUANTILES), np.nan)
    return {
        "units": {member.name: int((status == member).sum()) for member in UnitStatus},
        "tau_quantiles_of_resolved": {f"{q:g}": float(v) for q, v in zip(QUANTILES, values, strict=True)},
        "longest_bound": float(bounds.max()) if bounds.size else np.nan,
    }


def _draw(data: Any) -> Any:
    """Units by time scale, the slowest first, with intervals; bounds are open."""
    import numpy as np

    from ..plotting import new_axes, style
    from ..tails import UnitStatus

    status = data["status"].values
    with style():
        ax = new_axes()
        ax.set(xscale="log", yscale="log", xlabel=r"time scale $\tau$ (network steps)", ylabel="rank of the unit")
        late = status == UnitStatus.CENSORED_LONG
        tau = np.where(late, data["tau_low"].values, data["tau"].values)
        shown = (tau > 0) & (status != UnitStatus.GROWING)
        order = np.argsort(-tau[shown])
        at, bound, rank = tau[shown][order], late[shown][order], np.arange(1, shown.sum() + 1)
        ax.plot(at[~bound], rank[~bound], ".", markersize=3, label="units")
        if bound.any():
            ax.plot(at[bound], rank[bound], ">", markersize=4, fillstyle="none", label="lower bounds")
        ax.legend(loc="lower left")
    return ax
