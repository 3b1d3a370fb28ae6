"""Arrays of any shape from files of strangers: .npy, .npz, .safetensors. Nothing in them is executed or unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from .tables import checked_file, load_numpy


def read(path: Path, name: str) -> NDArray[Any]:
    """The array of a file: its only one, or the one called `name`.

    Raises
    ------
    ParameterError
        If there is no such file, it is broken, or it holds no such array of numbers; one line.
    """
    checked_file(path)
    ending = path.suffix.lower()
    if ending not in (".npy", ".npz", ".safetensors"):
        raise ParameterError(f"{path} must end in .npy, .npz or .safetensors")
    arrays = _load_safetensors(path) if ending == ".safetensors" else load_numpy(path)
    if name not in arrays and len(arrays) != 1:
        held = ", ".join(sorted(arrays)[:6]) or "nothing"
        raise ParameterError(f"{path} holds {held}; it must hold one array, or one called {name!r}")
    array = arrays[name] if name in arrays else next(iter(arrays.values()))
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise ParameterError(f"{path}: {name} must be an array of numbers")
    return array


def _load_safetensors(path: Path) -> dict[str, Any]:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise ParameterError(f'{path}: safetensors is needed: pip install "levycollapse[networks]"') from None
    try:
        return dict(load_file(path))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:  # bfloat16 is no type of NumPy's
        raise ParameterError(f"{path} cannot be read as a safetensors file of NumPy's types: {error}") from None
