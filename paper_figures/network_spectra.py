"""Time scales and envelopes of two networks from the wild and of one trained on delayed regression (THEORY 1).

Needs PyTorch; the two networks are fetched from the package index, and left out with a message where that fails.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import levycollapse as lc
from levycollapse import plotting

LAGS = np.unique(np.geomspace(1, 400, 50).round().astype(int))


def trained():
    """A DiagGate of 128 units after 400 steps, on inputs that it has not seen: network, inputs twice, burn-in."""
    import torch

    from levycollapse.networks import DiagGate, read_network
    from levycollapse.training import DelayedRegression, train

    task = DelayedRegression.truncated_pareto(input_size=1, count=8, low=2, high=64, trend="flat", noise=0.1)
    net = train(
        lambda: DiagGate(1, 128, s0=0.1, orthogonal=True),
        task,
        steps=400,
        batch_size=16,
        length=128,
        lr=1e-2,
        clip=1.0,
        seed=1,
    ).module
    draw = torch.Generator().manual_seed(2)
    return read_network(net), *(torch.randn(16, 864, 1, generator=draw) for _ in range(2)), 64


def fetched():
    """The networks that can be had, as above."""
    from levycollapse.networks import _examples

    for name, make, skipped in (
        ("GRU that spells (g2p-en)", lambda seed: _examples.spelling_gru(steps=864, seed=seed), 64),
        ("LSTM that hears voices (silero-vad)", lambda seed: _examples.voice_lstm(seed=seed), 100),
    ):
        try:
            (net, first), (_, second) = make(0), make(1)
        except _examples.Unavailable as error:
            print(f"{name} left out: {error}")
            continue
        yield name, (net, first, second, skipped)


def main(folder: Path) -> None:
    try:
        from levycollapse.networks import UnitStatus, envelope, timescales
    except ImportError as error:
        print(f"left out: {error}")
        return
    found = {**dict(fetched()), "DiagGate, delayed regression": trained()}
    with plotting.style():
        figure = Figure(figsize=(2 * plotting.COLUMN_WIDTH, 2.7))
        left, right = figure.subplots(1, 2)
        for number, (name, (net, first, second, skipped)) in enumerate(found.items()):
            colour = f"C{number}"
            units = timescales(net, first, burn_in=skipped)
            tau, late = units["tau"].values, (units["status"] == UnitStatus.CENSORED_LONG).values
            tau = np.where(late, units["tau_low"].values, tau)
            order = np.argsort(-tau)
            share = np.arange(1, tau.size + 1) / tau.size
            left.loglog(tau[order], share, ".", markersize=3, color=colour, label=name)
            bounds = late[order]
            left.loglog(tau[order][bounds], share[bounds], ">", fillstyle="none", markersize=5, color=colour)
            shown = envelope(net, second, LAGS, burn_in=skipped)
            right.fill_between(LAGS, shown["f_mean_low"], shown["f_mean_high"], color=colour, alpha=0.25, linewidth=0)
            right.loglog(LAGS, shown["f_mean"], color=colour)
            right.loglog(LAGS, lc.envelope(tau, LAGS), "--", color=colour, linewidth=0.8)
        left.set(xlabel=r"time scale $\tau$ (network steps)", ylabel="share of units with a longer one")
        left.plot([], [], ">", fillstyle="none", markersize=5, color="0.3", label="lower bound")
        left.set_ylim(bottom=3e-4, top=1.5)
        left.legend(loc="lower left")
        right.set(xlabel=r"lag $\ell$ (network steps)", ylabel=r"envelope $f(\ell)$", ylim=(1e-3, 1.2))
        right.plot([], [], color="0.3", label="measured")
        right.plot([], [], "--", color="0.3", linewidth=0.8, label=r"$\mathrm{E}\,e^{-\ell/\tau}$ of the units")
        right.legend(loc="lower left")
        for path in plotting.save_figure(left, folder / "network_spectra"):
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
