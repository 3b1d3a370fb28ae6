"""Bias, spread and coverage of `tails.stable_index` on stable, Pareto and other samples.

Usage: python studies/stable_index.py [share]. Writes stable_index.json beside itself, one record a cell; cells that
are there with as many repetitions are kept. 2,000 repetitions (300 of maximum likelihood), times `share`. A cell's
draws depend on SEED and on the cell's own description alone.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _resumed import run_missing

import levycollapse as lc

SEED = 20261130
LEVEL = 0.95
KEYS = ("sample", "method", "n")


def cells() -> list[dict]:
    """Every cell."""
    stable = (0.8, 1.2, 1.5, 1.8, 1.95, 2.0)
    out = [
        {"sample": ["stable", alpha], "method": method, "n": n}
        for method in ("quantiles", "ecf")
        for alpha in stable
        for n in (200, 2000, 20000)
    ]
    out += [{"sample": ["stable", alpha], "method": "ml", "n": n} for alpha in stable for n in (200, 2000)]
    for method in ("hill", "moment", "pickands"):
        out += [{"sample": ["pareto", alpha], "method": method, "n": 2000} for alpha in (0.8, 1.5)]
        out += [{"sample": ["stable", alpha], "method": method, "n": 20000} for alpha in (1.2, 1.5, 1.8)]
    out += [{"sample": ["t", 5], "method": method, "n": 2000} for method in ("quantiles", "ecf", "ml")]
    return out


def repetitions(cell: dict) -> int:
    """Repetitions of a cell."""
    if cell["method"] == "ml":
        return 300
    return 2000 if cell["n"] <= 2000 else 500


def draw(sample: list, n: int, rng: np.random.Generator) -> np.ndarray:
    """One sample."""
    name, index = sample
    if name == "stable":
        return lc.SymmetricStable(index).rvs(n, rng)
    if name == "pareto":
        return rng.choice([-1.0, 1.0], n) * rng.random(n) ** (-1.0 / index)
    return rng.standard_t(index, n)


def run_cell(cell: dict, count: int, salt: int = 0) -> dict:
    """Draw, estimate, and compare with the index of the sample."""
    seed = np.random.SeedSequence(SEED, spawn_key=(zlib.crc32(json.dumps(cell).encode()), salt))
    rng = np.random.default_rng(seed)
    found = [
        lc.tails.stable_index(draw(cell["sample"], cell["n"], rng), cell["method"], level=LEVEL) for _ in range(count)
    ]
    truth = cell["sample"][1]
    alphas = np.array([f.alpha for f in found])
    finite = alphas[np.isfinite(alphas)]
    return {
        **cell,
        "repetitions": count,
        "median": float(np.median(finite)),
        "spread": float(np.diff(np.quantile(finite, [0.1587, 0.8413]))[0] / 2),
        "coverage": float(np.mean([f.low <= truth <= f.high for f in found])),
        "no_estimate": float(1 - finite.size / count),
    }


def main(share: float) -> None:
    """Run every cell that is not there yet."""
    run_missing(__file__, KEYS, cells(), repetitions, run_cell, share)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
