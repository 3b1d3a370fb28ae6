"""The cells beside a loop that calls nn.Linear at every step, in the same process.

Run `python benchmarks/networks.py`. For H = 128, T = 512, D = 16 and four batch sizes it prints the ratio of processor
times, forward alone and forward with backward, and the largest difference of the outputs. One thread; the
two take turns, and the best of each counts, because the machine may have other work.
"""

import time

import torch

from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, SharedGate


def per_step(cell, x):
    """The recurrence as one writes it down: every linear layer called at every step."""
    h = x.new_zeros(x.shape[0], cell.hidden_size)
    c = torch.zeros_like(h)
    hidden = []
    for t in range(x.shape[1]):
        u = x[:, t]
        if isinstance(cell, GRU):
            z = torch.sigmoid(cell.Wz(u) + cell.Uz(h))
            r = torch.sigmoid(cell.Wr(u) + cell.Ur(h))
            g = torch.tanh(cell.Wh(u) + cell.Uh(r * h))
            h = (1 - z) * h + z * g
        elif isinstance(cell, LSTM):
            i = torch.sigmoid(cell.Wi(u) + cell.Ui(h))
            f = torch.sigmoid(cell.Wf(u) + cell.Uf(h))
            o = torch.sigmoid(cell.Wo(u) + cell.Uo(h))
            g = torch.tanh(cell.Wg(u) + cell.Ug(h))
            c = f * c + i * g
            h = o * torch.tanh(c)
        else:
            s = cell.s if isinstance(cell, ConstGate) else torch.sigmoid(cell.Ws(u) + cell.Us(h))
            h = (1 - s) * h + s * torch.tanh(cell.Wx(u) + cell.Wh(h))
        hidden.append(h)
    return cell.out(torch.stack(hidden, 1))


def best(functions, repeats=3):
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
    for batch in (1, 8, 32, 128):
        x = torch.randn(batch, 512, 16)
        for kind in (ConstGate, SharedGate, DiagGate, GRU, LSTM):
            cell = kind(16, 128, orthogonal=True)
            with torch.no_grad():
                our_forward, their_forward = best([lambda: cell(x)[0], lambda: per_step(cell, x)])  # noqa: B023
                difference = (per_step(cell, x) - cell(x)[0]).abs().max().item()
            ours, theirs = best(
                [
                    lambda: cell(x)[0].square().mean().backward(),  # noqa: B023
                    lambda: per_step(cell, x).square().mean().backward(),  # noqa: B023
                ]
            )
            print(
                f"B={batch:4d} {kind.__name__:10s} forward {their_forward / our_forward:.2f} times as fast, "
                f"with backward {theirs / ours:.2f} ({1e3 * ours:.0f} ms); difference {difference:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
