"""Numbers and ranges on the command line: `0.3`, or `START:STOP[:POINTS][:log]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError

MOST_POINTS = 1_000_000
FORM = "a number, or a range START:STOP[:POINTS][:lin|:log]"


def parse(name: str, text: str, points: int) -> Any:
    """Return a float, or the points of a range."""
    parts = text.split(":")
    scale = "lin"
    if parts[-1] in ("lin", "log") and len(parts) > 2:
        scale = parts.pop()
    if len(parts) == 1:
        return number(name, text, FORM)
    if len(parts) > 3:
        raise ParameterError(f"{name}={text!r} must be {FORM}")
    start, stop = _end(name, text, parts[0]), _end(name, text, parts[1])
    count = points
    if len(parts) == 3:
        try:
            count = int(parts[2])
        except ValueError:
            raise ParameterError(f"{name}={text!r}: POINTS={parts[2]!r} must be an integer >= 2") from None
    if count < 2:
        raise ParameterError(f"{name}={text!r}: {count} points are too few; a range needs at least 2")
    if count > MOST_POINTS:
        raise ParameterError(f"{name}={text!r}: {count} points are too many; an axis takes at most {MOST_POINTS}")
    if not np.isfinite(stop - start):
        raise ParameterError(f"{name}={text!r}: the range is wider than the range of floating-point numbers")
    if not start < stop:
        raise ParameterError(f"{name}={text!r}: START must be below STOP")
    if scale == "lin":
        return np.linspace(start, stop, count)
    if start <= 0:
        raise ParameterError(f"{name}={text!r}: a logarithmic range must start above 0")
    return np.geomspace(start, stop, count)


def number(name: str, text: str, allowed: str = "a number") -> float:
    """Return a finite float."""
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{name}={text!r} must be {allowed}") from None
    if not np.isfinite(value):
        raise ParameterError(f"{name}={text!r} must be finite")
    return value


def whole(name: str, text: str, least: int = 1) -> int:
    """Return an integer >= least."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise ParameterError(f"{name}={text!r} must be an integer >= {least}")
    return value


def _end(name: str, text: str, part: str) -> float:
    try:
        return number(name, part)
    except ParameterError:
        raise ParameterError(f"{name}={text!r} must be {FORM}") from None
