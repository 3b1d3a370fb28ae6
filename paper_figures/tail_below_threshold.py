"""The true tail at and below threshold over its leading law: a power of index lambda with slow logarithms."""

import sys
from pathlib import Path

import numpy as np

import levycollapse as lc
from levycollapse import plotting

FRAME = {"kappa": 0.5, "eta_G": 0.1, "lam": 1.5}
#: Stability index, share of the threshold, and line style.
CASES = [(0.7, 0.5, "-"), (1.3, 0.5, "-"), (1.7, 0.5, "-"), (0.7, 1.0, "--"), (1.3, 1.0, "--")]
COLORS = {0.7: "C0", 1.3: "C1", 1.7: "C2"}


def main(folder: Path) -> None:
    distance = np.geomspace(3.0, 450.0, 200)
    with plotting.style():
        ax = plotting.new_axes()
        for alpha, share, dashes in CASES:
            intensity = share * float(lc.jump_threshold(**FRAME, alpha=alpha))
            law = lc.stationary_density(lc.CollapseModel.from_parameters(**FRAME, alpha=alpha, eta_J=intensity))
            tail = law.tail
            leading = tail.prefactor * np.exp(-tail.rate * distance) * distance**tail.log_power
            where = "at threshold" if share == 1.0 else "half the threshold"
            label = rf"$\alpha$ = {alpha}, {where}"
            ax.loglog(distance, law.pdf(-distance) / leading, dashes, color=COLORS[alpha], label=label)
        ax.axhline(1.0, color="0.5", linewidth=0.6)
        ax.set(xlabel=r"$-\zeta = \log\tau$", ylabel="density over its leading law", xlim=(3, 450), ylim=(0.6, 20))
        ax.set_yticks([1, 2, 5, 10, 20], labels=["1", "2", "5", "10", "20"])
        ax.set_xticks([3, 10, 30, 100, 300], labels=["3", "10", "30", "100", "300"])
        ax.minorticks_off()
        ax.legend(loc="upper right")
        for path in plotting.save_figure(ax, folder / "tail_below_threshold"):
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
