"""A layer made from the user's own step function, differentiated by torch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from ..errors import ParameterError
from ._layer import LocalTerms, RecurrentLayer

Step = Callable[[Tensor, Tensor], Tensor]


class StepLayer(RecurrentLayer):
    """A layer whose Jacobian comes from torch.func; made by `from_step`."""

    def __init__(
        self,
        function: Step,
        hidden_size: int,
        state_size: int,
        carry: Step | None,
        kind: str,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.function, self.carry = function, carry
        self.hidden_size, self.state_size = hidden_size, state_size
        self.kind, self.layer, self.direction = kind, 0, 0
        self.dtype, self.device = dtype, device
        # One sample at a time for vmap, in batches of one for the function.
        single = jacrev(lambda state, x: function(x.unsqueeze(0), state.unsqueeze(0)).squeeze(0))
        self._jacobian = vmap(single)

    def project(self, x: Tensor) -> Tensor:
        return x

    def step(self, p: Tensor, state: Tensor) -> Tensor:
        with torch.no_grad():
            out = self.function(p, state)
        if out.shape != state.shape:
            raise ParameterError(
                f"function returned shape {tuple(out.shape)} but the state has {tuple(state.shape)}; they must be equal"
            )
        return out

    def local(self, p: Tensor, state: Tensor, previous: LocalTerms | None = None) -> LocalTerms:
        h = self.hidden_size
        diagonal = self.jacobian(p, state).diagonal(dim1=1, dim2=2)[:, :h]
        if self.carry is None:
            return LocalTerms(torch.zeros_like(diagonal), diagonal)
        with torch.no_grad():
            carry = self.carry(p, state).double()
        return LocalTerms(carry, diagonal - carry)

    def jacobian(self, p: Tensor, state: Tensor) -> Tensor:
        with torch.no_grad():
            out: Tensor = self._jacobian(state, p)
        return out.double()


def from_step(
    function: Step,
    hidden_size: int,
    *,
    state_size: int | None = None,
    carry: Step | None = None,
    kind: str = "custom",
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> RecurrentLayer:
    """Layer from a step function, for a cell that this package does not know.

    Parameters
    ----------
    function : callable
        ``function(x, state) -> state`` with inputs (B, D) and states (B, S): one step of the cell, made of torch
        operations that ``torch.func`` can differentiate.
    hidden_size : int
        H. The first H entries of a state are its hidden units.
    state_size : int, optional
        S; H by default.
    carry : callable, optional
        ``carry(x, state)`` -> (B, H): the gate's share of the Jacobian's diagonal, such as 1 - z. Without it the carry
        is 0 and all of the diagonal counts as correction.
    kind : str
        Name of the cell in results.
    dtype : torch.dtype
        Precision in which `function` works.
    device : torch.device or str
        Where it works.

    Returns
    -------
    RecurrentLayer
        Its Jacobians are those of `function`, by reverse-mode differentiation of every unit: a step costs H backward
        passes. Subclass `RecurrentLayer` for something faster.

    Raises
    ------
    ParameterError
        If a size is not an integer >= 1, S is below H, or the function returns a state of another shape.

    Examples
    --------
    >>> import torch
    >>> from levycollapse.networks import from_step
    >>> layer = from_step(lambda x, h: 0.9 * h + 0.1 * torch.tanh(x), hidden_size=3)
    >>> layer.jacobian(torch.zeros(1, 3), torch.zeros(1, 3))[0].diagonal()
    tensor([0.9000, 0.9000, 0.9000], dtype=torch.float64)
    """
    size = hidden_size if state_size is None else state_size
    for name, value in (("hidden_size", hidden_size), ("state_size", size)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"{name}={value!r} must be an integer >= 1")
    if size < hidden_size:
        raise ParameterError(f"state_size={size} must be at least hidden_size={hidden_size}")
    return StepLayer(function, hidden_size, size, carry, kind, dtype, torch.device(device))
