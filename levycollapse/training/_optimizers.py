"""Optimizers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from .._checks import POSITIVE
from ..errors import ParameterError
from ._options import number

_NAMED: dict[str, tuple[Callable[..., Optimizer], dict[str, Any]]] = {
    "adamw": (torch.optim.AdamW, {}),
    "adam": (torch.optim.Adam, {}),
    "sgd": (torch.optim.SGD, {}),
    "momentum": (torch.optim.SGD, {"momentum": 0.9}),
    "rmsprop": (torch.optim.RMSprop, {}),
}


def built(optimizer: Any, module: nn.Module, lr: Any, options: Mapping[str, Any] | None) -> tuple[Optimizer, str]:
    """The optimizer of the parameters that are trained, and what to call it."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if not parameters:
        raise ParameterError("module has no parameter that is trained")
    extra = dict(options or {})
    rate = number("lr", lr, POSITIVE)
    if isinstance(optimizer, str):
        if optimizer not in _NAMED:
            raise ParameterError(f"optimizer={optimizer!r} must be one of {', '.join(map(repr, _NAMED))}, or a factory")
        factory, defaults = _NAMED[optimizer]
        name, extra = optimizer, defaults | extra
    elif callable(optimizer):
        factory, name = optimizer, getattr(optimizer, "__qualname__", type(optimizer).__qualname__)
    else:
        raise ParameterError(f"optimizer={optimizer!r} must be a name or a factory")
    try:
        made = factory(parameters, lr=rate, **extra)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"optimizer={name!r} with {extra}: {error}") from error
    if not isinstance(made, Optimizer):
        raise ParameterError(f"optimizer={name!r} made a {type(made).__name__}; it must make a torch optimizer")
    return made, f"{name}(lr={rate!r}, {extra!r})"
