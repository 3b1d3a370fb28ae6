"""Columns of numbers from files of strangers: CSV, .npz, .npy. Nothing in them is executed or unpickled."""

from __future__ import annotations

import csv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import NON_NEGATIVE, POSITIVE, FloatArray, _Range
from ..errors import ParameterError

#: Largest file and largest unpacked archive that is read.
MOST_BYTES = 2**30
#: Names that mean the same.
ALSO = {"lags": "lag", "weights": "weight"}
RULES = {"tau": POSITIVE, "weight": NON_NEGATIVE, "lag": POSITIVE, "f": NON_NEGATIVE, "sigma": POSITIVE}


@dataclass(frozen=True)
class Columns:
    """Named arrays, and the line of the file in which each entry stands if it has lines."""

    path: Path
    arrays: dict[str, FloatArray]
    lines: list[int] | None

    def where(self, name: str, index: int) -> str:
        """Where an entry stands."""
        if self.lines is not None:
            return f"{self.path}, line {self.lines[index]}: {name}"
        position = np.unravel_index(index, self.arrays[name].shape)
        return f"{self.path}, array {name}[{', '.join(str(int(i)) for i in position)}]"


def read_timescales(path: Path) -> tuple[FloatArray, FloatArray | None]:
    """Time scales and their weights, if there are any.

    Parameters
    ----------
    path : Path
        CSV with the columns tau[,weight], .npz with those arrays (or one array of any name), or .npy.

    Raises
    ------
    ParameterError
        If there is no such file, or anything in it is not what it should be; one line that says where.
    """
    columns = _read(path, ("tau",), ("weight",))
    weights = columns.arrays.get("weight")
    if weights is not None and not weights.any():
        raise ParameterError(f"{path}: the weights are all 0; one of them must be > 0")
    return columns.arrays["tau"], weights


def read_envelope(path: Path) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Lags, envelope, and its relative errors if there are any.

    Parameters
    ----------
    path : Path
        CSV with the columns lag,f[,sigma], or .npz with one-dimensional arrays of those names.

    Raises
    ------
    ParameterError
        As for `read_timescales`; also if the lags do not increase.
    """
    columns = _read(path, ("lag", "f"), ("sigma",))
    lags = columns.arrays["lag"]
    if lags.ndim != 1:
        raise ParameterError(f"{path}, array lag has shape {lags.shape}; it must have one dimension")
    falling = np.flatnonzero(np.diff(lags) <= 0)
    if falling.size:
        at = int(falling[0]) + 1
        raise ParameterError(
            f"{columns.where('lag', at)}={lags[at]:.15g} comes after {lags[at - 1]:.15g}; lags must increase"
        )
    return lags, columns.arrays["f"], columns.arrays.get("sigma")


def _read(path: Path, needed: tuple[str, ...], optional: tuple[str, ...]) -> Columns:
    checked_file(path)
    ending = path.suffix.lower()
    if ending == ".csv":
        columns = _read_csv(path, needed, optional)
    elif ending == ".npz" or (ending == ".npy" and len(needed) == 1):
        columns = _read_numpy(path, needed, optional)
    else:
        allowed = ".csv, .npz or .npy" if len(needed) == 1 else ".csv or .npz"
        raise ParameterError(f"{path} must end in {allowed}")
    for name, array in columns.arrays.items():
        _check(columns, name, array, RULES[name])
    return columns


def checked_file(path: Path) -> None:
    """Refuse what is no file, or too large a one."""
    if not path.exists():
        raise ParameterError(f"{path} does not exist")
    if not path.is_file():
        raise ParameterError(f"{path} is not a file")
    if path.stat().st_size > MOST_BYTES:
        raise ParameterError(f"{path} is larger than {MOST_BYTES >> 20} MiB, the most that is read")


def _check(columns: Columns, name: str, array: FloatArray, rule: _Range) -> None:
    bad = np.flatnonzero(~(np.isfinite(array) & rule.accepts(array)))
    if bad.size:
        value = float(array.ravel()[bad[0]])
        raise ParameterError(f"{columns.where(name, int(bad[0]))}={value!r} must be {rule.allowed}")


def _named(path: Path, names: list[str], needed: tuple[str, ...], optional: tuple[str, ...]) -> list[str]:
    """Canonical names, each allowed and none twice."""
    known = [ALSO.get(name, name) for name in names]
    if set(needed) <= set(known) <= {*needed, *optional} and len(set(known)) == len(known):
        return known
    allowed = ", ".join(needed) + "".join(f"[, {name}]" for name in optional)
    shown = ", ".join(_short(name) for name in names[:6]) + (", ..." if len(names) > 6 else "")
    raise ParameterError(f"{path} has {shown or 'nothing'}; it must have {allowed}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:27] + "...")


# --- CSV ---


def _read_csv(path: Path, needed: tuple[str, ...], optional: tuple[str, ...]) -> Columns:
    names: list[str] = []
    rows: list[list[float]] = []
    lines: list[int] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            for row in reader:
                cells = [cell.strip() for cell in row]
                if not any(cells) or cells[0].startswith("#"):
                    continue
                if not names:
                    names, header = _header(path, cells, needed, optional)
                    if header:
                        continue
                rows.append(_numbers(path, reader.line_num, cells, names))
                lines.append(reader.line_num)
    except UnicodeDecodeError:
        raise ParameterError(f"{path} is not text in UTF-8; a .csv file must be") from None
    except csv.Error as error:
        raise ParameterError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise ParameterError(f"{path} is empty: it must have at least one line of numbers")
    table = np.array(rows).T
    return Columns(path, dict(zip(names, table, strict=True)), lines)


def _header(path: Path, cells: list[str], needed: tuple[str, ...], optional: tuple[str, ...]) -> tuple[list[str], bool]:
    """Names of the columns and whether the line gives them; without names they come in their order."""
    if any(_is_number(cell) for cell in cells):
        in_order = [*needed, *optional]
        if not len(needed) <= len(cells) <= len(in_order):
            _named(path, [f"{len(cells)} columns without names"], needed, optional)
        return in_order[: len(cells)], False
    return _named(path, cells, needed, optional), True


def _numbers(path: Path, line: int, cells: list[str], names: list[str]) -> list[float]:
    if len(cells) != len(names):
        raise ParameterError(f"{path}, line {line}: {len(cells)} cells; it must have {len(names)} ({', '.join(names)})")
    for name, cell in zip(names, cells, strict=True):
        if not _is_number(cell):
            raise ParameterError(f"{path}, line {line}: {name}={_short(cell)} must be {RULES[name].allowed}")
    return [float(cell) for cell in cells]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    # Python's own spellings, 1_000 and digits of other scripts, are more likely slips than numbers.
    return text.isascii() and "_" not in text


# --- NumPy ---


def _read_numpy(path: Path, needed: tuple[str, ...], optional: tuple[str, ...]) -> Columns:
    raw = load_numpy(path)
    if len(raw) == 1 and len(needed) == 1:
        raw = {needed[0]: next(iter(raw.values()))}
    names = _named(path, list(raw), needed, optional)
    arrays = {name: _array(path, name, value) for name, value in zip(names, raw.values(), strict=True)}
    first = arrays[needed[0]]
    if not first.size:
        raise ParameterError(f"{path}, array {needed[0]} is empty; it must have at least one number")
    for name, array in arrays.items():
        if array.shape != first.shape:
            raise ParameterError(
                f"{path}, array {name} has shape {array.shape}; it must have that of {needed[0]}, {first.shape}"
            )
    return Columns(path, arrays, None)


def load_numpy(path: Path) -> dict[str, Any]:
    """Arrays of a .npy (named "array") or .npz file."""
    try:
        return _load(path)
    except ParameterError:
        raise
    except Exception as error:  # whatever a broken or hostile file makes zipfile, zlib or numpy raise
        reason = "it holds Python objects (a pickle)" if "pickle" in str(error).lower() else str(error)
        raise ParameterError(f"{path} cannot be read as an array of numbers: {reason}") from None


def _load(path: Path) -> dict[str, Any]:
    if path.suffix.lower() == ".npz":
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise ParameterError(f"{path} unpacks to more than {MOST_BYTES >> 20} MiB, the most that is read")
    with path.open("rb") as stream:
        loaded = np.load(stream, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"array": loaded}
        result = {}
        for name in loaded.files:
            try:
                result[name] = loaded[name]
            except ValueError as error:
                if "pickle" not in str(error).lower() and "object" not in str(error).lower():
                    raise
                raise ParameterError(
                    f"{path}, array {name} holds Python objects (a pickle), which are not read; it must be numbers"
                ) from None
        return result


def _array(path: Path, name: str, value: Any) -> FloatArray:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        kind = value.dtype if isinstance(value, np.ndarray) else "raw bytes"
        raise ParameterError(f"{path}, array {name} is of type {kind}; it must be of numbers")
    return np.atleast_1d(value).astype(np.float64)
