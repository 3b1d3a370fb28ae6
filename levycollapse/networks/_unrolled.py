"""Recurrences over a whole sequence, with gradients written out.

Autograd would keep a graph node for every operation of every step and add up the gradient of the weights step by step.
Here the factors of all steps are formed at once, a step of the way back is one matrix product and a few elementwise
ones, and the gradient of the weights is a single product over all steps. Tested against autograd through `step`.

Inputs: projections p (B, T, K), the state before (B, S), the recurrent weights (K, H). First output: states (B, T, S);
the others are kept for the way back and carry no gradient, which is why second derivatives are refused.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

Steps = tuple[Tensor, ...]


def _steps(p: Tensor) -> Steps:
    return p.transpose(0, 1).unbind(0)


def _before(state: Tensor, states: Tensor) -> Tensor:
    """States (T, B, S) before each step."""
    return torch.cat([state.unsqueeze(0), states.transpose(0, 1)[:-1]])


def _weights(da: Tensor, h: Tensor) -> Tensor:
    """Gradient of weights that take h (T, B, H) to pre-activations with gradient da (T, B, K)."""
    return da.flatten(0, 1).t() @ h.flatten(0, 1)


class _Unrolled(Function):
    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*inputs, *output)

    @classmethod
    def run(cls, *inputs: Tensor | None) -> Tensor:
        """States (B, T, S)."""
        states: Tensor = cls.apply(*inputs)[0]  # type: ignore[no-untyped-call]
        return states


class Leaky(_Unrolled):
    """The recurrence of `LeakyLayer` without a norm; s is None or the constant gate, which has no gradient."""

    @staticmethod
    def forward(p: Tensor, state: Tensor, weight: Tensor, s: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        size, transposed = weight.shape[1], weight.t()
        states, candidates, gates = [], [], []
        for step in _steps(p):
            a = torch.addmm(step, state, transposed)
            candidate = torch.tanh(a[:, :size])
            gate = torch.sigmoid(a[:, size:]) if s is None else s
            state = torch.lerp(state, candidate, gate)
            states.append(state)
            candidates.append(candidate)
            gates.append(gate)
        return torch.stack(states, 1), torch.stack(candidates), torch.stack(gates)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor, None]:
        _, state, weight, s, states, g, gate = ctx.saved_tensors
        h = _before(state, states)
        if s is not None:
            gate = gate[:, None, None]
        by_candidate = (gate * (1 - g * g)).unbind(0)
        by_gate = ((g - h) * gate * (1 - gate)).unbind(0)
        carry = (1 - gate).unbind(0)
        shared = s is None and gate.shape[-1] == 1 < g.shape[-1]
        das = []
        dh = torch.zeros_like(state)
        for t in reversed(range(len(carry))):
            dh = dh + grad[:, t]
            da = dh * by_candidate[t]
            if s is None:
                ds = dh * by_gate[t]
                da = torch.cat([da, ds.sum(1, keepdim=True) if shared else ds], 1)
            das.append(da)
            dh = torch.addmm(dh * carry[t], da, weight)
        total = torch.stack(das[::-1])
        return total.transpose(0, 1), dh, _weights(total, h), None


class ResetBeforeGRU(_Unrolled):
    """The recurrence of `ResetBeforeGRULayer` without a norm."""

    @staticmethod
    def forward(p: Tensor, state: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size, transposed = weight.shape[1], weight.t()
        to_gates, to_candidate = transposed[:, : 2 * size], transposed[:, 2 * size :]
        states, candidates, gates = [], [], []
        for step in _steps(p):
            gate = torch.sigmoid(torch.addmm(step[:, : 2 * size], state, to_gates))
            reset = gate[:, size:] * state
            candidate = torch.tanh(torch.addmm(step[:, 2 * size :], reset, to_candidate))
            state = torch.lerp(state, candidate, gate[:, :size])
            states.append(state)
            candidates.append(candidate)
            gates.append(gate)
        return torch.stack(states, 1), torch.stack(candidates), torch.stack(gates)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
        _, state, weight, states, g, gates = ctx.saved_tensors
        size = weight.shape[1]
        h = _before(state, states)
        z, r = gates.chunk(2, -1)
        by_candidate = (z * (1 - g * g)).unbind(0)
        by_z = ((g - h) * z * (1 - z)).unbind(0)
        by_r = (h * r * (1 - r)).unbind(0)
        carry, resets = (1 - z).unbind(0), r.unbind(0)
        of_gates, of_candidate = weight[: 2 * size], weight[2 * size :]
        dgates, dcandidates = [], []
        dh = torch.zeros_like(state)
        for t in reversed(range(len(carry))):
            dh = dh + grad[:, t]
            du = dh * by_candidate[t]
            dv = du @ of_candidate
            da = torch.cat([dh * by_z[t], dv * by_r[t]], 1)
            dgates.append(da)
            dcandidates.append(du)
            dh = torch.addmm(torch.addcmul(dh * carry[t], dv, resets[t]), da, of_gates)
        gate, candidate = torch.stack(dgates[::-1]), torch.stack(dcandidates[::-1])
        dweight = torch.cat([_weights(gate, h), _weights(candidate, r * h)])
        return torch.cat([gate, candidate], 2).transpose(0, 1), dh, dweight


class LongShortTerm(_Unrolled):
    """The recurrence of `LSTMLayer` without a norm; rows i, f, g, o."""

    @staticmethod
    def forward(p: Tensor, state: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size, transposed = weight.shape[1], weight.t()
        h, c = state.chunk(2, 1)
        states, gates, squashed = [], [], []
        for step in _steps(p):
            a = torch.addmm(step, h, transposed)
            into = torch.sigmoid(a[:, : 2 * size])
            g, o = torch.tanh(a[:, 2 * size : 3 * size]), torch.sigmoid(a[:, 3 * size :])
            c = torch.addcmul(into[:, size:] * c, into[:, :size], g)
            tanh_c = torch.tanh(c)
            h = o * tanh_c
            states.append(torch.cat([h, c], 1))
            gates.append(torch.cat([into, g, o], 1))
            squashed.append(tanh_c)
        return torch.stack(states, 1), torch.stack(gates), torch.stack(squashed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
        _, state, weight, states, gates, squashed = ctx.saved_tensors
        h, c = _before(state, states).chunk(2, -1)
        i, f, g, o = gates.chunk(4, -1)
        # By cell, three blocks of rows, and by hidden state, one.
        by_cell = torch.stack([g * i * (1 - i), c * f * (1 - f), i * (1 - g * g)], 2).unbind(0)
        by_hidden = (squashed * o * (1 - o)).unbind(0)
        readout, forget = (o * (1 - squashed * squashed)).unbind(0), f.unbind(0)
        to_h, to_c = grad.chunk(2, -1)
        das = []
        dh, dc = torch.zeros_like(h[0]), torch.zeros_like(h[0])
        for t in reversed(range(len(forget))):
            dh = dh + to_h[:, t]
            dc = torch.addcmul(dc + to_c[:, t], dh, readout[t])
            da = torch.cat([(dc.unsqueeze(1) * by_cell[t]).flatten(1), dh * by_hidden[t]], 1)
            das.append(da)
            dh, dc = da @ weight, dc * forget[t]
        total = torch.stack(das[::-1])
        return total.transpose(0, 1), torch.cat([dh, dc], 1), _weights(total, h)
