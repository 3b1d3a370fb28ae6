"""Size and power of `panels.scale_persistence_test`: how often increments of each kind get which verdict.

Usage: python studies/scale_persistence.py [share]. Writes scale_persistence.json beside itself, one record a cell;
cells that are there with as many repetitions are kept. 1,000 repetitions a null, 100 an alternative, times `share`. A
cell's draws depend on SEED and on the cell's own description alone. The p-value is of 39 draws (its size is that of any
number of which 1/20 is whole), that of the drift of 199; both are drawn only as far as they decide.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

sys.path.insert(0, str(Path(__file__).parent))
from _resumed import run_missing

import levycollapse as lc
from levycollapse.panels._persistence import DRIFT_SIZE, Persistence, adjusted, decide
from levycollapse.panels._scales import noise_of, scaled, simulated

SEED = 20261130
SIZE, DRAWS, DRIFT_DRAWS = 0.05, 39, 199
SMALL, LARGE = [256, 26], [500, 40]
KEYS = ("group", "kind", "shape")


def cells() -> list[dict]:
    """Every cell. Groups: `null`, `drift` (scales that drift smoothly), `power`."""
    nulls = [
        ["gauss"],
        ["unit scale", 0.5],
        ["unit outliers"],
        ["step scale", 0.5],
        ["both scales", 0.5],
        ["factor"],
        ["differences"],
        ["ar", 0.3],
        ["adam"],
        ["studentised"],
    ]
    drifts = [["smooth", phi, sd] for phi, sd in ((0.9, 0.1), (0.9, 0.2), (0.9, 0.3), (0.9, 0.5), (0.97, 0.5))]
    out = [{"group": "null", "kind": kind, "shape": SMALL} for kind in nulls]
    out += [{"group": "drift", "kind": kind, "shape": SMALL} for kind in drifts]
    powers = [["stable", 1.5], ["jumps", 0.01], ["jumps", 0.001], ["stable", 1.9], ["t", 5], ["t", 10]]
    out += [{"group": "power", "kind": kind, "shape": LARGE} for kind in powers]
    out += [{"group": "power", "kind": kind, "shape": SMALL} for kind in (["jumps", 0.01], ["stable", 1.5])]
    return [*out, {"group": "null", "kind": ["gauss"], "shape": LARGE}]


def repetitions(cell: dict) -> int:
    """Repetitions of a cell."""
    return 100 if cell["group"] == "power" else 1000


def panel(kind: list, shape: list[int], rng: np.random.Generator) -> np.ndarray:
    """One panel of increments, (unit, step)."""
    units, steps = shape
    name, *numbers = kind
    g = rng.standard_normal((units, steps))
    if name == "gauss":
        return g
    if name == "unit scale":
        return g * np.exp(numbers[0] * rng.standard_normal((units, 1)))
    if name == "unit outliers":
        return g * np.where(rng.random((units, 1)) < 0.1, 3.0, 1.0)
    if name == "step scale":
        return g * np.exp(numbers[0] * rng.standard_normal((1, steps)))
    if name == "both scales":
        return g * np.exp(numbers[0] * (rng.standard_normal((units, 1)) + rng.standard_normal((1, steps))))
    if name == "factor":
        return np.sqrt(0.5) * (g + rng.standard_normal((1, steps)) * rng.choice([-1.0, 1.0], (units, 1)))
    if name == "differences":
        return np.diff(rng.standard_normal((units, steps + 1)), axis=1)
    if name == "ar":
        return lfilter([1.0], [1.0, -numbers[0]], rng.standard_normal((units, steps + 50)), axis=1)[:, 50:]
    if name == "adam":
        return adam_updates(rng.standard_normal((units, steps + 2000)))[:, 2000:]
    if name == "studentised":
        centred = g - np.median(g, axis=1, keepdims=True)
        return centred / np.median(np.abs(centred), axis=1, keepdims=True)
    if name == "smooth":
        phi, sd = numbers
        moved = lfilter([np.sqrt(1 - phi**2)], [1.0, -phi], rng.standard_normal((units, steps + 200)), axis=1)
        return g * np.exp(sd * moved[:, 200:])
    if name == "stable":
        return lc.SymmetricStable(numbers[0]).rvs((units, steps), rng)
    if name == "jumps":
        return np.where(rng.random((units, steps)) < numbers[0], 4.0, 1.0) * g
    if name == "t":
        return rng.standard_t(numbers[0], (units, steps))
    raise ValueError(kind)


def adam_updates(gradients: np.ndarray) -> np.ndarray:
    """Updates of Adam (0.9, 0.999) for these gradients, (weight, step)."""
    steps = np.arange(1, gradients.shape[1] + 1)
    mean = lfilter([0.1], [1.0, -0.9], gradients, axis=1) / (1 - 0.9**steps)
    square = lfilter([0.001], [1.0, -0.999], gradients**2, axis=1) / (1 - 0.999**steps)
    return -mean / (np.sqrt(square) + 1e-8)


def verdict(x: np.ndarray, rng: np.random.Generator) -> Persistence:
    """The verdict of `scale_persistence_test`, drawn only as far as it is open."""
    data = scaled(x)
    noise = noise_of(data.values)
    statistic, drift = adjusted(data.values)
    above, alike, drawn = 0, 0, 0
    while drawn < DRIFT_DRAWS:
        values = adjusted(scaled(simulated(noise, data, rng)).values)
        above += drawn < DRAWS and values[0] >= statistic
        alike += values[1] >= drift
        drawn += 1
        if (1 + above) / (1 + DRAWS) > SIZE:
            return Persistence.NOT_EXCLUDED
        if drawn >= DRAWS and (1 + alike) / (1 + DRIFT_DRAWS) > DRIFT_SIZE:
            break
    return decide((1 + above) / (1 + DRAWS), (1 + alike) / (1 + DRIFT_DRAWS), SIZE)


def run_cell(cell: dict, count: int, salt: int = 0) -> dict:
    """Draw, decide, and count the verdicts."""
    seed = np.random.SeedSequence(SEED, spawn_key=(zlib.crc32(json.dumps(cell).encode()), salt))
    rng = np.random.default_rng(seed)
    found = [verdict(panel(cell["kind"], cell["shape"], rng), rng) for _ in range(count)]
    rates = {
        "not_persistent": found.count(Persistence.NOT_PERSISTENT) / count,
        "scale_drifts": found.count(Persistence.SCALE_DRIFTS) / count,
    }
    return {**cell, "repetitions": count, **rates, "standard_error_at_5_percent": float(np.sqrt(0.0475 / count))}


def main(share: float) -> None:
    """Run every cell that is not there yet."""
    run_missing(__file__, KEYS, cells(), repetitions, run_cell, share)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
