"""Recurrences over a whole sequence, with gradients written out.

Autograd would keep a graph node for every operation of every step and add up the gradient of the weights step by step.
Here a step of the way back is a matrix product and a few elementwise ones, whose factors are formed for many steps at
once, as many as fit into the cache; the gradient of the weights is one product for as many. Tested against autograd
through `step`.

Inputs: projections p (B, T, K), the state before (B, S), the recurrent weights (K, H). First output: states (B, T, S);
the others are kept for the way back and carry no gradient, which is why second derivatives are refused.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

#: Numbers in a tensor of factors: more would leave a core's cache, fewer would be mostly calls (measured).
_PIECE = 2**16


def _pieces(steps: int, width: int) -> list[slice]:
    """Pieces of a sequence, last first, for tensors of `width` numbers a step."""
    size = max(1, _PIECE // max(width, 1))
    return [slice(start, min(start + size, steps)) for start in reversed(range(0, steps, size))]


def _before(state: Tensor, states: Tensor) -> Tensor:
    """States (T, B, S) before each step."""
    return torch.cat([state.unsqueeze(0), states.transpose(0, 1)[:-1]])


def _onto(total: Tensor, da: Tensor, h: Tensor) -> Tensor:
    """Gradient of weights that take h (T, B, H) to pre-activations with gradient da (T, B, K), added to `total`."""
    return torch.addmm(total, da.flatten(0, 1).t(), h.flatten(0, 1))


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
    def forward(p: Tensor, state: Tensor, weight: Tensor, s: Tensor | None) -> tuple[Tensor, Tensor]:
        size, transposed = weight.shape[1], weight.t()
        states, activations = [], []
        for step in p.unbind(1):
            a = torch.addmm(step, state, transposed)
            candidate = a[:, :size].tanh_()
            state = torch.lerp(state, candidate, a[:, size:].sigmoid_() if s is None else s)
            states.append(state)
            activations.append(a)
        return torch.stack(states).transpose(0, 1), torch.stack(activations)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor, None]:
        _, state, weight, s, states, activations = ctx.saved_tensors
        size = weight.shape[1]
        shared = s is None and weight.shape[0] == size + 1 != 2 * size
        before, das = _before(state, states), []
        dweight = torch.zeros_like(weight)
        dh = torch.zeros_like(state)
        for piece in _pieces(len(before), state.numel()):
            h, g = before[piece], activations[piece, :, :size]
            gate = activations[piece, :, size:] if s is None else s.expand(1, 1, 1)
            factors = [gate * (1 - g * g)]
            if s is None:
                factors.append((g - h) * (gate * (1 - gate)))
            by = torch.stack(factors, 2)
            carry, into, of_piece = 1 - gate, grad.transpose(0, 1)[piece], []
            for t in reversed(range(len(h))):
                dh = dh + into[t]
                da = (dh.unsqueeze(1) * by[t]).flatten(1)
                if shared:
                    da = torch.cat([da[:, :size], da[:, size:].sum(1, keepdim=True)], 1)
                of_piece.append(da)
                dh = torch.addmm(dh * carry[t if s is None else 0], da, weight)
            das.append(torch.stack(of_piece[::-1]))
            dweight = _onto(dweight, das[-1], h)
        return torch.cat(das[::-1]).transpose(0, 1), dh, dweight, None


class ResetBeforeGRU(_Unrolled):
    """The recurrence of `ResetBeforeGRULayer` without a norm."""

    @staticmethod
    def forward(p: Tensor, state: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size, transposed = weight.shape[1], weight.t()
        to_gates, to_candidate = transposed[:, : 2 * size], transposed[:, 2 * size :]
        states, candidates, gates = [], [], []
        for step in p.unbind(1):
            gate = torch.addmm(step[:, : 2 * size], state, to_gates).sigmoid_()
            reset = gate[:, size:] * state
            candidate = torch.addmm(step[:, 2 * size :], reset, to_candidate).tanh_()
            state = torch.lerp(state, candidate, gate[:, :size])
            states.append(state)
            candidates.append(candidate)
            gates.append(gate)
        return torch.stack(states).transpose(0, 1), torch.stack(candidates), torch.stack(gates)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
        _, state, weight, states, candidates, gates = ctx.saved_tensors
        two = 2 * weight.shape[1]
        of_gates, of_candidate = weight[:two], weight[two:]
        before, das = _before(state, states), []
        dgates, dcandidate = torch.zeros_like(of_gates), torch.zeros_like(of_candidate)
        dh = torch.zeros_like(state)
        for piece in _pieces(len(before), state.numel()):
            h, g = before[piece], candidates[piece]
            z, r = gates[piece].chunk(2, -1)
            carry = 1 - z
            by_candidate, by_z, by_r = z * (1 - g * g), (g - h) * (z * carry), h * (r * (1 - r))
            into, of_piece = grad.transpose(0, 1)[piece], []
            for t in reversed(range(len(h))):
                dh = dh + into[t]
                du = dh * by_candidate[t]
                dv = du @ of_candidate
                da = torch.cat([dh * by_z[t], dv * by_r[t], du], 1)
                of_piece.append(da)
                dh = torch.addmm(torch.addcmul(dh * carry[t], dv, r[t]), da[:, :two], of_gates)
            das.append(torch.stack(of_piece[::-1]))
            dgates = _onto(dgates, das[-1][:, :, :two], h)
            dcandidate = _onto(dcandidate, das[-1][:, :, two:], r * h)
        return torch.cat(das[::-1]).transpose(0, 1), dh, torch.cat([dgates, dcandidate])


class LongShortTerm(_Unrolled):
    """The recurrence of `LSTMLayer` without a norm; rows i, f, g, o."""

    @staticmethod
    def forward(p: Tensor, state: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size, transposed = weight.shape[1], weight.t()
        h, c = state.chunk(2, 1)
        states, gates, squashed = [], [], []
        for step in p.unbind(1):
            a = torch.addmm(step, h, transposed)
            i, f = a[:, : 2 * size].sigmoid_().chunk(2, 1)
            g, o = a[:, 2 * size : 3 * size].tanh_(), a[:, 3 * size :].sigmoid_()
            c = torch.addcmul(f * c, i, g)
            tanh_c = torch.tanh(c)
            h = o * tanh_c
            states.append(torch.cat([h, c], 1))
            gates.append(a)
            squashed.append(tanh_c)
        return torch.stack(states).transpose(0, 1), torch.stack(gates), torch.stack(squashed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
        _, state, weight, states, gates, squashed = ctx.saved_tensors
        before, das = _before(state, states), []
        dweight = torch.zeros_like(weight)
        dh, dc = torch.zeros_like(state).chunk(2, 1)
        for piece in _pieces(len(before), state.numel()):
            h, c = before[piece].chunk(2, -1)
            i, f, g, o = gates[piece].chunk(4, -1)
            tanh_c = squashed[piece]
            # By cell, three blocks of rows, and by hidden state, one.
            by_cell = torch.stack([g * i * (1 - i), c * f * (1 - f), i * (1 - g * g)], 2)
            by_hidden, readout = tanh_c * o * (1 - o), o * (1 - tanh_c * tanh_c)
            to_h, to_c = grad.transpose(0, 1)[piece].chunk(2, -1)
            of_piece = []
            for t in reversed(range(len(h))):
                dh = dh + to_h[t]
                dc = torch.addcmul(dc + to_c[t], dh, readout[t])
                da = torch.cat([(dc.unsqueeze(1) * by_cell[t]).flatten(1), dh * by_hidden[t]], 1)
                of_piece.append(da)
                dh, dc = da @ weight, dc * f[t]
            das.append(torch.stack(of_piece[::-1]))
            dweight = _onto(dweight, das[-1], h)
        return torch.cat(das[::-1]).transpose(0, 1), torch.cat([dh, dc], 1), dweight
