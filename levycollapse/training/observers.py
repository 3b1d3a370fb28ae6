"""What looks on while a network is trained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
import xarray as xr
from torch import Tensor, nn

from ..errors import CheckpointError, ParameterError
from ._files import replaced
from ._options import whole
from .injection import Injected, Units, checked_mask, matching, rows_of

#: Version of the files.
FORMAT = 1


@runtime_checkable
class Recorder(Protocol):
    """Callable with the step number; `train` calls it with 0 before the first step and then after every step.

    It must leave the module as it found it. One with the further attributes ``steps``, ``save(path)`` and
    ``restore(path)`` is saved to an ``.npz`` file beside every checkpoint, if its ``steps`` are not empty, and goes on
    from there when the training is resumed. `levycollapse.networks.ZetaRecorder` is such a recorder.
    """

    def __call__(self, step: int) -> object:
        """Record, or not.

        Parameters
        ----------
        step : int
            Number of optimizer steps that are done.

        Returns
        -------
        object
            Ignored.
        """


@runtime_checkable
class UpdateObserver(Protocol):
    """Looks at the parameters before and after every update."""

    def before_update(self, step: int, module: nn.Module) -> None:
        """Look at the parameters before a step of the optimizer.

        Parameters
        ----------
        step : int
            Its number, counted from 1.
        module : torch.nn.Module
            The network; gradients are those that the optimizer will use.
        """

    def after_update(self, step: int, module: nn.Module, injected: Mapping[str, Injected]) -> None:
        """Look at them after it.

        Parameters
        ----------
        step : int
            Its number.
        module : torch.nn.Module
            The network, with what was injected.
        injected : mapping of str to Injected
            What was injected, by parameter; empty without injection.
        """


class UpdateRecorder:
    """Increments of chosen weights, step by step and tensor by tensor.

    From every tensor a fixed sample of weights is drawn, from the rows of the chosen units, and their increments are
    kept for a window of steps: total, and the part that was injected.

    Parameters
    ----------
    units : array of bool or callable
        Mask over the H units, or a function of the module that gives one; it is asked once, at the first step of the
        window.
    coordinates : int
        Weights of each tensor, at most; all where there are fewer.
    records : int
        Steps that are kept.
    start : int
        First step of the window, counted from 1.
    every : int
        Keep the increments of every so many steps. Each is that of a single step.
    tensors : sequence of str, optional
        As in `StableInjection`.
    exclude : sequence of str
        As there.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Draws the sample; nothing of the training depends on it.

    Attributes
    ----------
    steps : list of int
        Steps that are recorded.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Notes
    -----
    It holds 2 * coordinates * records numbers for each tensor and no more, on the device of the parameters, and is
    filled without waiting for that device. An increment is the difference of two stored weights: it is a multiple of
    their spacing, about 6e-8 of the weight in float32.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import numpy as np
    >>> from levycollapse.networks import DiagGate
    >>> from levycollapse.training import DelayedRegression, UpdateRecorder, train
    >>> task = DelayedRegression(input_size=3, lags=(1,), coefficients=(1.0,))
    >>> recorder = UpdateRecorder(np.ones(8, bool), coordinates=5, records=4)
    >>> result = train(DiagGate(3, 8), task, steps=6, batch_size=2, length=10, seed=0, recorders=[recorder])
    >>> recorder.increments()["Wh.weight"].sizes
    Frozen({'coordinate': 5, 'step': 4})
    """

    def __init__(
        self,
        units: Units,
        *,
        coordinates: int = 256,
        records: int = 1000,
        start: int = 1,
        every: int = 1,
        tensors: tuple[str, ...] | None = None,
        exclude: tuple[str, ...] = ("out",),
        rng: Any = 0,
    ) -> None:
        self.units = units if callable(units) else checked_mask("units", units)
        self.coordinates, self.records = whole("coordinates", coordinates, 1), whole("records", records, 1)
        self.start, self.every = whole("start", start, 1), whole("every", every, 1)
        self.tensors, self.exclude = tensors, exclude
        self._random = np.random.default_rng(rng)
        self.steps: list[int] = []
        self._hidden = 0
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._sample: dict[str, Tensor] = {}
        self._before: dict[str, Tensor] = {}
        self._total: dict[str, Tensor] = {}
        self._injected: dict[str, Tensor] = {}

    def before_update(self, step: int, module: nn.Module) -> None:
        """Note the sample's weights before a step of the window.

        Parameters
        ----------
        step : int
            Its number.
        module : torch.nn.Module
            The network.
        """
        if not self._due(step):
            return
        if not self._sample:
            self._choose(module)
        if not self._before:
            self._move(next(module.parameters()).device)
        self._before = self._read(module)

    def after_update(self, step: int, module: nn.Module, injected: Mapping[str, Injected]) -> None:
        """Keep the increments of a step of the window.

        Parameters
        ----------
        step : int
            Its number.
        module : torch.nn.Module
            The network.
        injected : mapping of str to Injected
            What was injected.
        """
        if not self._due(step):
            return
        column = len(self.steps)
        for name, after in self._read(module).items():
            self._total[name][:, column] = after - self._before[name]
            if name in injected:
                rows, values = injected[name]
                whole_tensor = values.new_zeros(self._shapes[name]).index_add_(0, rows, values)
                self._injected[name][:, column] = whole_tensor.flatten()[self._sample[name]]
        self.steps.append(step)

    def increments(self) -> dict[str, xr.DataArray]:
        """Everything that was added to the weights, injected or not.

        Returns
        -------
        dict of str to xarray.DataArray
            By tensor, over coordinate and step, with the row and the unit of each coordinate.
        """
        return self._arrays(self._total)

    def injected(self) -> dict[str, xr.DataArray]:
        """The part that was injected.

        Returns
        -------
        dict of str to xarray.DataArray
            Like `increments`; zero without injection.
        """
        return self._arrays(self._injected)

    def save(self, path: Any) -> None:
        """Write what is recorded to a file, which is replaced as a whole or not at all.

        Parameters
        ----------
        path : path
            ``.npz``.
        """
        count = len(self.steps)
        arrays = {f"sample/{name}": sample.cpu().numpy() for name, sample in self._sample.items()}
        for kind, values in (("total", self._total), ("injected", self._injected)):
            arrays |= {f"{kind}/{name}": value[:, :count].cpu().numpy() for name, value in values.items()}
        header = {"format": FORMAT, "steps": self.steps, "shapes": self._shapes, "hidden": self._hidden}
        with replaced(Path(path)) as part, part.open("wb") as file:
            np.savez(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]

    def restore(self, path: Any) -> None:
        """Take over what another recorder with the same parameters has saved, to go on from there.

        Parameters
        ----------
        path : path
            A file that `save` has written.

        Raises
        ------
        CheckpointError
            If it is something else.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                steps, shapes = header["steps"], header["shapes"]
                parts = {key: torch.from_numpy(file[key]) for key in file.files if key != "header"}
            if header["format"] != FORMAT:
                raise ValueError(f"format {header['format']}, expected {FORMAT}")
            self._hidden = header["hidden"]
            self._shapes = {name: tuple(shape) for name, shape in shapes.items()}
            self._sample = {name: parts[f"sample/{name}"] for name in shapes}
            for kind, values in (("total", self._total), ("injected", self._injected)):
                for name in shapes:
                    part = parts[f"{kind}/{name}"]
                    values[name] = part.new_zeros(part.shape[0], self.records)
                    values[name][:, : len(steps)] = part
        except (OSError, EOFError, KeyError, TypeError, ValueError, RuntimeError) as problem:
            raise CheckpointError(f"{path}: not a file that this UpdateRecorder has saved: {problem}") from None
        self.steps = [int(step) for step in steps]

    def _due(self, step: int) -> bool:
        return step >= self.start and (step - self.start) % self.every == 0 and len(self.steps) < self.records

    def _choose(self, module: nn.Module) -> None:
        mask = self.units
        if callable(mask):
            with torch.no_grad():
                mask = checked_mask("the result of units", mask(module))
        self._hidden = mask.size
        for name, parameter in matching(module, mask.size, self.tensors, self.exclude).items():
            width = parameter.numel() // parameter.shape[0]
            rows = rows_of(mask, parameter).cpu().numpy()
            candidates = (rows[:, None] * width + np.arange(width)).ravel()
            count = min(self.coordinates, candidates.size)
            sample = np.sort(self._random.choice(candidates, count, replace=False))
            self._shapes[name] = tuple(parameter.shape)
            self._sample[name] = torch.from_numpy(sample).to(parameter.device)
            for values in (self._total, self._injected):
                values[name] = parameter.new_zeros(count, self.records, requires_grad=False)

    def _move(self, device: torch.device) -> None:
        """What a file held is on the CPU."""
        for values in (self._sample, self._total, self._injected):
            values.update({name: value.to(device) for name, value in values.items()})

    def _read(self, module: nn.Module) -> dict[str, Tensor]:
        parameters = dict(module.named_parameters())
        return {name: parameters[name].detach().flatten()[sample] for name, sample in self._sample.items()}

    def _arrays(self, values: Mapping[str, Tensor]) -> dict[str, xr.DataArray]:
        if not self.steps:
            raise ParameterError("nothing is recorded yet")
        out = {}
        for name, value in values.items():
            shape, sample = self._shapes[name], self._sample[name].cpu().numpy()
            rows = sample // (int(np.prod(shape)) // shape[0])
            out[name] = xr.DataArray(
                value[:, : len(self.steps)].cpu().numpy(),
                dims=("coordinate", "step"),
                coords={
                    "step": self.steps,
                    "row": ("coordinate", rows),
                    "unit": ("coordinate", rows % self._hidden),
                    "index": ("coordinate", sample),
                },
                name=name,
            )
        return out
