"""Validation at the border: every public function checks its numbers here, once.

Nothing below this layer (the kernels) validates, and nothing above it needs to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import ParameterError

FloatArray = NDArray[np.float64]


class _Range(NamedTuple):
    allowed: str
    accepts: Callable[[FloatArray], NDArray[np.bool_]]


POSITIVE = _Range("a finite number > 0", lambda v: v > 0)
NON_NEGATIVE = _Range("a finite number >= 0", lambda v: v >= 0)
STABILITY = _Range("a number strictly between 0 and 2", lambda v: (v > 0) & (v < 2))
FINITE = _Range("a finite number", lambda v: np.ones(v.shape, dtype=bool))
PROBABILITY = _Range("a number from 0 to 1", lambda v: (v >= 0) & (v <= 1))
EXTENDED = "a number, which may be infinite but not nan"

#: What each parameter of the model may be (THEORY 2); the names are the public ones.
RANGES = {
    "kappa": POSITIVE,
    "eta_G": NON_NEGATIVE,
    "eta_J": NON_NEGATIVE,
    "alpha": STABILITY,
    "lam": NON_NEGATIVE,
    "beta": POSITIVE,
}


def as_float_array(name: str, value: Any, allowed: str = FINITE.allowed) -> FloatArray:
    """Convert `value` to float64 without guessing: no strings, booleans, masks or complex numbers."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ParameterError(f"{name} has masked entries; fill or drop them first")
    try:
        raw = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{name}={_shown(value)} is not a rectangular array of numbers: {error}") from None
    if raw.dtype.kind not in "iufO":
        raise ParameterError(f"{name}={_shown(value)} must be {allowed}, not {raw.dtype}")
    if raw.dtype.kind == "O" and any(item is None or isinstance(item, (str, bytes)) for item in raw.flat):
        raise ParameterError(f"{name}={_shown(value)} must be {allowed}")
    if _has_boolean(value if raw.dtype.kind != "O" else raw.tolist()):
        raise ParameterError(f"{name}={_shown(value)} must be {allowed}, not a boolean")
    try:
        return raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name}={_shown(value)} must be {allowed}") from None


def checked(name: str, value: Any, rule: _Range | None = None) -> FloatArray:
    """Return `value` as a float64 array inside its range, or raise `ParameterError`."""
    rule = RANGES[name] if rule is None else rule
    array = as_float_array(name, value, rule.allowed)
    # Every range is an interval: the two ends speak for all, and nan shows in both.
    ends = np.array([array.min(), array.max()]) if array.size else array
    if not (np.isfinite(ends) & rule.accepts(ends)).all():
        good = np.isfinite(array) & rule.accepts(array)
        raise ParameterError(f"{_at(name, array, ~good)} must be {rule.allowed}")
    # No negative zeros, which equal 0 but do not hash like it; and nobody changes a checked value afterwards.
    array = np.add(array, 0.0, out=array)
    array.setflags(write=False)
    return array


def extended(name: str, value: Any) -> FloatArray:
    """Return `value` as a float64 array of numbers, among them infinite ones."""
    array = as_float_array(name, value, EXTENDED)
    bad = np.isnan(array)
    if bad.any():
        raise ParameterError(f"{_at(name, array, bad)} must be {EXTENDED}")
    return array


def generator(rng: Any) -> np.random.Generator:
    """Generator from any conventional form of `rng` (SPEC 7)."""
    refused = isinstance(rng, (bool, np.bool_, float, str, bytes))
    try:
        if not refused:
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise ParameterError(f"rng={_shown(rng)} must be None, an int >= 0, a SeedSequence, a BitGenerator or a Generator")


def draw_size(size: Any) -> tuple[int, ...]:
    """Shape of `size` draws; () for None, which asks for a single number."""
    shape = () if size is None else tuple(size) if isinstance(size, (tuple, list)) else (size,)
    for n in shape:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise ParameterError(f"size={_shown(size)} must be an integer >= 0 or a tuple of such")
    return tuple(int(n) for n in shape)


def model_arrays(**values: Any) -> list[FloatArray]:
    """Check model parameters singly and together; return float64 arrays that broadcast."""
    arrays = {name: checked(name, value) for name, value in values.items()}
    broadcast_shape(**arrays)
    if "eta_G" in arrays and "eta_J" in arrays:
        silent = (arrays["eta_G"] == 0) & (arrays["eta_J"] == 0)
        if silent.any():
            where = index_text(silent)
            raise ParameterError(
                f"eta_G=0 and eta_J=0{where}: a model without noise has no spectrum; one of them must be > 0"
            )
    return list(arrays.values())


def broadcast_shape(**arrays: FloatArray) -> tuple[int, ...]:
    """Shape that the named arrays broadcast to."""
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if array.shape)
        raise ParameterError(f"shapes do not broadcast together: {shapes}") from None


def plain(result: Any) -> Any:
    """Scalars in, Python numbers out: unwrap a zero-dimensional result."""
    return result.item() if np.ndim(result) == 0 else result


def choice(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """Return `value` if it is one of `allowed`."""
    if not np.isscalar(value) or value not in allowed:
        raise ParameterError(f"{name}={_shown(value)} must be one of {', '.join(map(repr, allowed))}")
    return value


def _at(name: str, array: FloatArray, bad: NDArray[np.bool_]) -> str:
    if array.ndim == 0:
        return f"{name}={array.item()!r}"
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{name}[{', '.join(map(str, index))}]={array[index].item()!r}"


def index_text(bad: NDArray[np.bool_]) -> str:
    if np.ndim(bad) == 0:
        return ""
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f" at index [{', '.join(map(str, index))}]"


def _has_boolean(value: Any) -> bool:
    """Whether a list has a boolean in it, which NumPy would turn into 0 or 1."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_boolean, value))
    return isinstance(value, (bool, np.bool_))


def _shown(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception as error:  # an int of too many digits, or a foreign object's own fault
        text = f"<{type(value).__name__}: {error}>"
    return text if len(text) <= 60 else text[:57] + "..."
