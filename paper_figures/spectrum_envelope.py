"""Spectrum and envelope, side by side: the index of one is the slope of the other (THEORY 6)."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import levycollapse as lc
from levycollapse import plotting

FRAME = {"kappa": 0.5, "eta_G": 0.1, "alpha": 1.3, "lam": 1.5}
START = float(lc.jump_threshold(**FRAME))
PHASES = {"concentrated": 1.3 * START, "broad": 1.2, "collapsed": 0.4 * START}


def main(folder: Path) -> None:
    tau, lags = np.geomspace(1e-2, 1e6, 241), np.geomspace(1.0, 1e6, 181)
    with plotting.style():
        figure = Figure(figsize=(2 * plotting.COLUMN_WIDTH, 2.7))
        left, right = figure.subplots(1, 2)
        for name, intensity in PHASES.items():
            law = lc.stationary_density(lc.CollapseModel.from_parameters(**FRAME, eta_J=intensity))
            (line,) = left.loglog(tau, law.timescale_pdf(tau), label=name)
            far = tau[tau > 3]
            tail = law.tail.prefactor * far ** (-1 - law.tail.rate) * np.log(far) ** law.tail.log_power
            left.loglog(far, tail, "--", color=line.get_color(), linewidth=0.9)
            asymptote = lc.tauberian_envelope(law.tail, lags)
            label = rf"{name}: $\ell^{{-{law.tail.rate:.2f}}}$"
            label += r"$\,(\log\ell)^{-2.3}$" if law.tail.log_power else ""
            plotting.plot_envelope(lags, law.envelope(lags), ax=right, asymptote=asymptote, label=label)
        left.set(
            xlabel=r"time scale $\tau$ (network steps)",
            ylabel=r"spectrum $p(\tau)$",
            xlim=(1e-2, 1e6),
            ylim=(1e-18, 10),
        )
        left.minorticks_off()
        left.legend(loc="lower left")
        right.legend(loc="lower left")
        for path in plotting.save_figure(left, folder / "spectrum_envelope"):
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
