"""Phase diagram of the anti-collapse model over jump intensity and stability index (arXiv:2606.29519)."""

import sys
from pathlib import Path

import numpy as np

import levycollapse as lc
from levycollapse import plotting


def main(folder: Path) -> None:
    diagram = lc.phase_diagram(
        kappa=1.0, eta_G=0.1, eta_J=np.geomspace(0.01, 20, 400), alpha=np.linspace(0.05, 1.95, 400), lam=3.0
    )
    with plotting.style():
        for path in plotting.save_figure(plotting.plot_phase_diagram(diagram), folder / "phase_diagram"):
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
