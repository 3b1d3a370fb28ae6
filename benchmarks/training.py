"""A training step of the cells beside the same step of a loop that calls nn.Linear at every time step, in one process.

Run `python benchmarks/training.py [batch sizes]`. For H = 128, T = 512, D = 16 it prints the ratio of processor times
of a whole training step (data, forward, backward, clipping, AdamW); `benchmarks/networks.py` has forward and backward
alone. One thread; the two take turns, and the best of each counts, because the machine may have other work.
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
from networks import best, per_step

from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, SharedGate
from levycollapse.training import DelayedRegression, train


class PerStep(torch.nn.Module):
    """A cell run by the loop that one writes down."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):  # noqa: D102
        return per_step(self.cell, x)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    task = DelayedRegression.truncated_pareto(low=8, high=400)
    for batch in [int(word) for word in sys.argv[1:]] or (8, 32):
        for kind in (ConstGate, SharedGate, DiagGate, GRU, LSTM):
            cells = [kind(16, 128, orthogonal=True) for _ in range(2)]
            modules = [cells[0], PerStep(cells[1])]
            options = {"steps": 1, "batch_size": batch, "length": 512, "clip": 1.0, "seed": 0}
            ours, theirs = best(
                [
                    lambda: train(modules[0], task, **options),  # noqa: B023
                    lambda: train(modules[1], task, **options),  # noqa: B023
                ]
            )
            print(
                f"B={batch:4d} {kind.__name__:10s} {theirs / ours:.2f} times as fast "
                f"({1e3 * ours:.0f} ms for {1e3 * theirs:.0f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
