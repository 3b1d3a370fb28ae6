"""What all layers with dense weights share, and the layers of torch: nn.RNN, nn.GRU, nn.LSTM.

Pre-activations are computed in the precision of the weights; gates and derivatives in float64 from these.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import linear

from ._layer import LocalTerms, RecurrentLayer
from ._norm import Norm, normed


class DenseLayer(RecurrentLayer):
    """Layer whose pre-activations are linear in the input and in the hidden state.

    Parameters
    ----------
    kind : str
    weight_ih : Tensor
        (K, D), blocks of rows stacked in the order that the subclass names.
    weight_hh : Tensor
        (K, H).
    bias : Tensor or None
        (K,), everything that adds to the pre-activations.
    """

    def __init__(
        self,
        kind: str,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias: Tensor | None,
        layer: int = 0,
        direction: int = 0,
    ) -> None:
        self.kind, self.layer, self.direction = kind, layer, direction
        self.weight_ih, self.weight_hh, self.bias = weight_ih, weight_hh, bias
        self.input_size, self.hidden_size = weight_ih.shape[1], weight_hh.shape[1]
        self.state_size = self.hidden_size
        self.dtype, self.device = weight_hh.dtype, weight_hh.device
        self._transposed = weight_hh.t()

    def project(self, x: Tensor) -> Tensor:
        # Laid out step by step, as the steps will read it.
        return linear(x.transpose(0, 1), self.weight_ih, self.bias).transpose(0, 1)

    @cached_property
    def blocks(self) -> tuple[Tensor, ...]:
        """Recurrent weights by gate, float64."""
        return torch.split(self.weight_hh.detach().double(), self.hidden_size)

    @cached_property
    def diagonals(self) -> tuple[Tensor, ...]:
        """Each unit's weight to itself, by gate."""
        return tuple(block.diagonal() for block in self.blocks)

    def _preactivations(self, p: Tensor, state: Tensor) -> Tensor:
        return torch.addmm(p, self.hidden(state), self._transposed)


def rows(scale: Tensor, matrix: Tensor) -> Tensor:
    """diag(scale) @ matrix for a batch: (B, H) and (H, H) or (B, H, H)."""
    return scale.unsqueeze(-1) * matrix


class VanillaLayer(DenseLayer):
    """h = tanh(W x + b + U h') or relu of it; it has no gate, so `carry` is 0."""

    def __init__(
        self,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias: Tensor | None,
        layer: int = 0,
        direction: int = 0,
        nonlinearity: str = "tanh",
    ) -> None:
        super().__init__("rnn", weight_ih, weight_hh, bias, layer, direction)
        self.nonlinearity = nonlinearity

    def step(self, p: Tensor, state: Tensor) -> Tensor:
        return self._activate(self._preactivations(p, state))

    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        return self._terms(self._preactivations(p, state))

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        a = self._preactivations(p, state)
        return self._activate(a), self._terms(a)

    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        return rows(self._slope(self._preactivations(p, state)), self.blocks[0])

    def _activate(self, a: Tensor) -> Tensor:
        return torch.tanh(a) if self.nonlinearity == "tanh" else torch.relu(a)

    def _slope(self, a: Tensor) -> Tensor:
        return 1 - torch.tanh(a.double()) ** 2 if self.nonlinearity == "tanh" else (a > 0).double()

    def _terms(self, a: Tensor) -> LocalTerms:
        slope = self._slope(a)
        return LocalTerms(torch.zeros_like(slope), slope * self.diagonals[0])


class TorchGRULayer(DenseLayer):
    """nn.GRU: h = (1 - z) n + z h', n = tanh(W x + b + r (U h' + b_hn)); z is the carry.

    Rows are stacked r, z, n; `bias_hn` is the bias that the reset gate multiplies.
    """

    def __init__(
        self,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias: Tensor | None,
        bias_hn: Tensor | None,
        layer: int = 0,
        direction: int = 0,
    ) -> None:
        super().__init__("gru", weight_ih, weight_hh, bias, layer, direction)
        self._bias_hh = None
        if bias_hn is not None:
            self._bias_hh = torch.cat([bias_hn.new_zeros(2 * self.hidden_size), bias_hn])

    def step(self, p: Tensor, state: Tensor) -> Tensor:
        return self._next(*self._parts(p, state), state)

    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        return self._terms(*self._parts(p, state), state)

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        parts = self._parts(p, state)
        return self._next(*parts, state), self._terms(*parts, state)

    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        z, by_r, by_z, by_n = self._slopes(*self._parts(p, state), state)
        u_r, u_z, u_n = self.blocks
        return torch.diag_embed(z) + rows(by_r, u_r) + rows(by_z, u_z) + rows(by_n, u_n)

    def _parts(self, p: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Pre-activation of (r, z); the input's and the recurrent share of that of n."""
        two = 2 * self.hidden_size
        recurrent = linear(state, self.weight_hh, self._bias_hh)
        return p[:, :two] + recurrent[:, :two], p[:, two:], recurrent[:, two:]

    def _next(self, gates: Tensor, drive: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
        r, z = torch.sigmoid(gates).chunk(2, 1)
        n = torch.tanh(drive + r * recurrent)
        return n + z * (state - n)

    def _slopes(
        self, gates: Tensor, drive: Tensor, recurrent: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The carry, and what multiplies the rows of U_r, U_z and U_n in the Jacobian."""
        r, z = torch.sigmoid(gates.double()).chunk(2, 1)
        share = torch.sigmoid(-gates[:, self.hidden_size :].double())
        recurrent = recurrent.double()
        n = torch.tanh(drive.double() + r * recurrent)
        slope = share * (1 - n * n)
        return z, slope * recurrent * r * (1 - r), (state.double() - n) * z * share, slope * r

    def _terms(self, gates: Tensor, drive: Tensor, recurrent: Tensor, state: Tensor) -> LocalTerms:
        z, by_r, by_z, by_n = self._slopes(gates, drive, recurrent, state)
        d_r, d_z, d_n = self.diagonals
        return LocalTerms(z, by_r * d_r + by_z * d_z + by_n * d_n)


class LSTMLayer(DenseLayer):
    """c = f c' + i g, h = o tanh(c); the state is (h, c), and `local` speaks of the cell path.

    Rows are stacked i, f, g, o. `norm` acts on the pre-activation of g. The correction is
    [c' f (1 - f) U_f + i (1 - g^2) U_g + g i (1 - i) U_i]_qq e', with e' = o' (1 - tanh(c')^2) of the step before.
    """

    def __init__(
        self,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias: Tensor | None,
        layer: int = 0,
        direction: int = 0,
        norm: Norm | None = None,
    ) -> None:
        super().__init__("lstm", weight_ih, weight_hh, bias, layer, direction)
        self.state_size = 2 * self.hidden_size
        self.norm = norm

    def step(self, p: Tensor, state: Tensor) -> Tensor:
        return self._next(self._preactivations(p, state), state)

    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        return self._terms(self._preactivations(p, state), state, previous)

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        a = self._preactivations(p, state)
        return self._next(a, state), self._terms(a, state, previous)

    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        a = self._preactivations(p, state).double()
        i, f, g, o, c_before, c = self._gates(a, state)
        u_i, u_f, u_g, u_o = self.blocks
        if self.norm is not None:
            u_g = self.norm.jacobian(a.chunk(4, 1)[2], u_g)
        cell = rows(g * i * (1 - i), u_i) + rows(c_before * f * (1 - f), u_f) + rows(i * (1 - g * g), u_g)
        squashed = torch.tanh(c)
        readout = o * (1 - squashed * squashed)
        hidden = rows(squashed * o * (1 - o), u_o) + rows(readout, cell)
        top = torch.cat([hidden, torch.diag_embed(readout * f)], 2)
        return torch.cat([top, torch.cat([cell, torch.diag_embed(f)], 2)], 1)

    def _next(self, a: Tensor, state: Tensor) -> Tensor:
        i, f, g, o = a.chunk(4, 1)
        c = torch.sigmoid(f) * state[:, self.hidden_size :] + torch.sigmoid(i) * torch.tanh(normed(self.norm, g))
        return torch.cat([torch.sigmoid(o) * torch.tanh(c), c], 1)

    def _gates(self, a: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        i, f, g, o = a.chunk(4, 1)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(normed(self.norm, g)), torch.sigmoid(o)
        c_before = state[:, self.hidden_size :].double()
        return i, f, g, o, c_before, f * c_before + i * g

    def _terms(self, a: Tensor, state: Tensor, previous: LocalTerms | None) -> LocalTerms:
        a = a.double()
        i, f, g, o, c_before, c = self._gates(a, state)
        d_i, d_f, d_g, _ = self.diagonals
        if self.norm is not None:
            u_g = self.blocks[2]
            d_g = self.norm.diagonal(a.chunk(4, 1)[2], d_g, lambda w: w @ u_g)
        bracket = c_before * f * (1 - f) * d_f + i * (1 - g * g) * d_g + g * i * (1 - i) * d_i
        # Before the first step the hidden state was no function of the cell state.
        before = None if previous is None else previous.readout
        correction = torch.zeros_like(f) if before is None else bracket * before
        return LocalTerms(f, correction, o * (1 - torch.tanh(c) ** 2))
