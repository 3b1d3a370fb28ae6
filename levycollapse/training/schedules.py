"""Steps at which checkpoints are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from ._options import increasing, whole


def linear_steps(last: int, count: int) -> tuple[int, ...]:
    """Evenly spaced steps.

    Parameters
    ----------
    last : int
        The last of them.
    count : int
        How many; fewer come where rounding makes two the same.

    Returns
    -------
    tuple of int
        Increasing, from about ``last / count`` to `last`.

    Raises
    ------
    ParameterError
        If an argument is not an integer >= 1.

    Examples
    --------
    >>> from levycollapse.training import linear_steps
    >>> linear_steps(100, 4)
    (25, 50, 75, 100)
    """
    last, count = whole("last", last, 1), whole("count", count, 1)
    return _distinct(np.linspace(last / count, last, count))


def geometric_steps(last: int, count: int, first: int = 1) -> tuple[int, ...]:
    """Steps that are evenly spaced in their logarithm.

    Parameters
    ----------
    last : int
        The last of them.
    count : int
        How many; fewer come where rounding makes two the same.
    first : int
        The first of them, if there is more than one.

    Returns
    -------
    tuple of int
        Increasing, from `first` to `last`.

    Raises
    ------
    ParameterError
        If an argument is not an integer >= 1.

    Examples
    --------
    >>> from levycollapse.training import geometric_steps
    >>> geometric_steps(1000, 4)
    (1, 10, 100, 1000)
    """
    last, count, first = whole("last", last, 1), whole("count", count, 1), whole("first", first, 1)
    increasing("(first, last)", sorted({first, last}), 1)
    if first > last:
        raise ParameterError(f"first={first} must be at most last={last}")
    return _distinct(np.geomspace(first, last, count)) if count > 1 else (last,)


def due(checkpoints: Any, steps: int) -> tuple[int, ...]:
    """Steps of a schedule up to `steps`, which is always one of them; an int means every so many."""
    if np.ndim(checkpoints) == 0:
        every = whole("checkpoints", checkpoints, 1)
        wanted: tuple[int, ...] = tuple(range(every, steps + 1, every))
    else:
        wanted = increasing("checkpoints", checkpoints, 0)
    return tuple(sorted({step for step in wanted if step <= steps} | {steps}))


def _distinct(steps: Any) -> tuple[int, ...]:
    return tuple(sorted({int(step) for step in np.rint(steps)}))
