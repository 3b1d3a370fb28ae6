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
        """Input's share of all pre-activations at all steps at once, biases included.

        Parameters
        ----------
        x : Tensor
            Inputs (B, T, D).

        Returns
        -------
        Tensor
            Projections (B, T, K).
        """

    @abstractmethod
    def step(self, p: Tensor, state: Tensor) -> Tensor:
        """One step.

        Parameters
        ----------
        p : Tensor
            The step's projections (B, K).
        state : Tensor
            State before it (B, S).

        Returns
        -------
        Tensor
            State after it (B, S).
        """

    @abstractmethod
    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        """Diagonal terms of one step's map.

        Parameters
        ----------
        p : Tensor
            The step's projections (B, K).
        state : Tensor
            State before it (B, S).
        previous : LocalTerms, optional
            Terms of the step before; None says that the sequence begins here. An LSTM needs their readout (0 at the
            beginning), other layers do not look at them.

        Returns
        -------
        LocalTerms
            Carry and correction.
        """

    @abstractmethod
    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        """Full Jacobian d state_t / d state_{t-1} of one step's map.

        Parameters
        ----------
        p : Tensor
            The step's projections (B, K).
        state : Tensor
            State before it (B, S).

        Returns
        -------
        Tensor
            (B, S, S) float64; rows are those of the state after.
        """

    def advance(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> tuple[Tensor, LocalTerms]:
        """Do `step` and `local` in one; subclasses share the work of the two.

        Parameters
        ----------
        p : Tensor
            The step's projections (B, K).
        state : Tensor
            State before it (B, S).
        previous : LocalTerms, optional
            As in `local`.

        Returns
        -------
        state : Tensor
            State after the step (B, S).
        terms : LocalTerms
            Carry and correction.
        """
        return self.step(p, state), self.local(p, state, previous)

    def initial_state(self, batch: int) -> Tensor:
        """Zero state.

        Parameters
        ----------
        batch : int
            B.

        Returns
        -------
        Tensor
            (B, S).
        """
        return torch.zeros(batch, self.state_size, dtype=self.dtype, device=self.device)

    def hidden(self, state: Tensor) -> Tensor:
        """Hidden part of states.

        Parameters
        ----------
        state : Tensor
            (..., S).

        Returns
        -------
        Tensor
            (..., H).
        """
        return state[..., : self.hidden_size]

    def states(self, x: Tensor, initial: Tensor | None = None) -> Tensor:
        """Every state that inputs lead to.

        Parameters
        ----------
        x : Tensor
            Inputs (B, T, D).
        initial : Tensor, optional
            State before the first step (B, S); zero by default.

        Returns
        -------
        Tensor
            (B, T, S).
        """
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

    @property
    def units(self) -> list[tuple[int, int, int]]:
        """Label (layer, direction, unit) of every hidden unit, in the order of `runs`."""
        flat = [layer for level in self.layers for layer in level]
        return [(layer.layer, layer.direction, unit) for layer in flat for unit in range(layer.hidden_size)]

    @abstractmethod
    def runs(self, inputs: object, lengths: object = None) -> Iterator[LayerRun]:
        """Every layer and direction with its own inputs, deeper ones computed by the true forward pass.

        Made one after another, so that only one layer's inputs are held.

        Parameters
        ----------
        inputs : array_like, Tensor, PackedSequence, tuple or mapping
            What `read_network` says of the kind of network.
        lengths : array_like of int, optional
            (B,) valid steps of padded sequences.

        Yields
        ------
        LayerRun
            Over layers, then directions.

        Raises
        ------
        ParameterError
            If the inputs do not fit the network or are not finite.
        """
