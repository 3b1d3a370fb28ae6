"""Networks and layers that several tests use, with weights large enough for every nonlinearity to matter."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from levycollapse.networks import (
    GRU,
    LSTM,
    ConstGate,
    DiagGate,
    LocalTerms,
    RecurrentLayer,
    SharedGate,
    read_network,
)

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


def constant_gates(tau, dtype=torch.float64):
    """DiagGate whose units forget with exactly these time scales: no recurrent weights, constant gates."""
    net = DiagGate(1, len(tau)).to(dtype)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        # s = 1 - exp(-1/tau)
        net.Ws.bias.copy_(torch.from_numpy(np.log(np.expm1(1.0 / np.asarray(tau)))))
    return net


def noisy_gates(mu, sd, batch, steps, seed):
    """Layer whose log factors are -mu - sd * (its inputs), and normal inputs for it."""
    noise = np.random.default_rng(seed).standard_normal((batch, steps, len(mu)))
    return Noisy(torch.from_numpy(np.asarray(mu, dtype=np.float64)), sd), torch.from_numpy(noise)


class Noisy(RecurrentLayer):
    """h = exp(-mu - sd x) h': a network whose transport is its input."""

    kind, layer, direction, dtype, device = "noisy", 0, 0, torch.float64, torch.device("cpu")

    def __init__(self, mu, sd):
        self.mu, self.sd, self.hidden_size, self.state_size = mu, sd, mu.numel(), mu.numel()

    def project(self, x):
        return torch.exp(-self.mu - self.sd * x)

    def step(self, p, state):
        return p * state

    def local(self, p, state, previous=None):
        return LocalTerms(p, torch.zeros_like(p))

    def jacobian(self, p, state):
        return torch.diag_embed(p)
