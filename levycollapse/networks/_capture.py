"""What a sub-module really sees while the model around it runs, and the model left as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from ..errors import ParameterError
from ._layer import LayerRun, Network
from ._stack import Batch, StackedNetwork, checked_lengths, split_state


@dataclass
class Call:
    """One call of the sub-module: its sequences, its state before if it was given one, and its state after."""

    inputs: Tensor
    lengths: Tensor
    initial: list[Tensor] | None
    final: list[Tensor]
    packed: bool


class HookedNetwork(Network):
    """The recurrent part of a larger model: its inputs are the model's."""

    def __init__(self, root: nn.Module, name: str, target: nn.Module, stack: StackedNetwork) -> None:
        self.root, self.name, self.target, self.stack = root, name, target, stack
        self.layers = stack.layers

    def runs(self, inputs: Any, lengths: Any = None) -> Iterator[LayerRun]:
        calls = self._calls(inputs)
        yield from self.stack.run_batch(self._batch(calls, lengths))

    def _calls(self, inputs: Any) -> list[Call]:
        calls: list[Call] = []

        def note(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            calls.append(self._begun(args, kwargs))

        def finish(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
            calls[-1].final = self._final(output, calls[-1])

        with left_as_found(self.root), torch.no_grad():
            handles = [
                self.target.register_forward_pre_hook(note, with_kwargs=True),
                self.target.register_forward_hook(finish, with_kwargs=True),
            ]
            try:
                if isinstance(inputs, Mapping):
                    self.root(**inputs)
                elif isinstance(inputs, tuple) and not isinstance(inputs, PackedSequence):
                    self.root(*inputs)
                else:
                    self.root(inputs)
            finally:
                for handle in handles:
                    handle.remove()
        if not calls:
            raise ParameterError(f"submodule={self.name!r} was not called when the model ran on the inputs")
        return calls

    def _begun(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        named = dict(zip(("input", "hx"), args, strict=False)) | kwargs
        x: Any = named.get("input", named.get("x"))
        state = named.get("hx", named.get("state"))
        packed = isinstance(x, PackedSequence)
        if is_cell(self.target):
            x = x.unsqueeze(0) if x.ndim == 1 else x
            inputs, lengths = x.unsqueeze(1), torch.ones(x.shape[0], dtype=torch.int64)
        else:
            inputs, lengths, _ = self.stack.batch(x)
        initial = None if state is None else self._split(state)
        # Copies, for the model may write into its tensors later.
        return Call(inputs.clone(), lengths, None if initial is None else [s.clone() for s in initial], [], packed)

    def _final(self, output: Any, call: Call) -> list[Tensor]:
        state = output if is_cell(self.target) else output[1]
        if not isinstance(self.target, _TORCH_MODULES):
            return [state[:, -1].clone()]
        return [part.clone() for part in self._split(state)]

    def _split(self, state: Any) -> list[Tensor]:
        if not isinstance(self.target, _TORCH_MODULES):
            return [state.detach()]
        parts = state if isinstance(state, (tuple, list)) else (state,)
        if is_cell(self.target):
            parts = tuple(part.reshape(1, -1, part.shape[-1]) for part in parts)
        return split_state(parts, self.layers, f"the state given to {self.name!r}")

    def _batch(self, calls: list[Call], lengths: Any) -> Batch:
        """Calls that go on from one another, end to end; other calls side by side."""
        chains: list[list[Call]] = []
        for call in calls:
            if chains and self._continues(chains[-1][-1], call):
                chains[-1].append(call)
            else:
                chains.append([call])
        joined = [self._joined(chain) for chain in chains]
        if len(calls) > 1 and all(part.inputs.shape[1] == 1 for part in joined):
            raise ParameterError(
                f"submodule={self.name!r} was called {len(calls)} times, and every time with a state other than the "
                "one that it had returned: there is no step from state to state to follow; give a step function "
                "(`from_step`) that has the whole of the loop in it"
            )
        longest = max(part.inputs.shape[1] for part in joined)
        padded = [torch.nn.functional.pad(part.inputs, (0, 0, 0, longest - part.inputs.shape[1])) for part in joined]
        states = [self._initial(part) for part in joined]
        inputs = torch.cat(padded)
        own = torch.cat([part.lengths for part in joined])
        if lengths is not None:
            if any(call.packed for call in calls):
                raise ParameterError("lengths must be None where the model packs its sequences itself")
            if len(self.layers[0]) == 2:
                raise ParameterError(
                    "lengths: the model runs its bidirectional layer over the padding too, so that the backward "
                    "states are not those of the sequences; pack the sequences in the model, or leave lengths out"
                )
            own = torch.minimum(own, checked_lengths(lengths, inputs))
        return Batch(inputs, own, [torch.cat(parts) for parts in zip(*states, strict=True)])

    def _continues(self, before: Call, call: Call) -> bool:
        if call.initial is None or len(self.layers[0]) == 2 or before.packed or call.packed:
            return False
        return all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(before.final, call.initial, strict=True))

    def _joined(self, chain: list[Call]) -> Batch:
        if len(chain) == 1:
            return Batch(chain[0].inputs, chain[0].lengths, chain[0].initial)
        inputs = torch.cat([call.inputs for call in chain], 1)
        return Batch(inputs, torch.full((inputs.shape[0],), inputs.shape[1]), chain[0].initial)

    def _initial(self, part: Batch) -> list[Tensor]:
        if part.initial is not None:
            return part.initial
        return [layer.initial_state(part.inputs.shape[0]) for level in self.layers for layer in level]


_CELL_MODULES = (nn.RNNCell, nn.GRUCell, nn.LSTMCell)
_TORCH_MODULES = (nn.RNN, nn.GRU, nn.LSTM, *_CELL_MODULES)


def is_cell(module: nn.Module) -> bool:
    """Whether a call of the module is one step."""
    return isinstance(module, _CELL_MODULES)


@contextmanager
def left_as_found(root: nn.Module) -> Iterator[None]:
    """Evaluation mode inside; afterwards modes, buffers and random streams are what they were."""
    modes = [(module, module.training) for module in root.modules()]
    buffers = [(buffer, buffer.clone()) for buffer in root.buffers()]
    devices = sorted({p.device.index or 0 for p in root.parameters() if p.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices):
        try:
            root.eval()
            yield
        finally:
            for module, training in modes:
                module.training = training
            with torch.no_grad():
                for buffer, value in buffers:
                    if not torch.equal(buffer, value):
                        buffer.copy_(value)
