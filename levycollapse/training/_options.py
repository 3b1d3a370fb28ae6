"""Checks of arguments that only this room has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._checks import _Range, checked
from ..errors import ParameterError


def whole(name: str, value: Any, least: int) -> int:
    """Return `value` as an int if it is one, and at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name}={value!r} must be an integer >= {least}")
    return int(value)


def number(name: str, value: Any, rule: _Range) -> float:
    """Return `value` as a float if it is a single number inside its range."""
    array = checked(name, value, rule)
    if array.ndim:
        raise ParameterError(f"{name} has shape {array.shape}; it must be a single number")
    return float(array)


def increasing(name: str, values: Any, least: int) -> tuple[int, ...]:
    """Return `values` as a tuple of increasing integers from `least` on."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ParameterError(f"{name}={values!r} must be increasing integers")
    steps = tuple(whole(f"{name}[{index}]", value, least) for index, value in enumerate(values))
    for index in range(1, len(steps)):
        if steps[index] <= steps[index - 1]:
            raise ParameterError(
                f"{name}[{index}]={steps[index]} must be larger than the one before, {steps[index - 1]}"
            )
    return steps
