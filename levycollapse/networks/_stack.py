"""Layers on top of one another, and what they are fed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from ..errors import ParameterError
from ._layer import LayerRun, Network, RecurrentLayer

Levels = Sequence[Sequence[RecurrentLayer]]


class Batch(NamedTuple):
    """Sequences as layers take them: inputs (B, T, D), lengths (B,), and the states before the first step.

    `initial` is over layers and directions, each (B, S), or None for zeros.
    """

    inputs: Tensor
    lengths: Tensor
    initial: list[Tensor] | None = None


class StackedNetwork(Network):
    """Layers, each fed by the outputs of the one before; its inputs are the first layer's."""

    def __init__(self, levels: Levels, batch_first: bool = True) -> None:
        self.layers = [list(level) for level in levels]
        self.batch_first = batch_first

    def runs(self, inputs: Any, lengths: Any = None) -> Iterator[LayerRun]:
        yield from self.run_batch(self.batch(inputs, lengths))

    def batch(self, inputs: Any, lengths: Any = None) -> Batch:
        """What torch's module of this kind would make of its arguments."""
        first = self.layers[0][0]
        initial = None
        if isinstance(inputs, tuple) and not isinstance(inputs, PackedSequence):
            if len(inputs) != 2:
                raise ParameterError(f"inputs is a tuple of {len(inputs)}; it must be (inputs, initial state)")
            inputs, given = inputs
            initial = split_state(given, self.layers, "inputs[1]")
        if isinstance(inputs, PackedSequence):
            if lengths is not None:
                raise ParameterError("lengths must be None where inputs is a PackedSequence, which has its own")
            x, lengths = pad_packed_sequence(inputs, batch_first=True)
            x = as_tensor("inputs", x, first)
        else:
            x = as_tensor("inputs", inputs, first)
            if x.ndim == 2:
                x = x.unsqueeze(0)
            elif x.ndim == 3 and not self.batch_first:
                x = x.transpose(0, 1)
        if x.ndim != 3 or 0 in x.shape:
            order = "(B, T, D)" if self.batch_first else "(T, B, D)"
            raise ParameterError(f"inputs has shape {tuple(x.shape)}; it must be {order} or (T, D), and not empty")
        return Batch(x, checked_lengths(lengths, x), initial)

    def run_batch(self, batch: Batch) -> Iterator[LayerRun]:
        """`runs` on a batch that is ready."""
        x, lengths = batch.inputs, batch.lengths
        width = getattr(self.layers[0][0], "input_size", x.shape[2])
        if x.shape[2] != width:
            raise ParameterError(f"inputs has {x.shape[2]} features; the network takes {width}")
        if batch.initial is not None and batch.initial[0].shape[0] != x.shape[0]:
            raise ParameterError(
                f"the initial state is for {batch.initial[0].shape[0]} sequences but inputs has {x.shape[0]}"
            )
        place = 0
        for number, level in enumerate(self.layers):
            outputs = []
            for layer in level:
                own = x if layer.direction == 0 else reverse(x, lengths)
                initial = layer.initial_state(x.shape[0])
                if batch.initial is not None:
                    initial = batch.initial[place].to(initial)
                place += 1
                yield LayerRun(layer, own, lengths, initial)
                if number + 1 < len(self.layers):
                    hidden = layer.hidden(layer.states(own, initial))
                    outputs.append(hidden if layer.direction == 0 else reverse(hidden, lengths))
            if outputs:
                x = torch.cat(outputs, 2)


def as_tensor(name: str, value: Any, layer: RecurrentLayer) -> Tensor:
    """Finite numbers in the layer's precision and on its device."""
    try:
        x = value.detach() if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value))
    except (TypeError, ValueError, RuntimeError):
        raise ParameterError(f"{name} is a {type(value).__name__}; it must be an array of numbers") from None
    if x.dtype == torch.bool or x.is_complex():
        raise ParameterError(f"{name} is of {x.dtype}; it must be of real numbers")
    x = x.to(device=layer.device, dtype=layer.dtype)
    bad = ~torch.isfinite(x)
    if bad.any():
        index = [int(i) for i in bad.nonzero()[0]]
        raise ParameterError(f"{name}{index}={x[tuple(index)].item()} must be a finite number in {layer.dtype}")
    return x


def checked_lengths(lengths: Any, x: Tensor) -> Tensor:
    """Valid steps of each sequence, all of them by default."""
    batch, steps = x.shape[:2]
    if lengths is None:
        return torch.full((batch,), steps, dtype=torch.int64)
    given = np.asarray(lengths.cpu() if isinstance(lengths, Tensor) else lengths)
    if given.dtype.kind not in "iu" or given.shape != (batch,):
        raise ParameterError(f"lengths has shape {given.shape} and type {given.dtype}; it must be {batch} integers")
    for index, value in enumerate(given):
        if not 1 <= value <= steps:
            raise ParameterError(f"lengths[{index}]={value} must be from 1 to the number of steps, {steps}")
    return torch.as_tensor(given.astype(np.int64))


def split_state(given: Any, levels: Levels, name: str) -> list[Tensor]:
    """States (B, S) over layers and directions from what modules take: h or (h, c), each (places, B, H), or (B, S)."""
    flat = [layer for level in levels for layer in level]
    if len(flat) == 1 and isinstance(given, Tensor) and given.ndim == 2 and given.shape[1] == flat[0].state_size:
        return [given.detach()]
    parts = list(given) if isinstance(given, (tuple, list)) else [given]
    sizes = [flat[0].hidden_size] * (flat[0].state_size // flat[0].hidden_size)
    if not all(isinstance(part, Tensor) for part in parts) or len(parts) != len(sizes):
        raise ParameterError(f"{name} must be the state that the module takes: {len(sizes)} tensor(s)")
    tensors = []
    for part in parts:
        part = part.detach()
        if part.ndim == 2:
            # A cell's (B, H), or a network's (places, H) without a batch.
            part = part.unsqueeze(0 if len(flat) == 1 else 1)
        if part.ndim != 3 or part.shape[0] != len(flat) or part.shape[2] != flat[0].hidden_size:
            wanted = f"({len(flat)}, B, {flat[0].hidden_size})"
            raise ParameterError(f"{name} has shape {tuple(part.shape)}; it must be {wanted}")
        tensors.append(part)
    return [torch.cat([part[place] for part in tensors], 1) for place in range(len(flat))]


def reverse(x: Tensor, lengths: Tensor) -> Tensor:
    """Each sequence backwards in its valid steps; what is beyond them stays where it is."""
    steps = torch.arange(x.shape[1])
    order = torch.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps).to(x.device)
    return x.gather(1, order.unsqueeze(-1).expand_as(x))
