"""Files that are complete or not there: text, NetCDF, Zarr."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..errors import ParameterError
from .output import as_json


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` make a file or folder beside `path`, then put it in the place of `path`."""
    if path.is_dir() and path.suffix != ".zarr":
        raise ParameterError(f"{path} is a folder; it must be a file")
    unfinished = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        write(unfinished)
        if path.is_dir():
            # A folder cannot be replaced in one step; the old one stays until the new one is in place.
            old = unfinished.with_suffix(".old")
            path.rename(old)
            unfinished.replace(path)
            remove(old)
        else:
            unfinished.replace(path)
    finally:
        remove(unfinished)


def remove(path: Path) -> None:
    """Remove a file or folder that may not exist."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def checked_folder(path: Path) -> Path:
    """Refuse a folder for output that is something else."""
    if path.exists() and not path.is_dir():
        raise ParameterError(f"output={str(path)!r} is a file; it must be a folder")
    return path


def made_folder(path: Path) -> Path:
    """Make a folder for output."""
    checked_folder(path).mkdir(parents=True, exist_ok=True)
    return path


def write_results(folder: Path, name: str, datasets: dict[str, Any], axes: Any, record: dict[str, Any]) -> list[Path]:
    """Write each dataset, name.png, name.pdf and summary.json; an interruption leaves all of them or none.

    They are made in a folder of their own within `folder` and moved when they are complete.
    """
    from ..plotting import save_figure, style

    part = made_folder(folder) / f".{uuid4().hex[:8]}.part"
    try:
        part.mkdir()
        tables = [part / f"{stem}.nc" for stem in datasets]
        for path, data in zip(tables, datasets.values(), strict=True):
            write_dataset(path, data)
        with style():
            pictures = save_figure(axes, part / name)
        written = [*tables, *pictures, part / "summary.json"]
        write_text(written[-1], as_json(record) + "\n")
        for path in written:
            if (folder / path.name).is_dir():
                raise ParameterError(f"{folder / path.name} is a folder; it must be a file")
        for path in written:
            path.replace(folder / path.name)
    finally:
        remove(part)
    return [folder / path.name for path in written]


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    replace_file(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_dataset(path: Path, data: Any) -> None:
    """Write a dataset as NetCDF (.nc) or Zarr (.zarr)."""
    if path.suffix == ".zarr":
        replace_file(path, lambda part: data.to_zarr(part, mode="w", consolidated=False))
    else:
        replace_file(path, lambda part: data.to_netcdf(part, engine="h5netcdf"))


def read_dataset(path: Path) -> Any:
    """Read a dataset written by `write_dataset` into memory."""
    import xarray as xr

    check_dataset_name(path)
    if not path.exists():
        raise ParameterError(f"{path} does not exist")
    zarr = path.suffix == ".zarr"
    engine: Any = "zarr" if zarr else "h5netcdf"
    options: dict[str, Any] = {"consolidated": False} if zarr else {}
    try:
        with xr.open_dataset(path, engine=engine, **options) as data:
            return data.load()
    except (OSError, ValueError, KeyError) as error:
        raise ParameterError(f"{path} cannot be read as {engine}: {error}") from None


def check_dataset_name(path: Path) -> None:
    """Refuse a name that is neither NetCDF nor Zarr, and Zarr where the library is missing."""
    if path.suffix not in (".nc", ".zarr"):
        raise ParameterError(f"{path} must end in .nc (NetCDF) or .zarr")
    if path.suffix == ".zarr":
        try:
            import zarr  # noqa: F401
        except ImportError:
            raise ParameterError(
                f"{path}: Zarr needs the extra 'distributed' (pip install 'levycollapse[distributed]')"
            ) from None
