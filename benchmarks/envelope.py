"""Envelope of 1e6 time scales at 1e3 lags, beside the plain NumPy loop in the same process.

Run `python benchmarks/envelope.py`. It prints the ratio of best times, the largest relative difference where
f > 1e-280, and the peak memory that the call adds. One thread: neither side uses more. The loop's cost is proportional
to the number of lags, so it is timed on every tenth lag and multiplied by ten.
"""

import resource
import time

import numpy as np

from levycollapse._envelope.forward import envelope


def numpy_loop(tau, lags):
    mu = 1.0 / tau
    return np.array([np.exp(-lag * mu).mean() for lag in lags])


def best(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    rng = np.random.default_rng(20260)
    lags = np.geomspace(1.0, 1e4, 1000)
    spectra = {
        "Pareto 0.4": (1.0 - rng.random(1_000_000)) ** (-1 / 0.4),
        "Pareto 1.5": (1.0 - rng.random(1_000_000)) ** (-1 / 1.5),
        "log-normal": np.exp(rng.normal(1.0, 2.0, 1_000_000)),
    }
    envelope(spectra["Pareto 0.4"][:5000], lags)
    for name, tau in spectra.items():
        before = peak_mib()
        ours = best(lambda tau=tau: envelope(tau, lags), 5)
        added = peak_mib() - before
        some = lags[::10]
        theirs = 10 * best(lambda tau=tau, some=some: numpy_loop(tau, some), 2)
        a, b = envelope(tau, lags)[::10], numpy_loop(tau, some)
        error = np.max(np.abs(a / b - 1)[b > 1e-280])
        print(
            f"{name}: {ours:.4f} s, NumPy loop {theirs:.2f} s, ratio {theirs / ours:.0f}; "
            f"difference {error:.1e}; peak memory added {added:.0f} MiB"
        )


if __name__ == "__main__":
    main()
