"""LayerNorm of a candidate's pre-activation, and what it does to a Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import layer_norm


class Norm(NamedTuple):
    """weight * (u - mean(u)) / sqrt(var(u) + eps) + bias over the last axis."""

    weight: Tensor
    bias: Tensor
    eps: float

    def __call__(self, u: Tensor) -> Tensor:
        return layer_norm(u, u.shape[-1:], self.weight, self.bias, self.eps)

    def wide(self) -> Norm:
        """The same in float64, apart from any graph."""
        return Norm(self.weight.detach().double(), self.bias.detach().double(), self.eps)

    def _standardised(self, u: Tensor) -> tuple[Tensor, Tensor]:
        variance, mean = torch.var_mean(u, -1, correction=0, keepdim=True)
        scale = torch.rsqrt(variance + self.eps)
        return (u - mean) * scale, self.weight.detach().double() * scale

    def jacobian(self, u: Tensor, inner: Tensor) -> Tensor:
        """Chain to `inner` = du/dh, (H, H) or (B, H, H): the derivative of the normed u, (B, H, H)."""
        hat, gain = self._standardised(u)
        pulled = hat.unsqueeze(-2) @ inner
        return gain.unsqueeze(-1) * (inner - inner.mean(-2, keepdim=True) - hat.unsqueeze(-1) * pulled / u.shape[-1])

    def diagonal(self, u: Tensor, diagonal: Tensor, pull: Callable[[Tensor], Tensor]) -> Tensor:
        """Diagonal of `jacobian`, (B, H), without forming it: `pull(w)` is w @ inner for rows w (B, H)."""
        hat, gain = self._standardised(u)
        means = pull(torch.full_like(hat, 1 / u.shape[-1]))
        return gain * (diagonal - means - hat * pull(hat) / u.shape[-1])


def normed(norm: Norm | None, u: Tensor) -> Tensor:
    """The candidate's pre-activation after its norm, if it has one; in float64 where u is."""
    if norm is None:
        return u
    return norm.wide()(u) if u.dtype != norm.weight.dtype else norm(u)
