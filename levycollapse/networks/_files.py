"""Named tensors from files, none of whose contents is ever executed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import CheckpointError

#: What torch prints in bold.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SUFFIXES = ".safetensors, .pt, .pth, .bin, .ckpt or .npz"


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All floating-point and integer tensors of a file, by name; nested dictionaries are joined with dots.

    Raises
    ------
    CheckpointError
        If the file is truncated, is not what its name says, or could only be read by running code from it.
    """
    suffix = path.suffix.lower()
    readers = {".safetensors": _safetensors, ".npz": _npz, ".pt": _pt, ".pth": _pt, ".bin": _pt, ".ckpt": _pt}
    if suffix not in readers:
        raise CheckpointError(f"{path}: found a file that ends in {suffix!r}, expected {_SUFFIXES}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return readers[suffix](path)


def _safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path, device="cpu"))
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path}: expected a whole safetensors file, found: {_short(error)}") from error


def _npz(path: Path) -> dict[str, Tensor]:
    out = {}
    try:
        # NumPy leaves a file open that it opened and could not read.
        with path.open("rb") as stream:
            arrays = np.load(stream, allow_pickle=False)
            if not isinstance(arrays, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            for key in arrays.files:
                array = arrays[key]
                if array.dtype.kind in "fiu":
                    # torch knows neither foreign byte orders nor long doubles.
                    out[key] = torch.from_numpy(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))))
    except Exception as error:  # zipfile, zlib, NumPy and torch each have their own
        raise CheckpointError(
            f"{path}: expected a whole npz file of numbers without pickled objects, found: {_short(error)}"
        ) from error
    return out


def _pt(path: Path) -> dict[str, Tensor]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch thinks of a foreign file is said in the error
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zipfile, torch's reader: each has its own
        raise CheckpointError(
            f"{path}: expected a state dict that loads without running code from the file (torch.save of "
            f"module.state_dict(), not of the module), found: {_short(error)}"
        ) from error
    out: dict[str, Tensor] = {}
    try:
        _flatten("", content, out)
    except RecursionError:
        raise CheckpointError(f"{path}: expected nested dictionaries, found one that holds itself") from None
    return out


def _flatten(prefix: str, value: Any, out: dict[str, Tensor]) -> None:
    if isinstance(value, Tensor):
        out[prefix] = value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(f"{prefix}.{key}" if prefix else str(key), inner, out)


def _short(error: Exception) -> str:
    wanted = re.search(r"GLOBAL (\S+)", str(error))
    if isinstance(error, UnpicklingError):
        # torch explains at length how to run the code all the same.
        return f"a pickle that asks for {wanted[1]}" if wanted else "a pickle that is no plain dictionary of tensors"
    text = " ".join(_COLOUR.sub("", str(error)).split())
    return f"{type(error).__name__}: {text if len(text) <= 160 else text[:157] + '...'}"
