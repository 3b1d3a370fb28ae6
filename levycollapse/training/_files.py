"""Files of a training: written as a whole or not at all, and read without running anything in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from ..errors import CheckpointError

#: Version of the checkpoints.
FORMAT = 1


@contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """Path to write to; it takes the place of `target` at the end, on the disk for good."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        part.unlink(missing_ok=True)


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step is."""
    return folder / f"step-{step:08d}.pt"


def checkpoints_in(folder: Path) -> dict[int, Path]:
    """Checkpoints of a folder by step, in order."""
    found = ((re.fullmatch(r"step-(\d+)\.pt", path.name), path) for path in folder.iterdir())
    return dict(sorted((int(match[1]), path) for match, path in found if match))


def write_checkpoint(folder: Path, step: int, content: dict[str, Any]) -> Path:
    """Write the checkpoint of a step."""
    target = checkpoint_path(folder, step)
    with replaced(target) as part:
        torch.save({"format": FORMAT, "step": step} | content, part)
    return target


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Content of a checkpoint."""
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        found = content["format"]
    except Exception as error:  # pickle, zipfile, torch's reader: each has its own
        raise CheckpointError(
            f"{path}: expected a checkpoint of a training, found: {type(error).__name__}: {error}"
        ) from error
    if found != FORMAT:
        raise CheckpointError(f"{path}: key 'format': found {found!r}, expected {FORMAT}")
    return content
