"""What a recurrent layer must offer so that time scales can be read from it, and the network made of such layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class LocalTerms:
    """One step's share of the transport, at the map h_{t-1} -> h_t; every tensor is (B, H) float64.

    The exact diagonal of the step's Jacobian is ``carry + correction``. For an LSTM both are those of the cell path
    d c_t / d c_{t-1} with the output gate of the step before held fixed.

    Attributes
    ----------
    carry : Tensor
        The gate's share: 1 - z, or z where z is the carry (nn.GRU); the forget gate; 0 for a network without gates.
    correction : Tensor
        The rest of the exact diagonal.
    readout : Tensor, optional
        LSTM only: d h_t / d c_t = o_t (1 - tanh(c_t)^2), which ends a product of cell-path terms in h.
    """

    carry: Tensor
    correction: Tensor
    readout: Tensor | None = None


class RecurrentLayer(ABC):
    """One direction of one layer of a recurrent network.

    Write a subclass to read time scales from a cell of your own, or give its step function to `from_step`.

    A layer computes in the precision of its weights. What it says about derivatives is float64, evaluated at the
    states that it really visits.

    Attributes
    ----------
    kind : str
        Such as ``"gru"`` or ``"diag"``.
    layer, direction : int
        Its place in the network, both counted from 0. Direction 1 runs backwards: whoever calls the methods gives it
        inputs that are reversed already, valid steps first.
    hidden_size, state_size : int
        H, and the size S of its state: 2 H for an LSTM, whose state is (h, c), otherwise H.
    dtype, device
        Of its weights.
    """

    kind: str
    layer: int
    direction: int
    hidden_size: int
    state_size: int
    dtype: torch.dtype
    device: torch.device

    @abstractmethod
    def project(self, x: Tensor) -> Tensor:
        """Input's share of all pre-activations at all steps, biases included: (B, T, D) -> (B, T, K)."""

    @abstractmethod
    def step(self, p: Tensor, state: Tensor) -> Tensor:
        """Next state (B, S) from one step's projections (B, K) and the state (B, S)."""

    @abstractmethod
    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        """Diagonal terms of the map from `state` = state_{t-1} to state_t.

        `previous` holds the terms of the step before; None says that the sequence begins here. An LSTM needs its
        readout (0 at the beginning), other layers do not look at it.
        """

    @abstractmethod
    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        """Full Jacobian d state_t / d state_{t-1}: (B, S, S) float64; rows are those of state_t."""

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        """`step` and `local` in one; subclasses share the work of the two."""
        return self.step(p, state), self.local(p, state, previous)

    def initial_state(self, batch: int) -> Tensor:
        """Zero state (B, S)."""
        return torch.zeros(batch, self.state_size, dtype=self.dtype, device=self.device)

    def hidden(self, state: Tensor) -> Tensor:
        """Hidden part (B, H) of a state, or of states stacked over leading axes."""
        return state[..., : self.hidden_size]

    def states(self, x: Tensor, initial: Tensor | None = None) -> Tensor:
        """Every state that inputs (B, T, D) lead to: (B, T, S)."""
        state = self.initial_state(x.shape[0]) if initial is None else initial
        visited = []
        for p in self.project(x).unbind(1):
            state = self.step(p, state)
            visited.append(state)
        return torch.stack(visited, 1)


class LayerRun(NamedTuple):
    """A layer with what it is fed.

    Attributes
    ----------
    layer : RecurrentLayer
    inputs : Tensor
        (B, T, D) in the layer's precision, reversed already for direction 1, valid steps first; what stands beyond a
        sequence's length is without meaning.
    lengths : Tensor
        (B,) int64 on the CPU: the valid steps of each sequence, T where none were given.
    initial : Tensor
        (B, S): the state before the first step.
    """

    layer: RecurrentLayer
    inputs: Tensor
    lengths: Tensor
    initial: Tensor


class Network(ABC):
    """Recurrent layers, and how an input reaches each of them.

    Attributes
    ----------
    layers : list of list of RecurrentLayer
        Over layers, then directions.
    """

    layers: list[list[RecurrentLayer]]

    @abstractmethod
    def runs(self, inputs: object, lengths: object = None) -> Iterator[LayerRun]:
        """Every layer and direction with its own inputs, deeper ones computed by the true forward pass.

        Made one after another, so that only one layer's inputs are held. Run it under `torch.no_grad`.
        """
