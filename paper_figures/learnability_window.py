"""Learnability window over jump intensity and stability index at one sample size, and its growth in three regimes."""

import sys
from pathlib import Path

import numpy as np

import levycollapse as lc
from levycollapse import plotting

FRAME = {"kappa": 1.0, "eta_G": 0.1, "lam": 3.0}
NOISE = lc.StableNoise(alpha=1.5, scale=1.0, signal=2.0, level=0.05)
#: Points along an axis; each takes a stationary law, 20 to 50 ms.
POINTS = 28


def diagram(folder: Path) -> None:
    data = lc.phase_diagram(
        **FRAME,
        eta_J=np.geomspace(0.05, 20, POINTS),
        alpha=np.linspace(0.3, 1.9, POINTS),
        quantity="window",
        N=100_000,
        noise=NOISE,
    )
    for path in plotting.save_figure(plotting.plot_phase_diagram(data), folder / "window_diagram"):
        print(path)


def growth(folder: Path) -> None:
    N = np.geomspace(10, 1e8, 60)
    sources = {"one time scale, 20 steps": lc.ExponentialEnvelope(rate=0.05)}
    for eta_J in (0.1, 0.8, 3.0):
        model = lc.CollapseModel.from_parameters(**FRAME, alpha=1.5, eta_J=eta_J)
        sources[rf"{model.phase.name.lower()}, $\eta_J$ = {eta_J}"] = model
    found = {name: lc.learnability_window(source, N, NOISE) for name, source in sources.items()}
    for path in plotting.save_figure(plotting.plot_window(found, information=True), folder / "window_growth"):
        print(path)


def main(folder: Path) -> None:
    with plotting.style():
        diagram(folder)
        growth(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
