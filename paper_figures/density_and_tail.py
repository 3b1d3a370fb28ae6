"""Stationary density and the law of its left tail in each phase (THEORY 4 and 5)."""

import sys
from pathlib import Path

import levycollapse as lc
from levycollapse import plotting

FRAME = {"kappa": 0.5, "eta_G": 0.1, "alpha": 1.3, "lam": 1.5}
START = float(lc.jump_threshold(**FRAME))
#: Intensity of each phase; the critical one is in closed form.
PHASES = {
    "concentrated": 1.3 * START,
    "critical": float(lc.critical_intensity(**FRAME)),
    "broad": 1.2,
    "collapsed": 0.4 * START,
}


def main(folder: Path) -> None:
    with plotting.style():
        ax = plotting.new_axes(figsize=(plotting.COLUMN_WIDTH, 2.9))
        for name, intensity in PHASES.items():
            law = lc.stationary_density(lc.CollapseModel.from_parameters(**FRAME, eta_J=intensity))
            plotting.plot_density(law, ax=ax, depth=1e-16, label=f"{name}, index {law.tail.rate:.2f}")
        ax.set(xlim=(-38, 14), ylim=(1e-16, 3))
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, borderaxespad=0.2, columnspacing=1.2)
        for path in plotting.save_figure(ax, folder / "density_and_tail"):
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
