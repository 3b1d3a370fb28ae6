"""Networks and layers that several tests use, with weights large enough for every nonlinearity to matter."""

from __future__ import annotations

import torch
from torch import nn

from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, SharedGate, read_network

CELLS = (ConstGate, SharedGate, DiagGate, GRU, LSTM)
D, H = 3, 6


def stirred(module: nn.Module, scale: float = 0.6, seed: int = 1) -> nn.Module:
    """The module with every parameter moved away from its initial value."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_((scale * noise).to(parameter.dtype))
    return module


def torch_layers(dtype: torch.dtype = torch.float64) -> dict[str, nn.Module]:
    """One layer of each of torch's kinds, by name."""
    torch.manual_seed(0)
    made = {
        "rnn-tanh": nn.RNN(D, H, batch_first=True),
        "rnn-relu": nn.RNN(D, H, batch_first=True, nonlinearity="relu"),
        "gru": nn.GRU(D, H, batch_first=True),
        "gru-without-bias": nn.GRU(D, H, batch_first=True, bias=False),
        "lstm": nn.LSTM(D, H, batch_first=True),
        "lstm-without-bias": nn.LSTM(D, H, batch_first=True, bias=False),
    }
    return {name: stirred(module).to(dtype) for name, module in made.items()}


def _gate(kind: type) -> dict[str, float]:
    return {"s0": 0.3} if kind in (ConstGate, SharedGate, DiagGate) else {}


def cells(dtype: torch.dtype = torch.float64) -> dict[str, nn.Module]:
    """Each of the package's cells, with and without LayerNorm, by name."""
    torch.manual_seed(0)
    return {
        kind.__name__ + "-norm" * norm: stirred(kind(D, H, layernorm=norm, **_gate(kind))).to(dtype)
        for kind in CELLS
        for norm in (False, True)
    }


def layer_of(module: nn.Module):
    """The one recurrent layer of a module."""
    ((layer,),) = read_network(module).layers
    return layer


def visited(layer, batch: int = 4, steps: int = 7, seed: int = 2):
    """Projections (B, K) and state (B, S) in the middle of a random sequence."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, steps, D, generator=generator, dtype=torch.float64).to(layer.dtype)
    states = layer.states(x)
    return layer.project(x)[:, -1], states[:, -2]
