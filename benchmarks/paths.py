"""Cost of a path-step of `simulate`, beside its peers, all in one process and on one thread.

    PYTHONPATH=. python benchmarks/paths.py [--json FILE]

SaturatingDrift, alpha = 1.5, eta_G = 0.1, dt = 0.01. Peers: a bare xoshiro256++ loop, the best NumPy version that we
know (vectorised over paths, Gaussian small jumps and compound Poisson large ones), and a plain Numba loop that draws
tempered stable jumps by Chambers-Mallows-Stuck with rejection. Minima of repeats, rounds interleaved, so that a busy
machine hits all alike. The guard checks in the assembly that the passes vectorise.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

import llvmlite.binding
import numpy as np
from numba import njit
from scipy.special import gamma, gammaincc

import levycollapse as lc
from levycollapse._kernels import drift_maps, streams, tables
from levycollapse._kernels import paths as path_kernels
from levycollapse._simulate.ensemble import Ensemble
from levycollapse._simulate.schemes import plan

ALPHA, LAM, ETA_J, ETA_G, DT = 1.5, 3.0, 0.62, 0.1, 0.01
N_PATHS = 8192
#: For the comparison of one thread with two, long enough that starting threads does not count.
LONG = 1000
#: For one thread, short enough to find 5 ms without another process on a busy machine.
SHORT = 60
#: Repeats of one pass over a block.
REPEATS = 2000
#: Small jumps of the NumPy version: below this they are Gaussian. Rate times dt is then 0.1.
CUT = 0.1
WORD = np.uint64


@njit(error_model="numpy")
def bare_xoshiro(n, state):
    """xoshiro256++ (Blackman & Vigna 2021), the draws folded into one word so that none can be dropped."""
    a, b, c, d = state
    total = WORD(0)
    for _ in range(n):
        t = a + d
        total ^= ((t << WORD(23)) | (t >> WORD(41))) + a
        t = b << WORD(17)
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= t
        d = (d << WORD(45)) | (d >> WORD(19))
    return total


def numpy_paths(n_paths, n_steps, rng):
    """Asmussen-Rosinski over all paths at once; jumps are drawn for all paths of a step together."""
    rate = 2 * ETA_J * LAM**ALPHA * upper_gamma(-ALPHA, LAM * CUT)
    small = 2 * ETA_J * LAM ** (ALPHA - 2) * (gamma(2 - ALPHA) * (1 - gammaincc(2 - ALPHA, LAM * CUT)))
    spread = math.sqrt(DT * (2 * ETA_G + small))
    z = np.zeros(n_paths)
    buffer = np.empty(n_paths)
    for _ in range(n_steps):
        np.tanh(z, out=buffer)
        buffer *= -DT
        z += buffer
        rng.standard_normal(out=buffer)
        buffer *= spread
        z += buffer
        # A Poisson number of jumps in all, each on a path of its own choice: the paths' counts are then Poisson too.
        jumps = rng.poisson(rate * DT * n_paths)
        where = rng.integers(0, n_paths, jumps)
        size = pareto_jumps(jumps, rng)
        np.add.at(z, where, size)
    return z


def pareto_jumps(n, rng):
    """Density proportional to x**(-1-alpha) exp(-lam x), x > CUT, with a random sign: Pareto proposals thinned."""
    size = np.empty(0)
    while size.size < n:
        proposal = CUT * rng.random(int(1.8 * (n - size.size)) + 16) ** (-1 / ALPHA)
        size = np.append(size, proposal[rng.random(proposal.size) < np.exp(-LAM * (proposal - CUT))])
    return size[:n] * rng.choice((-1.0, 1.0), n)


def upper_gamma(a, x):
    """Gamma(a, x) for -2 < a < 0, by its recurrence."""
    if a > 0:
        return gamma(a) * gammaincc(a, x)
    return (upper_gamma(a + 1, x) - x**a * math.exp(-x)) / a


@njit(error_model="numpy")
def stable_paths(z, n_steps, sigma, spread, seed):
    """The obvious loop: a symmetric stable jump by Chambers-Mallows-Stuck and a Gaussian, for each path and step.

    It does not even temper, which would cost more.
    """
    np.random.seed(seed)  # noqa: NPY002
    for _ in range(n_steps):
        for i in range(z.size):
            angle = math.pi * (np.random.random() - 0.5)  # noqa: NPY002
            wait = -math.log(1.0 - np.random.random())  # noqa: NPY002
            jump = (math.sin(ALPHA * angle) / math.cos(angle) ** (1.0 / ALPHA)) * (
                math.cos((1.0 - ALPHA) * angle) / wait
            ) ** ((1.0 - ALPHA) / ALPHA)
            z[i] += -DT * math.tanh(z[i]) + spread * np.random.standard_normal() + sigma * jump  # noqa: NPY002
    return z


def ours(scheme, threads, steps):
    """The stepping of `simulate` without its 4 ms of set-up (the law, the result)."""
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=ETA_G, eta_J=ETA_J, alpha=ALPHA, lam=LAM)
    table = model.increment(DT).table()
    ensemble = Ensemble(
        np.zeros(N_PATHS),
        np.arange(N_PATHS, dtype=np.uint64),
        np.uint64(1),
        (table.coefficients, table.cells_log2),
        plan(model.drift, scheme, DT),
        threads,
    )
    last, records = np.array([steps]), np.empty((1, N_PATHS))
    return lambda: ensemble.advance(0, steps, last, records), N_PATHS * steps


def measure(rounds):
    """Best time of each contender in ns a path-step, over interleaved rounds."""
    rng = np.random.default_rng(1)
    state = tuple(rng.integers(0, 2**64, 4, dtype=np.uint64))
    sigma = (-2 * ETA_J * math.gamma(-ALPHA) * math.cos(math.pi * ALPHA / 2) * DT) ** (1 / ALPHA)
    z = np.zeros(N_PATHS)
    runs = {
        "xoshiro256++": (lambda: bare_xoshiro(N_PATHS * SHORT, state), N_PATHS * SHORT),
        "euler-maruyama": ours("euler-maruyama", 1, SHORT),
        "strang": ours("strang", 1, SHORT),
        "euler-maruyama, wall clock": ours("euler-maruyama", 1, LONG),
        "strang, wall clock": ours("strang", 1, LONG),
        "euler-maruyama, 2 threads": ours("euler-maruyama", 2, LONG),
        "strang, 2 threads": ours("strang", 2, LONG),
        "numpy": (lambda: numpy_paths(N_PATHS, SHORT, rng), N_PATHS * SHORT),
        "numba loop": (
            lambda: stable_paths(z, SHORT // 4, sigma, math.sqrt(2 * ETA_G * DT), 1),
            N_PATHS * SHORT // 4,
        ),
    }
    best = dict.fromkeys(runs, math.inf)
    for run, _ in runs.values():
        run()
    for _ in range(rounds):
        for name, (run, steps) in runs.items():
            # Time of the processor where there is one thread: what other processes take from it does not count.
            clock = time.perf_counter if "2 threads" in name or "wall" in name else time.thread_time
            start = clock()
            run()
            best[name] = min(best[name], (clock() - start) / steps * 1e9)
    return best


def passes(rounds):
    """Best time of each pass of a step, in ns a path-step, on one block."""
    start = np.random.default_rng(2).normal(size=path_kernels.BLOCK)
    z = start.copy()
    words = np.arange(z.size, dtype=np.uint64)
    key = WORD(12345)
    even, odd, products, left, rows = (np.empty_like(words) for _ in range(5))
    places, keys = np.empty_like(z), streams.round_keys(key)
    streams.prepare_paths(words, key, products, left)
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=ETA_G, eta_J=ETA_J, alpha=ALPHA, lam=LAM)
    table = model.increment(DT).table()
    _, p, cells = plan(model.drift, "strang", DT).step
    runs = {
        "stream": (only_stream, (even, odd, products, left, key, keys), 2),
        "row and place": (only_index, (even, table.cells_log2, rows, places), 1),
        "cubic": (only_cubics, (z, even, table.coefficients, rows, places), 1),
        "drift": (only_drift, (z.copy(), start, p, cells, rows, places), 1),
    }
    best = dict.fromkeys(runs, math.inf)
    for _ in range(rounds):
        for name, (run, arguments, steps) in runs.items():
            run(1, *arguments)
            start = time.thread_time()
            run(REPEATS, *arguments)
            best[name] = min(best[name], (time.thread_time() - start) / (REPEATS * steps * z.size) * 1e9)
    return best


@njit(error_model="numpy")
def only_stream(repeats, even, odd, products, left, key, keys):
    for pair in range(repeats):
        streams.stream_pass(even, odd, products, left, WORD(pair), key, keys)


@njit(error_model="numpy")
def only_index(repeats, bits, cells_log2, rows, places):
    for _ in range(repeats):
        tables.index_pass(bits, cells_log2, rows, places)


@njit(error_model="numpy")
def only_cubics(repeats, z, bits, coefficients, rows, places):
    for _ in range(repeats):
        path_kernels.add_pass(z, bits, coefficients, rows, places)


@njit(error_model="numpy")
def only_drift(repeats, z, start, p, cells, rows, places):
    for _ in range(repeats):
        # Where a path is, not where the drift alone takes it.
        for i in range(z.size):
            z[i] = start[i]
        drift_maps.tabulated(z, p, cells, rows, places)


@njit(error_model="numpy")
def only_count(repeats, z):
    count = 0
    for _ in range(repeats):
        count += path_kernels.count_nonfinite(z)
    return count


#: Packed instructions that each pass must have in its loop, for 128-bit and wider vectors.
PACKED = {
    "only_stream": (r"vpmuludq\s.*%[yz]mm", 30),
    "only_index": (r"v(psrl|pand|pxor|por)\w*\s.*%[yz]mm", 4),
    "only_cubics": (r"vfmadd\w*pd\s.*%[xyz]mm", 12),
    "only_drift": (r"vfmadd\w*pd\s.*%[xyz]mm", 28),
    "only_count": (r"vp(and|cmpeq)\w*\s.*%[yz]mm", 1),
}
INSPECT = """
import json, runpy, sys
import numpy as np
b = runpy.run_path(sys.argv[1])
def z(): return np.zeros(256)
def words(): return np.zeros(256, np.uint64)
b["only_stream"](1, words(), words(), words(), words(), np.uint64(1), words()[:16])
b["only_index"](1, words(), 6, words(), z())
b["only_cubics"](1, z(), words(), z(), words(), z())
b["only_drift"](1, z(), z(), (0.0,) * 4, z(), words(), z())
b["only_count"](1, z())
print(json.dumps({name: next(iter(b[name].inspect_asm().values())) for name in b["PACKED"]}))
"""


def packed_instructions():
    """Packed instructions of each pass; in a process without a cache, since cached code cannot be inspected."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        out = subprocess.run(
            [sys.executable, "-c", INSPECT, __file__], env=environment, capture_output=True, text=True, check=True
        ).stdout
    return {name: len(re.findall(PACKED[name][0], text)) for name, text in json.loads(out).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the numbers here")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    packed = packed_instructions()
    best = measure(arguments.rounds)
    wide = llvmlite.binding.get_host_cpu_features().get("avx512f", False)
    asked = [
        ("Euler-Maruyama / xoshiro", best["euler-maruyama"] / best["xoshiro256++"], "<=", 4 if wide else 6),
        ("Strang / xoshiro", best["strang"] / best["xoshiro256++"], "<=", 5 if wide else 8),
        ("NumPy / Euler-Maruyama", best["numpy"] / best["euler-maruyama"], ">=", 12),
        ("Numba loop / Euler-Maruyama", best["numba loop"] / best["euler-maruyama"], ">=", 25),
        (
            "1 / 2 threads, Euler-Maruyama",
            best["euler-maruyama, wall clock"] / best["euler-maruyama, 2 threads"],
            ">=",
            1.8,
        ),
        ("1 / 2 threads, Strang", best["strang, wall clock"] / best["strang, 2 threads"], ">=", 1.8),
        *((f"packed in {name}", count, ">=", PACKED[name][1]) for name, count in packed.items()),
    ]
    for name, value in best.items():
        print(f"{name:28} {value:8.2f} ns a path-step")
    for name, value in passes(arguments.rounds).items():
        print(f"  pass: {name:20} {value:8.2f} ns a path-step")
    print(f"AVX-512: {wide}; load {os.getloadavg()[0]:.2f}")
    for name, value, sign, bound in asked:
        met = value <= bound if sign == "<=" else value >= bound
        print(f"{name:32} {value:8.2f}   asked {sign} {bound:<5} {'met' if met else 'NOT MET'}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(
                {"ns": best, "ratios": {name: value for name, value, *_ in asked}, "avx512": wide}, file, indent=1
            )


if __name__ == "__main__":
    main()
