"""Time of a stationary solve, everything included: both tails, far tails, constants and checks.

Run with one thread: OPENBLAS_NUM_THREADS=1 python -m benchmarks.stationary. Times are CPU times (minima of repeats), so
that other processes on the machine do not count.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

import levycollapse as lc


def reference(*, kappa=0.5, eta_G=0.1, eta_J=0.1, alpha=1.3, lam=1.5, width=1.0):
    return lc.CollapseModel.from_parameters(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam, width=width)


def threshold(alpha, eta_G=0.1, lam=1.5):
    return float(lc.jump_threshold(0.5, eta_G, alpha, lam))


TYPICAL = {
    "alpha 0.4, collapsed": reference(alpha=0.4),
    "alpha 0.4, no Gaussian noise": reference(alpha=0.4, eta_G=0.0, eta_J=0.5),
    "alpha 0.7, threshold": reference(alpha=0.7, eta_J=threshold(0.7)),
    "alpha 1, collapsed": reference(alpha=1.0),
    "alpha 1, threshold": reference(alpha=1.0, eta_J=threshold(1.0)),
    "alpha 1.3, collapsed": reference(),
    "alpha 1.3, broad": reference(eta_J=3.0),
    "alpha 1.3, concentrated": reference(kappa=1.0, eta_J=0.9, lam=3.0),
    "alpha 1.7, no Gaussian noise": reference(alpha=1.7, eta_G=0.0, eta_J=0.6),
    "alpha 1.95, broad": reference(alpha=1.95),
    "no jumps": reference(eta_J=0.0, eta_G=0.4),
    "asymmetric plateaus": lc.CollapseModel(
        lc.SaturatingDrift(1.0, kappa_right=0.4), 0.3, lc.TemperedStable(0.8, 1.5, 0.3)
    ),
}
HARD = {
    "beta 0.05": reference(eta_J=float(lc.intensity_for_exponent(0.05, 0.5, 0.1, 1.3, 1.5))),
    "width 0.05": reference(width=0.05),
    "width 0.05, eta_G 0": reference(width=0.05, eta_G=0.0, alpha=0.6, eta_J=1.5 * threshold(0.6, 0.0)),
    "eta_G 0, alpha 0.4": reference(eta_G=0.0, alpha=0.4),
    "lam 50": reference(eta_G=0.001, alpha=1.2, lam=50.0, eta_J=1.5 * threshold(1.2, 0.001, 50.0)),
}


def cpu_time(function, repeats):
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def main():
    lc.stationary_density(reference())
    times = []
    print(f"{'model':32s} {'ms':>8s}  {'error':>8s} {'far tail':>8s}")
    for name, model in {**TYPICAL, **HARD}.items():
        seconds = cpu_time(lambda model=model: lc.stationary_density(model), 7 if name in TYPICAL else 3)
        law = lc.stationary_density(model)
        if name in TYPICAL:
            times.append(seconds)
        print(f"{name:32s} {1e3 * seconds:8.1f}  {law.error:8.0e} {law.tail_error:8.0e}")
    print(f"median of the first {len(TYPICAL)}: {1e3 * np.median(times):.1f} ms (asked: 20)")
    tracemalloc.start()
    law = lc.stationary_density(HARD["width 0.05, eta_G 0"])
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    grid = sum(len(part.density) // 4 for part in law._curve.pieces)
    print(
        f"memory of 'width 0.05, eta_G 0': {peak:.0f} MiB, {peak * 2**20 / grid / 8:.0f} numbers a grid point ({grid})"
    )
    law = lc.stationary_density(reference())
    lags = np.geomspace(1.0, 1e12, 1000)
    print(f"envelope at 1000 lags: {1e3 * cpu_time(lambda: law.envelope(lags), 3):.0f} ms")
    print(f"1e5 samples: {1e3 * cpu_time(lambda: law.rvs(100_000, rng=1), 3):.0f} ms")
    print(f"chain: {cpu_time(lambda: lc.stationary_density(reference(), method='chain'), 2):.2f} s")


if __name__ == "__main__":
    main()
