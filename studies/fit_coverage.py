"""Coverage of the intervals of `TemperedStable.fit` over all samples in which a maximum was found, and how often.

Usage: python studies/fit_coverage.py [replicates]. Writes fit_coverage.json beside itself, one record a cell, after
every cell; cells that are there already with as many replicates are kept. Replicate r of cell c is drawn with
SeedSequence(SEED, spawn_key=(c, r)), so that any of them can be redone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from levycollapse._laws.fit import FitStatus
from levycollapse._laws.tempered_stable import TemperedStable

SEED = 20261130
LEVEL = 0.95
#: alpha, lam, intensity, t, increments.
CELLS = [
    (0.6, 3.0, 0.62, 0.5, 5000),
    (1.2, 2.0, 0.5, 0.3, 5000),
    (1.6, 3.0, 0.62, 0.05, 20_000),
    # So few increments that the data hardly tell alpha: most intervals are open, and must say so.
    (1.2, 2.0, 0.5, 1.0, 2000),
]


def one(cell: int, replicate: int) -> dict[str, object]:
    """Fit one replicate."""
    alpha, lam, intensity, t, n = CELLS[cell]
    seed = np.random.SeedSequence(SEED, spawn_key=(cell, replicate))
    fit = TemperedStable.fit(TemperedStable(alpha, lam, intensity).rvs(t, n, seed), t, level=LEVEL)
    inside = {
        name: bool(getattr(fit, f"{name}_interval").low <= true <= getattr(fit, f"{name}_interval").high)
        for name, true in (("alpha", alpha), ("lam", lam), ("intensity", intensity))
    }
    return {"status": fit.status, "inside": inside, "alpha": fit.alpha}


def run_cell(cell: int, replicates: range) -> dict[str, object]:
    """Fit all replicates of a cell and count."""
    fits = [one(cell, r) for r in replicates]
    good = [f for f in fits if f["status"] is not FitStatus.NOT_CONVERGED]
    return {
        "alpha, lam, intensity, t, n": list(CELLS[cell]),
        "seed": SEED,
        "replicates": len(fits),
        "level": LEVEL,
        "found": len(good),
        "converged": sum(f["status"] is FitStatus.CONVERGED for f in fits),
        "coverage": {k: float(np.mean([f["inside"][k] for f in good])) for k in ("alpha", "lam", "intensity")},
        "standard_error": float(np.sqrt(LEVEL * (1 - LEVEL) / max(len(good), 1))),
        "alpha_mean": float(np.mean([f["alpha"] for f in good])),
        "alpha_sd": float(np.std([f["alpha"] for f in good])),
    }


def main(replicates: int) -> None:
    """Run every cell that is not there yet."""
    path = Path(__file__).with_suffix(".json")
    records = json.loads(path.read_text()) if path.exists() else []
    for cell, parameters in enumerate(CELLS):
        known = records[cell] if cell < len(records) else {}
        if (
            known.get("alpha, lam, intensity, t, n") == list(parameters)
            and known["replicates"] >= replicates
            and "found" in known
        ):
            continue
        record = run_cell(cell, range(replicates))
        print(record, flush=True)
        records[cell : cell + 1] = [record]
        path.write_text(json.dumps(records, indent=2, allow_nan=False) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
