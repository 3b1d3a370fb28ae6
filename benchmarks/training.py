"""A training step of the cells beside the same step of a loop that calls nn.Linear at every time step, in one process.

Run `python benchmarks/training.py [batch sizes]`. For H = 128, T = 512, D = 16 it prints the ratio of processor times
of forward with backward. One thread; the two take turns, and the best of each counts, because the machine may have
other work.
"""

import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
from networks import per_step

from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, SharedGate


def best(functions, repeats=5):
    """Smallest processor time of each function, run in turn."""
    times = [[] for _ in functions]
    for _ in range(repeats):
        for function, spent in zip(functions, times, strict=True):
            start = time.process_time()
            function()
            spent.append(time.process_time() - start)
    return [min(spent) for spent in times]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for batch in [int(word) for word in sys.argv[1:]] or (8, 32):
        x = torch.randn(batch, 512, 16)
        for kind in (ConstGate, SharedGate, DiagGate, GRU, LSTM):
            cell = kind(16, 128, orthogonal=True)
            ours, theirs = best(
                [
                    lambda: cell(x)[0].square().mean().backward(),  # noqa: B023
                    lambda: per_step(cell, x).square().mean().backward(),  # noqa: B023
                ]
            )
            print(
                f"B={batch:4d} {kind.__name__:10s} forward and backward {theirs / ours:.2f} times as fast "
                f"({1e3 * ours:.0f} ms for {1e3 * theirs:.0f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
