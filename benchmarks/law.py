"""Increment law and its samplers: each number beside its peer's, measured in this process.

Usage: python benchmarks/law.py. Times are minima of repeats, in CPU time of this thread, so that other work on the
machine disturbs them less; ratios are what to compare between machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from levycollapse._kernels import tables
from levycollapse._kernels._jit import scalar
from levycollapse._laws.increment import IncrementLaw
from levycollapse._laws.increment.samplers import Rejection, SmallJumps
from levycollapse._laws.stable import SymmetricStable

LAW = (1.5, 3.0, 0.62, 0.1, 0.01)
DRAWS = 1_000_000
POINTS = 100_000


def least(call: Callable[[], Any], repeats: int = 9) -> float:
    """Least CPU seconds of a call."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return min(times)


@scalar
def bare_xoshiro(state, steps):
    """The random stream alone: xoshiro256++ over the lanes of the sampler."""
    a, b, c, d = state[0].copy(), state[1].copy(), state[2].copy(), state[3].copy()
    total = np.zeros(a.size, np.uint64)
    for _ in range(steps):
        for i in range(a.size):
            a0, b0, c0, d0 = a[i], b[i], c[i], d[i]
            total[i] ^= tables.rotated(a0 + d0, 23) + a0
            shifted = b0 << np.uint64(17)
            c0 ^= a0
            d0 ^= b0
            b[i] = b0 ^ c0
            a[i] = a0 ^ d0
            c[i] = c0 ^ shifted
            d[i] = tables.rotated(d0, 45)
    return total


def draws() -> None:
    law = IncrementLaw(*LAW)
    rng = np.random.default_rng(1)
    state = rng.integers(0, 2**64 - 1, (4, 256), dtype=np.uint64, endpoint=True)
    bare = least(lambda: bare_xoshiro(state, DRAWS // 256)) / DRAWS * 1e9
    table = least(lambda: law.table().rvs(DRAWS, rng)) / DRAWS * 1e9
    print(f"bare xoshiro256++ loop       {bare:8.2f} ns")
    print(f"table inversion              {table:8.2f} ns a draw, {table / bare:.2f} times the bare stream")
    few = DRAWS // 10
    peers = {
        "standard_normal (NumPy)": lambda: rng.standard_normal(few),
        "Chambers-Mallows-Stuck (ours)": lambda: SymmetricStable(1.5).rvs(few, rng),
        "levy_stable.rvs (SciPy)": lambda: stats.levy_stable.rvs(1.5, 0, size=few, random_state=rng),
        "small jumps, error 0.01": lambda: SmallJumps.of(law, None, 0.01).draw(few, rng),
        "exact rejection, alpha 0.7": lambda: Rejection.of(IncrementLaw(0.7, 3.0, 0.62, 0.1, 0.01)).draw(few, rng),
    }
    for name, call in peers.items():
        took = least(call, 5) / few * 1e9
        print(f"{name:30s}{took:7.1f} ns a draw, {took / table:.0f} times the table")


def points() -> None:
    law = IncrementLaw(*LAW)
    q = 10 ** -np.random.default_rng(2).uniform(0.31, 30, POINTS)
    x = law.isf(q)
    for name, call in {
        "pdf": lambda: law.pdf(x),
        "sf": lambda: law.sf(x),
        "cdf": lambda: law.cdf(-x),
        "isf": lambda: law.isf(q),
    }.items():
        print(f"{name:4s}{least(call, 5) / POINTS * 1e6:8.3f} us a point")
    few = np.geomspace(0.1, 10, 20)
    stable = SymmetricStable(1.5)
    ours = least(lambda: stable.pdf(np.resize(few, POINTS)), 5) / POINTS * 1e6
    theirs = least(lambda: stats.levy_stable.pdf(few, 1.5, 0), 2) / few.size * 1e6
    print(f"stable pdf {ours:.3f} us a point; SciPy {theirs:.0f} us, {theirs / ours:.0f} times")


def building() -> None:
    for parameters in (
        LAW,
        (1.5, 3.0, 0.62, 0.0, 0.01),
        (0.7, 3.0, 0.62, 0.0, 0.01),
        (1.9, 20.0, 1.0, 0.0, 10.0),
        (1.0, 3.0, 0.62, 0.1, 1.0),
        (0.3, 3.0, 0.62, 0.0, 1e-4),
        (0.2, 3.0, 0.62, 0.0, 1e-2),
    ):
        times = []
        for i in range(1, 7):
            # A new law each time, or the cache would answer.
            alpha, lam, eta_J, eta_G, dt = parameters
            law = IncrementLaw(alpha, lam, eta_J * (1 + 1e-9 * i), eta_G, dt)
            begin = time.thread_time()
            table = law.table()
            times.append(time.thread_time() - begin)
        size = table.coefficients.nbytes // 1024
        print(f"law, table and check {min(times) * 1e3:6.1f} ms, error {table.error:.1e}, {size} KB, for {parameters}")


if __name__ == "__main__":
    draws()
    points()
    building()
