"""How commands answer: aligned lines for people, strict JSON for programs."""

from __future__ import annotations

import json
import math
from enum import IntEnum
from typing import Any


def strict(value: Any) -> Any:
    """Replace what JSON cannot hold: enumerations by their names, nan by null, infinities by strings."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    return value


def as_json(record: dict[str, Any]) -> str:
    """Strict JSON text of a record."""
    return json.dumps(strict(record), indent=2, allow_nan=False)


def answer(record: dict[str, Any], as_json_text: bool) -> None:
    """Print a record: `name  value` lines, or JSON."""
    if as_json_text:
        print(as_json(record))
        return
    width = max(len(name) for name in record)
    for name, value in record.items():
        print(f"{name:<{width}}  {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, float):
        return "none" if math.isnan(value) else f"{value:.15g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(map(_shown, value))
    return str(value)


class Interrupted(Exception):
    """The user stopped a command; the message says what is left behind."""
