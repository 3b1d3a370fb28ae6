"""Size and power of `tails.tail_shape` where bounds stand among known time scales.

Usage: python studies/scattered_bounds.py. Writes scattered_bounds.json beside itself, one record a cell; cells that are
there are kept. 400 repetitions with null laws of 2,000 draws.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np

from levycollapse.tails import _shape

SEED, REPETITIONS, DRAWS = 20261130, 400, 2000


def cells() -> list[dict]:
    """Every cell."""
    return [
        {"spectrum": spectrum, "bounds": bounds, "width": width}
        for width in (64, 512)
        for bounds in ("random", "slow", "clock")
        for spectrum in ("log-normal", "exponential", "pareto")
    ]


def censor(kind: str, y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which units are bounds, and log tau with the bounds in place."""
    n = y.size
    if kind == "clock":  # times of censoring that know nothing of the unit
        at = rng.uniform(np.quantile(y, 0.6), y.max() + 1.0, n)
        return y > at, np.minimum(y, at)
    share = 0.05 if kind == "random" else 0.3 * ((np.argsort(np.argsort(y)) + 1) / n) ** 6
    late = rng.random(n) < share
    # An interval's lower end: a fraction of the time scale.
    return late, y + np.where(late, np.log(rng.uniform(0.3, 0.9, n)), 0.0)


def run_cell(cell: dict, count: int, salt: int = 0) -> dict:
    """Draw, censor, decide, and count the verdicts."""
    key = zlib.crc32(json.dumps(cell).encode())
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(key, salt)))
    draws, _shape.DRAWS = _shape.DRAWS, DRAWS
    _shape.null_laws.cache_clear()
    try:
        seen = dict.fromkeys(_shape.Shape, 0)
        for _ in range(count):
            n = cell["width"]
            u = rng.standard_exponential(n)
            y = {"log-normal": rng.standard_normal(n), "exponential": np.log(u), "pareto": u / 0.8}[cell["spectrum"]]
            late, bound = censor(cell["bounds"], y, rng)
            seen[_shape.tail_shape(np.exp(bound), late).shape] += 1
    finally:
        _shape.DRAWS = draws
        _shape.null_laws.cache_clear()
    return {**cell, "repetitions": count, **{shape.value: seen[shape] / count for shape in _shape.Shape}}


def main() -> None:
    """Run every cell that is not there yet."""
    path = Path(__file__).with_suffix(".json")
    records = json.loads(path.read_text()) if path.exists() else []
    done = [{key: record[key] for key in ("spectrum", "bounds", "width")} for record in records]
    for cell in cells():
        if cell not in done:
            records.append(run_cell(cell, REPETITIONS))
            print(records[-1], flush=True)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(records, indent=1, allow_nan=False) + "\n")
            part.replace(path)


if __name__ == "__main__":
    main()
