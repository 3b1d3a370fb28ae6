"""Histories of zeta: one checkpoint after another, on disjoint sequences (panels and inference take it from here)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor, nn

from .._checks import FINITE, FloatArray, checked
from ..errors import ParameterError
from ._bootstrap import half_width
from ._layer import Network, RecurrentLayer
from ._options import chosen_runs, optional_whole, whole
from ._read import read_network
from ._status import classify, status_attributes
from ._timescales import checked_estimator, interval, measure, unit_coordinates

#: Level of the interval that the statuses are decided by.
LEVEL = 0.95
#: Resamples for the standard errors.
RESAMPLES = 100
AXES = ("seed", "unit", "time", "replicate")


class Probe:
    """One measurement of zeta, the same for every checkpoint: its inputs and options, and what it gives.

    Parameters
    ----------
    inputs, submodule, lengths, burn_in, kernel, block, layer, direction
        As in `timescales`.
    replicates : int
        Disjoint groups of sequences: sequence i belongs to group i mod replicates.
    """

    def __init__(
        self,
        inputs: Any,
        replicates: int = 2,
        kernel: str = "diagonal",
        submodule: str | None = None,
        lengths: Any = None,
        burn_in: int = 0,
        lags: Any = None,
        block: int | None = None,
        layer: int | None = None,
        direction: int | None = None,
    ) -> None:
        self.inputs, self.submodule, self.lengths, self.lags = inputs, submodule, lengths, lags
        self.replicates = whole("replicates", replicates, 1)
        self.estimator = checked_estimator("auto", kernel)
        self.kernel, self.burn_in = kernel, whole("burn_in", burn_in, 0)
        self.block, self.layer, self.direction = optional_whole("block", block, 2), layer, direction
        #: Layer, direction and number of units of each layer, once something was measured.
        self.places: list[tuple[int, int, int]] | None = None

    def places_of(self, checkpoint: Any) -> list[tuple[int, int, int]]:
        """Layer, direction and number of units of each layer that is measured."""
        every = [part for level in read_network(checkpoint, submodule=self.submodule).layers for part in level]
        return [
            (part.layer, part.direction, part.hidden_size)
            for part in every
            if self.layer in (None, part.layer) and self.direction in (None, part.direction)
        ]

    def __call__(self, checkpoint: Any) -> tuple[FloatArray, FloatArray, NDArray[np.int8]]:
        """Rate, standard error and status of every unit, (unit, replicate) each."""
        network = read_network(checkpoint, submodule=self.submodule)
        # Only the slope needs windows.
        lags = self.lags if self.estimator == "slope" else [1]
        with torch.no_grad():
            runs = chosen_runs(network.runs(self.inputs, self.lengths), self.layer, self.direction, self.burn_in)
            parts = list(
                measure(
                    runs,
                    self.kernel,
                    lags,
                    self.burn_in,
                    self.block,
                    self.estimator,
                    self.replicates,
                    RESAMPLES,
                    0,
                    with_sums=False,
                )
            )
        places = [part.place for part in parts]
        if self.places is not None and self.places != places:
            raise ParameterError(
                f"checkpoint has units {places} (layer, direction, number), the ones before {self.places}"
            )
        self.places = places
        mu = np.concatenate([part.rates.mu for part in parts], 1)
        error = np.concatenate([part.rates.error for part in parts], 1)
        rows, steps = parts[0].rates.rows, parts[0].rates.steps
        low, high = interval(mu, half_width(error, rows[:, None], LEVEL))
        return mu.T, error.T, classify(mu, low, high, (steps / rows)[:, None]).T


def panel_dataset(
    mu: FloatArray,
    error: FloatArray,
    status: NDArray[Any],
    seeds: Any,
    times: Any,
    places: list[tuple[int, int, int]],
    kernel: str,
) -> xr.Dataset:
    """Panel over (seed, unit, time, replicate)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        zeta = np.where(mu > 0, np.log(mu), np.nan)
        variables = {
            "zeta": (AXES, zeta, {"long_name": "log decay rate", "units": "1"}),
            "tau": (AXES, np.where(mu > 0, 1.0 / mu, np.nan), {"long_name": "time scale", "units": "step"}),
            "mu": (AXES, mu, {"long_name": "decay rate", "units": "1/step"}),
            "mu_error": (AXES, error, {"long_name": "standard error of the decay rate", "units": "1/step"}),
            "status": (AXES, status.astype(np.int8), status_attributes()),
        }
    coordinates = unit_coordinates(places) | {
        "seed": seeds,
        "time": np.asarray(times, dtype=np.float64),
        "replicate": np.arange(mu.shape[3]),
    }
    return xr.Dataset(variables, coordinates, {"kernel": kernel})


def zeta_panel(
    checkpoints: Any,
    inputs: Any,
    replicates: int = 2,
    *,
    kernel: str = "diagonal",
    submodule: str | None = None,
    lengths: Any = None,
    burn_in: int = 0,
    lags: Any = None,
    block: int | None = None,
    layer: int | None = None,
    direction: int | None = None,
) -> xr.Dataset:
    """History of zeta of every unit over the checkpoints of one or more trainings.

    Parameters
    ----------
    checkpoints : mapping or sequence
        Checkpoints by training time, ``{time: checkpoint}``, or those of several trainings,
        ``{seed: {time: checkpoint}}``, at the same times; lists in place of a mapping count from 0. A checkpoint is
        whatever `timescales` takes: a module, a file, a state dict.
    inputs : Tensor or array
        Diagnostic sequences (B, T, D), the same for every checkpoint.
    replicates : int
        Disjoint groups of sequences, each of which measures zeta by itself: sequence i belongs to group
        i mod replicates. Two let measurement error be told from motion.
    kernel : {"diagonal", "gates", "first-order", "jacobian"}
        What is multiplied along a window. The first two take the mean of log|factor| and need no lags.
    submodule : str, optional
        Where in a larger model the recurrent network is; the whole model is run.
    lengths : array_like, optional
        Valid steps of each sequence; all by default.
    burn_in : int
        Steps at the beginning of each sequence that are not counted.
    lags : array_like, optional
        Lags of the slope of the other two kernels.
    block : int, optional
        Cut sequences into blocks of so many steps and resample those for the standard error.
    layer, direction : int, optional
        Only units of this layer or direction, both counted from 0.

    Returns
    -------
    xarray.Dataset
        `zeta`, `tau`, `mu`, `mu_error` (standard error over the sequences of the replicate, nan for a single one) and
        `status` (`UnitStatus`) over (`seed`, `unit`, `time`, `replicate`). zeta is nan where mu <= 0; it is there, but
        says little, for a unit that is CENSORED_LONG.

    Raises
    ------
    ParameterError
        If an argument is outside its range, trainings have different times, or networks have different units.
    CheckpointError
        If a file cannot be read.

    See Also
    --------
    ZetaRecorder : The same while a network is trained.

    References
    ----------
    THEORY 1.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import DiagGate, zeta_panel
    >>> trained = {time: DiagGate(3, 8) for time in (0, 40, 80)}
    >>> panel = zeta_panel(trained, torch.randn(8, 30, 3))
    >>> panel["zeta"].dims, panel["zeta"].shape
    (('seed', 'unit', 'time', 'replicate'), (1, 8, 3, 2))
    """
    trainings = _by_key("checkpoints", checkpoints)
    if all(_is_checkpoint(value) for value in trainings.values()):
        trainings = {0: trainings}
    probe = Probe(inputs, replicates, kernel, submodule, lengths, burn_in, lags, block, layer, direction)
    times: FloatArray | None = None
    found = []
    for seed, training in trainings.items():
        by_time = _by_key(f"checkpoints[{seed!r}]", training)
        own = checked("time", list(by_time), FINITE)
        if times is not None and not np.array_equal(own, times):
            raise ParameterError(f"checkpoints[{seed!r}] has times {own.tolist()}, those before have {times.tolist()}")
        if (np.diff(own) <= 0).any():
            raise ParameterError(f"checkpoints[{seed!r}] has times {own.tolist()}; they must increase")
        times = own
        found.append([probe(checkpoint) for checkpoint in by_time.values()])
    assert times is not None and probe.places is not None
    # From (seed, time, quantity, unit, replicate).
    mu, error, status = np.array(found).transpose(2, 0, 3, 1, 4)
    return panel_dataset(mu, error, status, list(trainings), times, probe.places, kernel)


def _by_key(name: str, value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping) and value:
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and value:
        return dict(enumerate(value))
    raise ParameterError(f"{name} is a {type(value).__name__}; it must be a mapping or list, and not empty")


def _is_checkpoint(value: Any) -> bool:
    """Whether `value` is one checkpoint and not several by time."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and any(isinstance(part, Tensor) for part in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return bool(value) and all(isinstance(part, RecurrentLayer) for part in value)
    return isinstance(value, (nn.Module, Network, RecurrentLayer, str, Path))
