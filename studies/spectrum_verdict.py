"""Size and power of `tails.tail_shape`: how often each kind of spectrum is called power, light or undecided.

Usage: python studies/spectrum_verdict.py [share]. Writes spectrum_verdict.json beside itself, one record a cell;
cells that are there with as many repetitions are kept. 3,000 repetitions (1,000 at 4096 units, null laws apart),
times `share`. A cell's draws depend on SEED and on the cell's own description alone.
"""

from __future__ import annotations

import json
import math
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _resumed import run_missing
from spectra_of_studies import log_tau

from levycollapse.tails._shape import Shape, decide, log_tails, null_laws, statistic, upper_size

SEED = 20261130
SIZE = 0.05
WIDTHS = (64, 512, 4096)
#: Share of the upper values that lie beyond a limit, in the censored cells.
CENSORED = 0.3


def cells() -> list[dict]:
    """Every cell. Groups: `null` must not be called power, `power` should be, `other` is reported."""
    kinds = [
        ("null", ("log-normal", 1.0)),
        ("null", ("log-normal", 3.0)),
        ("null", ("exponential",)),
        ("null", ("narrow normal",)),
        ("null", ("narrow uniform",)),
        ("other", ("narrow t5",)),
        ("other", ("two modes", 0.1, 3.0)),
        ("other", ("two modes", 0.2, -3.0)),
        ("other", ("above body", "half-normal", 1.0, 0.2)),
        ("other", ("above body", "half-normal", 1.0, 0.5)),
        ("other", ("truncated", 0.8, 1e3)),
        ("other", ("tempered", 0.8, 1e3)),
    ]
    for alpha, lam in ((1.5, 3.0), (0.6, 3.0), (1.2, None)):
        for beta in (0.42, 0.8, 1.0, 1.5, 2.5):
            group = "power" if beta <= 1 else "other"
            kinds.append((group, ("model", alpha, 1.15 * beta if lam is None else lam, "beta", beta)))
    for alpha in (1.5, 0.6):
        kinds += [("other", ("model", alpha, 3.0, "ratio", ratio)) for ratio in (0.5, 1.0)]
    kinds.append(("other", ("model", 1.5, 0.0, "intensity", 0.5)))
    return [
        {"group": group, "spectrum": list(spectrum), "width": width, "censored": censored}
        for group, spectrum in kinds
        for censored in ("none", "limit")
        # Each number of censored values has null laws of its own, which at 4096 units take a second apiece.
        for width in (WIDTHS if censored == "none" else WIDTHS[:2])
    ]


def repetitions(cell: dict) -> int:
    """Repetitions of a cell."""
    return 1000 if cell["width"] == 4096 and cell["group"] != "null" else 3000


def run_cell(cell: dict, count: int, salt: int = 0) -> dict:
    """Draw, decide, and count the verdicts."""
    seed = np.random.SeedSequence(SEED, spawn_key=(zlib.crc32(json.dumps(cell).encode()), salt))
    n = cell["width"]
    k = upper_size(n)
    spectrum = tuple(cell["spectrum"])
    y = log_tau(spectrum, log_tails(n, k, np.random.default_rng(seed), count))
    late = np.zeros(count, dtype=int)
    if cell["censored"] == "limit":
        limit = log_tau(spectrum, np.array([math.log(CENSORED * k / n)]))[0]
        late = np.minimum((y > limit).sum(axis=1), k - 1)
        y = np.minimum(y, limit)
    seen = dict.fromkeys(Shape, 0)
    for c in np.unique(late):
        rows = y[late == c]
        values = statistic(rows, int(c))
        light, heavy = null_laws(n, k, int(c))
        p_lognormal = (1 + light.size - np.searchsorted(light, values)) / (1 + light.size)
        p_power = (1 + np.searchsorted(heavy, values, side="right")) / (1 + heavy.size)
        for a, b, length in zip(p_lognormal, p_power, rows[:, 0] - rows[:, -1], strict=True):
            seen[decide(float(a), float(b), float(length), SIZE)[0]] += 1
    rates = {shape.value: seen[shape] / count for shape in Shape}
    return {**cell, "k": k, "repetitions": count, **rates, "standard_error": float(np.sqrt(0.25 / count))}


def main(share: float) -> None:
    """Run every cell that is not there yet."""
    run_missing(__file__, ("group", "spectrum", "width", "censored"), cells(), repetitions, run_cell, share)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
