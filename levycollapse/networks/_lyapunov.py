"""Lyapunov spectra of the state map, by orthogonalisation (THEORY 1; the exponents of the full Jacobian product)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from .._checks import FloatArray, generator
from ..errors import ParameterError
from ._layer import LayerRun
from ._options import chosen_runs, optional_whole, whole
from ._read import read_network
from ._transport import BUDGET


def lyapunov_spectrum(
    module_or_file: Any,
    inputs: Any,
    *,
    count: int | None = None,
    submodule: str | None = None,
    lengths: Any = None,
    burn_in: int = 0,
    warmup: int | None = None,
    layer: int | None = None,
    direction: int | None = None,
    rng: Any = 0,
) -> xr.Dataset:
    """Lyapunov exponents of each layer's state map along given inputs.

    Parameters
    ----------
    module_or_file : torch.nn.Module, RecurrentLayer, Network, path or mapping
        The network, a file that holds its weights, or its state dict.
    inputs : Tensor or array
        What the network is fed, (B, T, D).
    count : int, optional
        Number of exponents, the largest first; all S by default (H, and 2 H for an LSTM, whose state is (h, c)).
    submodule : str, optional
        Where in a larger model the recurrent network is.
    lengths : array_like, optional
        Valid steps of each sequence; all by default.
    burn_in : int
        Steps at the beginning of each sequence that only move the state.
    warmup : int, optional
        Steps after those in which the frame turns to the directions of the exponents, not counted; by default a tenth
        of the longest sequence.
    layer, direction : int, optional
        Only this layer or direction, both counted from 0.
    rng : None, int, SeedSequence or Generator
        Source of the first frame; the same one in every call by default.

    Returns
    -------
    xarray.Dataset
        Over `mode`, with coordinates `layer`, `direction`, `index`: `exponent` (1/step) and `error`, its standard
        error over sequences (nan for a single one). Over `sequence` too: `exponent_sequence`, and over `sequence`
        alone `steps`, those counted.

    Raises
    ------
    ParameterError
        If an argument is outside its range or does not fit the network, or no step of a sequence is left to count.
    CheckpointError
        If a file cannot be read.

    See Also
    --------
    timescales : Per unit, with `kernel="jacobian"` for the row norms of the same products.

    Notes
    -----
    Every step multiplies an orthogonal frame by the Jacobian and factors it again; exponents are the mean logarithms
    of the diagonal of R, sorted by their mean over sequences. A direction that one step shrinks by more than 1e16
    relative to the first is rounding: read exponents below first - 36 as "at most". Gradients of a loss through l
    steps grow or vanish as exp(l * first exponent). Costs about 3 B T S^2 count operations.

    References
    ----------
    Benettin, Galgani, Giorgilli & Strelcyn, Meccanica 15 (1980) 9.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import ConstGate, lyapunov_spectrum
    >>> net = ConstGate(3, 4, s0=0.1)
    >>> with torch.no_grad():
    ...     _ = net.Wh.weight.zero_()
    >>> found = lyapunov_spectrum(net, torch.randn(4, 50, 3))
    >>> found["exponent"].values.round(6)
    array([-0.105361, -0.105361, -0.105361, -0.105361])
    """
    burn_in, wanted = whole("burn_in", burn_in, 0), optional_whole("count", count, 1)
    warmup = optional_whole("warmup", warmup, 0)
    draw = generator(rng)
    network = read_network(module_or_file, submodule=submodule)
    parts: list[FloatArray] = []
    places: list[tuple[int, int, int]] = []
    steps: FloatArray = np.empty(0)
    with torch.no_grad():
        for run in chosen_runs(network.runs(inputs, lengths), layer, direction, burn_in):
            size = run.layer.state_size
            modes = size if wanted is None else wanted
            if modes > size:
                raise ParameterError(f"count={count} must be at most the size of the state, {size}")
            valid = run.lengths.numpy() - burn_in
            skipped = int(valid.max()) // 10 if warmup is None else warmup
            if int(valid.min()) <= skipped:
                raise ParameterError(
                    f"warmup={skipped} must be less than the steps of every sequence after the burn-in, of which the "
                    f"shortest has {valid.min()}"
                )
            steps = (valid - skipped).astype(np.float64)
            frame = np.linalg.qr(draw.standard_normal((size, modes)))[0]
            found = _exponents(run, frame, burn_in, skipped)
            parts.append(found[:, np.argsort(-(steps @ found))])
            places.append((run.layer.layer, run.layer.direction, modes))
    return _as_dataset(np.concatenate(parts, 1), steps, places)


def _as_dataset(exponents: FloatArray, steps: FloatArray, places: list[tuple[int, int, int]]) -> xr.Dataset:
    shares = (steps / steps.sum())[:, None]
    mean = (shares * exponents).sum(0)
    error = np.full(mean.shape, np.nan)
    if steps.size > 1:
        with np.errstate(invalid="ignore"):
            variance = (shares**2 * (exponents - mean) ** 2).sum(0) * steps.size / (steps.size - 1)
        error = np.sqrt(variance)
    layers, directions, sizes = zip(*places, strict=True)
    variables = {
        "exponent": ("mode", mean, {"long_name": "Lyapunov exponent", "units": "1/step"}),
        "error": ("mode", error, {"long_name": "standard error of the exponent", "units": "1/step"}),
        "exponent_sequence": (("sequence", "mode"), exponents, {"long_name": "exponent of a sequence"}),
        "steps": ("sequence", steps.astype(np.int64), {"long_name": "steps counted"}),
    }
    coordinates = {
        "layer": ("mode", np.repeat(layers, sizes)),
        "direction": ("mode", np.repeat(directions, sizes)),
        "index": ("mode", np.concatenate([np.arange(size) for size in sizes])),
    }
    return xr.Dataset(variables, coordinates)


def _exponents(run: LayerRun, frame: FloatArray, burn_in: int, warmup: int) -> FloatArray:
    """Exponents (B, count) of every sequence."""
    layer = run.layer
    together = max(1, BUDGET // layer.state_size**2)
    found = []
    for begin in range(0, run.lengths.numel(), together):
        part = slice(begin, min(begin + together, run.lengths.numel()))
        lengths = run.lengths[part].to(layer.device)
        q = torch.from_numpy(frame).to(layer.device).expand(lengths.numel(), -1, -1)
        total = torch.zeros(q.shape[0], q.shape[2], dtype=torch.float64, device=layer.device)
        state = run.initial[part]
        for t, p in enumerate(layer.project(run.inputs[part, : int(lengths.max())]).unbind(1)):
            if t >= burn_in:
                q, logs = _turn(layer.jacobian(p, state), q)
                if t >= burn_in + warmup:
                    total = total + torch.where((t < lengths)[:, None], logs, 0.0)
            state = layer.step(p, state)
        found.append((total / (lengths - burn_in - warmup)[:, None]).cpu().numpy())
    exponents = np.concatenate(found)
    if np.isnan(exponents).any():
        raise ParameterError(
            f"the Jacobian of layer {layer.layer}, direction {layer.direction} is not finite: the weights or the "
            "inputs hold numbers too large for their precision"
        )
    return exponents


def _turn(jacobian: Tensor, frame: Tensor) -> tuple[Tensor, Tensor]:
    """Frame after a step, and the logarithms of its stretching."""
    q, r = torch.linalg.qr(jacobian @ frame)
    return q, torch.log(r.diagonal(dim1=1, dim2=2).abs())
