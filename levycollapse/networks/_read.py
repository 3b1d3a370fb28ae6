"""From whatever holds a network to its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn, no_grad

from .._checks import choice
from ..errors import CheckpointError, ParameterError
from ._capture import HookedNetwork, left_as_found
from ._cells import CELLS
from ._dense import DenseLayer
from ._files import read_tensors
from ._layer import Network, RecurrentLayer
from ._recognise import Found, Source, build, listing, recognise
from ._stack import StackedNetwork

_LAYERED = (nn.RNN, nn.GRU, nn.LSTM)
_STEPWISE = (nn.RNNCell, nn.GRUCell, nn.LSTMCell)
_KNOWN = (*_LAYERED, *_STEPWISE, *CELLS)


@dataclass(frozen=True)
class RecurrentInfo:
    """A recurrent network in a file.

    Attributes
    ----------
    name : str
        What `submodule` calls it: the prefix of its keys, '' if they have none.
    kind : str
        ``rnn``, ``gru``, ``lstm`` of torch, or ``const``, ``shared``, ``diag``, ``gru-reset-before`` of this package.
    input_size, hidden_size : int
        D and H.
    layers, directions : int
    bias : bool
    dtype : str
        Precision of its weights.
    """

    name: str
    kind: str
    input_size: int
    hidden_size: int
    layers: int
    directions: int
    bias: bool
    dtype: str

    def __str__(self) -> str:
        both = ", bidirectional" if self.directions == 2 else ""
        return (
            f"{self.name or '(no prefix)'}: {self.kind}, {self.layers} layer(s){both}, {self.input_size} inputs, "
            f"{self.hidden_size} units, {self.dtype}{'' if self.bias else ', no biases'}"
        )


def inspect(path: str | Path) -> tuple[RecurrentInfo, ...]:
    """Which recurrent networks a file holds.

    Parameters
    ----------
    path : str or Path
        A ``.safetensors`` file, a state dict of torch's (``.pt``, ``.pth``, ``.bin``, ``.ckpt``), or an ``.npz`` file.

    Returns
    -------
    tuple of RecurrentInfo
        One for each, in the order of the file.

    Raises
    ------
    CheckpointError
        If the file cannot be read without running code from it, is broken, holds no recurrent network, or one whose
        tensors are missing, of wrong shapes or not finite.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Nothing in a file is executed: torch loads with ``weights_only=True`` and NumPy without pickles.

    Examples
    --------
    >>> import tempfile, torch
    >>> from pathlib import Path
    >>> from levycollapse.networks import inspect
    >>> path = Path(tempfile.mkdtemp(), "weights.pt")
    >>> torch.save({"encoder": torch.nn.GRU(3, 8, num_layers=2).state_dict()}, path)
    >>> print(inspect(path)[0])
    encoder: gru, 2 layer(s), 3 inputs, 8 units, float32
    """
    file = Path(path)
    source = Source(read_tensors(file), str(file))
    return tuple(_info(found, build(source, found)) for found in _recognised(source).values())


def read_network(
    source: Any,
    *,
    submodule: str | None = None,
    keys: Mapping[str, str] | None = None,
    nonlinearity: str = "tanh",
) -> Network:
    """Recurrent layers from a module, a state dict or a file.

    Parameters
    ----------
    source : torch.nn.Module, mapping, str, Path, RecurrentLayer, sequence or Network
        * a ``torch.nn`` RNN, GRU, LSTM, RNNCell, GRUCell or LSTMCell, or a cell of this package;
        * a larger model that has one of them inside: its inputs are the model's, and hooks note what the recurrent
          part sees while the model runs in evaluation mode. A cell that is called once a step in a loop of your own is
          followed from call to call, as long as each call is given the state that the one before returned; any other
          state begins a new sequence, from that state;
        * a state dict, or the path of a file (see `inspect`);
        * a `RecurrentLayer` of your own, or a sequence of such, each fed by the one before (their `layer` is set).
    submodule : str, optional
        The recurrent part: a dotted name in a model, such as ``"encoder.lstm"``, or a prefix of the keys of a state
        dict. Needed where there are several.
    keys : mapping, optional
        For a state dict or file with names of its own: from torch's names (``weight_ih_l0``, ``weight_hh_l0``, ...) or
        those of this package's cells to the names that it has.
    nonlinearity : str
        ``"tanh"`` or ``"relu"`` of an RNN in a state dict or file, which do not say; modules do.

    Returns
    -------
    Network
        With copies of the weights, and ``layers`` over layers and directions. The inputs of its ``runs`` are:
        for a module or state dict, sequences (B, T, D), or (T, B, D) for a module without ``batch_first``, as an
        array, tensor or PackedSequence, with ``lengths`` of padded ones; (inputs, initial state) in a tuple; for a
        larger model whatever it takes, a tuple for several arguments, a mapping for named ones.

    Raises
    ------
    ParameterError
        If there is no such sub-module, there are several and none was chosen, or the network is of a kind that has no
        unit time scales (an LSTM with projections).
    CheckpointError
        If tensors are missing, of wrong shapes, or not finite.

    Notes
    -----
    Hidden states are those of torch to 1e-6 in float32 and 1e-12 in float64. float16 and bfloat16 are computed in
    those types on CUDA and on the CPU, whose torch kernels know both; derivatives are float64 always. A module is left
    as it was found: modes, buffers, gradients, hooks and random streams.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import read_network
    >>> network = read_network(torch.nn.GRU(3, 8, num_layers=2, batch_first=True))
    >>> [(run.layer.layer, tuple(run.inputs.shape)) for run in network.runs(torch.zeros(4, 10, 3))]
    [(0, (4, 10, 3)), (1, (4, 10, 8))]
    """
    choice("nonlinearity", nonlinearity, ("tanh", "relu"))
    if isinstance(source, Network):
        return source
    if isinstance(source, RecurrentLayer):
        return StackedNetwork([[source]])
    if isinstance(source, nn.Module):
        return _from_module(source, submodule)
    if isinstance(source, (str, Path)):
        file = Path(source)
        return _from_tensors(Source(read_tensors(file), str(file)), submodule, keys, nonlinearity)
    if isinstance(source, Mapping):
        return _from_tensors(Source(source, "state dict"), submodule, keys, nonlinearity)
    if isinstance(source, Sequence) and source and all(isinstance(part, RecurrentLayer) for part in source):
        for number, layer in enumerate(source):
            layer.layer = number
        return StackedNetwork([[layer] for layer in source])
    raise ParameterError(
        f"source is a {type(source).__name__}; it must be a torch module, a state dict, a path, or recurrent layers"
    )


def _from_tensors(
    source: Source, submodule: str | None, keys: Mapping[str, str] | None, nonlinearity: str
) -> StackedNetwork:
    if keys is None:
        found = _recognised(source)
    else:
        absent = [name for name in keys.values() if name not in source.tensors]
        if absent:
            raise source.error(absent[0], "nothing", f"a tensor, as keys= says; there are {listing(source.tensors)}")
        found = recognise(keys)
        if len(found) != 1:
            raise ParameterError(
                f"keys names {len(found)} networks ({listing(keys)}); it must name one by torch's names, such as "
                "weight_ih_l0, or by those of this package's cells"
            )
        for one in found.values():
            one.keys = {canonical: keys[name] for canonical, name in one.keys.items()}
            submodule = one.name
    if submodule is None:
        if len(found) > 1:
            raise ParameterError(f"submodule=None: {source.where} holds {listing(found)}; choose one of them")
        submodule = next(iter(found))
    if submodule not in found:
        raise ParameterError(f"submodule={submodule!r} is not in {source.where}, which holds {listing(found)}")
    return StackedNetwork(build(source, found[submodule], nonlinearity))


def _recognised(source: Source) -> dict[str, Found]:
    found = recognise(source.tensors)
    if not found:
        raise CheckpointError(
            f"{source.where}: found {listing(source.tensors)}, expected the tensors of a recurrent network, such as "
            "weight_ih_l0 and weight_hh_l0 under any prefix"
        )
    return found


def _info(found: Found, levels: list[list[DenseLayer]]) -> RecurrentInfo:
    first = levels[0][0]
    return RecurrentInfo(
        found.name,
        first.kind,
        first.input_size,
        first.hidden_size,
        len(levels),
        len(levels[0]),
        first.bias is not None,
        str(first.dtype).removeprefix("torch."),
    )


def _from_module(root: nn.Module, submodule: str | None) -> Network:
    inside = {name: module for name, module in root.named_modules() if isinstance(module, _KNOWN)}
    if submodule is not None:
        chosen = {
            name: module for name, module in inside.items() if name == submodule or name.startswith(f"{submodule}.")
        }
        if not chosen:
            raise ParameterError(f"submodule={submodule!r}: the model's recurrent parts are {listing(inside)}")
    else:
        chosen = inside
    if not chosen:
        raise ParameterError(
            f"source is a {type(root).__name__} without a recurrent part that is known; give a RecurrentLayer or "
            "a step function (`from_step`)"
        )
    if len(chosen) > 1:
        raise ParameterError(f"submodule={submodule!r}: the model has {listing(chosen)}; choose one of them")
    name, target = next(iter(chosen.items()))
    # A parametrization may change its buffers, or draw, whenever a weight is read in training mode.
    with left_as_found(target), no_grad():
        stack = _stack(target, name)
    return stack if target is root else HookedNetwork(root, name, target, stack)


def _stack(module: nn.Module, name: str) -> StackedNetwork:
    where = f"module {name or type(module).__name__!s}"
    if getattr(module, "proj_size", 0):
        raise ParameterError(
            f"{where} has proj_size={module.proj_size}: its hidden units are projections without gates of their own, "
            "so that units have no time scales"
        )
    tensors: dict[str, Tensor] = {}
    if isinstance(module, CELLS):
        tensors.update(module.state_dict())
    else:
        # By attribute and not from the state dict: weights may be parametrized.
        tails = [""]
        if isinstance(module, _LAYERED):
            tails = [
                f"_l{k}{back}"
                for k in range(module.num_layers)
                for back in ("", "_reverse")[: 1 + module.bidirectional]
            ]
        parts = ["weight_ih", "weight_hh"] + (["bias_ih", "bias_hh"] if module.bias else [])
        for tail in tails:
            tensors.update({part + tail: getattr(module, part + tail) for part in parts})
    (found,) = recognise(tensors).values()
    levels = build(Source(tensors, where), found, str(getattr(module, "nonlinearity", "tanh")))
    return StackedNetwork(levels, batch_first=bool(getattr(module, "batch_first", True)))
