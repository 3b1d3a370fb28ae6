"""The layers of the papers: constant, shared and diagonal gates, and a GRU whose reset gate acts before its matrix."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from ._dense import DenseLayer, rows
from ._layer import LocalTerms
from ._norm import Norm, normed


class LeakyLayer(DenseLayer):
    """h = (1 - s) h' + s tanh(W x + b + U h').

    Rows are stacked candidate (H), gate (G): G = H for a gate per unit, 1 for a shared gate, and 0 for a constant gate
    whose value is `s`. `norm` acts on the candidate's pre-activation.
    """

    def __init__(
        self,
        kind: str,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias: Tensor | None,
        layer: int = 0,
        direction: int = 0,
        norm: Norm | None = None,
        s: Tensor | None = None,
    ) -> None:
        super().__init__(kind, weight_ih, weight_hh, bias, layer, direction)
        self.norm, self.s = norm, s

    @cached_property
    def diagonals(self) -> tuple[Tensor, ...]:
        # The weight from a unit to its gate; the shared gate is everybody's.
        return tuple(u.diagonal() if u.shape[0] == self.hidden_size else u.flatten() for u in self.blocks)

    def step(self, p: Tensor, state: Tensor) -> Tensor:
        return self._next(self._preactivations(p, state), state)

    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        return self._terms(self._preactivations(p, state), state)

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        a = self._preactivations(p, state)
        return self._next(a, state), self._terms(a, state)

    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        a = self._preactivations(p, state)
        carry, by_candidate, by_gate, u = self._slopes(a, state)
        inner = self.blocks[0] if self.norm is None else self.norm.jacobian(u, self.blocks[0])
        out = torch.diag_embed(carry) + rows(by_candidate, inner)
        return out if by_gate is None else out + rows(by_gate, self.blocks[1])

    def _next(self, a: Tensor, state: Tensor) -> Tensor:
        h = self.hidden_size
        candidate = torch.tanh(normed(self.norm, a[:, :h]))
        s = torch.sigmoid(a[:, h:]) if self.s is None else self.s
        return state + s * (candidate - state)

    def _slopes(self, a: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """The carry, what multiplies the rows of the candidate and of the gate, and the candidate's pre-activation."""
        h = self.hidden_size
        u = a[:, :h].double()
        candidate = torch.tanh(normed(self.norm, u))
        if self.s is None:
            s, carry = torch.sigmoid(a[:, h:].double()), torch.sigmoid(-a[:, h:].double())
            by_gate = (candidate - state.double()) * s * carry
        else:
            s, by_gate = self.s.double(), None
            carry = 1 - s
        return carry.expand_as(u), s * (1 - candidate * candidate), by_gate, u

    def _terms(self, a: Tensor, state: Tensor) -> LocalTerms:
        carry, by_candidate, by_gate, u = self._slopes(a, state)
        inner = self.diagonals[0]
        if self.norm is not None:
            inner = self.norm.diagonal(u, inner, lambda w: w @ self.blocks[0])
        correction = by_candidate * inner
        return LocalTerms(carry, correction if by_gate is None else correction + by_gate * self.diagonals[1])


class ResetBeforeGRULayer(DenseLayer):
    """h = (1 - z) h' + z tanh(W x + b + U (r h')): 1 - z is the carry, unlike in nn.GRU.

    Rows are stacked z, r, candidate. `norm` acts on the candidate's pre-activation.
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
        super().__init__("gru-reset-before", weight_ih, weight_hh, bias, layer, direction)
        self.norm = norm
        two = 2 * self.hidden_size
        self._gates, self._candidate = self._transposed[:, :two], self._transposed[:, two:]

    @cached_property
    def _through_reset(self) -> Tensor:
        """U_qk Ur_kq at [k, q]: what the reset gates k pass from a unit q back to itself."""
        _, u_r, u_g = self.blocks
        return u_g.t() * u_r

    def step(self, p: Tensor, state: Tensor) -> Tensor:
        return self._next(*self._parts(p, state), state)

    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        return self._terms(*self._parts(p, state), state)

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        parts = self._parts(p, state)
        return self._next(*parts, state), self._terms(*parts, state)

    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        carry, by_z, by_g, r, v, u = self._slopes(*self._parts(p, state), state)
        u_z, u_r, u_g = self.blocks
        inner = u_g @ (torch.diag_embed(r) + rows(v, u_r))
        if self.norm is not None:
            inner = self.norm.jacobian(u, inner)
        return torch.diag_embed(carry) + rows(by_z, u_z) + rows(by_g, inner)

    def _parts(self, p: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Pre-activations of (z, r) and of the candidate."""
        two = 2 * self.hidden_size
        gates = torch.addmm(p[:, :two], state, self._gates)
        r = torch.sigmoid(gates[:, self.hidden_size :])
        return gates, torch.addmm(p[:, two:], r * state, self._candidate)

    def _next(self, gates: Tensor, u: Tensor, state: Tensor) -> Tensor:
        z = torch.sigmoid(gates[:, : self.hidden_size])
        return state + z * (torch.tanh(normed(self.norm, u)) - state)

    def _slopes(self, gates: Tensor, u: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The carry, what multiplies the rows of U_z and of the candidate, r, dr/da h', the candidate's u."""
        z, r = torch.sigmoid(gates.double()).chunk(2, 1)
        carry = torch.sigmoid(-gates[:, : self.hidden_size].double())
        h, u = state.double(), u.double()
        g = torch.tanh(normed(self.norm, u))
        return carry, (g - h) * z * carry, z * (1 - g * g), r, h * r * (1 - r), u

    def _terms(self, gates: Tensor, u: Tensor, state: Tensor) -> LocalTerms:
        carry, by_z, by_g, r, v, u = self._slopes(gates, u, state)
        _, u_r, u_g = self.blocks
        inner = self.diagonals[2] * r + v @ self._through_reset

        def pull(w: Tensor) -> Tensor:
            w = w @ u_g
            return w * r + (w * v) @ u_r

        if self.norm is not None:
            inner = self.norm.diagonal(u, inner, pull)
        return LocalTerms(carry, by_z * self.diagonals[0] + by_g * inner)
