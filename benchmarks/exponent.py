"""Roots a second, beside SciPy's vectorised root finder and a brentq loop, on the same problems in one process."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from scipy.optimize import brentq, elementwise
from scipy.special import gamma

import levycollapse as lc

PROBLEMS = 200_000
LOOPED = 4_000  # brentq is timed on a part: it takes the same time each


def problems(count: int, logarithmic: bool = False) -> dict[str, np.ndarray]:
    """Models with a root, beta/lam uniform or uniform in the logarithm, alpha over its whole range."""
    rng = np.random.default_rng(20260629)
    alpha = rng.uniform(0.05, 1.95, count)
    lam, kappa = 10 ** rng.uniform(-1, 2, count), 10 ** rng.uniform(-1, 1, count)
    ratio = 10 ** rng.uniform(-3, 0, count) if logarithmic else rng.uniform(1e-3, 0.999, count)
    eta_G = rng.uniform(0, 0.9, count) * kappa / (ratio * lam)
    eta_J = lc.intensity_for_exponent(ratio * lam, kappa, eta_G, alpha, lam)
    return {"kappa": kappa, "eta_G": eta_G, "eta_J": eta_J, "alpha": alpha, "lam": lam}


def best_of(repeats: int, function, *arguments):
    times = []
    for _ in range(repeats):
        started = time.process_time()  # one thread each, and deaf to what else the machine does
        result = function(*arguments)
        times.append(time.process_time() - started)
    return min(times), result


def phi_over_beta(beta, kappa, eta_G, eta_J, alpha, lam):
    """What a user of a general root finder writes: the textbook formula, divided by its trivial root."""
    bracket = (lam - beta) ** alpha + (lam + beta) ** alpha - 2 * lam**alpha
    return eta_G * beta + eta_J * gamma(-alpha) * bracket / beta - kappa


def with_find_root(p):
    low = 1e-6 * p["lam"]
    return elementwise.find_root(phi_over_beta, (low, p["lam"]), args=tuple(p.values())).x


def with_brentq(p):
    rows = np.column_stack([value[:LOOPED] for value in p.values()])
    return np.array([brentq(phi_over_beta, 1e-6 * row[4], row[4], args=tuple(row)) for row in rows.tolist()])


def import_seconds(module: str) -> float:
    code = f"import time, numpy; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def compare(label: str, p: dict[str, np.ndarray]) -> None:
    lc.spectral_exponent(**p)  # compiled or loaded
    ours, beta = best_of(5, lambda: lc.spectral_exponent(**p))
    theirs, beta_scipy = best_of(3, with_find_root, p)
    loop, beta_loop = best_of(3, with_brentq, p)
    each = ours / PROBLEMS
    print(f"{label}")
    print(f"  spectral_exponent           {each * 1e9:8.0f} ns a root   (aim: below 300)")
    print(
        f"  scipy elementwise.find_root {theirs / PROBLEMS * 1e9:8.0f} ns a root   "
        f"{theirs / ours:6.1f} times ours (asked: at least 15)"
    )
    print(
        f"  scipy brentq in a loop      {loop / LOOPED * 1e9:8.0f} ns a root   "
        f"{loop / LOOPED / each:6.0f} times ours (asked: at least 100)"
    )
    # The textbook formula itself cancels for small beta/lam, which limits how closely they agree.
    print(f"  largest relative difference find_root {np.nanmax(np.abs(beta_scipy / beta - 1)):.1e}, ", end="")
    print(f"brentq {np.nanmax(np.abs(beta_loop / beta[:LOOPED] - 1)):.1e}")


def main() -> None:
    compare("beta/lam uniform", problems(PROBLEMS))
    compare("beta/lam uniform in the logarithm, 1e-3 to 1", problems(PROBLEMS, logarithmic=True))
    print(f"import levycollapse after numpy {import_seconds('levycollapse') * 1e3:8.1f} ms     (asked: at most 150)")


if __name__ == "__main__":
    main()
