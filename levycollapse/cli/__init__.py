"""The command line: `levycollapse ...`."""

from .main import main as main

__all__ = ["main"]
