"""The papers' recurrent networks as torch modules, each with a linear readout."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from .._checks import PROBABILITY, checked
from ..errors import ParameterError
from ._dense import DenseLayer, LSTMLayer
from ._gated import LeakyLayer, ResetBeforeGRULayer
from ._norm import Norm
from ._scan import scan


def _size(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name}={value!r} must be an integer >= 1")
    return value


class _Cell(nn.Module):
    """One recurrent layer with a readout; the input's projections of all steps are one matrix product."""

    out: nn.Linear

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.input_size = _size("input_size", input_size)
        self.hidden_size = _size("hidden_size", hidden_size)
        self.output_size = _size("output_size", output_size)

    def _from_input(self) -> nn.Linear:
        linear = nn.Linear(self.input_size, self.hidden_size)
        nn.init.zeros_(linear.bias)
        return linear

    def _from_hidden(self) -> nn.Linear:
        return nn.Linear(self.hidden_size, self.hidden_size, bias=False)

    def _norm(self, layernorm: bool) -> nn.LayerNorm | None:
        return nn.LayerNorm(self.hidden_size) if layernorm else None

    def _readout(self) -> nn.Linear:
        linear = nn.Linear(self.hidden_size, self.output_size)
        nn.init.zeros_(linear.bias)
        return linear

    def _orthogonal(self, *, keep: tuple[nn.Module, ...] = ()) -> None:
        for module in self.children():
            if isinstance(module, nn.Linear) and module not in keep:
                nn.init.orthogonal_(module.weight)

    @abstractmethod
    def recurrent_layer(self) -> DenseLayer:
        """The recurrence on the module's live parameters.

        Returns
        -------
        RecurrentLayer
            What `forward` runs; gradients flow through its `project` and `step`.
        """

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Run a batch of sequences.

        Parameters
        ----------
        x : Tensor
            Inputs (B, T, D).
        state : Tensor, optional
            State before the first step (B, S); zero by default. S = H, for the LSTM 2 H: (h, c).

        Returns
        -------
        y : Tensor
            Readout at every step (B, T, output_size).
        states : Tensor
            State after every step (B, T, S); ``states[:, -1]`` continues the sequence.
        """
        layer = self.recurrent_layer()
        states = scan(layer, x, state)
        # Read out step by step too, as the states are laid out.
        y: Tensor = self.out(layer.hidden(states).transpose(0, 1)).transpose(0, 1)
        return y, states


def _stack(inputs: list[nn.Linear], recurrent: list[nn.Linear]) -> tuple[Tensor, Tensor, Tensor]:
    """Weights and biases of all gates in one."""
    return (
        torch.cat([part.weight for part in inputs]),
        torch.cat([part.weight for part in recurrent]),
        torch.cat([part.bias for part in inputs]),
    )


def _as_norm(module: nn.LayerNorm | None) -> Norm | None:
    return None if module is None else Norm(module.weight, module.bias, module.eps)


def _leak(s0: Any) -> float:
    value = float(checked("s0", s0, PROBABILITY))
    if value in (0.0, 1.0):
        raise ParameterError(f"s0={s0!r} must be strictly between 0 and 1")
    return value


class ConstGate(_Cell):
    """Leaky network with one fixed gate: h = (1 - s) h' + s tanh(W x + b + U h').

    Parameters
    ----------
    input_size, hidden_size : int
        D and H.
    output_size : int
        Width of the readout.
    s0 : float
        The gate s, strictly between 0 and 1. It is a buffer and is not trained; time scales start near 1/s0 steps.
    layernorm : bool
        Put the candidate's pre-activation through a LayerNorm.
    orthogonal : bool
        Orthogonal initial weights, the readout's among them, instead of torch's default for linear layers.

    Raises
    ------
    ParameterError
        If a size is not an integer >= 1 or `s0` is outside its range.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import ConstGate
    >>> y, states = ConstGate(3, 8)(torch.zeros(2, 5, 3))
    >>> tuple(y.shape), tuple(states.shape)
    ((2, 5, 1), (2, 5, 8))
    """

    s: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        output_size: int = 1,
        *,
        s0: float = 0.005,
        layernorm: bool = False,
        orthogonal: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, output_size)
        self.register_buffer("s", torch.tensor(_leak(s0), dtype=torch.get_default_dtype()))
        self.Wx, self.Wh = self._from_input(), self._from_hidden()
        self.ln = self._norm(layernorm)
        self.out = self._readout()
        if orthogonal:
            self._orthogonal()

    def recurrent_layer(self) -> LeakyLayer:
        """The recurrence on the module's live parameters.

        Returns
        -------
        RecurrentLayer
            What `forward` runs.
        """
        return LeakyLayer("const", self.Wx.weight, self.Wh.weight, self.Wx.bias, norm=_as_norm(self.ln), s=self.s)


class _Gated(_Cell):
    kind: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        output_size: int,
        s0: float,
        layernorm: bool,
        orthogonal: bool,
        gates: int,
    ) -> None:
        super().__init__(input_size, hidden_size, output_size)
        s = _leak(s0)
        self.Wx, self.Wh = self._from_input(), self._from_hidden()
        self.ln_h = self._norm(layernorm)
        self.Ws = nn.Linear(self.input_size, gates)
        self.Us = nn.Linear(self.hidden_size, gates, bias=False)
        self.out = self._readout()
        # The gate starts at s0 in every unit, whatever the input.
        nn.init.zeros_(self.Ws.weight)
        nn.init.zeros_(self.Us.weight)
        nn.init.constant_(self.Ws.bias, math.log(s) - math.log1p(-s))
        if orthogonal:
            self._orthogonal(keep=(self.Ws, self.Us))

    def recurrent_layer(self) -> LeakyLayer:
        """The recurrence on the module's live parameters.

        Returns
        -------
        RecurrentLayer
            What `forward` runs.
        """
        return LeakyLayer(self.kind, *_stack([self.Wx, self.Ws], [self.Wh, self.Us]), norm=_as_norm(self.ln_h))


class SharedGate(_Gated):
    """Leaky network whose one gate is shared by all units: s = sigmoid(Ws x + bs + Us h'), one number a sample.

    h = (1 - s) h' + s tanh(W x + b + U h').

    Parameters
    ----------
    input_size, hidden_size : int
        D and H.
    output_size : int
        Width of the readout.
    s0 : float
        Initial gate, strictly between 0 and 1; its weights start at 0, so that time scales start near 1/s0 steps.
    layernorm : bool
        Put the candidate's pre-activation through a LayerNorm.
    orthogonal : bool
        Orthogonal initial weights except the gate's, instead of torch's default for linear layers.

    Raises
    ------
    ParameterError
        If a size is not an integer >= 1 or `s0` is outside its range.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import SharedGate
    >>> y, states = SharedGate(3, 8)(torch.zeros(2, 5, 3))
    >>> tuple(y.shape), tuple(states.shape)
    ((2, 5, 1), (2, 5, 8))
    """

    kind = "shared"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        output_size: int = 1,
        *,
        s0: float = 0.005,
        layernorm: bool = False,
        orthogonal: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, output_size, s0, layernorm, orthogonal, gates=1)


class DiagGate(_Gated):
    """Leaky network with a gate for every unit: s = sigmoid(Ws x + bs + Us h').

    h = (1 - s) h' + s tanh(W x + b + U h').

    Parameters
    ----------
    input_size, hidden_size : int
        D and H.
    output_size : int
        Width of the readout.
    s0 : float
        Initial gate, strictly between 0 and 1; its weights start at 0, so that time scales start near 1/s0 steps.
    layernorm : bool
        Put the candidate's pre-activation through a LayerNorm.
    orthogonal : bool
        Orthogonal initial weights except the gate's, instead of torch's default for linear layers.

    Raises
    ------
    ParameterError
        If a size is not an integer >= 1 or `s0` is outside its range.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import DiagGate
    >>> y, states = DiagGate(3, 8)(torch.zeros(2, 5, 3))
    >>> tuple(y.shape), tuple(states.shape)
    ((2, 5, 1), (2, 5, 8))
    """

    kind = "diag"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        output_size: int = 1,
        *,
        s0: float = 0.005,
        layernorm: bool = False,
        orthogonal: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, output_size, s0, layernorm, orthogonal, gates=hidden_size)


class GRU(_Cell):
    """Gated recurrent unit in the papers' form: 1 - z is the carry, and the reset gate acts before the matrix.

    z = sigmoid(Wz x + bz + Uz h'), r = sigmoid(Wr x + br + Ur h'), h = (1 - z) h' + z tanh(Wh x + bh + Uh (r h')).
    ``torch.nn.GRU`` differs in both: there z is the carry, and r multiplies Uh h'.

    Parameters
    ----------
    input_size, hidden_size : int
        D and H.
    output_size : int
        Width of the readout.
    layernorm : bool
        Put the candidate's pre-activation through a LayerNorm.
    orthogonal : bool
        Orthogonal initial weights instead of torch's default for linear layers.

    Raises
    ------
    ParameterError
        If a size is not an integer >= 1.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import GRU
    >>> y, states = GRU(3, 8)(torch.zeros(2, 5, 3))
    >>> tuple(y.shape), tuple(states.shape)
    ((2, 5, 1), (2, 5, 8))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        output_size: int = 1,
        *,
        layernorm: bool = False,
        orthogonal: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, output_size)
        self.Wz, self.Uz = self._from_input(), self._from_hidden()
        self.Wr, self.Ur = self._from_input(), self._from_hidden()
        self.Wh, self.Uh = self._from_input(), self._from_hidden()
        self.ln_h = self._norm(layernorm)
        self.out = self._readout()
        if orthogonal:
            self._orthogonal()

    def recurrent_layer(self) -> ResetBeforeGRULayer:
        """The recurrence on the module's live parameters.

        Returns
        -------
        RecurrentLayer
            What `forward` runs.
        """
        stacked = _stack([self.Wz, self.Wr, self.Wh], [self.Uz, self.Ur, self.Uh])
        return ResetBeforeGRULayer(*stacked, norm=_as_norm(self.ln_h))


class LSTM(_Cell):
    """Long short-term memory: c = f c' + i g, h = o tanh(c), with an optional LayerNorm on g's pre-activation.

    All biases start at 0, the forget gate's among them.

    Parameters
    ----------
    input_size, hidden_size : int
        D and H.
    output_size : int
        Width of the readout.
    layernorm : bool
        Put the pre-activation of g through a LayerNorm.
    orthogonal : bool
        Orthogonal initial weights instead of torch's default for linear layers.

    Raises
    ------
    ParameterError
        If a size is not an integer >= 1.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import LSTM
    >>> y, states = LSTM(3, 8)(torch.zeros(2, 5, 3))
    >>> tuple(y.shape), tuple(states.shape)
    ((2, 5, 1), (2, 5, 16))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        output_size: int = 1,
        *,
        layernorm: bool = False,
        orthogonal: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, output_size)
        self.Wi, self.Ui = self._from_input(), self._from_hidden()
        self.Wf, self.Uf = self._from_input(), self._from_hidden()
        self.Wo, self.Uo = self._from_input(), self._from_hidden()
        self.Wg, self.Ug = self._from_input(), self._from_hidden()
        self.ln_g = self._norm(layernorm)
        self.out = self._readout()
        if orthogonal:
            self._orthogonal()

    def recurrent_layer(self) -> LSTMLayer:
        """The recurrence on the module's live parameters.

        Returns
        -------
        RecurrentLayer
            What `forward` runs.
        """
        stacked = _stack([self.Wi, self.Wf, self.Wg, self.Wo], [self.Ui, self.Uf, self.Ug, self.Uo])
        return LSTMLayer(*stacked, norm=_as_norm(self.ln_g))


#: Every cell, for those who take them apart.
CELLS = (ConstGate, SharedGate, DiagGate, GRU, LSTM)
