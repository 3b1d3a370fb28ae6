"""Coverage of the interval of `tails.fit_spectrum`, on spectra with a known index.

Usage: python studies/spectrum_coverage.py [share]. Writes spectrum_coverage.json beside itself, one record a cell;
cells that are there with as many repetitions are kept. 3,000 repetitions (1,000 at 4096 units; the cutoff profiles
100), times `share`. A cell's draws depend on SEED and on the cell's own description alone.
"""

from __future__ import annotations

import json
import math
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy.stats import chi2

sys.path.insert(0, str(Path(__file__).parent))
from _resumed import run_missing
from spectra_of_studies import log_tau

from levycollapse.tails._cutoff import TemperedTail, sharp_cutoff
from levycollapse.tails._hill import hill, tail_size
from levycollapse.tails._shape import log_tails

SEED = 20261130
LEVEL = 0.95
BETAS = (0.42, 0.8, 1.0, 1.5, 2.5)
WIDTHS = (64, 512, 4096)
#: Share of the exceedances beyond the limit, or of the units of the tail behind limits of their own.
CENSORED = 0.3


def cells() -> list[dict]:
    """Every cell: what is drawn, the index that should be covered, and whether [0.92, 0.98] is asked of it."""
    out = []

    def add(group, spectrum, beta, widths=WIDTHS, censorings=("none", "limit")):
        for censored in censorings:
            for width in widths:
                out.append(
                    {"group": group, "spectrum": list(spectrum), "beta": beta, "width": width, "censored": censored}
                )

    for beta in BETAS:
        for fraction in (0.5, 0.2):
            for body in ("half-normal", "log-normal"):
                add("asked", ("above body", body, beta, fraction), beta)
        for alpha, lam in ((1.5, 3.0), (0.6, 3.0), (1.2, 1.15 * beta)):
            add("asked", ("model", alpha, lam, "beta", beta), beta)
    for beta in BETAS:
        add("own limits", ("above body", "half-normal", beta, 0.5), beta, censorings=("own limits",))
        add("tail too small", ("above body", "half-normal", beta, 0.05), beta, censorings=("none",))
        add("few units", ("above body", "half-normal", beta, 0.5), beta, widths=(20, 32))
        add("few units", ("model", 1.5, 3.0, "beta", beta), beta, widths=(20, 32))
    for alpha in (1.5, 0.6):
        add("collapsed", ("model", alpha, 3.0, "ratio", 0.5), 3.0)
        add("threshold", ("model", alpha, 3.0, "ratio", 1.0), 3.0)
    add("two modes", ("two modes", 0.1, 3.0), math.nan, censorings=("none",))
    add("logarithmic", ("model", 1.5, 0.0, "intensity", 0.5), 0.0)
    for beta in (0.42, 1.0, 2.5):
        add("cutoff", ("above body", "half-normal", beta, 0.5), beta, widths=(64, 512), censorings=("none",))
    for beta in (0.42, 1.0):
        add("cutoff", ("above body", "half-normal", beta, 0.5), beta, widths=(512,), censorings=("limit",))
    for kind in ("tempered", "truncated"):
        for beta, ratio in ((0.42, 1e2), (0.8, 1e3), (1.5, 1e2)):
            add("cutoff", (kind, beta, ratio), beta, widths=(512,), censorings=("none",))
    return out


def repetitions(cell: dict) -> int:
    """Repetitions of a cell."""
    return 100 if cell["group"] == "cutoff" else 1000 if cell["width"] == 4096 else 3000


def generator(cell: dict, salt: int = 0) -> np.random.Generator:
    """Stream of a cell."""
    return np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(zlib.crc32(json.dumps(cell).encode()), salt)))


def draw(cell: dict, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The k + 1 largest log time scales of `count` networks, decreasing, and which of them are bounds."""
    n = cell["width"]
    k = tail_size(n)
    if cell["censored"] == "own limits":
        tails = np.log(rng.random((count, n)))
        y = log_tau(tuple(cell["spectrum"]), tails)
        limit = rng.standard_exponential(y.shape) * (1 - CENSORED) / CENSORED / cell["beta"]
        late, y = limit < y, np.minimum(limit, y)
        order = np.argsort(-y, axis=1)[:, : k + 1]
        return np.take_along_axis(y, order, 1), np.take_along_axis(late, order, 1)
    y = log_tau(tuple(cell["spectrum"]), log_tails(n, k, rng, count))
    if cell["censored"] == "none":
        return y, np.zeros(y.shape, dtype=bool)
    limit = log_tau(tuple(cell["spectrum"]), np.array([math.log(CENSORED * k / n)]))[0]
    return np.minimum(y, limit), y > limit


def run_cell(cell: dict, count: int, salt: int = 0) -> dict:
    """Draw, estimate, and count how often the interval holds the index."""
    y, late = draw(cell, count, generator(cell, salt))
    k = y.shape[1] - 1
    value, low, high = hill(y, late, k, LEVEL)
    with np.errstate(invalid="ignore"):
        inside = (low <= cell["beta"]) & (cell["beta"] <= high)
    record = {
        **{key: (None if item != item else item) for key, item in cell.items()},
        "k": k,
        "repetitions": count,
        "coverage": float(np.mean(inside)),
        "standard_error": float(np.sqrt(LEVEL * (1 - LEVEL) / count)),
        "median_estimate": float(np.nanmedian(value)),
        "half_width": float(np.nanmedian((high - low) / 2 / value)),
    }
    if cell["group"] == "cutoff":
        allowed = chi2.ppf(LEVEL, 1) / 2
        covered, whole, sharp = [], [], []
        for row, flags in zip(y, late, strict=True):
            tail = TemperedTail(row, flags)
            pure = len(tail.seen) / (row[:-1] - row[-1]).sum()
            found = tail.profile(tail.maximum(pure))[0]
            covered.append(found - tail.profile(cell["beta"])[0] <= allowed)
            whole.append(found - tail.profile(0.0)[0] <= allowed)
            ends = sharp_cutoff(row, flags, LEVEL)
            sharp.append(ends.lower <= cell["beta"] <= ends.upper)
        record["profile_coverage"] = float(np.mean(covered))
        record["sharp_coverage"] = float(np.mean(sharp))
        record["not_separable"] = float(np.mean(whole))
    return record


def main(share: float) -> None:
    """Run every cell that is not there yet."""
    run_missing(__file__, ("group", "spectrum", "beta", "width", "censored"), cells(), repetitions, run_cell, share)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
