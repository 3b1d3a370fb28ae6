"""A callback that measures zeta while a network is trained, and leaves the training as it is."""

from __future__ import annotations

import json
import os
import random
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from torch import nn

from .._checks import FloatArray
from ..errors import CheckpointError, ParameterError
from ..tails import UnitStatus
from ._options import whole
from ._panel import Probe, panel_dataset

#: Version of the files.
FORMAT = 1


class ZetaRecorder:
    """Callback for a training loop: every so many steps, zeta of every unit on fixed diagnostic sequences.

    Call it with the step number after every optimizer step. It changes nothing in the training: modes, gradients,
    buffers and the random streams of torch, NumPy and Python are left as they were, so that a network is the same
    to the last bit with and without it.

    Parameters
    ----------
    module : torch.nn.Module
        The network that is trained.
    inputs : Tensor or array
        Diagnostic sequences (B, T, D).
    every : int
        Steps between records: those whose number is a multiple of it.
    replicates : int
        Disjoint groups of sequences, each of which measures zeta by itself: sequence i belongs to group
        i mod replicates.
    seed : int
        Label of this training in the panel.
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

    Attributes
    ----------
    steps : list of int
        Steps that were recorded.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or steps do not increase.

    See Also
    --------
    zeta_panel : The same from checkpoints.

    Notes
    -----
    Memory is that of one measurement, which is bounded (see `timescales`), and 17 bytes for every unit, replicate and
    record.

    References
    ----------
    THEORY 1.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import DiagGate, ZetaRecorder
    >>> net, x = DiagGate(3, 8), torch.randn(4, 20, 3)
    >>> optimizer = torch.optim.Adam(net.parameters())
    >>> recorder = ZetaRecorder(net, torch.randn(8, 30, 3), every=5)
    >>> for step in range(11):
    ...     optimizer.zero_grad()
    ...     net(x)[0].square().mean().backward()
    ...     optimizer.step()
    ...     recorder(step)
    >>> recorder.steps, recorder.panel()["zeta"].shape
    ([0, 5, 10], (1, 8, 3, 2))
    """

    def __init__(
        self,
        module: nn.Module,
        inputs: Any,
        every: int,
        replicates: int = 2,
        *,
        seed: int = 0,
        kernel: str = "diagonal",
        submodule: str | None = None,
        lengths: Any = None,
        burn_in: int = 0,
        lags: Any = None,
        block: int | None = None,
        layer: int | None = None,
        direction: int | None = None,
    ) -> None:
        if not isinstance(module, nn.Module):
            raise ParameterError(f"module is a {type(module).__name__}; it must be a torch module")
        self.module, self.every, self.seed = module, whole("every", every, 1), whole("seed", seed, 0)
        self._probe = Probe(inputs, replicates, kernel, submodule, lengths, burn_in, lags, block, layer, direction)
        self.steps: list[int] = []
        self._records: list[tuple[FloatArray, FloatArray, NDArray[np.int8]]] = []

    def __call__(self, step: int) -> None:
        """Record if `step` is a multiple of `every`.

        Parameters
        ----------
        step : int
            Number of the optimizer step.
        """
        if whole("step", step, 0) % self.every == 0:
            self.record(step)

    def record(self, step: int) -> None:
        """Record now.

        Parameters
        ----------
        step : int
            Number of the optimizer step, larger than the last one recorded.
        """
        step = whole("step", step, 0)
        if self.steps and step <= self.steps[-1]:
            raise ParameterError(f"step={step} must be larger than the last one recorded, {self.steps[-1]}")
        with _streams_left_alone():
            mu, error, status = self._probe(self.module)
        self.steps.append(step)
        self._records.append((mu, error, status))

    def panel(self) -> xr.Dataset:
        """Everything recorded so far.

        Returns
        -------
        xarray.Dataset
            As `zeta_panel` gives it, `time` being the step; join several trainings by
            ``xarray.concat(panels, "seed")``.
        """
        if not self._records or self._probe.places is None:
            raise ParameterError("nothing is recorded yet: call the recorder with a step that is a multiple of every")
        mu, error, status = (np.stack(part, 1)[None] for part in zip(*self._records, strict=True))
        return panel_dataset(mu, error, status, [self.seed], self.steps, self._probe.places, self._probe.kernel)

    def save(self, path: Any) -> None:
        """Write what is recorded to a file, which is replaced as a whole or not at all.

        Parameters
        ----------
        path : path
            ``.npz``, which `restore` can read, or ``.nc`` (NetCDF) for other programs and
            ``xarray.open_dataset``.
        """
        target, panel = Path(path), self.panel()
        if target.suffix not in (".npz", ".nc"):
            raise ParameterError(f"path={str(path)!r} must end in .npz or .nc")
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            if target.suffix == ".nc":
                panel.to_netcdf(part, engine="h5netcdf")
            else:
                header = {
                    "format": FORMAT,
                    "seed": self.seed,
                    "kernel": self._probe.kernel,
                    "places": self._probe.places,
                }
                with part.open("wb") as file:
                    np.savez_compressed(
                        file,
                        header=np.array(json.dumps(header)),
                        steps=np.array(self.steps, dtype=np.int64),
                        mu=panel["mu"].values[0],
                        mu_error=panel["mu_error"].values[0],
                        status=panel["status"].values[0],
                    )
                    file.flush()
                    os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def restore(self, path: Any) -> None:
        """Take over what another recorder of the same units has saved, to go on from there.

        Parameters
        ----------
        path : path
            A ``.npz`` file that `save` has written.
        """
        where = str(path)
        try:
            with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                steps, mu, error, status = (file[name] for name in ("steps", "mu", "mu_error", "status"))
            places = [(int(a), int(b), int(c)) for a, b, c in header["places"]]
            seed, kernel, version = header["seed"], header["kernel"], header["format"]
            units = sum(place[2] for place in places)
        except (OSError, EOFError, KeyError, TypeError, ValueError, BadZipFile, zlib.error) as problem:
            raise CheckpointError(f"{where}: not a file that ZetaRecorder.save has written: {problem}") from None
        shape = (units, steps.size, self._probe.replicates)
        if version != FORMAT or steps.ndim != 1 or any(part.shape != shape for part in (mu, error, status)):
            raise CheckpointError(
                f"{where}: format {version}, shape {mu.shape}; expected format {FORMAT}, shape {shape}"
            )
        whole_steps = steps.dtype.kind == "i" and (steps >= 0).all() and (np.diff(steps) > 0).all()
        numbers = mu.dtype == error.dtype == np.float64 and status.dtype == np.int8
        if not whole_steps or not numbers or not np.isin(status, list(UnitStatus)).all() or min(min(places)) < 0:
            raise CheckpointError(f"{where}: found steps or values that ZetaRecorder.save does not write")
        for name, then, now in (("seed", seed, self.seed), ("kernel", kernel, self._probe.kernel)):
            if then != now:
                raise ParameterError(f"{where} was recorded with {name}={then!r}, not {now!r}")
        own = self._probe.places_of(self.module)
        if places != own:
            raise ParameterError(f"{where} has units {places} (layer, direction, number), not {own}")
        self._probe.places = places
        self.steps = [int(step) for step in steps]
        self._records = [(mu[:, i], error[:, i], status[:, i]) for i in range(steps.size)]


@contextmanager
def _streams_left_alone() -> Iterator[None]:
    """Random streams of Python and NumPy: a model that runs under a probe may draw from them."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
