"""Coverage of the interval of tau, what the statuses get wrong, and what the slope over lags costs.

Usage: python studies/timescale_status.py [units]. Writes timescale_status.json beside itself, one record a cell, after
every cell; cells that are there already with as many units are kept. Every unit is an experiment of its own: B
sequences of T steps whose log factors are -1/tau plus noise, AR(1) in time. Cell c is drawn with
SeedSequence(SEED, spawn_key=(c, first unit / CHUNK)), its resamples with (c, first unit / CHUNK, 1).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from levycollapse.networks import UnitStatus
from levycollapse.networks._bootstrap import half_width
from levycollapse.networks._options import checked_lags
from levycollapse.networks._rates import design, estimate
from levycollapse.networks._status import classify
from levycollapse.networks._timescales import interval
from levycollapse.networks._transport import Piece, piece_sums

SEED = 20261201
LEVEL = 0.95
CHUNK = 250
#: tau (inf: no decay), sd of the noise, its correlation from step to step, its law, B, T.
CELLS = [
    (5.0, 0.1, 0.0, "normal", 8, 128),
    (100.0, 0.05, 0.9, "normal", 4, 256),
    (100.0, 0.05, 0.9, "normal", 16, 256),
    (100.0, 0.05, 0.9, "normal", 64, 256),
    (100.0, 0.05, 0.9, "exponential", 8, 256),
    (2000.0, 0.02, 0.9, "normal", 16, 256),
    (2000.0, 0.02, 0.99, "normal", 16, 256),
    (np.inf, 0.05, 0.9, "normal", 16, 256),
    (np.inf, 0.05, 0.0, "exponential", 8, 128),
]


def factors(cell: int, chunk: int) -> np.ndarray:
    """Factors (T, B, CHUNK)."""
    tau, sd, memory, law, b, t = CELLS[cell]
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(cell, chunk)))
    shape = (t, b, CHUNK)
    innovations = rng.standard_normal(shape) if law == "normal" else 1.0 - rng.exponential(size=shape)
    innovations[1:] *= np.sqrt(1.0 - memory**2)
    return np.exp(-1.0 / tau + sd * lfilter([1.0], [1.0, -memory], innovations, axis=0))


def one_chunk(cell: int, chunk: int) -> dict[str, np.ndarray]:
    """Estimates of CHUNK units, from the mean and from the slope."""
    tau, *_, b, t = CELLS[cell]
    lags = checked_lags(None, t)
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(cell, chunk, 1)))
    weights = design(np.zeros(b, dtype=np.int64), 1, 200, rng)
    piece = Piece(np.arange(b), [factors(cell, chunk)], 0, np.full(b, t))
    sums = piece_sums(piece, lags, with_sums=False)
    mean = estimate([sums], CHUNK, lags, weights, slope=False, with_sums=False)
    slope = estimate([sums], CHUNK, lags, weights, slope=True, with_sums=False)
    mu = mean.mu[0]
    low, high = interval(mu, half_width(mean.error[0], b, LEVEL))
    return {
        "mu": mu,
        "slope": slope.mu[0],
        "inside": (low <= 1.0 / tau) & (1.0 / tau <= high),
        "status": classify(mu, low, high, t),
    }


def run_cell(cell: int, chunks: range) -> dict[str, object]:
    """Count over all units of a cell."""
    tau, sd, memory, law, b, t = CELLS[cell]
    parts = [one_chunk(cell, chunk) for chunk in chunks]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    n = joined["mu"].size
    return {
        "tau, sd, memory, law, B, T": ["inf" if np.isinf(tau) else tau, sd, memory, law, b, t],
        "seed": SEED,
        "units": n,
        "level": LEVEL,
        "coverage": float(joined["inside"].mean()),
        "standard_error": float(np.sqrt(LEVEL * (1 - LEVEL) / n)),
        "status": {status.name: float((joined["status"] == status).mean()) for status in UnitStatus},
        "variance of the slope / variance of the mean": float(joined["slope"].var() / joined["mu"].var()),
        "bias of the mean / its sd": float((joined["mu"].mean() - 1.0 / tau) / joined["mu"].std()),
    }


def main(units: int) -> None:
    """Run every cell that is not there yet."""
    path = Path(__file__).with_suffix(".json")
    records = json.loads(path.read_text()) if path.exists() else []
    for cell, parameters in enumerate(CELLS):
        known = records[cell] if cell < len(records) else {}
        name = ["inf" if np.isinf(parameters[0]) else parameters[0], *parameters[1:]]
        if known.get("tau, sd, memory, law, B, T") == name and known["units"] >= units:
            continue
        record = run_cell(cell, range(-(-units // CHUNK)))
        print(record, flush=True)
        records[cell : cell + 1] = [record]
        path.write_text(json.dumps(records, indent=2, allow_nan=False) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
