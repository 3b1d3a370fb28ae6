"""States of the papers' cells for training: the recurrence as one node of autograd's graph.

Step by step, autograd makes about ten nodes a step and one small weight gradient each. Here the forward pass writes
into the projections, and the backward pass is written by hand: what does not depend on the incoming gradient is
computed for a stretch of steps at once, so are the weights' gradients, and a step is one matrix product (two for the
GRU) with a few elementwise operations. Everything is laid out (T, B, .). Differentiable once, and not under vmap or
autocast, where it is left to the step-by-step loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from ._dense import DenseLayer, LSTMLayer
from ._gated import LeakyLayer, ResetBeforeGRULayer


def scan(layer: DenseLayer, x: Tensor, initial: Tensor | None = None) -> Tensor:
    """Every state that inputs lead to, as `RecurrentLayer.states` gives them.

    Parameters
    ----------
    layer : DenseLayer
        One of the papers' cells without a norm; for any other, under autocast, and under vmap and other transforms of
        torch.func, this is its method `states`.
    x : Tensor
        Inputs (B, T, D).
    initial : Tensor, optional
        State before the first step (B, S); zero by default.

    Returns
    -------
    Tensor
        (B, T, S), laid out step by step.
    """
    recurrence = _RECURRENCES.get(type(layer))
    s = getattr(layer, "s", None)
    unlike = layer.bias is None or getattr(layer, "norm", None) is not None or (s is not None and s.requires_grad)
    # Mixed precision chooses a type for each operation, and transforms allow no writing into buffers.
    mixed = torch.is_autocast_enabled(x.device.type)
    transformed = torch._C._are_functorch_transforms_active()
    if recurrence is None or unlike or x.shape[1] == 0 or mixed or transformed:
        return layer.states(x, initial)
    state = layer.initial_state(x.shape[0]) if initial is None else initial
    states: Tensor = recurrence.apply(  # type: ignore[no-untyped-call]
        x.transpose(0, 1), layer.weight_ih, layer.bias, layer.weight_hh, state, s
    )
    return states.transpose(0, 1)


#: Steps of a stretch. The weights' gradients want a long one, and memory a short one: at H = 128, B = 32, T = 512 an
#: LSTM's forward and backward pass takes 554, 496, 464, 453, 442 ms with 2, 4, 8, 16, 64.
_STRETCH = 64


class _Stretch(NamedTuple):
    """A stretch of steps, the states before each of them, and the gradients that enter there from outside."""

    steps: slice
    before: Tensor
    entering: list[Tensor]


def _backwards(states: Tensor, initial: Tensor, gradient: Tensor) -> Iterator[_Stretch]:
    """Stretches from the end to the beginning."""
    for last in range(states.shape[0], 0, -_STRETCH):
        first = max(last - _STRETCH, 0)
        if first:
            yield _Stretch(slice(first, last), states[first - 1 : last - 1], list(gradient[first - 1 : last - 1]))
        else:
            before = torch.cat([initial.unsqueeze(0), states[: last - 1]])
            yield _Stretch(slice(first, last), before, [torch.zeros_like(initial), *gradient[: last - 1]])


class _Gradients:
    """Gradients of the parameters and of the input, stretch by stretch."""

    def __init__(self, ctx: Any, x: Tensor, weight_ih: Tensor, weight_hh: Tensor) -> None:
        self.x, self.weight_ih, self.hidden = x, weight_ih, weight_hh.shape[1]
        #: All that pre-activations are multiplied with: the hidden state, the input, and 1 for the bias.
        self.total = weight_hh.new_zeros(weight_hh.shape[0], self.hidden + x.shape[2] + 1)
        self.of_x = torch.empty_like(x) if ctx.needs_input_grad[0] else None

    def add(self, stretch: _Stretch, d_a: Tensor, *products: tuple[slice, Tensor]) -> None:
        """Add a stretch: `products` names blocks of rows of weight_hh and what these multiply."""
        flat, x = d_a.flatten(0, 1), self.x[stretch.steps]
        for rows, h in products:
            factors = torch.cat([h, x, x.new_ones(1, 1, 1).expand(*x.shape[:2], 1)], 2)
            self.total[rows].addmm_(flat[:, rows].t(), factors.flatten(0, 1))
        if self.of_x is not None:
            self.of_x[stretch.steps] = d_a @ self.weight_ih

    def result(self, d_state: Tensor) -> tuple[Tensor | None, ...]:
        """In the order of the arguments of the recurrences."""
        of_hidden, of_input, of_bias = self.total.tensor_split((self.hidden, self.total.shape[1] - 1), 1)
        return self.of_x, of_input, of_bias.squeeze(1), of_hidden, d_state, None


def _columns(x: Tensor, *bounds: int) -> list[tuple[Tensor, ...]]:
    """Step by step, the columns between each bound and the next."""
    return [x[..., i:j].unbind() for i, j in pairwise(bounds)]


class _Leaky(Function):
    """h = h' + s (tanh(u) - h'), with (u, gate) = W x + b + U h'; H rows for u, the others for the gate."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight_ih: Tensor, bias: Tensor, weight: Tensor, initial: Tensor, s: Any
    ) -> Tensor:
        hidden, h, transposed = weight.shape[1], initial, weight.t().contiguous()
        a = linear(x, weight_ih, bias)
        states = a.new_empty(*a.shape[:2], hidden)
        candidates, gates = _columns(a, 0, hidden, a.shape[2])
        for t, (a_t, after) in enumerate(zip(a.unbind(), states.unbind(), strict=True)):
            a_t.addmm_(h, transposed)
            h = torch.lerp(h, candidates[t].tanh_(), gates[t].sigmoid_() if s is None else s, out=after)
        ctx.save_for_backward(x, weight_ih, a, states, weight, initial, s)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight_ih, a, states, weight, initial, s = ctx.saved_tensors
        hidden, width = weight.shape[1], a.shape[2]
        gradients, d_h = _Gradients(ctx, x, weight_ih, weight), gradient[-1]
        for stretch in _backwards(states, initial, gradient):
            steps, before, entering = stretch
            candidate = a[steps, :, :hidden]
            gate = a[steps, :, hidden:] if s is None else s.expand(len(entering), 1, 1)
            by_candidate, carry = (1 - candidate * candidate).mul_(gate), 1 - gate
            by_gate = None if s is not None else (candidate - before) * (gate * carry)
            d_a = torch.empty_like(a[steps])
            d_u, d_gate = _columns(d_a, 0, hidden, width)
            for t in reversed(range(len(entering))):
                torch.mul(d_h, by_candidate[t], out=d_u[t])
                if by_gate is not None and width == 2 * hidden:
                    torch.mul(d_h, by_gate[t], out=d_gate[t])
                elif by_gate is not None:
                    torch.sum(d_h * by_gate[t], 1, keepdim=True, out=d_gate[t])
                d_h = torch.addcmul(entering[t], d_h, carry[t]).addmm_(d_a[t], weight)
            gradients.add(stretch, d_a, (slice(None), before))
        return gradients.result(d_h)


class _ResetBeforeGRU(Function):
    """h = h' + z (g - h'), (z, r) = sigmoid(W x + b + U h'), g = tanh(W x + b + U (r h')); rows are z, r, g."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight_ih: Tensor, bias: Tensor, weight: Tensor, initial: Tensor, _: Any
    ) -> Tensor:
        hidden, h = weight.shape[1], initial
        two, three = 2 * hidden, 3 * hidden
        for_gates, for_candidate = weight[:two].t().contiguous(), weight[two:].t().contiguous()
        a = linear(x, weight_ih, bias)
        states, kept = a.new_empty(*a.shape[:2], hidden), a.new_empty(*a.shape[:2], hidden)
        z, r, g = _columns(a, 0, hidden, two, three)
        (both,) = _columns(a, 0, two)
        for t, after in enumerate(states.unbind()):
            both[t].addmm_(h, for_gates).sigmoid_()
            torch.mul(r[t], h, out=kept[t])
            g[t].addmm_(kept[t], for_candidate).tanh_()
            h = torch.lerp(h, g[t], z[t], out=after)
        ctx.save_for_backward(x, weight_ih, a, states, kept, weight, initial)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight_ih, a, states, kept, weight, initial = ctx.saved_tensors
        hidden = weight.shape[1]
        two, three = 2 * hidden, 3 * hidden
        gradients, d_h = _Gradients(ctx, x, weight_ih, weight), gradient[-1]
        for_gates, for_candidate = weight[:two], weight[two:]
        for stretch in _backwards(states, initial, gradient):
            steps, before, entering = stretch
            z, r, g = a[steps].split(hidden, 2)
            by_g, carry = (1 - g * g).mul_(z), 1 - z
            by_z, by_r = (g - before).mul_(z).mul_(carry), (1 - r).mul_(kept[steps])
            d_a = torch.empty_like(a[steps])
            d_z, d_r, d_g = _columns(d_a, 0, hidden, two, three)
            (d_both,) = _columns(d_a, 0, two)
            for t in reversed(range(len(entering))):
                torch.mul(d_h, by_z[t], out=d_z[t])
                torch.mul(d_h, by_g[t], out=d_g[t])
                d_kept = d_g[t] @ for_candidate
                torch.mul(d_kept, by_r[t], out=d_r[t])
                through = torch.addcmul(entering[t], d_h, carry[t]).addcmul_(d_kept, r[t])
                d_h = through.addmm_(d_both[t], for_gates)
            gradients.add(stretch, d_a, (slice(0, two), before), (slice(two, three), kept[steps]))
        return gradients.result(d_h)


class _LSTM(Function):
    """c = f c' + i g, h = o tanh(c), with (i, f, g, o) = W x + b + U h'; the state is (h, c)."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight_ih: Tensor, bias: Tensor, weight: Tensor, initial: Tensor, _: Any
    ) -> Tensor:
        hidden, transposed = weight.shape[1], weight.t().contiguous()
        h, c = torch.split(initial, hidden, 1)
        a = linear(x, weight_ih, bias)
        states, squashed = a.new_empty(*a.shape[:2], 2 * hidden), a.new_empty(*a.shape[:2], hidden)
        i, f, g, o = _columns(a, *range(0, 5 * hidden, hidden))
        (both,) = _columns(a, 0, 2 * hidden)
        hs, cs = _columns(states, 0, hidden, 2 * hidden)
        for t, (a_t, squash) in enumerate(zip(a.unbind(), squashed.unbind(), strict=True)):
            a_t.addmm_(h, transposed)
            both[t].sigmoid_()
            c = torch.mul(f[t], c, out=cs[t]).addcmul_(i[t], g[t].tanh_())
            h = torch.mul(o[t].sigmoid_(), torch.tanh(c, out=squash), out=hs[t])
        ctx.save_for_backward(x, weight_ih, a, states, squashed, weight, initial)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight_ih, a, states, squashed, weight, initial = ctx.saved_tensors
        hidden = weight.shape[1]
        gradients = _Gradients(ctx, x, weight_ih, weight)
        d_h, d_c = torch.split(gradient[-1], hidden, 1)
        for stretch in _backwards(states, initial, gradient):
            steps, before, entering = stretch
            i, f, g, o = a[steps].split(hidden, 2)
            squash = squashed[steps]
            readout, by_o = (1 - squash * squash).mul_(o), (1 - o).mul_(o).mul_(squash)
            by_i, by_f = (1 - i).mul_(i).mul_(g), (1 - f).mul_(f).mul_(before[..., hidden:])
            by_cell = torch.stack([by_i, by_f, (1 - g * g).mul_(i)], 2)
            d_a = torch.empty_like(a[steps])
            d_cell, (d_o,) = d_a.view(*d_a.shape[:2], 4, hidden)[:, :, :3], _columns(d_a, 3 * hidden, 4 * hidden)
            for t in reversed(range(len(entering))):
                d_c = torch.addcmul(d_c, d_h, readout[t])
                torch.mul(by_cell[t], d_c.unsqueeze(1), out=d_cell[t])
                torch.mul(d_h, by_o[t], out=d_o[t])
                enters_h, enters_c = torch.split(entering[t], hidden, 1)
                d_h = torch.addmm(enters_h, d_a[t], weight)
                d_c = torch.addcmul(enters_c, d_c, f[t])
            gradients.add(stretch, d_a, (slice(None), before[..., :hidden]))
        return gradients.result(torch.cat([d_h, d_c], 1))


_RECURRENCES: dict[type, type[Function]] = {
    LeakyLayer: _Leaky,
    ResetBeforeGRULayer: _ResetBeforeGRU,
    LSTMLayer: _LSTM,
}
