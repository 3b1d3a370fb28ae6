"""Size and power of `panels.restoring_drift`: how often a drift is found where there is none, and where there is.

Usage: python studies/restoring_drift.py [share]. Writes restoring_drift.json beside itself, one record a cell; cells
that are there with as many repetitions are kept. 1,000 repetitions a null, 400 another, times `share`. A cell's draws
depend on SEED and on the cell's own description alone.
"""

from __future__ import annotations

import json
import sys
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

sys.path.insert(0, str(Path(__file__).parent))
from _resumed import run_missing

import levycollapse as lc
from levycollapse.panels._drift import MOST_LOST, estimates
from levycollapse.panels._far_left import block_sums, far_left_moves

SEED = 20261130
SIZE, NOISE = 0.05, 0.05
UNITS = 256
KEYS = ("group", "kind", "seeds", "checkpoints")


def cells() -> list[dict]:
    """Every cell. Groups: `null`, `power` (the model), `linear` (Ornstein-Uhlenbeck), `lost`."""
    nulls = [
        ["static"],
        ["heteroscedastic"],
        ["walk"],
        ["jump walk"],
        ["common motion"],
        ["stretching"],
        ["common noise"],
        ["ar noise", 0.3],
        ["ar noise", 0.6],
        ["ar noise", 0.9],
    ]
    out = [
        {"group": "null", "kind": kind, "seeds": 3, "checkpoints": checkpoints}
        for kind in nulls
        for checkpoints in (40, 13)
    ]
    for spacing in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2):
        out.append({"group": "power", "kind": ["model", 1.0, spacing], "seeds": 3, "checkpoints": 40})
    out.append({"group": "power", "kind": ["model", 0.42, 0.01], "seeds": 3, "checkpoints": 40})
    out.append({"group": "power", "kind": ["model", 1.0, 0.01], "seeds": 3, "checkpoints": 13})
    out.append({"group": "power", "kind": ["model", 1.0, 0.01], "seeds": 5, "checkpoints": 40})
    for spacing in (0.02, 0.05):
        out.append({"group": "linear", "kind": ["linear", spacing], "seeds": 3, "checkpoints": 40})
    for share in (0.002, 0.01, 0.05):
        out.append({"group": "lost", "kind": ["limited walk", share], "seeds": 3, "checkpoints": 40})
    return out


def repetitions(cell: dict) -> int:
    """Repetitions of a cell."""
    return 1000 if cell["group"] == "null" else 400


def panel(kind: list, seeds: int, checkpoints: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Zeta (seed, unit, time, replicate) and the times."""
    shape = (seeds, UNITS, checkpoints)
    times = np.arange(float(checkpoints))
    start = -0.5 * rng.gumbel(size=(seeds, UNITS, 1))
    zeta = np.repeat(start, checkpoints, axis=2)
    noise = NOISE * rng.standard_normal((*shape, 2))
    name, *numbers = kind
    if name in ("walk", "limited walk"):
        zeta = start + 0.05 * np.cumsum(rng.standard_normal(shape), axis=2)
    elif name == "jump walk":
        zeta = start + 0.02 * np.cumsum(rng.standard_t(2, shape), axis=2)
    elif name == "heteroscedastic":
        # The far-left units are measured worst.
        noise *= np.exp(-0.5 * start)[..., None]
    elif name == "common motion":
        zeta = zeta + 0.1 * np.cumsum(rng.standard_normal((seeds, 1, checkpoints)), axis=2)
    elif name == "stretching":
        zeta = zeta * (1.0 + 0.02 * np.cumsum(rng.standard_normal((seeds, 1, checkpoints)), axis=2))
    elif name == "common noise":
        noise += 0.02 * zeta[..., None] * rng.standard_normal((seeds, 1, checkpoints, 2))
    elif name == "ar noise":
        rho = numbers[0]
        white = rng.standard_normal((seeds, UNITS, checkpoints + 60, 2))
        coloured = lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], white, axis=2)
        noise = NOISE * coloured[:, :, 60:]
    elif name == "model":
        zeta, times = model_paths(numbers[0], numbers[1], seeds, checkpoints, rng)
    elif name == "linear":
        rate = numbers[0]
        out = [rng.standard_normal((seeds, UNITS))]
        for _ in range(checkpoints - 1):
            fresh = rng.standard_normal((seeds, UNITS))
            out.append(np.exp(-rate) * out[-1] + np.sqrt(-np.expm1(-2 * rate)) * fresh)
        zeta = np.stack(out, axis=2)
    zeta = zeta[..., None] + noise
    if name == "limited walk":
        # Below the limit nothing is measured; the share is that of all values.
        zeta[zeta < np.quantile(zeta, numbers[0])] = np.nan
    return zeta, times


@lru_cache(maxsize=4)
def stationary(beta: float) -> tuple[lc.CollapseModel, lc.StationaryDensity]:
    """The model above threshold with kappa = 1, and its law."""
    jumps = lc.intensity_for_exponent(beta, 1.0, 0.1, 1.5, 3.0)
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=jumps, alpha=1.5, lam=3.0)
    return model, lc.stationary_density(model)


def model_paths(
    beta: float, spacing: float, seeds: int, checkpoints: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Stationary paths at the checkpoints; time in units of the spacing, so that kappa comes out as kappa dt."""
    model, law = stationary(beta)
    per = max(1, round(spacing / 0.02))
    paths = lc.simulate(
        model,
        seeds * UNITS,
        spacing * (checkpoints - 1),
        spacing / per,
        scheme="strang",
        initial=law.rvs(seeds * UNITS, rng),
        store_every=per,
        rng=rng,
        n_threads=1,
    )
    return paths.zeta.values.reshape(seeds, UNITS, checkpoints), np.arange(float(checkpoints))


def run_cell(cell: dict, count: int, salt: int = 0) -> dict:
    """Draw, test, and count the rejections."""
    seed = np.random.SeedSequence(SEED, spawn_key=(zlib.crc32(json.dumps(cell).encode()), salt))
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        moves = far_left_moves(*panel(cell["kind"], cell["seeds"], cell["checkpoints"], rng))
        kappa, p_value, slope, p_constant = estimates(block_sums(moves), 1 - SIZE)
        lost = moves.lost.sum() / (moves.lost.sum() + moves.number.sum())
        # A truth to cover: the drift of the nulls is 0, that of the model its plateau.
        truth = cell["kind"][2] if cell["group"] == "power" else 0.0
        covered = kappa.lower <= truth <= kappa.upper
        rows.append([p_value <= SIZE, p_constant <= SIZE, kappa.value, slope.value, covered, lost > MOST_LOST])
    found = np.array(rows, dtype=float)
    tested = found[:, 5] == 0
    return {
        **cell,
        "repetitions": count,
        "rejected": float((found[:, 0] * tested).mean()),
        "not_constant": float((found[:, 1] * tested).mean()),
        "no_test": float(found[:, 5].mean()),
        "kappa_mean": float(found[:, 2].mean()),
        "kappa_sd": float(found[:, 2].std(ddof=1)),
        "slope_median": float(np.median(found[:, 3])),
        "coverage": float(found[:, 4].mean()),
    }


def main(share: float) -> None:
    """Run every cell that is not there yet."""
    run_missing(__file__, KEYS, cells(), repetitions, run_cell, share)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
