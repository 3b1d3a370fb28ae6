"""Heavy-tailed noise in the updates of chosen units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, as_float_array, choice, draw_size, generator
from .._laws.stable import SymmetricStable
from ..errors import ParameterError
from ._options import number, whole

BoolArray = NDArray[np.bool_]
#: A mask over units, or what makes one from the module.
Units = BoolArray | Callable[[nn.Module], Any]


def slow_units(zeta: Any, fraction: float = 0.1) -> BoolArray:
    """Mask of the slowest units: those whose zeta is in its lowest part.

    Parameters
    ----------
    zeta : array_like
        Logarithmic decay rates of the units (H,); nan for a unit that has none, which is never chosen.
    fraction : float
        Part of the units with a zeta, in (0, 1]; rounded up, so that there is at least one.

    Returns
    -------
    ndarray of bool
        (H,).

    Raises
    ------
    ParameterError
        If no unit has a zeta, or an argument is outside its range.

    Examples
    --------
    >>> from levycollapse.training import slow_units
    >>> slow_units([-1.0, -5.0, float("nan"), -2.0], fraction=0.3).tolist()
    [False, True, False, False]
    """
    values = as_float_array("zeta", zeta)
    part = number("fraction", fraction, POSITIVE)
    if part > 1:
        raise ParameterError(f"fraction={fraction!r} must be a number in (0, 1]")
    known = np.flatnonzero(np.isfinite(values)) if values.ndim == 1 else np.array([], dtype=np.int64)
    if not known.size:
        raise ParameterError(
            f"zeta has shape {values.shape} and {known.size} finite entries; it must be (H,) with some"
        )
    # A grain less, so that 0.1 of 30 units are 3 and not 4.
    count = max(1, int(np.ceil(part * known.size * (1 - 1e-12))))
    mask = np.zeros(values.size, dtype=bool)
    mask[known[np.argsort(values[known], kind="stable")[:count]]] = True
    return mask


class Injected(NamedTuple):
    """What was added to one tensor in one step.

    Attributes
    ----------
    rows : Tensor
        Which rows (R,), int64.
    values : Tensor
        What was added to each (R, ...).
    """

    rows: Tensor
    values: Tensor


@dataclass(frozen=True, eq=False)
class StableInjection:
    r"""Symmetric stable noise added to the parameters of chosen units after every update.

    Each chosen tensor gets ``scale * rms * X`` in the rows of the chosen units, rms being the root mean square of the
    optimizer's own update of those rows in that step, and X independent with characteristic function
    exp(-\|k\|\ :sup:`alpha`), tapered.

    Parameters
    ----------
    units : array of bool or callable
        Mask over the H units, or a function of the module that gives one, such as a call of
        `levycollapse.networks.timescales` followed by `slow_units`. The function must leave the module as it is.
    alpha : float
        Stability index, in (0, 2].
    scale : float
        Scale of the noise relative to the rms of the update, >= 0. At alpha = 2 it has sqrt(2) times that standard
        deviation.
    taper : {"soft", "hard", "none"}
        X becomes limit * tanh(X / limit), or is cut at +-limit, or is left alone.
    limit : float
        See `taper`, > 0. It is what keeps a single draw from destroying the network, and it takes from the tail: with
        a soft taper at 100 an estimator of the index reads 1.77 where alpha is 1.5, at 10 it reads 1.98.
    every : int, optional
        Ask the function `units` again after so many steps; otherwise it is asked once, before the first.
    tensors : sequence of str, optional
        Names of the parameters. By default all whose number of rows is a multiple of H (for stacked gates the mask is
        repeated), except those below `exclude`.
    exclude : sequence of str
        First parts of names that the default leaves out: the readout.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Notes
    -----
    The increments of one step add up: over N steps the noise displaces a weight by N^(1/alpha) scale rms, which for
    the published 30,800 steps is about 1,000 updates. A network that fails under it may have been randomised.

    The draws are those of `SymmetricStable` in float64, from uniforms that are never 0 or 1; draw n of a step depends
    on the seed and the step alone.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import numpy as np
    >>> from levycollapse.training import StableInjection
    >>> noise = StableInjection(np.array([True, False]), alpha=1.5, taper="hard", limit=3.0)
    >>> bool(abs(noise.draw(1000, rng=0)).max() <= 3)
    True
    """

    units: Units
    alpha: float = 1.5
    scale: float = 1.0
    taper: str = "soft"
    limit: float = 100.0
    every: int | None = None
    tensors: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ("out",)

    def __post_init__(self) -> None:
        SymmetricStable(self.alpha)
        number("scale", self.scale, NON_NEGATIVE)
        choice("taper", self.taper, ("soft", "hard", "none"))
        number("limit", self.limit, POSITIVE)
        if self.every is not None:
            whole("every", self.every, 1)
            if not callable(self.units):
                raise ParameterError(f"every={self.every}: units is a mask, which does not change")
        if not callable(self.units):
            object.__setattr__(self, "units", checked_mask("units", self.units))

    def draw(self, size: Any = None, rng: Any = None) -> Any:
        """Draw X, tapered.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape; a single float without it.
        rng : None, int, SeedSequence, BitGenerator or Generator, optional
            As numpy.random.default_rng takes it.

        Returns
        -------
        float or ndarray
            The draws, float64.
        """
        x: FloatArray = SymmetricStable(self.alpha).rvs(draw_size(size), generator(rng))
        if self.taper == "soft":
            x = self.limit * np.tanh(x / self.limit)
        elif self.taper == "hard":
            x = np.clip(x, -self.limit, self.limit)
        return x.item() if size is None else x

    def describe(self) -> str:
        """What it is, the same in every process.

        Returns
        -------
        str
            Parameters by name; a mask by its units.
        """
        named = self.units
        units = (
            np.flatnonzero(named).tolist()
            if isinstance(named, np.ndarray)
            else getattr(named, "__qualname__", type(named).__qualname__)
        )
        rest = {key: value for key, value in vars(self).items() if key != "units"}
        return f"StableInjection(units={units}, {rest})"


class Injector:
    """An injection at work on one module."""

    def __init__(self, injection: StableInjection, module: nn.Module) -> None:
        self.injection, self.module = injection, module
        self.mask: BoolArray | None = None
        self._rows: dict[str, Tensor] = {}
        self._before: dict[str, Tensor] = {}

    def look(self) -> None:
        """Choose the units."""
        units = self.injection.units
        if callable(units):
            with torch.no_grad():
                units = checked_mask("the result of units", units(self.module))
        self.choose(units)

    def choose(self, mask: BoolArray) -> None:
        """Take these units."""
        chosen = matching(self.module, mask.size, self.injection.tensors, self.injection.exclude)
        self.mask = mask
        self._rows = {name: rows_of(mask, parameter) for name, parameter in chosen.items()}

    def before_update(self) -> None:
        """Note where the optimizer starts from."""
        parameters = dict(self.module.named_parameters())
        self._before = {name: parameters[name].detach()[rows] for name, rows in self._rows.items()}

    def after_update(self, step: int, rng: np.random.Generator) -> dict[str, Injected]:
        """Add the noise."""
        parameters, done = dict(self.module.named_parameters()), {}
        with torch.no_grad():
            for name, rows in self._rows.items():
                parameter, before = parameters[name], self._before[name]
                rms = (parameter[rows] - before).double().square().mean().sqrt()
                noise = torch.from_numpy(self.injection.draw(tuple(before.shape), rng))
                values = (self.injection.scale * rms * on_device(noise, parameter.device)).to(parameter.dtype)
                parameter.index_add_(0, rows, values)
                done[name] = Injected(rows, values)
        if self.injection.every is not None and step % self.injection.every == 0:
            self.look()
        return done


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy to a device without waiting for what it is doing."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def checked_mask(name: str, mask: Any) -> BoolArray:
    """Return `mask` as booleans (H,), some of which are true."""
    array = mask.detach().cpu().numpy() if isinstance(mask, Tensor) else np.asarray(mask)
    if array.dtype != bool or array.ndim != 1 or not array.any():
        raise ParameterError(
            f"{name} has type {array.dtype} and shape {array.shape}; it must be a boolean mask (H,) with a unit in it"
        )
    return array.copy()


def matching(
    module: nn.Module, hidden: int, tensors: tuple[str, ...] | None, exclude: tuple[str, ...]
) -> Mapping[str, nn.Parameter]:
    """Trained parameters whose rows are units."""
    trained = {name: p for name, p in module.named_parameters() if p.requires_grad}
    if tensors is None:
        chosen = {
            name: p
            for name, p in trained.items()
            if p.ndim and p.shape[0] % hidden == 0 and name.split(".")[0] not in exclude
        }
        if not chosen:
            raise ParameterError(
                f"no parameter of the module has a multiple of {hidden} rows, as the mask of units has"
            )
        return chosen
    for name in tensors:
        if name not in trained:
            raise ParameterError(f"tensors names {name!r}; the trained parameters are {', '.join(trained)}")
        shape = tuple(trained[name].shape)
        if not shape or shape[0] % hidden:
            raise ParameterError(f"{name} has shape {shape}; its rows must be a multiple of the mask's {hidden}")
    return {name: trained[name] for name in tensors}


def rows_of(mask: BoolArray, parameter: Tensor) -> Tensor:
    """Rows of the mask's units, of every gate in turn where gates are stacked."""
    rows = np.flatnonzero(np.tile(mask, parameter.shape[0] // mask.size))
    return torch.from_numpy(rows).to(parameter.device)
